// Counts a job's lost attempts: the latest consecutive attempts whose workers crashed or became stale. A job that
// crashes its workers (a poison job) has several lost attempts. A recovery writes to last_error how many times in a row
// the job was recovered. An attempt that fails writes an error and `updated_at`. A Graphile worker that crashes writes
// neither. So if a job has no error, and nothing has written `updated_at` since the add, all its attempts count as
// lost, except the present attempt of a locked job.

export interface AttemptedJob {
  readonly attempts: number;
  readonly isLocked: boolean;
  /** The beginning of last_error, at least its first 64 characters; null: there is no error. */
  readonly errorStart: string | null;
  /** Whether nothing has written `updated_at` since the job was added. */
  readonly isUnchanged: boolean;
}

/** Returns an SQL expression for AttemptedJob.isUnchanged. */
export const isUnchanged = (job: string): string => `${job}.updated_at <= ${job}.created_at`;

const RECOVERED_PATTERN = "^Recovered(?: ([0-9]{1,5}) times in a row)?: ";

/** Matches the beginning of a recovery's error: `Recovered: …`, `Recovered 3 times in a row: …`. */
const RECOVERED = new RegExp(RECOVERED_PATTERN);

/** Returns an SQL condition: the job's last attempt was recovered from a stale worker. Null if there is no error. */
export const wasRecovered = (job: string): string =>
  `pg_catalog.left(${job}.last_error, 64) ~ '${RECOVERED_PATTERN}'::text`;

export function lostAttempts(job: AttemptedJob): number {
  const { attempts, isLocked, errorStart } = job;
  if (errorStart === null) return job.isUnchanged ? Math.max(0, attempts - (isLocked ? 1 : 0)) : 0;
  const found = RECOVERED.exec(errorStart);
  if (found === null) return 0;
  return found[1] === undefined ? 1 : Number(found[1]);
}

/** Whether the job probably crashes its workers: at least 3 attempts are lost, or 2 of at most 4 attempts. */
export function isPoison(job: AttemptedJob): boolean {
  const lost = lostAttempts(job);
  return lost >= 3 || (lost >= 2 && lost * 2 >= job.attempts);
}

// A worker's id may be any text, so the pattern finds the end of the id by the words that follow the id in the error.
const BY =
  /(?:^Recovered: |in a row: )(?:worker (.+?) (?:stopped without|held attempt)|attempt \d+ was locked since .*? by (.+?), which)/;

/** Returns the id of the worker from which the job was last recovered; null if BY does not match `errorStart`. */
export function lastLostBy({ errorStart }: Pick<AttemptedJob, "errorStart">): string | null {
  const found = BY.exec(errorStart ?? "");
  return found?.[1] ?? found?.[2] ?? null;
}
