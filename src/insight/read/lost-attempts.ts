// Counts how many of a job's last attempts ended because their worker ended. A poison job, which crashes its workers,
// has several. A recovery writes the number into last_error, and increases the number of an earlier recovery. A
// Graphile worker that dies leaves only attempts without an error. These count if nothing has written `updated_at`.

export interface AttemptedJob {
  readonly attempts: number;
  readonly isLocked: boolean;
  /** The beginning of last_error, at least 64 characters. */
  readonly errorStart: string | null;
  /** Whether nothing has written `updated_at` since the job was added. */
  readonly isUnchanged: boolean;
}

/** An expression for `isUnchanged`. */
export const isUnchanged = (job: string): string => `${job}.updated_at <= ${job}.created_at`;

/** Matches the beginning of a recovery's error: `Recovered: …`, `Recovered 3 times in a row: …`. */
const RECOVERED = /^Recovered(?: (\d{1,5}) times in a row)?: /;

export function lostAttempts(job: AttemptedJob): number {
  const { attempts, isLocked, errorStart } = job;
  // The attempt of a locked job is not lost yet.
  if (errorStart === null) return job.isUnchanged ? Math.max(0, attempts - (isLocked ? 1 : 0)) : 0;
  const found = RECOVERED.exec(errorStart);
  if (found === null) return 0;
  return found[1] === undefined ? 1 : Number(found[1]);
}

/** Whether the job kills its workers: its last three attempts were lost, or its last two, at least half of all. */
export function isPoison(job: AttemptedJob): boolean {
  const lost = lostAttempts(job);
  return lost >= 3 || (lost >= 2 && lost * 2 >= job.attempts);
}

// A worker's id may be any text, so the pattern ends it where the error continues.
const BY =
  /(?:^Recovered: |in a row: )(?:worker (.+?) stopped without|attempt \d+ was locked since .*? by (.+?), which)/;

/** Returns the worker that held the job's last attempt when it was recovered; null if unknown. */
export function lastLostBy({ errorStart }: Pick<AttemptedJob, "errorStart">): string | null {
  const found = BY.exec(errorStart ?? "");
  return found?.[1] ?? found?.[2] ?? null;
}
