// Reads all rows of a small queue, and computes from them the conditions, the counts and the order of jobs, without the
// product's SQL. Tests compare pages and the output of commands with these results.

import { parseQuery } from "../../../src/domain/query/parse-query.ts";
import type { NaiveRow, NaiveWorld } from "../../insight/naive-query.ts";
import { matchesNaively } from "../../insight/naive-query.ts";
import type { TestAdmin } from "../harness.ts";

export const CONDITIONS = [
  ...["ready", "blocked", "fetched", "running", "retrying", "scheduled", "failed"],
] as readonly Condition[];
export type Condition =
  | "ready"
  | "blocked"
  | "fetched"
  | "running"
  | "retrying"
  | "scheduled"
  | "failed";

export interface WorldJob {
  readonly id: string;
  readonly task: string;
  readonly queue: string | null;
  readonly key: string | null;
  readonly payload: string;
  readonly priority: number;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly error: string | null;
  readonly lockedBy: string | null;
  readonly condition: Condition;
  readonly runAt: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly lockedAt: number;
}

export interface WorldQueue {
  readonly name: string;
  readonly lockedBy: string | null;
  readonly lockedAt: number;
}

export interface WorldWorker {
  readonly id: string;
  readonly beatAt: number;
}

/** The rows of a queue. All times are in milliseconds since 1970; NaN: none. */
export class World {
  readonly #naive: NaiveWorld;
  readonly jobs: readonly WorldJob[];
  readonly queues: readonly WorldQueue[];
  readonly tasks: readonly string[];
  /** The workers that have a row in `_private_workers`. */
  readonly workers: readonly WorldWorker[];
  readonly now: number;

  private constructor(
    rows: readonly Row[],
    queues: readonly QueueRow[],
    tasks: readonly string[],
    workers: readonly WorkerRow[],
    now: number,
  ) {
    this.now = now;
    this.queues = queues.map((row) => ({
      name: row.name,
      lockedBy: row.locked_by,
      lockedAt: timeOf(row.locked_at),
    }));
    this.tasks = tasks;
    this.workers = workers.map(({ id, beat_at: at }) => ({ id, beatAt: timeOf(at) }));
    const reports = new Map(workers.map(({ id, fetched }) => [id, fetched]));
    const fetched = (row: Row) => reports.get(row.locked_by ?? "")?.includes(row.id) ?? false;
    this.jobs = rows.map((row) => jobOf(row, fetched(row), now));
    this.#naive = {
      nowUs: BigInt(Math.round(now * 1_000)),
      rows: rows.map((row) => ({ ...row, fetched: fetched(row) })),
      tasks,
      queues: queues.map(({ name }) => name),
    };
  }

  static async read(admin: TestAdmin): Promise<World> {
    const [clock] = await admin.sql<{ now: number }>(
      "select (extract(epoch from clock_timestamp()) * 1000)::float8 as now",
    );
    const rows = await admin.sql<Row>(jobsSql);
    const queues = await admin.sql<QueueRow>(
      `select queue_name as name, locked_by, ${us("locked_at")} as locked_at
       from {}._private_job_queues`,
    );
    const tasks = await admin.sql<{ name: string }>(
      "select identifier as name from {}._private_tasks",
    );
    const [table] = await admin.sql<{ exists: boolean }>(
      "select to_regclass('{}._private_workers') is not null as exists",
    );
    const workers = table?.exists ? await admin.sql<WorkerRow>(workersSql) : [];
    return new World(
      rows,
      queues,
      tasks.map(({ name }) => name),
      workers,
      clock?.now ?? 0,
    );
  }

  of(...conditions: Condition[]): readonly WorldJob[] {
    return this.jobs.filter(({ condition }) => conditions.includes(condition));
  }

  /** Returns the number of jobs that match a query. */
  count(query: string): number {
    const node = parseQuery(query);
    return node === null
      ? this.jobs.length
      : this.#naive.rows.filter((row) => matchesNaively(node, row, this.#naive)).length;
  }

  /** Returns those of `jobs` that are due, not locked and not failed, in the order in which workers fetch them. */
  inOrder(jobs: readonly WorldJob[]): readonly WorldJob[] {
    return jobs
      .filter((job) => isAvailable(job) && job.runAt <= this.now)
      .sort((a, b) => a.priority - b.priority || a.runAt - b.runAt || Number(a.id) - Number(b.id));
  }

  isDue(job: WorldJob): boolean {
    return isAvailable(job) && job.runAt <= this.now;
  }
}

const isAvailable = (job: WorldJob) => !["failed", "running", "fetched"].includes(job.condition);

interface Row extends Omit<NaiveRow, "fetched"> {}

interface QueueRow {
  readonly name: string;
  readonly locked_by: string | null;
  readonly locked_at: string | null;
}

interface WorkerRow {
  readonly id: string;
  readonly beat_at: string;
  /** The ids of the jobs that the worker reports as fetched and not started; null: its report has no such list. */
  readonly fetched: readonly string[] | null;
}

const us = (column: string) => `(extract(epoch from ${column}) * 1000000)::bigint::text`;

const jobsSql = `
  select jobs.id::text, coalesce(tasks.identifier, '') as task, queues.queue_name as queue,
    queues.locked_at is not null as queue_locked, queues.locked_by as queue_by,
    jobs.payload::text, jobs.priority, jobs.attempts, jobs.max_attempts, jobs.last_error, jobs.key,
    jobs.locked_by, jobs.flags::text, ${us("jobs.run_at")} as run_at,
    ${us("jobs.created_at")} as created_at, ${us("jobs.updated_at")} as updated_at,
    ${us("jobs.locked_at")} as locked_at
  from {}._private_jobs as jobs
  left join {}._private_tasks as tasks on tasks.id = jobs.task_id
  left join {}._private_job_queues as queues on queues.id = jobs.job_queue_id`;

const workersSql = `
  select id, ${us("last_heartbeat_at")} as beat_at,
    case when jsonb_typeof(metadata -> 'fetched_job_ids') = 'array'
      then array(select jsonb_array_elements_text(metadata -> 'fetched_job_ids')) end as fetched
  from {}._private_workers`;

const timeOf = (text: string | null) => (text === null ? Number.NaN : Number(text) / 1_000);

function jobOf(row: Row, isFetched: boolean, now: number): WorldJob {
  const runAt = timeOf(row.run_at);
  const isDue = runAt <= now;
  const free = row.attempts > 0 ? "retrying" : isDue ? "ready" : "scheduled";
  const condition =
    row.locked_at !== null
      ? isFetched
        ? "fetched"
        : "running"
      : row.attempts >= row.max_attempts
        ? "failed"
        : isDue && row.queue_locked
          ? "blocked"
          : free;
  return {
    id: row.id,
    task: row.task,
    queue: row.queue,
    key: row.key,
    payload: row.payload,
    priority: row.priority,
    attempts: row.attempts,
    maxAttempts: row.max_attempts,
    error: row.last_error,
    lockedBy: row.locked_by,
    condition,
    runAt,
    createdAt: timeOf(row.created_at),
    updatedAt: timeOf(row.updated_at),
    lockedAt: timeOf(row.locked_at),
  };
}
