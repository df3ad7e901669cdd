// A worker's lease: a row in _private_workers that heartbeats renew. A sweep (recover-jobs.ts) sets `recovered_at` in
// the row of a stale worker, or deletes the row. If the worker was only suspended, it then gets a new id.
import { WorkerError } from "../../base/errors.ts";
import { type Database, query, type Statement } from "../../database/database.ts";
import { hasNumber, isRecovered, staleWorkers } from "./stale-workers.ts";

export interface HeartbeatRequest {
  readonly leaseIds: readonly string[];
  /** `text`: the new JSON text for the column `metadata` in the row of the lease `id`. */
  readonly metadata: { readonly id: string; readonly text: string } | null;
  /** The answer lists stale workers whose last heartbeat is older than this, in milliseconds; null: none. */
  readonly silenceMs: number | null;
  /** Whether the previous heartbeat failed. If so, `uptimeMs` begins again. */
  readonly isBroken: boolean;
  /** If the last successful heartbeat is older than this many milliseconds, `uptimeMs` also begins again. */
  readonly longestGapMs: number;
}

/** Used to detect a restore from a backup: the row is then in another table, or has an earlier heartbeat. */
export interface LeaseMark {
  /** The oid of the table. */
  readonly table: number;
  /** The time of the last heartbeat by the database's clock, in milliseconds since the epoch. */
  readonly renewed_ms: number;
}

/** The row of a lease as the heartbeat found it. */
export interface LeaseRow extends LeaseMark {
  /** Whether a sweep has set `recovered_at`. The worker's jobs may then run elsewhere. */
  readonly isRecovered: boolean;
}

export interface HeartbeatAnswer {
  /** The time by the database's clock, in milliseconds since the epoch. */
  readonly now_ms: number;
  /** The leases that still have a row, by their ids. */
  readonly leases: ReadonlyMap<string, LeaseRow>;
  /** How long heartbeats have succeeded without a gap, in milliseconds. */
  readonly uptimeMs: number;
  /** Stale workers, without those whose lease is longer than `uptimeMs`. */
  readonly staleWorkerIds: readonly string[];
}

// `steady_since_ms` in a worker's row: since when the worker's heartbeats have had no gap. A new worker copies the
// earliest value of the rows with recent heartbeats, so that even a short-lived worker can find stale workers.
const NOW_MS = "extract(epoch from pg_catalog.now())::float8 * 1000::float8";
const SINCE = "(workers.metadata ->> 'steady_since_ms'::text)::float8";
const hasSince = hasNumber("steady_since_ms");
const steadySince = (ms: string) => `pg_catalog.jsonb_build_object('steady_since_ms', ${ms})`;

const registerSql: Statement = (s) => `
with earlier as (
  select coalesce(pg_catalog.min(${SINCE}), ${NOW_MS}) as since_ms from ${s}._private_workers as workers
  where workers.last_heartbeat_at between pg_catalog.now() - $3::float8 * interval '1 millisecond' and pg_catalog.now()
  and ${hasSince}
), registered as (
  insert into ${s}._private_workers (id, last_heartbeat_at, metadata)
  select $1::text, pg_catalog.now(), $2::jsonb || ${steadySince("since_ms")} from earlier
  returning tableoid::int8 as table_oid
)
select greatest(0, ${NOW_MS} - since_ms) as uptime_ms, ${NOW_MS} as now_ms, table_oid::float8
from earlier, registered`;

export interface RegisteredLease extends LeaseMark {
  /** The same as in HeartbeatAnswer. */
  readonly uptimeMs: number;
}

/** Begins a lease. The id must be new. `recentMs`: up to this age, a heartbeat is recent (see above). */
export async function registerLease(
  db: Database,
  id: string,
  metadata: string,
  recentMs: number,
): Promise<RegisteredLease> {
  const values = [id, metadata, recentMs];
  const [row] = await query<RegisteredRow>(db, registerSql, values);
  if (row === undefined)
    throw new WorkerError(
      "database_error",
      "the heartbeat was not stored; check for a trigger on _private_workers",
    );
  return { uptimeMs: row.uptime_ms, table: row.table_oid, renewed_ms: row.now_ms };
}

interface RegisteredRow {
  readonly uptime_ms: number;
  readonly now_ms: number;
  readonly table_oid: number;
}

// If the database's clock was set back, this is a gap, too.
const isSteady = `(not $5::boolean and ${hasSince}
        and last_heartbeat_at between pg_catalog.now() - $6::float8 * interval '1 millisecond' and pg_catalog.now())`;

// The update waits for a sweep that has locked the row. now() is the start of the transaction, so a heartbeat that had
// to wait stores the time before the wait.
const heartbeatSql: Statement = (s) => `
with before as (
  select id, extract(epoch from last_heartbeat_at)::float8 * 1000::float8 as renewed_ms
  from ${s}._private_workers where id = any($1::text[])
), heartbeat as (
  update ${s}._private_workers as workers
  set last_heartbeat_at = pg_catalog.now(),
    metadata = case
      when id = $2::text and not coalesce(${isRecovered}, false)
        then $3::jsonb || ${steadySince(`case when ${isSteady} then ${SINCE} else ${NOW_MS} end`)}
      when ${isSteady} then metadata
      else coalesce(metadata, '{}') || ${steadySince(NOW_MS)} end
  where id = any($1::text[])
  returning id, coalesce(${isRecovered}, false) as is_recovered, ${SINCE} as since_ms,
    workers.tableoid::int8 as table_oid
), uptime as (
  select coalesce(greatest(0, ${NOW_MS} - pg_catalog.min(since_ms)), 0) as ms from heartbeat
)
select ${NOW_MS} as now_ms,
  (select coalesce(pg_catalog.json_object_agg(id, pg_catalog.json_build_array(is_recovered, table_oid, renewed_ms)), '{}')::text
    from heartbeat join before using (id)) as leases,
  (select ms from uptime) as uptime_ms,
  case when $4::float8 is not null then (
    select coalesce(pg_catalog.json_agg(id), '[]')::text
    from (${staleWorkers(s, "(select ms from uptime)", "$4")}) as stale
    where id <> all($1::text[])
  ) else '[]' end as stale`;

interface HeartbeatRow {
  readonly now_ms: number;
  readonly leases: string;
  readonly uptime_ms: number;
  readonly stale: string;
}

/** Renews leases. Also finds stale workers, unless `silenceMs` is null. */
export async function sendHeartbeat(
  db: Database,
  { leaseIds, metadata, silenceMs, isBroken, longestGapMs }: HeartbeatRequest,
): Promise<HeartbeatAnswer> {
  const [row] = await query<HeartbeatRow>(db, heartbeatSql, [
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

/** Ends leases under which nothing is locked. */
export async function endLeases(db: Database, ids: readonly string[]): Promise<void> {
  await query(db, endSql, [ids]);
}

const stillLockedSql: Statement = (s) => `
select id::text as id from ${s}._private_jobs
where id = any($2::bigint[]) and locked_by = $1::text`;

/** Returns the ids of those jobs that are no longer locked under the id of the lease. */
export async function lostJobs(
  db: Database,
  leaseId: string,
  jobIds: readonly string[],
): Promise<string[]> {
  const rows = await query<{ id: string }>(db, stillLockedSql, [leaseId, jobIds]);
  const lockedIds = new Set(rows.map(({ id }) => id));
  return jobIds.filter((id) => !lockedIds.has(id));
}
