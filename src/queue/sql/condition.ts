// The conditions of a job in SQL, on a row of _private_jobs whose alias is given. Whole-table reads
// get the locked queues' ids as a parameter (they are few, and a bound array is hashed where a
// sub-select would be searched one by one); single rows ask for their queue. What workers
// report of locked jobs is read from their heartbeat rows, once a statement.
import type { Condition } from "../../domain/condition.ts";
import { isAvailable, isDue } from "./eligible.ts";
import { isFailed, isLocked } from "./job-state.ts";
import { lockHolder } from "./lock.ts";
import { reportedWorkers } from "./unpacked.ts";

/** The quoted schema, where it has a table of workers; null: it has none, and what is locked is running. */
export type Heartbeats = string | null;

/** What a caller may put in place of an expression of `conditionOf`. */
export interface ConditionParts {
  /** That the job's queue is locked. */
  readonly isQueueLocked: string;
  /** The name of a retrying job's condition, where retries that are due are counted apart. */
  readonly retrying?: string;
}

/** A queue among the locked ones. `lockedQueues`: the parameter with their ids, as `$1`. */
export const isQueueIn = (job: string, lockedQueues: string): string =>
  `${job}.job_queue_id = any(${lockedQueues}::int[])`;

/** The condition's name. */
export const conditionOf = (
  job: string,
  heartbeats: Heartbeats,
  { isQueueLocked, retrying = "'retrying'" }: ConditionParts,
): string => `case
    when ${job}.locked_at is not null then ${lockedAs(job, heartbeats)}
    when ${job}.attempts >= ${job}.max_attempts then 'failed'
    when ${job}.run_at <= pg_catalog.now() and ${isQueueLocked} then 'blocked'
    when ${job}.attempts > 0 then ${retrying}
    when ${job}.run_at > pg_catalog.now() then 'scheduled'
    else 'ready'
  end`;

const lockedAs = (job: string, heartbeats: Heartbeats): string =>
  heartbeats === null
    ? "'running'"
    : `case when ${isFetched(job, heartbeats)} then 'fetched' else 'running' end`;

const isBlocked = (job: string, lockedQueues: string, now: string): string =>
  `${isAvailable(job)} and ${isDue(job, now)} and ${isQueueIn(job, lockedQueues)}`;

/** One condition alone, in words for which an index can be used. `now`: a moment that was fixed before. */
export function isInCondition(
  condition: Condition,
  job: string,
  heartbeats: Heartbeats,
  lockedQueues: string,
  now = "pg_catalog.now()",
): string {
  const blocked = isBlocked(job, lockedQueues, now);
  const isFree = `${isAvailable(job)} and (${blocked}) is not true`;
  switch (condition) {
    case "fetched":
      return `${isLocked(job)} and ${isFetched(job, heartbeats)}`;
    case "running":
      return heartbeats === null
        ? isLocked(job)
        : `${isLocked(job)} and not ${isFetched(job, heartbeats)}`;
    case "failed":
      return isFailed(job);
    case "blocked":
      return blocked;
    case "retrying":
      // The words of the optional index, which say nothing that is_available does not.
      return `${isFree} and ${job}.locked_at is null and ${job}.attempts > 0
    and ${job}.attempts < ${job}.max_attempts`;
    case "scheduled":
      // Only what is due is blocked.
      return `${isAvailable(job)} and ${job}.attempts = 0 and ${job}.run_at > ${now}`;
    case "ready":
      return `${isFree} and ${job}.attempts = 0 and ${isDue(job, now)}`;
    default:
      return condition satisfies never;
  }
}

const said = (name: string): string => `workers.metadata -> '${name}'::text`;
const isList = (name: string): string => `pg_catalog.jsonb_typeof(${said(name)}) = 'array'`;

const isSaid = (name: string, job: string): string =>
  `${said(name)} operator(pg_catalog.?) ${job}.id::text`;

/** A report is cut at that length. */
const LONGEST_LIST = 1_000;
/** Of a thousand ids: a longer list is of other things. */
const LONGEST_LIST_BYTES = 32_768;

/** A condition on a heartbeat row `workers`: it lists all jobs that the worker runs. */
export const LISTS_ALL = `case when ${isList("running_job_ids")}
    then pg_catalog.jsonb_array_length(${said("running_job_ids")}) <= ${LONGEST_LIST}
      and coalesce(${said("running_jobs")} = pg_catalog.to_jsonb(pg_catalog.jsonb_array_length(${said("running_job_ids")})), true)
    else false end`;

/**
 * A condition on a locked job and the heartbeat row `workers` of its holder: the holder does not report that
 * it runs the job. Without a report, or with one that is cut, the job counts as started.
 */
export const isUnreported = (job: string): string =>
  `${LISTS_ALL}
    and not ${isSaid("running_job_ids", job)}`;

/**
 * The condition on a locked job that it is fetched and not started. A report is older than its row's last
 * beat, and jobs start between two reports. So a worker of this package lists what it has fetched and not
 * started, and writes at once when it starts one of those. Of other makes, which list only what they run,
 * the last heartbeat must be clearly later than the lock.
 *
 * The lists of all workers are read once a statement, and only where a job is locked.
 */
export const isFetched = (job: string, heartbeats: Heartbeats): string =>
  heartbeats === null
    ? "false"
    : `(select case pg_catalog.jsonb_typeof(holder.list)
        when 'array' then holder.list operator(pg_catalog.?) ${job}.id::text
        when 'object' then not (holder.list -> 'running'::text) operator(pg_catalog.?) ${job}.id::text
          and exists (select from ${heartbeats}._private_workers as workers where workers.id = ${job}.locked_by
            and workers.last_heartbeat_at >= ${job}.locked_at + interval '1 second')
        else false end
      from (select ${listsOf(heartbeats)} -> ${lockHolder(job)} as list offset 0) as holder)`;

/** By worker the list of what it has fetched; of other makes an object with the list of what it runs. */
const listsOf = (heartbeats: string): string => `(
        select pg_catalog.jsonb_object_agg(listing.id, listing.list) from (
          select workers.id, case when ${isList("fetched_job_ids")} then ${said("fetched_job_ids")}
            when ${LISTS_ALL} then pg_catalog.jsonb_build_object('running', ${said("running_job_ids")}) end as list
          from ${reportedWorkers(heartbeats)} as workers
        ) as listing
        where listing.list <> '[]'::jsonb and pg_catalog.pg_column_size(listing.list) <= ${LONGEST_LIST_BYTES}::int)`;
