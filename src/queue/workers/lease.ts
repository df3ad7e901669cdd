// A worker's lease on what it has locked: its row in the heartbeat table, renewed every few seconds.
// A sweep that takes jobs away from it marks the row first (recover-jobs.ts), so a worker
// that was only asleep learns it from its next beat. A beat never makes a row: one that is gone
// stays gone, and its id with it.
import { WorkerError } from "../../base/errors.ts";
import { type Database, query, type Statement } from "../../database/database.ts";
import { isRecovered, saysNumber, staleWorkers } from "./stale-workers.ts";

/** What a beat says and asks. */
export interface HeartbeatRequest {
  readonly leaseIds: readonly string[];
  /** JSON text for one of the leases; null keeps what is there. */
  readonly metadata: { readonly id: string; readonly text: string } | null;
  /**
   * Asks for stale workers: those who were heard of within so many milliseconds need no closer look. Who
   * has been heard himself for too short a time, this beat included, gets none. null: does not ask.
   */
  readonly silenceMs: number | null;
  /** The beat before it did not go through. */
  readonly isBroken: boolean;
  /** Since the last one that did: more is a gap, milliseconds. */
  readonly longestGapMs: number;
}

/** By which a worker knows its lease's row again, unless a restore has put another one in its place. */
export interface LeaseMark {
  /** The oid of the table. */
  readonly table: number;
  /** The last beat by the database's clock, milliseconds since the epoch. */
  readonly renewed_ms: number;
}

/** A lease's row as the beat has found it. */
export interface LeaseRow extends LeaseMark {
  /** A sweep has taken jobs from it. */
  readonly isRecovered: boolean;
}

export interface BeatAnswer {
  /** The database's clock, milliseconds since the epoch. */
  readonly now_ms: number;
  /** Leases with a row. */
  readonly leases: ReadonlyMap<string, LeaseRow>;
  /** For how long beats have gone through without a gap. */
  readonly uptimeMs: number;
  readonly staleWorkerIds: readonly string[];
}

// Since when beats go through without a gap. A row keeps it: who has just begun takes it over from
// somebody who was heard a moment ago. So a fleet of which nobody lives for long can tell a death from
// an outage of the database, after which there is nobody to take anything over from.
const NOW_MS = "extract(epoch from pg_catalog.now())::float8 * 1000::float8";
const SINCE = "(workers.metadata ->> 'steady_since_ms'::text)::float8";
const saysSince = saysNumber("steady_since_ms");
const since = (ms: string) => `pg_catalog.jsonb_build_object('steady_since_ms', ${ms})`;

const registerSql: Statement = (s) => `
with earlier as (
  select coalesce(pg_catalog.min(${SINCE}), ${NOW_MS}) as since_ms from ${s}._private_workers as workers
  where workers.last_heartbeat_at between pg_catalog.now() - $3::float8 * interval '1 millisecond' and pg_catalog.now()
  and ${saysSince}
), registered as (
  insert into ${s}._private_workers (id, last_heartbeat_at, metadata)
  select $1::text, pg_catalog.now(), $2::jsonb || ${since("since_ms")} from earlier
  returning tableoid::int8 as table_oid
)
select greatest(0, ${NOW_MS} - since_ms) as uptime_ms, ${NOW_MS} as now_ms, table_oid::float8
from earlier, registered`;

export interface RegisteredLease extends LeaseMark {
  /** For how long beats have gone through without a gap; 0 where no worker was heard lately. */
  readonly uptimeMs: number;
}

/** Begins a lease. The id must be new. Lately is within `heardWithinMs`. */
export async function registerLease(
  db: Database,
  id: string,
  metadata: string,
  heardWithinMs: number,
): Promise<RegisteredLease> {
  const values = [id, metadata, heardWithinMs];
  const [row] = await query<RegisteredRow>(db, registerSql, values);
  if (row === undefined)
    throw new WorkerError(
      "database_error",
      "the heartbeat was not written; is there a trigger on _private_workers?",
    );
  return { uptimeMs: row.uptime_ms, table: row.table_oid, renewed_ms: row.now_ms };
}

