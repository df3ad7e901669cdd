// Counts a job's lost attempts: the latest consecutive attempts whose workers crashed or became stale. A recovery
// writes to last_error how many times in a row the job was recovered. A Graphile worker that crashes writes nothing. So
// if a job has no error and was not changed since the add, all its attempts count as lost, except the present attempt
// of a locked job.
import { RECOVERED } from "../../domain/words.ts";

export interface AttemptedJob {
  readonly attempts: number;
  readonly isLocked: boolean;
  /** At least the first 64 characters of last_error; null: there is no error. */
  readonly errorStart: string | null;
  /** Whether nothing has written `updated_at` since the job was added. */
  readonly isUnchanged: boolean;
}

/** Returns an SQL expression for AttemptedJob.isUnchanged. */
export const isUnchanged = (job: string): string => `${job}.updated_at <= ${job}.created_at`;

const RECOVERED_ERROR = new RegExp(RECOVERED);

export function lostAttempts(job: AttemptedJob): number {
  const { attempts, isLocked, errorStart } = job;
  if (errorStart === null) return job.isUnchanged ? Math.max(0, attempts - (isLocked ? 1 : 0)) : 0;
  const found = RECOVERED_ERROR.exec(errorStart);
  if (found === null) return 0;
  return found[1] === undefined ? 1 : Number(found[1]);
}

/** Whether the job probably crashes its workers (a poison job). */
export function isPoison(job: AttemptedJob): boolean {
  const lost = lostAttempts(job);
  return lost >= 3 || (lost >= 2 && lost * 2 >= job.attempts);
}

// A worker's id may be any text, so the pattern finds the end of the id by the words that follow.
const BY =
  /(?:^Recovered: |in a row: )(?:worker (.+?) (?:stopped without|held attempt)|attempt \d+ was locked since .*? by (.+?), which)/;

/** Returns the id of the worker from which the job was last recovered; null: unknown. */
export function lastLostBy({ errorStart }: Pick<AttemptedJob, "errorStart">): string | null {
  const found = BY.exec(errorStart ?? "");
  return found?.[1] ?? found?.[2] ?? null;
}
