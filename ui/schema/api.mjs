/**
 * What the server sends and the page reads: the one source of the AssemblyScript records and of
 * the TypeScript interfaces. Field names are those of the wire; the records use camelCase.
 *
 * Types: i64, i32, bool, string, time (RFC 3339), json (kept as its own text), a record's name.
 * `?` after a type: it may be null; `[]`: a list. A field that is absent keeps its empty value.
 */
export const records = {
  Auth: {
    mode: "string",
    username: "string?",
    header_name: "string?",
    generated_secret: "bool",
  },
  Session: {
    schema: "string",
    label: "string?",
    read_only: "bool",
    read_only_server: "bool",
    csrf_header: "string",
    csrf_token: "string",
    auth: "Auth",
    version: "string",
  },
  Stats: { total: "i64", ready: "i64", scheduled: "i64", locked: "i64", failed: "i64" },
  Queue: {
    id: "i64",
    queue_name: "string",
    locked_at: "time?",
    locked_by: "string?",
    job_count: "i64",
    ready_count: "i64",
    scheduled_count: "i64?",
    locked_count: "i64?",
    failed_count: "i64?",
  },
  LockedWorker: { worker_id: "string", locked_jobs: "i64", locked_queues: "i64" },
  ActiveWorker: {
    worker_id: "string",
    last_heartbeat_at: "time",
    started_at: "time",
    metadata: "json",
    is_stale: "bool",
  },
  Overview: {
    stats: "Stats",
    queues: "Queue[]",
    queue_total: "i64?",
    workers: "LockedWorker[]",
    active_workers: "ActiveWorker[]",
    as_of: "time?",
  },
  ListedJob: {
    id: "i64",
    task_identifier: "string?",
    payload: "json",
    priority: "i32",
    run_at: "time",
    attempts: "i32",
    max_attempts: "i32",
    last_error: "string?",
    created_at: "time",
    updated_at: "time",
    key: "string?",
    locked_at: "time?",
    locked_by: "string?",
    revision: "i32",
    flags: "json",
    queue_name: "string?",
    is_available: "bool",
    state: "string",
  },
  JobList: { jobs: "ListedJob[]", next_cursor: "string?" },
  /** All that is read of a changed job; the list is asked for again. */
  ActedJob: { id: "i64" },
  JobActionResult: { message: "string", jobs: "ActedJob[]", asked: "i64?", done: "i64?" },
  MessageResult: { message: "string", asked: "i64?", done: "i64?" },
  Challenge: { mode: "string", header_name: "string?" },
  ApiError: { error: "string", code: "string", auth: "Challenge?" },
};
