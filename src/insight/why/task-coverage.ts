// Reads which tasks the workers list in their heartbeats. A Graphile worker lists no tasks, and may support any task,
// so a task that no live worker lists is unsupported only if `isComplete` is true.

import { type Database, query, type Statement } from "../../database/database.ts";
import { isLockedByWorker, lockHolder } from "../../queue/sql/lock.ts";
import { reportedWorkers } from "../expressions/reported-workers.ts";
import { isAlive } from "./holders.ts";

export interface TaskCoverage {
  /** The number of workers that have sent heartbeats and are not stale. */
  readonly alive: number;
  /**
   * Whether each live worker, and each worker that holds a lock, lists all its tasks. False if this is unknown, or if
   * no worker is alive.
   */
  readonly isComplete: boolean;
  /** The given tasks that no live worker lists. */
  readonly unlisted: ReadonlySet<string>;
  /** For each given task that live workers list: the number of these workers. */
  readonly listed: ReadonlyMap<string, number>;
  /** For a task in `unlisted`: of the stale workers that listed the task, the worker with the latest heartbeat. */
  readonly formerly: ReadonlyMap<string, string>;
  /** The live worker that reports the job `jobId` as running. A job's row does not show a worker of the fast mode. */
  readonly runner: string | null;
}

/** A map from the id of a worker to the number of jobs that it has locked. */
export type LockedJobs = ReadonlyMap<string, number>;

export interface TaskCoverageOptions {
  readonly hasWorkers: boolean;
  /**
   * The workers that have locked jobs. "read": they are read from the table of jobs. "unknown": `isComplete` is false.
   */
  readonly jobLocks: "read" | "unknown" | LockedJobs;
  readonly jobId?: string;
}

export async function readTaskCoverage(
  db: Database,
  tasks: readonly string[],
  { hasWorkers, jobLocks, jobId }: TaskCoverageOptions,
): Promise<TaskCoverage> {
  if (!hasWorkers) return NO_COVERAGE;
  const statement = jobLocks === "read" ? statements.allLocks : statements.givenLocks;
  const holders = typeof jobLocks === "string" ? [] : [[...jobLocks.keys()]];
  const values = [tasks, jobId ?? null, ...(jobLocks === "unknown" ? [[]] : holders)];
  const [row] = await query<TaskCoverageRow>(db, statement, values);
  const alive = row?.alive ?? 0;
  const isOpen = row?.is_open !== false || (row?.known ?? 0) > MAX_WORKERS;
  return {
    alive,
    isComplete: jobLocks !== "unknown" && alive > 0 && !isOpen,
    unlisted: new Set(JSON.parse(row?.unlisted ?? "[]") as string[]),
    listed: new Map(Object.entries(JSON.parse(row?.listed ?? "{}") as Record<string, number>)),
    formerly: new Map(Object.entries(JSON.parse(row?.formerly ?? "{}") as Record<string, string>)),
    runner: row?.runner ?? null,
  };
}

export const NO_COVERAGE: TaskCoverage = Object.freeze({
  alive: 0,
  isComplete: false,
  unlisted: new Set<string>(),
  listed: new Map<string, number>(),
  formerly: new Map<string, string>(),
  runner: null,
});

interface TaskCoverageRow {
  readonly known: number;
  readonly alive: number;
  readonly is_open: boolean;
  readonly unlisted: string;
  readonly listed: string;
  readonly formerly: string;
  readonly runner: string | null;
}

const MAX_WORKERS = 1_000;

const listsAll = `(pg_catalog.jsonb_typeof(metadata -> 'task_identifiers'::text) = 'array'
      and coalesce(metadata ->> 'tasks_cut'::text, 'false') in ('false', '0'))`;

const taskCoverageSql =
  (readsJobs: boolean): Statement =>
  (s) =>
    `
  with fleet as materialized (
    select id, last_heartbeat_at, metadata -> 'task_identifiers'::text as tasks, ${isAlive} as is_alive,
      coalesce(${listsAll}, false) as lists_all, metadata -> 'running_job_ids'::text as running
    from ${reportedWorkers(s)} as workers
    order by last_heartbeat_at desc
    limit ${MAX_WORKERS + 1}
  ), locks as (
    select ${lockHolder("queues")} as locked_by from ${s}._private_job_queues as queues
    where ${isLockedByWorker("queues")}
    union all ${
      readsJobs
        ? `select ${lockHolder("jobs")} from ${s}._private_jobs as jobs
    where locked_at is not null and not is_available`
        : "select pg_catalog.unnest($3::text[])"
    }
  ), requested as materialized (
    select task, (select pg_catalog.count(*)::int from fleet where is_alive and tasks ? task) as workers
    from pg_catalog.unnest($1::text[]) as given (task)
  )
  select
    (select pg_catalog.count(*)::int from fleet) as known,
    (select pg_catalog.count(*)::int from fleet where is_alive) as alive,
    exists (select from fleet where is_alive and not lists_all)
      or exists (
        select from locks where locked_by is not null
        and not exists (select from fleet where fleet.id = locks.locked_by and fleet.lists_all)
      ) as is_open,
    (select coalesce(pg_catalog.json_agg(task), '[]')::text from requested where workers = 0) as unlisted,
    (select coalesce(pg_catalog.json_object_agg(task, workers), '{}')::text from requested where workers > 0) as listed,
    (select coalesce(pg_catalog.json_object_agg(task, id), '{}')::text from requested, lateral (
      select id from fleet where not is_alive and tasks ? task order by last_heartbeat_at desc limit 1
    ) as last where workers = 0) as formerly,
    (select id from fleet where is_alive and running ? $2::text limit 1) as runner`;

const statements = { allLocks: taskCoverageSql(true), givenLocks: taskCoverageSql(false) };
