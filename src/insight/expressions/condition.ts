// SQL for the conditions of a job (ready, blocked, …). `job` is the alias of a row of _private_jobs. Statements that
// read the whole table get the ids of all locked queues as a parameter: PostgreSQL hashes the array of a parameter, but
// would search the result of a sub-select linearly for each job.
import type { Condition } from "../../domain/condition.ts";
import { isAvailable, isDue } from "../../queue/sql/eligible.ts";
import { isFailed, isLocked } from "../../queue/sql/job-state.ts";
import { lockHolder } from "../../queue/sql/lock.ts";
import type { Heartbeats } from "./heartbeats.ts";
import { reportedWorkers } from "./reported-workers.ts";

/** The caller's expressions for conditionOf(). `isQueueLocked`: isQueueIn(), or a condition on the queue's row. */
export interface ConditionParts {
  readonly isQueueLocked: string;
  /** SQL for the result if the job is retrying. */
  readonly retrying?: string;
}

/** Returns a condition: the job is in one of the `lockedQueues`, a parameter with ids of queues, such as `$1`. */
export const isQueueIn = (job: string, lockedQueues: string): string =>
  `${job}.job_queue_id = any(${lockedQueues}::int[])`;

/** Returns an expression: the name of the job's condition. */
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

/**
 * Returns an SQL expression: whether the job is in this condition. Unlike a comparison with conditionOf(), the
 * expression lets the planner use an index.
 */
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
      // For the index `retrying`, the planner needs every term of its predicate, even those that is_available implies.
      return `${isFree} and ${job}.locked_at is null and ${job}.attempts > 0
    and ${job}.attempts < ${job}.max_attempts`;
    case "scheduled":
      // The queue is not checked, because only due jobs can be blocked.
      return `${isAvailable(job)} and ${job}.attempts = 0 and ${job}.run_at > ${now}`;
    case "ready":
      return `${isFree} and ${job}.attempts = 0 and ${isDue(job, now)}`;
    default:
      return condition satisfies never;
  }
}

const reportMember = (name: string): string => `workers.metadata -> '${name}'::text`;
const isList = (name: string): string => `pg_catalog.jsonb_typeof(${reportMember(name)}) = 'array'`;

const isReported = (name: string, job: string): string =>
  `${reportMember(name)} operator(pg_catalog.?) ${job}.id::text`;

/** The maximum number of ids in a list of a report. */
const MAX_LIST_LENGTH = 1_000;
/** The maximum size in bytes of a list that isFetched() reads, enough for 1,000 ids. */
const MAX_LIST_BYTES = 32_768;

/** A condition on a heartbeat row `workers`: the report lists all jobs that the worker runs. */
export const LISTS_ALL = `case when ${isList("running_job_ids")}
    then pg_catalog.jsonb_array_length(${reportMember("running_job_ids")}) <= ${MAX_LIST_LENGTH}
      and coalesce(${reportMember("running_jobs")} = pg_catalog.to_jsonb(pg_catalog.jsonb_array_length(${reportMember("running_job_ids")})), true)
    else false end`;

/**
 * Returns a condition on a locked job and the heartbeat row `workers` of its worker: the report lists all running jobs,
 * but not this job.
 */
export const isUnreported = (job: string): string =>
  `${LISTS_ALL}
    and not ${isReported("running_job_ids", job)}`;

/**
 * Returns a condition on a locked job: the job is fetched and not started. A worker of this package reports its fetched
 * jobs. Other workers report only running jobs, and a report may be older than the lock of a job. So a job of such a
 * worker counts as fetched only if the worker's last heartbeat is at least a second later than the job's lock, and does
 * not list the job.
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

/**
 * Returns an expression for a JSON object whose keys are worker ids. A value is the worker's list of fetched jobs, or
 * an object with the complete list of running jobs if the worker does not report fetched jobs.
 */
const listsOf = (heartbeats: string): string => `(
        select pg_catalog.jsonb_object_agg(listing.id, listing.list) from (
          select workers.id, case when ${isList("fetched_job_ids")} then ${reportMember("fetched_job_ids")}
            when ${LISTS_ALL} then pg_catalog.jsonb_build_object('running', ${reportMember("running_job_ids")}) end as list
          from ${reportedWorkers(heartbeats)} as workers
        ) as listing
        where listing.list <> '[]'::jsonb and pg_catalog.pg_column_size(listing.list) <= ${MAX_LIST_BYTES}::int)`;
