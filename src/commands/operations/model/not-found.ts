// What the receipt cannot name. A rehearsal counts the jobs that match and keeps no list of them; who is
// completed by a worker before its turn, or no longer matches then, is never met. How many those are is
// the difference:
//
//   matched = done + locked + changed + gone + not found
import type { Value } from "../../../domain/value.ts";

/** Of an operation. */
interface Met {
  readonly matched: Value | null;
  readonly afterId: string;
  readonly boundary: { readonly maxId: string };
  readonly done: number;
  readonly skippedLocked: number;
  readonly skippedChanged: number;
  readonly skippedGone: number;
}

/**
 * Jobs that matched at the boundary and were not met at their turn: gone, or no longer matching. null
 * before all ids have had their turn. Exact where the rehearsal's count is, and nothing that has changed
 * since was met: such a job may have begun to match after the boundary.
 */
export function notFound(operation: Met): Value | null {
  const { matched, afterId, boundary, skippedChanged: changed } = operation;
  if (matched === null || BigInt(afterId) < BigInt(boundary.maxId)) return null;
  const met = operation.done + operation.skippedLocked + operation.skippedGone;
  const rest = (count: number) => Math.max(count, 0);
  const { basis, as_of } = matched;
  const isExact = matched.precision === "exact";
  const low = rest((matched.low ?? matched.value) - met - changed);
  const most = isExact ? matched.value : (matched.high ?? null);
  const high = most === null ? null : rest(most - met);
  if (isExact && low === high) return { value: low, precision: "exact", basis, as_of };
  const precision = high === null ? "capped" : "estimated";
  return { value: rest(matched.value - met - changed), precision, low, high, basis, as_of };
}
