// How many of a job's last tries ended with their worker: what a poison job is known by. A recovery
// says so in last_error, and counts while nothing else comes between; a stock worker that dies leaves
// an attempt without any error.

export interface TriedJob {
  readonly attempts: number;
  readonly isLocked: boolean;
  /** The beginning of last_error, at least 64 characters. */
  readonly errorStart: string | null;
}

/** How a recovery begins to speak, by the count: `Recovered: …`, `Recovered 3 times in a row: …`. */
const RECOVERED = /^Recovered(?: (\d{1,5}) times in a row)?: /;

export function lostTries({ attempts, isLocked, errorStart }: TriedJob): number {
  // The try that is under way is not lost yet.
  if (errorStart === null) return Math.max(0, attempts - (isLocked ? 1 : 0));
  const found = RECOVERED.exec(errorStart);
  if (found === null) return 0;
  return found[1] === undefined ? 1 : Number(found[1]);
}

/** It kills its workers: three in a row, or two that are half of all its tries. */
export function isPoison(job: TriedJob): boolean {
  const lost = lostTries(job);
  return lost >= 3 || (lost >= 2 && lost * 2 >= job.attempts);
}
