// Sample answers of the server, with the types that the page has for them (ui/generated/records.ts), and functions that
// open the page with such answers.
import type {
  Counts,
  Group,
  Groups,
  Horizon,
  Incident,
  Incidents,
  JobList,
  ListedJob,
  ListedQueue,
  ListedTask,
  Operation,
  Pulse,
  Rehearsal,
  Session,
  TaskList,
  Value,
} from "../../ui/generated/records.ts";
import { NOON, type Page, start } from "./harness.ts";

export function timeAt(secondsFromNoon: number): string {
  return new Date(NOON + secondsFromNoon * 1000).toISOString();
}

export function session(change: Partial<Session> = {}): Session {
  return {
    schema: "worker",
    database: "127.0.0.1:5433/app",
    label: null,
    read_only: false,
    read_only_server: false,
    csrf_header: "x-worker-admin-csrf",
    csrf_token: "csrf-1",
    auth: { mode: "none", username: null, header_name: null },
    problem: null,
    can_undo: true,
    version: "0.1.0",
    ...change,
  };
}

export function job(id: number, change: Partial<ListedJob> = {}): ListedJob {
  return {
    id,
    task_identifier: "send_email",
    queue_name: null,
    payload: { to: "ana@example.com" },
    priority: 0,
    run_at: timeAt(-60),
    attempts: 0,
    max_attempts: 25,
    last_error: null,
    created_at: timeAt(-600),
    updated_at: timeAt(-60),
    key: null,
    locked_at: null,
    locked_by: null,
    revision: 0,
    flags: null,
    state: "ready",
    payload_truncated: false,
    payload_bytes: 24,
    payload_packed: false,
    payload_start: null,
    last_error_truncated: false,
    error_line: null,
    condition: "ready",
    condition_since: timeAt(-60),
    ...change,
  };
}

export function failedJob(id: number, change: Partial<ListedJob> = {}): ListedJob {
  const last_error = "Error: connect ECONNREFUSED\n    at deliver (/app/mail.js:4:2)";
  const error_line = "Error: connect ECONNREFUSED";
  const failed = { state: "failed", condition: "failed", attempts: 25, last_error, error_line };
  return job(id, { ...failed, ...change });
}

export function lockedJob(id: number, change: Partial<ListedJob> = {}): ListedJob {
  const running = { state: "locked", condition: "running", attempts: 1 };
  return job(id, { ...running, locked_at: timeAt(-12), locked_by: "worker-a", ...change });
}

export function jobs(
  list: ListedJob[],
  next_cursor: string | null = null,
  change: Partial<JobList> = {},
): JobList {
  const whole = { complete: true, ranking: "full", unknown: [], suggestions: [], took_ms: 3 };
  const count = next_cursor === null ? value(list.length) : null;
  return { jobs: list, next_cursor, count, scanned: list.length, ...whole, ...change };
}

export function value(count: number, change: Partial<Value> = {}): Value {
  const exact = { value: count, precision: "exact", low: null, high: null, basis: "scan" };
  return { ...exact, as_of: timeAt(0), ...change };
}

export function pulse(change: Partial<Pulse> = {}): Pulse {
  const numbers = { total: 1234, failed: 12, alive: 5, stale: 1, locked_queues: 2, done: 0 };
  return { at: timeAt(0), ...numbers, ...change };
}

export function counts(change: Partial<Counts> = {}): Counts {
  return {
    as_of: timeAt(0),
    total: value(1234),
    ready: value(1180),
    blocked: value(0),
    fetched: value(3),
    running: value(2),
    retrying: value(20),
    scheduled: value(20),
    failed: value(12),
    retrying_due: value(12),
    oldest_ready_at: timeAt(-38),
    next_due_at: timeAt(2),
    longest_running_at: timeAt(-840),
    last_failed_at: timeAt(-7),
    ...change,
  };
}

export function incident(change: Partial<Incident> = {}): Incident {
  return {
    id: "stuck_queue:1",
    kind: "stuck_queue",
    level: "bad",
    title: "Queue crm:acme is stuck",
    sentence:
      "480 jobs wait. worker-c has locked the queue and is not responding: no heartbeat for 2 h.",
    since: timeAt(-7740),
    affected: value(480),
    jobs_wait: true,
    q: "queue:crm:acme is:blocked",
    links: { queue: "crm:acme", worker: "worker-c", job: null },
    fix: {
      action: "force-unlock",
      label: "Unlock…",
      post: {
        path: "/api/maintenance",
        body: { action: "force-unlock", worker_ids: ["worker-c"] },
      },
    },
    trend: [0, 0, 12, 40],
    crash: null,
    ...change,
  };
}

export function incidents(list: Incident[], change: Partial<Incidents> = {}): Incidents {
  const verdict = list[0]?.title ?? "All is well";
  const level = list.length === 0 ? "ok" : "bad";
  const checks = [
    { text: "No queue is stuck", passed: true },
    { text: "Every worker responds", passed: false },
  ];
  const groups = list.filter(({ kind }) => kind === "error_group").length;
  const rest = { more: 0, error_groups: groups, checks, is_new: false, as_of: timeAt(0) };
  return { verdict, level, incidents: list, ...rest, ...change };
}

