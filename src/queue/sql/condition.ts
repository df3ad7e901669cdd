// The six conditions of a job in SQL, on a row of _private_jobs whose alias is given. Whole-table reads
// get the locked queues' ids as a parameter (they are few, and a bound array is hashed where a
// sub-select would be searched one by one); single rows ask for their queue.
import type { Condition } from "../../domain/condition.ts";
import { isAvailable, isDue } from "./eligible.ts";
import { isFailed, isLocked } from "./job-state.ts";

/**
 * The condition's name. `lockedQueues`: the parameter with the ids of locked queues, as `$1`; `retrying`:
 * an expression in place of that name, for who tells retries that are due from those ahead.
 */
export const conditionOf = (
  job: string,
  lockedQueues: string,
  retrying = "'retrying'",
): string => `case
    when ${job}.locked_at is not null then 'running'
    when ${job}.attempts >= ${job}.max_attempts then 'failed'
    when ${job}.run_at <= pg_catalog.now() and ${job}.job_queue_id = any(${lockedQueues}::int[]) then 'blocked'
    when ${job}.attempts > 0 then ${retrying}
    when ${job}.run_at > pg_catalog.now() then 'scheduled'
    else 'ready'
  end`;

const isBlocked = (job: string, lockedQueues: string, now: string): string =>
  `${isAvailable(job)} and ${isDue(job, now)} and ${job}.job_queue_id = any(${lockedQueues}::int[])`;

/** One condition alone, in words for which an index can be used. `now`: a moment that was fixed before. */
export function isInCondition(
  condition: Condition,
  job: string,
  lockedQueues: string,
  now = "pg_catalog.now()",
): string {
  const blocked = isBlocked(job, lockedQueues, now);
  const isFree = `${isAvailable(job)} and (${blocked}) is not true`;
  switch (condition) {
    case "running":
      return isLocked(job);
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

/** A condition on a heartbeat row `workers`: it lists all jobs that the worker runs. */
export const LISTS_ALL = `case
    when pg_catalog.jsonb_typeof(workers.metadata -> 'running_job_ids'::text) = 'array'
    then coalesce(workers.metadata -> 'running_jobs'::text, 'null'::jsonb)
        = pg_catalog.to_jsonb(pg_catalog.jsonb_array_length(workers.metadata -> 'running_job_ids'::text))
    else false end`;

/**
 * A condition on a locked job and the heartbeat row `workers` of its holder: it is fetched. Without a report,
 * or with one that is cut, it counts as running.
 */
export const isReportedFetched = (job: string): string =>
  `${LISTS_ALL}
    and not workers.metadata -> 'running_job_ids'::text operator(pg_catalog.?) ${job}.id::text`;
