// Computes how many jobs are missing in an operation's receipt. A rehearsal counts the matching jobs, but stores no
// list of them. If a job is completed, or stops matching, before the operation reaches its id, no batch finds the job.
import type { Value } from "../../../domain/value.ts";

/** The members of a JobOperation (operation.ts) from which the number is computed. */
interface OperationCounts {
  readonly matched: Value | null;
  readonly afterId: string;
  readonly boundary: { readonly maxId: string };
  readonly done: number;
  readonly skippedLocked: number;
  readonly skippedChanged: number;
  readonly skippedGone: number;
}

/**
 * Returns the number of jobs that matched at the rehearsal and that no batch found. Returns null if the operation has
 * not yet processed all ids up to its boundary, or if the number of jobs that matched is unknown. The result is
 * reported as exact if the number of jobs that matched is exact and no job was skipped as changed. For a job that was
 * skipped as changed, it is unknown whether the job matched at the rehearsal.
 */
export function notFound(operation: OperationCounts): Value | null {
  const { matched, afterId, boundary, skippedChanged: changed } = operation;
  if (matched === null || BigInt(afterId) < BigInt(boundary.maxId)) return null;
  const processed = operation.done + operation.skippedLocked + operation.skippedGone;
  const rest = (count: number) => Math.max(count, 0);
  const { basis, as_of } = matched;
  const isExact = matched.precision === "exact";
  const low = rest((matched.low ?? matched.value) - processed - changed);
  const most = isExact ? matched.value : (matched.high ?? null);
  const high = most === null ? null : rest(most - processed);
  if (isExact && low === high) return { value: low, precision: "exact", basis, as_of };
  const precision = high === null ? "capped" : "estimated";
  return { value: rest(matched.value - processed - changed), precision, low, high, basis, as_of };
}