/** A horizon of four buckets: two in the past, two in the future. */
export function horizon(change: Partial<Horizon> = {}): Horizon {
  return {
    now: timeAt(0),
    edges: [-3600, -60, 0, 60, 3600],
    series: {
      ready: [0, 9, 0, 0],
      blocked: [4, 0, 0, 0],
      retrying: [0, 0, 2, 0],
      scheduled: [0, 0, 5, 70],
      failed: [12, 0, 0, 0],
    },
    error: [0, 0, 0, 0],
    basis: "scan",
    ...change,
  };
}

export function group(label: string, change: Partial<Group> = {}): Group {
  return {
    key: "0123456789ab",
    label,
    count: value(12),
    share: 1,
    first_seen: timeAt(-7800),
    last_seen: timeAt(-7),
    is_new: false,
    sample_ids: [7],
    tasks: ["charge_card"],
    trend: [1, 2, 3],
    ...change,
  };
}

export function groups(list: Group[]): Groups {
  return { groups: list, sampled: 12, of: value(12), as_of: timeAt(0) };
}

export function queue(name: string, change: Partial<ListedQueue> = {}): ListedQueue {
  return {
    id: 1,
    queue_name: name,
    locked_at: null,
    locked_by: null,
    holder: null,
    stuck_since: null,
    paused: null,
    ready: value(3),
    scheduled: value(0),
    running: value(0),
    failed: value(0),
    total: value(3),
    oldest_ready_at: timeAt(-60),
    ...change,
  };
}

export function task(identifier: string, change: Partial<ListedTask> = {}): ListedTask {
  return {
    identifier,
    ready: value(0),
    blocked: value(0),
    fetched: value(0),
    running: value(0),
    retrying: value(0),
    scheduled: value(0),
    failed: value(0),
    oldest_ready_at: null,
    last_error_line: null,
    last_error_at: null,
    last_error_sampled: false,
    supported_by: 5,
    is_unsupported: false,
    paused: null,
    ...change,
  };
}

export function tasks(list: ListedTask[], change: Partial<TaskList> = {}): TaskList {
  return { tasks: list, next_cursor: null, count: list.length, ...change };
}

/** The rehearsal of a retry. */
export function rehearsal(change: Partial<Rehearsal> = {}): Rehearsal {
  return {
    rehearsal: "r-1",
    count: value(8400),
    would: { change_value: value(8388), skip_locked_value: value(12) },
    by_task: [{ task: "charge_card", count_value: value(8400) }],
    by_queue: [
      { queue: "billing", count_value: value(8214) },
      { queue: null, count_value: value(186) },
    ],
    sample: [
      {
        id: 3571,
        task_identifier: "charge_card",
        state: "failed",
        run_at: timeAt(-7800),
        attempts: 5,
        max_attempts: 5,
        error_line: "GatewayError: HTTP 503",
      },
    ],
    first_run_at: null,
    last_run_at: null,
    unknown: [],
    undo_jobs: 8388,
    can_undo: true,
    missing: null,
    eta_s: 2,
    cli: "worker retry is:failed",
    ...change,
  };
}

/** A running retry. */
export function operation(change: Partial<Operation> = {}): Operation {
  return {
    id: 214,
    q: "is:failed",
    action: "retry",
    by: "ada",
    state: "running",
    started_at: timeAt(-60),
    finished_at: null,
    boundary: { max_id: 11951 },
    matched: value(8400),
    done: 3138,
    skipped_locked: 12,
    skipped_changed: 0,
    skipped_gone: 0,
    not_found: null,
    rate: 50,
    canary: null,
    limit: null,
    rate_per_s: 50,
    eta_s: 105,
    undo_jobs: 3138,
    undone: 0,
    undo_skipped: { key_taken: 0, changed: 0, gone: 0, locked: 0 },
    can_undo: false,
    undo_until: null,
    error: null,
    cli: "worker retry --rate=50 is:failed",
    ...change,
  };
}

/** The retry of operation() after it has ended. */
export function receipt(change: Partial<Operation> = {}): Operation {
  const over = {
    state: "done",
    finished_at: timeAt(-1),
    can_undo: true,
    undo_until: timeAt(86_400),
  };
  const none = { rate_per_s: null, eta_s: null, not_found: value(0) };
  return operation({ ...over, ...none, done: 8388, undo_jobs: 8388, ...change });
}

/** Sends events of the feed to the page. */
export function feed(page: Page, events: Readonly<Record<string, unknown>>): void {
  for (const [event, data] of Object.entries(events)) page.app.onEvent(event, JSON.stringify(data));
}

/** Opens the page at an address, and answers its request for the session. */
export async function openPage(address = "/", change: Partial<Session> = {}): Promise<Page> {
  const page = await start(address);
  page.answer("api/session", session(change));
  return page;
}

/** Opens the page with a list of jobs. `next`: the cursor of the list's next page; null: there is none. */
export async function openList(list: ListedJob[], address = "/jobs", next: string | null = null) {
  const page = await openPage(address);
  page.answer("api/jobs?limit=100", jobs(list, next));
  return page;
}
