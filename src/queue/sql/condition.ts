// The conditions of a job in SQL, on a row of _private_jobs with the given alias. Reads of the whole table
// get the ids of locked queues as a parameter (there are few, and a bound array is hashed where a
// sub-select would be searched linearly); reads of single rows look up their queue. Workers' reports of
// locked jobs are read from their heartbeat rows, once per statement.
import type { Condition } from "../../domain/condition.ts";
import { isAvailable, isDue } from "./eligible.ts";
import { isFailed, isLocked } from "./job-state.ts";
import { lockHolder } from "./lock.ts";
import { reportedWorkers } from "./unpacked.ts";

/** The quoted schema if it has a table of workers; null: it has none, and locked jobs count as running. */
export type Heartbeats = string | null;

/** Expressions of `conditionOf` that a caller provides. */
export interface ConditionParts {
  readonly isQueueLocked: string;
  /** The name of a retrying job's condition, where retries that are due are counted apart. */
  readonly retrying?: string;
}

/** The queue is one of the locked ones. `lockedQueues`: the parameter with their ids, such as `$1`. */
export const isQueueIn = (job: string, lockedQueues: string): string =>
  `${job}.job_queue_id = any(${lockedQueues}::int[])`;

/** The name of the job's condition. */
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

/** One condition, in a form for which an index can be used. `now`: a fixed time. */
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
      // The optional index needs exactly these terms; is_available already implies them.
      return `${isFree} and ${job}.locked_at is null and ${job}.attempts > 0
    and ${job}.attempts < ${job}.max_attempts`;
    case "scheduled":
      // Only jobs that are due are blocked.
      return `${isAvailable(job)} and ${job}.attempts = 0 and ${job}.run_at > ${now}`;
    case "ready":
      return `${isFree} and ${job}.attempts = 0 and ${isDue(job, now)}`;
    default:
      return condition satisfies never;
  }
}

const reported = (name: string): string => `workers.metadata -> '${name}'::text`;
const isList = (name: string): string => `pg_catalog.jsonb_typeof(${reported(name)}) = 'array'`;

const isReported = (name: string, job: string): string =>
  `${reported(name)} operator(pg_catalog.?) ${job}.id::text`;

/** Reports are cut at this length. */
const LONGEST_LIST = 1_000;
/** Enough for a thousand ids; a longer list contains other values. */
const LONGEST_LIST_BYTES = 32_768;

/** A condition on a heartbeat row `workers`: it lists all jobs that the worker runs. */
export const LISTS_ALL = `case when ${isList("running_job_ids")}
    then pg_catalog.jsonb_array_length(${reported("running_job_ids")}) <= ${LONGEST_LIST}
      and coalesce(${reported("running_jobs")} = pg_catalog.to_jsonb(pg_catalog.jsonb_array_length(${reported("running_job_ids")})), true)
    else false end`;

/**
 * A condition on a locked job and the heartbeat row `workers` of its holder: the holder does not report
 * that it runs the job. Without a report, or with one that is cut, the job counts as started.
 */
export const isUnreported = (job: string): string =>
  `${LISTS_ALL}
    and not ${isReported("running_job_ids", job)}`;

/**
 * A condition on a locked job: it is fetched and not started. A report is older than its row's last
 * heartbeat, and jobs start between two reports. So a worker of this package lists the jobs that it has
 * fetched and not started, and writes at once when it starts one of those. For other workers, which list
 * only running jobs, the last heartbeat must be clearly later than the lock.
 *
 * The lists of all workers are read once per statement, and only if a job is locked.
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

/** For each worker, the list of fetched jobs; for other workers, an object with the list of running jobs. */
const listsOf = (heartbeats: string): string => `(
        select pg_catalog.jsonb_object_agg(listing.id, listing.list) from (
          select workers.id, case when ${isList("fetched_job_ids")} then ${reported("fetched_job_ids")}
            when ${LISTS_ALL} then pg_catalog.jsonb_build_object('running', ${reported("running_job_ids")}) end as list
          from ${reportedWorkers(heartbeats)} as workers
        ) as listing
        where listing.list <> '[]'::jsonb and pg_catalog.pg_column_size(listing.list) <= ${LONGEST_LIST_BYTES}::int)`;
