// Builds the statement of a sweep, which unlocks the jobs, queues and slots of stale workers, and marks or deletes the
// heartbeat rows of these workers. A worker (the sweeper) or a user (a manual sweep) makes the sweep.
import type { Statement } from "../../database/database.ts";
import { utcText } from "../../database/inspect/utc-text.ts";
import { SKIPPED } from "../../database/skipped-rows.ts";
import { isPseudoLock, UNLOCK } from "../sql/lock.ts";
import { announceJobs } from "../sql/notify.ts";
import { freeSlots } from "../sql/slots.ts";
import { endTransactions } from "./session-lock.ts";
import { AGE_MS, isRecovered, isStale, resilientThresholdOf } from "./stale-workers.ts";
import { MAX_REPORT_BYTES, ROOM_FOR_MARKS } from "./worker-table.ts";

export interface RecoverForm {
  /** Whether the schema has the table of heartbeat rows, `_private_workers`. */
  readonly heartbeats: boolean;
  /** Whether the statement only counts and changes nothing. */
  readonly isDry: boolean;
  /** Whether the statement waits for the end of another sweep. If false, nothing is recovered during another sweep. */
  readonly waitsForSweep: boolean;
  /** Whether the schema has the tables of limits. */
  readonly slots: boolean;
}

// The parameters of every form:
//   $1 float8 the threshold of a manual sweep, in milliseconds. A worker's own threshold applies if it is longer, or
//             if $1 is null.
//   $2 text[] the ids of the workers without a heartbeat row that a manual sweep recovers
// With `heartbeats`, $3 to $7 follow: `staleWorkerIds`, `messages` ('' for the default text), `uptimeMs`,
// `heartbeatAtMs` and `longestGapMs` of a RecoveryRequest (recover-jobs.ts). In a manual sweep, $5 and $7 are infinite.
// Unless `isDry`, the last four parameters are:
//   text      the key of the advisory lock that each sweep takes
//   float8    the delay after which a recovered job may run again, in milliseconds
//   bigint[]  the ids of refused jobs: PostgreSQL has refused to change these jobs
//   bigint[]  the ids of the only jobs to unlock; null: all jobs. If not null, no other row is changed.
// A sweep is one statement, so it also works behind a transaction pooler. The parts of the statement are:
// `turn`: takes the advisory lock, so that only one sweep of the schema runs at a time.
// `stale_row`: skips locked rows, because the lock may be that of a heartbeat. No row is found if the sweeper's last
// heartbeat is not recent: after a jump of the database's clock, or a suspension of the sweeper, live workers may look
// stale.
// `due`: skips locked rows and refused jobs. The heartbeat row of a skipped job's worker is neither marked nor deleted,
// so that the next sweep finds the worker again.
// `locked_queue`, `queue`: while a resilient job (flag `infrastructure_resilient`) or a skipped job of a queue stays
// locked, the queue stays locked, too, so that no later job overtakes the locked job.
// `locked_slot`, `slot`: while such a job stays locked, all slots that its worker has locked in the job's queue stay
// locked, too, because the job may run in any of these slots.
// `recovered`: if a trigger skips the update of a job, the statement fails and changes nothing. The interrupted attempt
// counts, so that a job that kills its worker uses up its attempts. Because of the delay, workers fetch other jobs
// before such a job. Without a delay, a job of a named queue keeps its `run_at`, and so its place in the queue.
export const recoverSql =
  ({ heartbeats, isDry, waitsForSweep, slots }: RecoverForm): Statement =>
  (s) => {
    const [key, delay, excluded, only] = heartbeats
      ? ["$8", "$9", "$10", "$11"]
      : ["$3", "$4", "$5", "$6"];
    const ofAll = isDry ? "" : `${only}::bigint[] is null and `;
    const found = `${heartbeats ? `${staleRows(s, isDry)}, ` : ""}${stale(s, heartbeats, isDry)}, ${lockedJobsSql(s, ofAll, only)}${
      slots ? lockedSlots(s, ofAll) : ""
    }`;
    if (isDry) {
      return `
with ${found}
select (select pg_catalog.count(*)::int from locked_jobs where is_due) as jobs,
  (select pg_catalog.count(*)::int from locked_queue)${slots ? " + (select pg_catalog.count(*)::int from locked_slot)" : ""} as queues, '[]' as workers`;
    }
    return `
with ${turn(key, waitsForSweep)}, ${found}, ${dueSql(s, delay, excluded)}${slots ? freedSlots(s) : ""}${heartbeats ? unfinishedSql(s, slots, only) : ""},
ended as materialized (${heartbeats ? endTransactions : NO_TRANSACTIONS}
), total as (
  select (select pg_catalog.count(*)::int from recovered) as jobs, (select pg_catalog.count(*)::int from unlocked_queue)${slots ? " + (select pg_catalog.count(*)::int from unlocked_slot)" : ""} as queues,
    (select pg_catalog.count(*)::int from ended where has_ended) as transactions
)
select total.jobs, total.queues,
  (select coalesce(pg_catalog.json_agg(id order by id), '[]')::text from stale
    where not is_marked or id in (select locked_by from locked_jobs)) as workers,
  case when total.jobs + total.queues + total.transactions > 0 then ${announceJobs("greatest(total.jobs, 1)")} end
from total
where case when total.jobs = (select pg_catalog.count(*) from due) then '0'::text else '${SKIPPED}'::text end::int = 0`;
  };

