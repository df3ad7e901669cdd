// Where a job is retried. A failed attempt leaves the job in its table: unlocked, with its error, and
// due again after a delay that grows with each attempt. Nothing else brings it back: the next fetch
// of any worker finds it once it is due.
//
//   taken (attempt n counts) ──fails──▶ n < max_attempts: due again after the delay of attempt n
//                                   └─▶ n = max_attempts: failed; it stays until somebody acts on it
//
// The delay is Graphile Worker's, exp(least(n, 10)) seconds: 2.7 s, 7.4 s, 20 s, 55 s, … and from the
// tenth attempt on 6 hours each. With 25 attempts a job is tried for about four days.

/**
 * When the attempt after this one is due, for an update's `run_at`. From now or from the job's own
 * time, whichever is later: a job that was moved while it ran is not tried before that.
 * `attempts`: an expression, the attempts made, this one included. `job`: the alias of the row.
 */
export const retryAt = (job: string, attempts: string): string =>
  `greatest(pg_catalog.now(), ${job}.run_at) + ${delayOf(attempts)}`;

const LONGEST_DELAY_EXPONENT = 10;

const delayOf = (attempts: string) =>
  `pg_catalog.exp(least(${attempts}, ${LONGEST_DELAY_EXPONENT})) * interval '1 second'`;

/** The same delay in milliseconds, after this attempt. */
export const retryDelayMs = (attempt: number): number =>
  Math.exp(Math.min(attempt, LONGEST_DELAY_EXPONENT)) * 1_000;

/**
 * When a job's last attempt failed, as far as its row tells. Stock workers leave updated_at as it was,
 * but the delay has been added to the time of the failure, so that can be had back from run_at.
 * What a person or a sweep did to the job stands in updated_at. For rows that have failed.
 */
export const failedAt = (job: string): string =>
  `greatest(${job}.updated_at, case when ${job}.attempts > 0 and ${job}.run_at > ${job}.created_at
      and ${job}.run_at <= pg_catalog.now() + ${delayOf(`${job}.attempts`)}
      then ${job}.run_at - ${delayOf(`${job}.attempts`)} end)`;

/** The same of a job that has failed for good, null of all others: where most of many rows have not. */
export const failedForGoodAt = (job: string): string =>
  `case when ${job}.locked_at is null and ${job}.attempts >= ${job}.max_attempts
      then ${failedAt(job)} end`;
