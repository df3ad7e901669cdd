// Which workers are stale: nobody has heard of them for longer than they said that could be. One
// definition, for the sweep that every worker makes with its heartbeat and for the manual one.
//
//   has a heartbeat row:  stale once its last heartbeat is older than its threshold
//   has none ("orphan"):  only the manual sweep judges it, by the age of the last lock that it took
import { type Database, query, type Statement } from "../../database/database.ts";
import { ageMs } from "../sql/moments.ts";

/** The sweep's mark in a worker's metadata: its ordinary jobs have been recovered. */
export const isRecovered = "workers.metadata ? 'recovered_at'::text";

/** How long ago a worker was heard of, milliseconds. */
export const AGE_MS = ageMs("workers.last_heartbeat_at");

// A lease is as long as its holder says: workers of one fleet may be set up differently, and those
// of graphile_worker_rs, who say nothing, beat once a minute and are given 300 s as they are there.
const UNDECLARED_MS = 300_000;

/**
 * Whether a worker's metadata has a number under this name, and one that fits: JSON has 1e999, for which
 * a cast would end the whole statement.
 */
export const saysNumber = (name: string): string =>
  `pg_catalog.jsonb_typeof(workers.metadata -> '${name}'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> '${name}'::text) <= 25`;

/** The number, 0 at least; null where there is none that fits. */
export const numberSaid = (name: string): string =>
  `case when ${saysNumber(name)}
      then greatest((workers.metadata ->> '${name}'::text)::float8, 0::float8) end`;

/** `given`: of a manual sweep, in place of what is not declared. It never shortens what is. */
const threshold = (name: string, given: string) =>
  `case when ${saysNumber(name)}
      then greatest((workers.metadata ->> '${name}'::text)::float8, ${given}::float8)
      else coalesce(${given}::float8, ${UNDECLARED_MS}) end`;

/** Milliseconds after which the ordinary jobs of a worker are recovered. */
export const thresholdOf = (given: string): string => threshold("threshold_ms", given);

/** The same for its resilient jobs; with them its row goes. */
export const resilientThresholdOf = (given: string): string =>
  threshold("resilient_threshold_ms", given);

/**
 * A condition on a heartbeat row `workers`: its time is up. `uptime`: for how long, in milliseconds,
 * whoever judges has been heard himself; as long as the other has been silent in vain.
 */
export const isStale = (uptime: string, given: string): string =>
  `${AGE_MS} > case when ${isRecovered}
      then ${resilientThresholdOf(given)}
      else ${thresholdOf(given)} end
    and ${uptime}::float8 >= ${thresholdOf(given)}`;

/**
 * A condition on a heartbeat row `workers`: people are told that it is silent. The only rule for that;
 * that some are stale for a sweep besides is the sweep's own business.
 */
export const isSilent = `(coalesce(${isRecovered}, false) or ${AGE_MS} > ${thresholdOf("null")})`;

const MOST_AT_ONCE = 100;

/**
 * Stale workers, for the sweep of a heartbeat. The first condition lets the index on
 * last_heartbeat_at answer for everybody who is well: `heardMs` ago is recent enough.
 */
export const staleWorkers = (s: string, uptime: string, heardMs: string): string => `
  select workers.id from ${s}._private_workers as workers
  where workers.last_heartbeat_at < pg_catalog.now() - ${heardMs}::float8 * interval '1 millisecond'
  and ${isStale(uptime, "null")}
  order by workers.last_heartbeat_at limit ${MOST_AT_ONCE}`;

export interface FoundWorker {
  readonly workerId: string;
  /**
   * `stale`; `orphan`: without a heartbeat row; `spared`: not heard of for as long as was given, but
   * its own threshold is longer.
   */
  readonly kind: "stale" | "orphan" | "spared";
  readonly lockedJobs: number;
  readonly lockedQueues: number;
}

interface FoundRow {
  readonly worker_id: string;
  readonly kind: FoundWorker["kind"];
  readonly locked_jobs: string;
  readonly locked_queues: string;
}

/**
 * For the manual sweep: at most 1,000, ascending by id, those that are spared last. Without
 * heartbeats all of them are orphans.
 */
export async function findStaleWorkers(
  db: Database,
  hasHeartbeats: boolean,
  thresholdMs: number,
): Promise<FoundWorker[]> {
  const statement = hasHeartbeats ? foundSql : orphansSql;
  const rows = await query<FoundRow>(db, statement, [thresholdMs]);
  return rows.map((row) => ({
    workerId: row.worker_id,
    kind: row.kind,
    lockedJobs: Number(row.locked_jobs),
    lockedQueues: Number(row.locked_queues),
  }));
}

// "not is_available" lets the optional index on locked jobs serve (see list-locked-workers).
const locks = (s: string) => `
  select locked_by, locked_at, true as is_job
  from ${s}._private_jobs
  where locked_by is not null and locked_at is not null and not is_available
  union all
  select locked_by, locked_at, false
  from ${s}._private_job_queues
  where locked_by is not null and locked_at is not null`;

// The newest lock decides about an orphan: who took one just now is alive, whatever else it holds.
const orphans = (condition: string) => `
  select locked_by as id, 'orphan' as kind
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

const foundSql: Statement = (s) => `
  with locks as materialized (${locks(s)}
  ), found as (
    select id, case when ${isStale("'infinity'", "$1")} then 'stale' else 'spared' end as kind
    from ${s}._private_workers as workers
    where ${AGE_MS} > $1::float8
    union all ${orphans(`where not exists (
    select from ${s}._private_workers as workers where workers.id = locks.locked_by
  )`)}
  )${summary}`;

const orphansSql: Statement = (s) => `
  with locks as materialized (${locks(s)}
  ), found as (${orphans("")}
  )${summary}`;
