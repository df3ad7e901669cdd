/** Believable answers of the server, typed by the schema that the client itself is built from. */
import type { ListedJob, Overview, Session } from "../../ui/generated/records.ts";
import { NOON, type Page, start } from "./harness.ts";

export function at(secondsFromNoon: number): string {
  return new Date(NOON + secondsFromNoon * 1000).toISOString();
}

export function session(change: Partial<Session> = {}): Session {
  return {
    schema: "worker",
    label: null,
    read_only: false,
    read_only_server: false,
    csrf_header: "x-worker-admin-csrf",
    csrf_token: "csrf-1",
    auth: { mode: "none", username: null, header_name: null, generated_secret: false },
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
    run_at: at(-60),
    attempts: 0,
    max_attempts: 25,
    last_error: null,
    created_at: at(-600),
    updated_at: at(-60),
    key: null,
    locked_at: null,
    locked_by: null,
    revision: 0,
    flags: null,
    is_available: true,
    state: "ready",
    ...change,
  };
}

export function failedJob(id: number, change: Partial<ListedJob> = {}): ListedJob {
  const last_error = "Error: connect ECONNREFUSED\n    at deliver (/app/mail.js:4:2)";
  return job(id, { state: "failed", attempts: 25, last_error, ...change });
}

export function lockedJob(id: number, change: Partial<ListedJob> = {}): ListedJob {
  return job(id, { state: "locked", locked_at: at(-12), locked_by: "worker-a", ...change });
}

export function jobs(list: ListedJob[], next_cursor: string | null = null) {
  return { jobs: list, next_cursor };
}

export function overview(change: Partial<Overview> = {}): Overview {
  return {
    stats: { total: 1234, ready: 1200, scheduled: 20, locked: 2, failed: 12 },
    queue_total: null,
    queues: [
      {
        id: 1,
        queue_name: "mail",
        locked_at: at(-9),
        locked_by: "worker-a",
        job_count: 40,
        ready_count: 31,
        scheduled_count: 5,
        locked_count: 1,
        failed_count: 3,
      },
      {
        id: 2,
        queue_name: "crm/eu & us",
        locked_at: null,
        locked_by: null,
        job_count: 3,
        ready_count: 3,
        scheduled_count: null,
        locked_count: null,
        failed_count: null,
      },
    ],
    workers: [
      { worker_id: "worker-a", locked_jobs: 2, locked_queues: 1 },
      { worker_id: "worker-z", locked_jobs: 1, locked_queues: 0 },
    ],
    active_workers: [
      {
        worker_id: "worker-a",
        last_heartbeat_at: at(-4),
        started_at: at(-86400),
        metadata: { pid: 41 },
        is_stale: false,
      },
      {
        worker_id: "worker-b",
        last_heartbeat_at: at(-1900),
        started_at: at(-90000),
        metadata: null,
        is_stale: true,
      },
    ],
    as_of: at(0),
    ...change,
  };
}

/** A healthy, quiet queue. */
export function calm(): Overview {
  const [alive] = overview().active_workers;
  return overview({
    stats: { total: 3, ready: 3, scheduled: 0, locked: 0, failed: 0 },
    active_workers: alive ? [alive] : [],
    workers: [],
  });
}

/** The application at an address, with its session and overview answered. */
export async function opened(address = "/", change: Partial<Session> = {}): Promise<Page> {
  const page = await start(address);
  page.answer("api/session", session(change));
  page.answer("api/overview", overview());
  return page;
}

/** The list of jobs on screen. */
export async function listed(list: ListedJob[], address = "/jobs", next: string | null = null) {
  const page = await opened(address);
  page.answer("api/jobs?limit=100", jobs(list, next));
  return page;
}