interface RegisteredRow {
  readonly uptime_ms: number;
  readonly now_ms: number;
  readonly table_oid: number;
}

// Whichever way the clock went.
const isSteady = `(not $5::boolean and ${saysSince}
        and last_heartbeat_at between pg_catalog.now() - $6::float8 * interval '1 millisecond' and pg_catalog.now())`;

// The update waits for a sweep that has locked the row, and then sees its mark. now() is the
// beginning of the transaction: a beat that had to wait counts from before it did.
const beatSql: Statement = (s) => `
with before as (
  select id, extract(epoch from last_heartbeat_at)::float8 * 1000::float8 as renewed_ms
  from ${s}._private_workers where id = any($1::text[])
), beat as (
  update ${s}._private_workers as workers
  set last_heartbeat_at = pg_catalog.now(),
    metadata = case
      when id = $2::text and not coalesce(${isRecovered}, false)
        then $3::jsonb || ${since(`case when ${isSteady} then ${SINCE} else ${NOW_MS} end`)}
      when ${isSteady} then metadata
      else coalesce(metadata, '{}') || ${since(NOW_MS)} end
  where id = any($1::text[])
  returning id, coalesce(${isRecovered}, false) as is_recovered, ${SINCE} as since_ms,
    workers.tableoid::int8 as table_oid
), uptime as (
  select coalesce(greatest(0, ${NOW_MS} - pg_catalog.min(since_ms)), 0) as ms from beat
)
select ${NOW_MS} as now_ms,
  (select coalesce(pg_catalog.json_object_agg(id, pg_catalog.json_build_array(is_recovered, table_oid, renewed_ms)), '{}')::text
    from beat join before using (id)) as leases,
  (select ms from uptime) as uptime_ms,
  case when $4::float8 is not null then (
    select coalesce(pg_catalog.json_agg(id), '[]')::text
    from (${staleWorkers(s, "(select ms from uptime)", "$4")}) as stale
    where id <> all($1::text[])
  ) else '[]' end as stale`;

interface BeatRow {
  readonly now_ms: number;
  readonly leases: string;
  readonly uptime_ms: number;
  readonly stale: string;
}

/** Renews leases and, in the same round trip, asks for workers that let theirs run out. */
export async function beat(
  db: Database,
  { leaseIds, metadata, silenceMs, isBroken, longestGapMs }: HeartbeatRequest,
): Promise<BeatAnswer> {
  const [row] = await query<BeatRow>(db, beatSql, [
    leaseIds,
    metadata?.id ?? null,
    metadata?.text ?? null,
    silenceMs,
    isBroken,
    longestGapMs,
  ]);
  const found = JSON.parse(row?.leases ?? "{}") as Record<string, [boolean, number, number]>;
  const leases = Object.entries(found).map(
    ([id, [isRecovered, table, renewed_ms]]) => [id, { isRecovered, table, renewed_ms }] as const,
  );
  return {
    now_ms: row?.now_ms ?? 0,
    uptimeMs: row?.uptime_ms ?? 0,
    leases: new Map(leases),
    staleWorkerIds: JSON.parse(row?.stale ?? "[]") as string[],
  };
}

const endSql: Statement = (s) => `
delete from ${s}._private_workers where id = any($1::text[])`;

/** Ends leases whose holder has nothing locked any more. */
export async function endLeases(db: Database, ids: readonly string[]): Promise<void> {
  await query(db, endSql, [ids]);
}

const stillLockedSql: Statement = (s) => `
select id::text as id from ${s}._private_jobs
where id = any($2::bigint[]) and locked_by = $1::text`;

/** Those of `jobIds` that this lease has lost. */
export async function lostJobs(
  db: Database,
  leaseId: string,
  jobIds: readonly string[],
): Promise<string[]> {
  const rows = await query<{ id: string }>(db, stillLockedSql, [leaseId, jobIds]);
  const kept = new Set(rows.map(({ id }) => id));
  return jobIds.filter((id) => !kept.has(id));
}
