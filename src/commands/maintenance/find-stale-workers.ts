// Finds the workers for a manual sweep, which recovers the jobs of stale and unknown workers.
import { type Database, query, type Statement } from "../../database/database.ts";
import { hasLimits } from "../../database/schema/extensions/has-extension.ts";
import { isLockedByWorker } from "../../queue/sql/lock.ts";
import { AGE_MS, isStale } from "../../queue/workers/stale-workers.ts";

export interface FoundWorker {
  readonly workerId: string;
  /**
   * `stale`: the last heartbeat is older than the sweep's threshold, and older than the worker's own threshold, if it
   * has one. `spared`: the last heartbeat is not older than the worker's own threshold. `unknown`: the worker has no
   * heartbeat row, and its newest lock is older than the sweep's threshold.
   */
  readonly kind: "stale" | "unknown" | "spared";
  readonly lockedJobs: number;
  /** The number of named queues, and of slots of queues, that the worker has locked. */
  readonly lockedQueues: number;
}

interface FoundRow {
  readonly worker_id: string;
  readonly kind: FoundWorker["kind"];
  readonly locked_jobs: string;
  readonly locked_queues: string;
}

/** Returns at most 1,000 workers, the spared workers last. If `hasHeartbeats` is false, all workers are unknown. */
export async function findStaleWorkers(
  db: Database,
  hasHeartbeats: boolean,
  thresholdMs: number,
): Promise<FoundWorker[]> {
  const slots = await hasLimits(db);
  const statement = hasHeartbeats ? foundSql(slots) : unknownSql(slots);
  const rows = await query<FoundRow>(db, statement, [thresholdMs]);
  return rows.map((row) => ({
    workerId: row.worker_id,
    kind: row.kind,
    lockedJobs: Number(row.locked_jobs),
    lockedQueues: Number(row.locked_queues),
  }));
}

// "locked_at is not null" lets the planner use the optional index `running`.
const locks = (s: string, slots: boolean) => `
  select locked_by, locked_at, true as is_job
  from ${s}._private_jobs
  where locked_by is not null and locked_at is not null and not is_available
  union all
  select locked_by, locked_at, false
  from ${s}._private_job_queues as queues
  where locked_by is not null and ${isLockedByWorker("queues")}${
    slots
      ? `
  union all
  select locked_by, locked_at, false
  from ${s}._private_queue_slots
  where locked_by is not null`
      : ""
  }`;

// A worker with a recent lock probably still runs.
const unknown = (condition: string) => `
  select locked_by as id, 'unknown' as kind
  from locks
  ${condition}
  group by locked_by
  having pg_catalog.max(locked_at) < pg_catalog.now() - $1::float8 * interval '1 millisecond'`;

const summary = `
  select
    found.id as worker_id, found.kind,
    pg_catalog.count(*) filter (where locks.is_job)::text as locked_jobs,
    pg_catalog.count(*) filter (where not locks.is_job)::text as locked_queues
  from found
  left join locks on locks.locked_by = found.id
  group by found.id, found.kind
  order by found.kind = 'spared', found.id
  limit 1000`;

const foundSql =
  (slots: boolean): Statement =>
  (s) =>
    `
  with locks as materialized (${locks(s, slots)}
  ), found as (
    select id, case when ${isStale("'infinity'", "$1")} then 'stale' else 'spared' end as kind
    from ${s}._private_workers as workers
    where ${AGE_MS} > $1::float8
    union all ${unknown(`where not exists (
    select from ${s}._private_workers as workers where workers.id = locks.locked_by
  )`)}
  )${summary}`;

const unknownSql =
  (slots: boolean): Statement =>
  (s) =>
    `
  with locks as materialized (${locks(s, slots)}
  ), found as (${unknown("")}
  )${summary}`;
