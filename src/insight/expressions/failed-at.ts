// When a job failed, as far as its row shows.
import { delayOf } from "../../queue/settle/retry-policy.ts";

/**
 * Returns an expression for a row with a failure: when the last attempt failed, as far as the row shows. Graphile
 * workers do not change updated_at, but they add the delay to the time of the failure, so the time follows from run_at.
 * Changes by hand and recoveries are in updated_at.
 */
export const failedAt = (job: string): string =>
  `greatest(${job}.updated_at, case when ${job}.attempts > 0 and ${job}.run_at > ${job}.created_at
      and ${job}.run_at <= pg_catalog.now() + ${delayOf(`${job}.attempts`)}
      then ${job}.run_at - ${delayOf(`${job}.attempts`)} end)`;

/**
 * Like failedAt() for jobs that have failed for good; null for all others. It is for reads in which most rows have not
 * failed.
 */
export const failedForGoodAt = (job: string): string =>
  `case when ${job}.locked_at is null and ${job}.attempts >= ${job}.max_attempts
      then ${failedAt(job)} end`;
