// The four states of a job: locked, failed, scheduled, and ready (isReady() in eligible.ts). Every job has exactly one
// state. Each function returns SQL for a row of _private_jobs with the alias `job`. `is_available` is the predicate of
// the indexes that fetches read: the planner uses these indexes only if a query repeats the predicate. A condition with
// `not is_available` excludes no further job, because its other terms imply this one.
import { isAvailable, isReady } from "./eligible.ts";

export const isLocked = (job: string): string =>
  `${job}.locked_at is not null and not ${isAvailable(job)}`;

export const isFailed = (job: string): string =>
  `${job}.locked_at is null and ${job}.attempts >= ${job}.max_attempts and not ${isAvailable(job)}`;

export const isScheduled = (job: string): string =>
  `${isAvailable(job)} and ${job}.run_at > pg_catalog.now()`;

export const stateOf = (job: string): string => `case
    when ${job}.locked_at is not null then 'locked'
    when ${job}.attempts >= ${job}.max_attempts then 'failed'
    when ${job}.run_at > pg_catalog.now() then 'scheduled'
    else 'ready'
  end`;

/** Returns a select list: the number of jobs in each state. `suffix`: the end of the columns' names. */
export const stateCounts = (job: string, suffix = ""): string =>
  `pg_catalog.count(*) filter (where ${isReady(job)})::int as ready${suffix},
    pg_catalog.count(*) filter (where ${isScheduled(job)})::int as scheduled${suffix},
    pg_catalog.count(*) filter (where ${isLocked(job)})::int as locked${suffix},
    pg_catalog.count(*) filter (where ${isFailed(job)})::int as failed${suffix}`;