const NO_TRANSACTIONS = "select false as has_ended where false";

const turn = (key: string, waits: boolean) => {
  const lock = `pg_catalog.hashtextextended(${key}::text, 0)`;
  const isOurs = waits
    ? `pg_catalog.pg_advisory_xact_lock(${lock})::text is not null`
    : `pg_catalog.pg_try_advisory_xact_lock(${lock})`;
  return `turn as materialized (
  select ${isOurs} as is_ours
)`;
};

const staleRows = (s: string, isDry: boolean) => `stale_row as materialized (
  select workers.id, ${AGE_MS} > ${resilientThresholdOf("$1")} as is_final, nullif(requested.message, ''::text) as message,
    coalesce(${isRecovered}, false) as is_marked
  from ${s}._private_workers as workers
  join unnest($3::text[], $4::text[]) as requested (id, message) on requested.id = workers.id
  where ${isDry ? "" : "(select is_ours from turn) and "}${isStale("$5", "$1")}
  and pg_catalog.abs(extract(epoch from pg_catalog.now())::float8 * 1000::float8 - $6::float8) < $7::float8
  order by workers.id${isDry ? "" : " for update of workers skip locked"}
)`;

const stale = (s: string, heartbeats: boolean, isDry: boolean) => {
  const isOurTurn = isDry ? "true" : "(select is_ours from turn)";
  const unknownWorkers = `select unknown.id, true as is_final, null::text as message, false as is_marked,
    false as has_row
  from pg_catalog.unnest($2::text[]) as unknown (id) where ${isOurTurn}`;
  if (!heartbeats) {
    return `stale as materialized (
  ${unknownWorkers}
)`;
  }
  return `stale as materialized (
  select id, is_final, message, is_marked, true as has_row from stale_row
  union all
  ${unknownWorkers}
  and not exists (select from ${s}._private_workers as workers where workers.id = unknown.id)
)`;
};

/** A worker without a heartbeat row may still run, so its locks are removed only if they are older than $1. */
const isOld = (lock: string) =>
  `(stale.has_row or ${lock}.locked_at < pg_catalog.now() - $1::float8 * interval '1 millisecond')`;

// "locked_at is not null" lets the planner use the optional index of locked jobs.
const lockedJobsSql = (s: string, ofAll: string, only: string) => `locked_jobs as materialized (
  select jobs.id, jobs.job_queue_id, jobs.locked_by, jobs.locked_at,
    stale.is_final or not coalesce(jobs.flags ? 'infrastructure_resilient'::text, false) as is_due
  from ${s}._private_jobs as jobs join stale on stale.id = jobs.locked_by
  where not jobs.is_available and jobs.locked_at is not null and ${isOld("jobs")}${
    ofAll === ""
      ? ""
      : `
  and (${only}::bigint[] is null or jobs.id = any(${only}::bigint[]))`
  }
), locked_queue as materialized (
  select queues.id, queues.locked_by from ${s}._private_job_queues as queues
  join stale on stale.id = queues.locked_by
  where ${ofAll}${isOld("queues")} and not ${isPseudoLock("queues")} and not exists (
    select from locked_jobs where locked_jobs.job_queue_id = queues.id and not locked_jobs.is_due
  )
)`;

const dueSql = (s: string, delay: string, excluded: string) => `due as materialized (
  select id from ${s}._private_jobs
  where id = any(array(select id from locked_jobs where is_due))
  and id <> all(${excluded}::bigint[])
  and locked_by = any(array(select id from stale))
  order by id for update skip locked
), recovered as (
  update ${s}._private_jobs as jobs
  set ${recoverJob(`coalesce(stale.message, pg_catalog.format(
      case when stale.has_row then 'Recovered: worker %1$s stopped without finishing attempt %2$s'
        else 'Recovered: attempt %2$s was locked since %3$s by %1$s, which sends no heartbeat' end,
      jobs.locked_by, jobs.attempts, ${utcText("jobs.locked_at")}))`)},
    run_at = case when jobs.job_queue_id is null or ${delay}::float8 > 0::float8
      then greatest(jobs.run_at, pg_catalog.now() + ${delay}::float8 * interval '1 millisecond')
      else jobs.run_at end
  from due, stale where jobs.id = due.id and stale.id = jobs.locked_by
  returning 1
), queue as materialized (
  select id from ${s}._private_job_queues as queues
  where id = any(array(select id from locked_queue))
  and locked_by = any(array(select id from stale))
  and not exists (
    select from locked_jobs where locked_jobs.job_queue_id = queues.id and locked_jobs.id not in (select id from due)
  )
  order by id for update skip locked
), unlocked_queue as (
  update ${s}._private_job_queues set ${UNLOCK}
  where id = any(array(select id from queue))
  returning 1
)`;

