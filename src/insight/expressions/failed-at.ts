// SQL expressions for the time at which a job failed. After a failure, a worker of this library writes the time of the
// failure to updated_at, and usually this time plus a delay to run_at. The delay is Graphile Worker's, or a whole
// number of milliseconds. A Graphile worker writes only run_at. Changes by hand write updated_at and perhaps run_at.
import { MARKED_FAILED, RECOVERED } from "../../domain/words.ts";
import { delayOf } from "../../queue/settle/retry-policy.ts";

const byFormula = (job: string) => `${job}.run_at - ${delayOf(`${job}.attempts`)}`;

const microsecondsOf = (time: string) => `pg_catalog.date_part('microseconds', ${time})::bigint`;

/** Returns a condition: run_at is later than updated_at by whole milliseconds, as with the delay of a retry policy. */
const hasOwnDelay = (job: string) => `(${job}.run_at > ${job}.updated_at
      and (${microsecondsOf(`${job}.run_at`)} - ${microsecondsOf(`${job}.updated_at`)}) % 1000::bigint = 0::bigint) is true`;

/**
 * Returns an expression for a row with a failure: the latest time at which the job's last attempt can have failed. If
 * the condition isFailureTimed() is false, the result may be the time of a later change or recovery.
 */
export const failedAt = (job: string): string =>
  `greatest(${job}.updated_at, case when ${job}.attempts > 0 and ${job}.run_at > ${job}.created_at
      and ${job}.run_at <= pg_catalog.now() + ${delayOf(`${job}.attempts`)} and not ${hasOwnDelay(job)}
      then ${byFormula(job)} end)`;

/** The number of characters of an error that are compared with a pattern. */
const MARK_LENGTH = 64;

/** Returns a condition for a row with an error: the job was cancelled, or failed by hand without a reason. */
export const wasFailedByHand = (job: string): string =>
  `pg_catalog.left(${job}.last_error, ${MARK_LENGTH}::int) ~ '${MARKED_FAILED}'::text`;

/** Returns a condition for a row with a failure: run_at is the time of the failure plus Graphile Worker's delay. */
export const hasFormulaDelay = (job: string): string =>
  `coalesce(${byFormula(job)} = ${job}.updated_at or ${job}.updated_at <= ${job}.created_at
    and ${byFormula(job)} > ${job}.created_at and ${byFormula(job)} <= pg_catalog.now(), false)`;

/**
 * Returns a condition for a row with a failure: the job's last attempt was recovered, and run_at equals updated_at. A
 * recovery without a delay writes the same time to both columns, except for a job of a named queue: that job keeps its
 * run_at. A later change that makes the job due at once can also write the same time to both columns.
 */
const isAsRecovered = (job: string) =>
  `${job}.attempts > 0 and ${job}.run_at = ${job}.updated_at and pg_catalog.left(${job}.last_error, ${MARK_LENGTH}::int) ~ '${RECOVERED}'::text`;

/**
 * Returns a condition for a row with a failure: the result of failedAt() can be used as the time of the failure. If the
 * job was changed after the failure, the condition is usually false.
 */
export const isFailureTimed = (job: string): string =>
  `coalesce(${hasFormulaDelay(job)} or ${hasOwnDelay(job)} or ${wasFailedByHand(job)}
    or ${isAsRecovered(job)}, false)`;

/**
 * Returns an expression: the time at which a failed job failed; null if the time is unknown, or if the job is not
 * failed. Cheap columns are tested first, because usually few rows are failed jobs.
 */
export const failedForGoodAt = (job: string): string =>
  `case when ${job}.locked_at is null and ${job}.attempts >= ${job}.max_attempts and ${isFailureTimed(job)}
      then ${failedAt(job)} end`;
