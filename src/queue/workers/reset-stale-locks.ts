// Removes old locks, as Graphile Worker does. Skips the locks of workers that have a heartbeat row: if such a worker is
// stale, recovery removes its locks. Also deletes the heartbeat rows of workers that stopped long ago.
import { type Database, query, type Statement } from "../../database/database.ts";
import { isRefusedResult } from "../../database/errors/database-errors.ts";
import { changeUnrefused, type RefusedRow } from "../../database/refused-rows.ts";
import { hasLimits, hasWorkerTable } from "../../database/schema/extensions/has-extension.ts";
import { isPseudoLock, UNLOCK } from "../sql/lock.ts";
import { announceJobs } from "../sql/notify.ts";
import { freeSlots } from "../sql/slots.ts";
import { recoverJob } from "./recover-statement.ts";
import { AGE_MS, reportedNumber, resilientThresholdOf, thresholdOf } from "./stale-workers.ts";

export interface ResetLocks {
  readonly jobs: number;
  readonly queues: number;
  readonly refused: readonly RefusedRow[];
}

// The age of the heartbeat is not checked: after an outage, no heartbeat is recent.
const hasHeartbeat = (s: string, lock: string) =>
  `exists (select from ${s}._private_workers as workers where workers.id = ${lock}.locked_by)`;

// $1 float8: the threshold in milliseconds; $2 text: the threshold in words; $3 bigint[]: if not null, only jobs with
// these ids are unlocked, and no queue or slot; $4 bigint[]: the ids of jobs that are skipped.
const resetSql =
  (heartbeats: boolean, slots: boolean): Statement =>
  (s) => {
    const isStale = (lock: string) =>
      `${lock}.locked_at < pg_catalog.now() - $1::float8 * interval '1 millisecond'${
        heartbeats ? ` and not ${hasHeartbeat(s, lock)}` : ""
      }`;
    return `
with stale as materialized (
  select jobs.id from ${s}._private_jobs as jobs
  where ${isStale("jobs")} and not jobs.is_available
  and ($3::bigint[] is null or jobs.id = any($3::bigint[])) and jobs.id <> all($4::bigint[])
  order by jobs.id for update of jobs skip locked
), recovered as (
  update ${s}._private_jobs as jobs
  set ${recoverJob(`pg_catalog.format('Recovered: worker %s held attempt %s for more than %s',
      jobs.locked_by, jobs.attempts, $2::text)`)},
    run_at = greatest(run_at, pg_catalog.now())
  where id = any(array(select id from stale))
  returning 1
), stale_queue as materialized (
  select queues.id from ${s}._private_job_queues as queues
  where $3::bigint[] is null and ${isStale("queues")} and not ${isPseudoLock("queues")}
  order by queues.id for update of queues skip locked
), unlocked_queue as (
  update ${s}._private_job_queues set ${UNLOCK}
  where id = any(array(select id from stale_queue))
  returning 1
)${slots ? freedSlots(s, isStale("slots")) : ""}, total as (
  select (select pg_catalog.count(*)::int from recovered) as jobs,
    (select pg_catalog.count(*)::int from unlocked_queue)${slots ? " + (select pg_catalog.count(*)::int from unlocked_slot)" : ""} as queues
)
select total.jobs, total.queues,
  case when total.jobs + total.queues > 0 then ${announceJobs("greatest(total.jobs, 1)")} end
from total`;
  };

const freedSlots = (s: string, isStale: string) => `, stale_slot as materialized (
  select slots.queue_id, slots.slot from ${s}._private_queue_slots as slots
  where $3::bigint[] is null and ${isStale} and not exists (
    select from ${s}._private_jobs as jobs where jobs.job_queue_id = slots.queue_id
    and jobs.locked_by = slots.locked_by and not jobs.is_available and jobs.locked_at is not null and jobs.id not in (select id from stale))
  order by slots.queue_id, slots.slot for update of slots skip locked
), unlocked_slot as (
  ${freeSlots(s, "(slots.queue_id, slots.slot) in (select stale_slot.queue_id, stale_slot.slot from stale_slot)")}
  returning 1
)`;

const statements = {
  withHeartbeats: resetSql(true, false),
  without: resetSql(false, false),
  withSlots: { withHeartbeats: resetSql(true, true), without: resetSql(false, true) },
};

const oldJobsSql: Statement = (s) => `
select id from ${s}._private_jobs
where not is_available and locked_at < pg_catalog.now() - $1::float8 * interval '1 millisecond'
order by id limit 100000`;

/**
 * Unlocks jobs, queues and slots that have been locked for more than `thresholdMs` by a worker without a heartbeat row.
 * The interrupted attempts still count. `db` must use a single connection: a refused statement may still hold its row
 * locks for a moment, and on another connection the next statement would skip these rows.
 */
export async function resetStaleLocks(db: Database, thresholdMs: number): Promise<ResetLocks> {
  const { withHeartbeats, without } = (await hasLimits(db)) ? statements.withSlots : statements;
  const statement = (await hasWorkerTable(db)) ? withHeartbeats : without;
  const reset = async (only: readonly string[] | null, skipped: readonly string[] = []) => {
    const values = [thresholdMs, inWords(thresholdMs), only, skipped];
    const [row] = await query<{ jobs: number; queues: number }>(db, statement, values);
    return { jobs: row?.jobs ?? 0, queues: row?.queues ?? 0, refused: [] };
  };
  try {
    return await reset(null);
  } catch (error) {
    if (!isRefusedResult(error)) throw error;
  }
  const rows = await query<{ id: string }>(db, oldJobsSql, [thresholdMs]);
  const ids = rows.map(({ id }) => id);
  const { changed, refused } = await changeUnrefused(
    db,
    ids,
    async (some) => (await reset(some)).jobs,
  );
  const refusedIds = refused.map(({ id }) => id);
  const last = await reset(null, refusedIds);
  return { jobs: changed + last.jobs, queues: last.queues, refused };
}

const HOUR_MS = 3_600_000;

function inWords(ms: number): string {
  return ms % HOUR_MS === 0 ? `${ms / HOUR_MS} hours` : `${ms} ms`;
}

/** The default threshold in milliseconds, the same as Graphile Worker's. */
export const STALE_LOCK_MS = 4 * HOUR_MS;

// $1 float8: `thresholdMs`; $2 boolean: `isCertain`. There was no outage if a worker with a recent heartbeat has sent
// heartbeats without a gap for at least as long as the lease of the worker whose row is deleted.
const deleteSql: Statement = (s) => `
delete from ${s}._private_workers as workers
where ${AGE_MS} > greatest($1::float8, ${thresholdOf("null")}, ${resilientThresholdOf("null")})
and ($2::boolean or ${thresholdOf("null")} <= (
  select pg_catalog.max(extract(epoch from pg_catalog.now())::float8 * 1000::float8 - ${reportedNumber("steady_since_ms")})
  from ${s}._private_workers as workers where ${AGE_MS} between 0::float8 and ${thresholdOf("null")} / 2::float8
))`;

/**
 * Deletes the heartbeat rows of workers whose last heartbeat is older than `thresholdMs` and older than the worker's
 * own thresholds, so that the locks of these workers can be reset. `isCertain`: whether the caller has excluded an
 * outage. If false, a row is deleted only if the heartbeats of another worker exclude an outage.
 */
export async function deleteStaleWorkers(db: Database, thresholdMs: number, isCertain = false) {
  if (await hasWorkerTable(db)) await query(db, deleteSql, [thresholdMs, isCertain]);
}
