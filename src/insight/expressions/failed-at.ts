// When a job failed, as far as its row shows. A worker of this library writes the time of a failure to updated_at, and
// run_at is that time plus the retry's delay: Graphile Worker's, or that of a policy, in whole milliseconds. A Graphile
// worker writes run_at and leaves updated_at. Changes by hand write updated_at, and may write run_at.
import { MARKED_FAILED } from "../../domain/words.ts";
import { delayOf } from "../../queue/settle/retry-policy.ts";

const byFormula = (job: string) => `${job}.run_at - ${delayOf(`${job}.attempts`)}`;

const microsecondsOf = (time: string) => `pg_catalog.date_part('microseconds', ${time})::bigint`;

/** Returns a condition: run_at is whole milliseconds after updated_at, as after the delay of a policy. */
const hasOwnDelay = (job: string) => `(${job}.run_at > ${job}.updated_at
      and (${microsecondsOf(`${job}.run_at`)} - ${microsecondsOf(`${job}.updated_at`)}) % 1000::bigint = 0::bigint) is true`;

/**
 * Returns an expression for a row with a failure: the latest time at which its last attempt can have failed. It is the
 * time of the failure if `isFailureTimed` holds, and otherwise perhaps that of a later change or recovery.
 */
export const failedAt = (job: string): string =>
  `greatest(${job}.updated_at, case when ${job}.attempts > 0 and ${job}.run_at > ${job}.created_at
      and ${job}.run_at <= pg_catalog.now() + ${delayOf(`${job}.attempts`)} and not ${hasOwnDelay(job)}
      then ${byFormula(job)} end)`;

/** The number of an error's first characters that show whether the job was failed by hand. */
const MARK_LENGTH = 64;

/** Returns a condition for a row with an error: the job was failed or cancelled by hand. */
export const wasFailedByHand = (job: string): string =>
  `pg_catalog.left(${job}.last_error, ${MARK_LENGTH}::int) ~ '${MARKED_FAILED}'::text`;

/**
 * Returns a condition for a row with a failure: its next attempt is due after Graphile Worker's delay. It is false
 * after the delay of a policy, and for a job that was changed after the failure.
 */
export const hasFormulaDelay = (job: string): string =>
  `coalesce(${byFormula(job)} = ${job}.updated_at or ${job}.updated_at <= ${job}.created_at
    and ${byFormula(job)} > ${job}.created_at and ${byFormula(job)} <= pg_catalog.now(), false)`;

/**
 * Returns a condition for a row with a failure: its last attempt failed at the time of `failedAt`, or it was failed by
 * hand then. It is false for a job that was changed afterwards.
 */
export const isFailureTimed = (job: string): string =>
  `coalesce(${hasFormulaDelay(job)} or ${hasOwnDelay(job)} or ${wasFailedByHand(job)}, false)`;

/**
 * Returns an expression: when a job without attempts left has failed, if that is known; otherwise null. It tests cheap
 * columns first, for reads in which most rows have not failed.
 */
export const failedForGoodAt = (job: string): string =>
  `case when ${job}.locked_at is null and ${job}.attempts >= ${job}.max_attempts and ${isFailureTimed(job)}
      then ${failedAt(job)} end`;
