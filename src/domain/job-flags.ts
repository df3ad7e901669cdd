// What a job brings along for its worker is kept as flags: they survive every way to add a job, stock functions
// included, and a worker that does not read them runs the job as any other.
const RETRY = "retry:";
const DEADLINE = "deadline:";

export const retryFlag = (policy: string): string => `${RETRY}${policy}`;

/** `time`: RFC 3339. */
export const deadlineFlag = (time: string): string => `${DEADLINE}${Date.parse(time)}`;

/** The name of the job's retry policy. */
export function policyNameOf(flags: readonly string[]): string | undefined {
  return flags.find((flag) => flag.startsWith(RETRY))?.slice(RETRY.length);
}

/** The job's deadline, in milliseconds since 1970; of several the earliest, null where there is no valid one. */
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
