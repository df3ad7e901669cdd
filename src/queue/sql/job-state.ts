// The four states of a job, as conditions on a row of _private_jobs with the given alias. Every job has exactly one
// state. `is_available` is the predicate of the indexes that fetches read: the planner uses them only if a query
// repeats it. `not is_available` excludes no job, because it follows from the other terms of the same condition.
import { isAvailable, isReady } from "./eligible.ts";

export const isLocked = (job: string): string =>
  `${job}.locked_at is not null and not ${isAvailable(job)}`;

export const isFailed = (job: string): string =>
  `${job}.locked_at is null and ${job}.attempts >= ${job}.max_attempts and not ${isAvailable(job)}`;

export const isScheduled = (job: string): string =>
  `${isAvailable(job)} and ${job}.run_at > pg_catalog.now()`;

/** Returns an expression: the name of the state. Each `when` is reached only by jobs that have no earlier state. */
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
