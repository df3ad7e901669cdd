// Builds the statement by which recover-jobs.ts unlocks jobs, queues and slots of stale workers, and marks the workers.
import type { Statement } from "../../database/database.ts";
import { SKIPPED } from "../../database/skipped-rows.ts";
import { isPseudoLock, UNLOCK } from "../sql/lock.ts";
import { announceJobs } from "../sql/notify.ts";
import { freeSlots } from "../sql/slots.ts";
import { endTransactions } from "./session-lock.ts";
import { AGE_MS, isRecovered, isStale, resilientThresholdOf } from "./stale-workers.ts";
import { MAX_REPORT_BYTES, ROOM_FOR_MARKS } from "./worker-table.ts";

export interface RecoverForm {
  /** Whether the schema has heartbeat rows. */
  readonly heartbeats: boolean;
  /** Whether the statement only counts and changes nothing. */
  readonly isDry: boolean;
  /** Whether the statement waits for another sweep to end; if not, it leaves the work to that sweep. */
  readonly waitsForSweep: boolean;
  /** Whether the schema has the tables for limits, in which slots of managed queues and permits are. */
  readonly slots: boolean;
}

/*
 * The parameters of every form:
 *   $1 float8 the threshold of a manual sweep in milliseconds; null: each worker's own threshold
 *   $2 text[] the workers without a heartbeat row that a manual sweep recovers
 * With `heartbeats`, these follow:
 *   $3 text[] stale workers  $4 text[] the messages for their jobs  $5 float8 how long heartbeats have succeeded, ms
 *   $6 float8 the sweeper's last heartbeat, ms since the epoch  $7 float8 the maximum age of that heartbeat, ms
 * Unless `isDry`, these are the last:
 *   text the key of the lock of sweeps, float8 the delay in milliseconds, bigint[] jobs to be skipped,
 *   bigint[] the only jobs to be unlocked: then no queue is unlocked, and no worker is marked; null: all jobs
 *
 * All this is one statement in one transaction, so it also works behind a transaction pooler.
 *
 * `turn`: only one process sweeps at a time. A worker's sweep does not wait for another sweep, because after that it
 * would find nothing to do.
 * `stale_row`: locks the workers' rows, and checks again whether the workers are stale. If a late heartbeat was
 * committed before, its worker is not stale. A later heartbeat waits for this statement. It then finds a mark, or no
 * row, or an unmarked row if jobs or queues of its worker are still to be unlocked. A row that is locked now is
 * skipped, because a heartbeat may be renewing it. The sweeper's own last heartbeat must be recent by the database's
 * clock: if the clock has jumped, or the sweeper was suspended, other workers may only look stale.
 * `due`: locks jobs in the order of their ids. Jobs that another session has locked are skipped, and so are the jobs to
 * be skipped, which PostgreSQL has refused to change. The worker of a skipped job stays unmarked for the next sweep.
 * `locked_queue`, `queue`: while a resilient or skipped job of a queue stays locked, the queue stays locked, too.
 * Otherwise a later job could overtake that job. The worker's slots of the queue also stay locked, because that job may
 * belong to the run of any of them.
 * `ended`: ends the workers' idle transactions, which may hold row locks of the fast mode (session-lock.ts).
 * `recovered`: if a trigger skips the change of a job, the statement fails and everything is undone. The number of
 * attempts does not change, so the interrupted attempt counts. Otherwise a job that kills its worker would never use up
 * its attempts. A run_at before now plus the delay moves to that time, so that a job that kills its worker is not the
 * first job that each worker fetches after its start. But if the delay is 0, a job of a named queue keeps its run_at:
 * later jobs of the queue may have been locked with it, and none may overtake it.
 */
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

/** Returns a condition: the lock may be removed. A worker without a row keeps newer locks: it seems to be running. */
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
      jobs.locked_by, jobs.attempts, jobs.locked_at))`)},
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

/** Returns the assignments for an update on the alias `jobs` that unlock a job and set its error. */
export const recoverJob = (message: string): string =>
  `${UNLOCK}, updated_at = pg_catalog.now(), last_error = ${countedMessage(message)}`;

// From the second consecutive recovery on, the error begins with the number of recoveries. lost-attempts.ts uses it to
// find jobs that kill their workers.
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

// The table limits the length of `metadata`. If a worker's report leaves no room for the mark, the mark replaces it.
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

// The sweep that marks a worker already deletes its permits, unless one of its jobs stays locked, because that job may
// still run.
const withdrawnPermits = (s: string) => `, withdrawn as (
  delete from ${s}._private_limit_permits as permits using stale_row
  where permits.worker_id = stale_row.id
  and stale_row.id not in (select locked_by from unfinished)
  and not exists (select from locked_jobs where locked_jobs.locked_by = stale_row.id and not locked_jobs.is_due)
)`;
