// The retry policy and the deadline of a job are stored in its flags, because all functions that add a job accept
// flags, including those of Graphile Worker. A worker that does not read these flags runs the job like any other.
export const RETRY = "retry:";
export const DEADLINE = "deadline:";

export const retryFlag = (policy: string): string => `${RETRY}${policy}`;

/** Returns the flag of a deadline. `time`: RFC 3339. A time before 1970 counts as 1970. */
export const deadlineFlag = (time: string): string => `${DEADLINE}${Math.max(0, Date.parse(time))}`;

/** Returns the name of the job's retry policy; undefined without one. */
export function policyNameOf(flags: readonly string[]): string | undefined {
  return flags.find((flag) => flag.startsWith(RETRY))?.slice(RETRY.length);
}

/**
 * Returns the job's deadline, in milliseconds since 1970: the earliest time in its deadline flags. Returns null if the
 * job has no valid deadline flag.
 */
export function deadlineOf(flags: readonly string[]): number | null {
  let earliest: number | null = null;
  for (const flag of flags) {
    if (!flag.startsWith(DEADLINE)) continue;
    const text = flag.slice(DEADLINE.length);
    const time = /^\d{1,15}$/.test(text) ? Number(text) : null;
    if (time !== null && (earliest === null || time < earliest)) earliest = time;
  }
  return earliest;
}

interface FlagOptions {
  readonly flags?: readonly string[] | undefined;
  readonly retry?: string | undefined;
  readonly deadline?: string | undefined;
}

/** Returns the flags to store for a job: its `flags`, and one for each of `retry` and `deadline` that is given. */
export function flagsOf({ flags = [], retry, deadline }: FlagOptions): readonly string[] {
  return [
    ...flags,
    ...(retry === undefined ? [] : [retryFlag(retry)]),
    ...(deadline === undefined ? [] : [deadlineFlag(deadline)]),
  ];
}