const lockedSlots = (s: string, ofAll: string) => `, locked_slot as materialized (
  select slots.queue_id, slots.slot, slots.locked_by from ${s}._private_queue_slots as slots
  join stale on stale.id = slots.locked_by
  where ${ofAll}${isOld("slots")} and not exists (select from locked_jobs where locked_jobs.job_queue_id = slots.queue_id
    and locked_jobs.locked_by = slots.locked_by and not locked_jobs.is_due)
)`;

const freedSlots = (s: string) => `, slot as materialized (
  select slots.queue_id, slots.slot from ${s}._private_queue_slots as slots
  where (slots.queue_id, slots.slot) in (select locked_slot.queue_id, locked_slot.slot from locked_slot)
  and slots.locked_by = any(array(select id from stale))
  and not exists (select from locked_jobs where locked_jobs.job_queue_id = slots.queue_id and locked_jobs.locked_by = slots.locked_by
    and locked_jobs.id not in (select id from due))
  order by slots.queue_id, slots.slot for update skip locked
), unlocked_slot as (
  ${freeSlots(s, "(slots.queue_id, slots.slot) in (select slot.queue_id, slot.slot from slot)")}
  returning 1
)`;

/** Returns the assignments of an update with the alias `jobs` that unlock a job. `message`: SQL of the error's text. */
export const recoverJob = (message: string): string =>
  `${UNLOCK}, updated_at = pg_catalog.now(), last_error = ${countedMessage(message)}`;

// From the count in this text, lost-attempts.ts finds jobs that kill their workers.
const countedMessage = (message: string) => `(
      select case when earlier.count is null then given.message
        else pg_catalog.format('Recovered %s times in a row: %s', earlier.count + 1,
          pg_catalog.regexp_replace(given.message, '^Recovered: ', '')) end
      from (select ${message} as message) as given, lateral (
        select case
          when jobs.last_error ~ '^Recovered [0-9]{1,5} times in a row: '
            then pg_catalog.substring(jobs.last_error, '^Recovered ([0-9]+)')::int
          when jobs.last_error like 'Recovered: %' or jobs.last_error = given.message then 1
        end as count
      ) as earlier
    )`;

// The length of `metadata` is limited. If a worker's report leaves no room for the mark, the mark replaces the report.
const unfinishedSql = (s: string, slots: boolean, only: string) => `, unfinished as materialized (
  select locked_by from locked_jobs where is_due and id not in (select id from due)
  union select id from stale_row where ${only}::bigint[] is not null
  union select locked_by from locked_queue where id not in (select id from queue)${
    slots
      ? `
  union select locked_by from locked_slot where not exists (
    select from slot where slot.queue_id = locked_slot.queue_id and slot.slot = locked_slot.slot)`
      : ""
  }
), marked as (
  update ${s}._private_workers as workers
  set metadata = case when pg_catalog.jsonb_typeof(metadata) = 'object'
      and pg_catalog.octet_length(metadata::text) <= ${MAX_REPORT_BYTES - ROOM_FOR_MARKS}::int
      then metadata else '{}' end
    || pg_catalog.jsonb_build_object('recovered_at', pg_catalog.now(), 'recovered_jobs',
      (select pg_catalog.count(*) from locked_jobs where locked_jobs.locked_by = workers.id and locked_jobs.is_due))
  from stale_row where workers.id = stale_row.id and not stale_row.is_final
  and stale_row.id not in (select locked_by from unfinished)
), deleted as (
  delete from ${s}._private_workers as workers using stale_row
  where workers.id = stale_row.id and stale_row.is_final
  and stale_row.id not in (select locked_by from unfinished)
)${slots ? withdrawnPermits(s) : ""}`;

// A worker keeps its permits while a resilient job stays locked, because the job may still run.
const withdrawnPermits = (s: string) => `, withdrawn as (
  delete from ${s}._private_limit_permits as permits using stale_row
  where permits.worker_id = stale_row.id
  and stale_row.id not in (select locked_by from unfinished)
  and not exists (select from locked_jobs where locked_jobs.locked_by = stale_row.id and not locked_jobs.is_due)
)`;
