// Waits for the end of jobs that were cancelled while they ran.

import * as v from "valibot";
import { monotonic, wait } from "../../base/clock.ts";
import { duration, strict, validate } from "../../base/validate.ts";
import type { Database } from "../../database/database.ts";
import { CONTROL_TABLES, requireTables } from "../../database/schema/extensions/missing-tables.ts";
import { checkedJobIds } from "../../domain/job-ids.ts";
import { endCancellations } from "../../queue/cancel/cancellations.ts";
import { type CancelResult, cancelOutcomes } from "./cancel-outcomes.ts";

/** The outcome of a job whose cancellation was requested. */
export interface CancelEnd {
  /** The job's id. */
  readonly id: string;
  /**
   * `cancelled`: the job has failed as cancelled. `completed`: the job no longer exists, because its task has returned
   * or the job was deleted. `failed`: the job has failed for good with another error. `running`: none of these yet.
   */
  readonly outcome: "cancelled" | "completed" | "failed" | "running";
}

const waitSchema = strict({ timeoutMs: v.optional(duration, 60_000) });
const POLL_MS = 100;
const NEVER = new AbortController().signal;

/** Waits until all jobs have ended, at most `timeoutMs` milliseconds (default 60,000). Returns each job's outcome. */
export async function waitForCancelledJobs(
  db: Database,
  ids: readonly string[],
  options: { readonly timeoutMs?: number | undefined } = {},
): Promise<CancelEnd[]> {
  const checked = checkedJobIds(ids);
  const { timeoutMs } = validate(waitSchema, options);
  await requireTables(db, CONTROL_TABLES, "cancelling jobs");
  const endsAtMs = monotonic() + timeoutMs;
  for (;;) {
    // A job counts as running while its request is stored. Workers also remove the requests of ended jobs, but perhaps
    // no worker runs.
    await endCancellations(db);
    const results: readonly CancelResult[] = await cancelOutcomes(db, checked);
    const leftMs = endsAtMs - monotonic();
    if (leftMs <= 0 || !results.some(({ outcome }) => outcome === "running")) {
      await endCancellations(db);
      return [...results];
    }
    await wait(Math.min(POLL_MS, leftMs), NEVER);
  }
}

const ENDS: Readonly<Record<CancelEnd["outcome"] | "not_found", string>> = {
  cancelled: "cancelled",
  completed: "completed",
  failed: "failed with an error of its own",
  running: "still running",
  not_found: "not found",
};

interface WaitedFor {
  readonly lines: readonly string[];
  readonly members: { readonly ends: string };
  readonly isPartial: boolean;
}

/**
 * Returns the outcomes as lines of text and as JSON. `cancelled`: the ids of the jobs that were cancelled at once.
 * `waited`: the outcomes of all other jobs that were found.
 */
export function endsOf(
  ids: readonly string[],
  cancelled: ReadonlySet<string>,
  waited: readonly CancelEnd[],
): WaitedFor {
  const outcomes = new Map(waited.map(({ id, outcome }) => [id, outcome]));
  const ends = ids.map((id) => {
    return {
      id,
      outcome: outcomes.get(id) ?? (cancelled.has(id) ? "cancelled" : "not_found"),
    } as const;
  });
  return {
    lines: ends.map(({ id, outcome }) => `#${id}: ${ENDS[outcome]}`),
    members: {
      ends: `[${ends.map(({ id, outcome }) => `{"id":${id},"outcome":"${outcome}"}`).join(",")}]`,
    },
    isPartial: ends.some(({ outcome }) => outcome === "running"),
  };
}
