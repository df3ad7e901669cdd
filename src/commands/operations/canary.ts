// Watches the canary, the first jobs of an operation that retries jobs or runs them now. A job that no longer exists
// counts as succeeded. A job that was cancelled, or failed by hand without a reason, does not count.
import type { JobOperation } from "./model/operation.ts";
import type { CanaryOutcome } from "./model/operation-store.ts";
import type { OperationTools } from "./model/operation-tools.ts";

const POLL_MS = 500;
const MAX_WATCH_MS = 120_000;

/**
 * Waits for the canary's outcome, and returns the operation. Its state is `running` or `paused`; if `signal` aborts
 * first, `interrupted`. If a user or another process has changed the state, that state stays.
 */
export async function watchCanary(
  { store, monotonic, wait }: OperationTools,
  operation: JobOperation,
  signal: AbortSignal,
): Promise<JobOperation> {
  const { id } = operation;
  const mine = { isMine: true } as const;
  // If an error ended an earlier call, the operation is already in the state `canary`.
  const watched = await store.move(id, { from: ["running", "canary"], to: "canary", ...mine });
  const until = monotonic() + MAX_WATCH_MS;
  let verdict: Verdict | null = watched === null ? TAKEN : null;
  while (verdict === null && !signal.aborted) {
    verdict = verdictOn(await store.canary(id), monotonic() >= until);
    if (verdict === null) {
      await wait(POLL_MS, signal);
      if (!(await store.renew(id))) verdict = TAKEN;
    }
  }
  const from = ["canary"] as const;
  const moved =
    verdict === TAKEN
      ? null
      : verdict === null
        ? await store.move(id, { from, to: "interrupted", ...mine })
        : await store.move(id, { from, ...verdict, ...mine, isCanaryOver: true });
  return moved ?? (await store.find(id)) ?? operation;
}

type Verdict = { readonly to: "running" } | { readonly to: "paused"; readonly error: string };

/** Not a verdict: this process no longer owns the operation, for example after a pause. */
const TAKEN: Verdict = { to: "running" };

export function verdictOn(outcome: CanaryOutcome, isLate: boolean): Verdict | null {
  const { gone, failedAgain, undecided } = outcome;
  const all = gone + failedAgain + undecided;
  if (failedAgain > 0) {
    return { to: "paused", error: `${failedAgain} of the first ${all} failed again` };
  }
  if (undecided === 0 && gone > 0) return { to: "running" };
  if (all === 0)
    return { to: "paused", error: "its first jobs were all cancelled, or failed by hand" };
  if (!isLate) return null;
  return { to: "paused", error: `${undecided} of the first ${all} did not end within 2 minutes` };
}
