// An operation: an action on all jobs that match a query, performed in batches, ascending by id.
//
//   running ⇄ paused            running ──▶ canary ──▶ running if all succeeded, otherwise paused
//      │  ╲ lease expired: interrupted, until it is resumed; paused or interrupted for 24 hours: stopped
//      ├──▶ done      ┐
//      ├──▶ stopped   ├──▶ undoing ──▶ undone
//      └──▶ failed    ┘
//
// Each id is processed once, so no job is changed twice.
import type { Value } from "../../../domain/value.ts";
import type { Origin } from "../../audit/audit-entry.ts";
import type { Changes } from "../../declare/job-action.ts";
import { actionData, isOperationAction, type OperationAction } from "./action.ts";
import { commandLineOf } from "./command-line.ts";
import { notFound } from "./not-found.ts";

export const operationStates = [
  "running",
  "canary",
  "paused",
  "interrupted",
  "stopped",
  "done",
  "failed",
  "undoing",
  "undone",
] as const;
export type OperationState = (typeof operationStates)[number];

/**
 * Limits an operation to jobs that existed at the rehearsal and have not changed since. The action stop-retrying also
 * changes jobs that have changed.
 */
export interface Boundary {
  /** The highest id of a job at the rehearsal. */
  readonly maxId: string;
  /** The time of the rehearsal, RFC 3339 with microseconds. */
  readonly before: string;
  /**
   * The start times of the transactions that were open at the rehearsal. Such a transaction sets `updated_at` of
   * changed jobs to its start time. So a job with one of these times counts as changed since the rehearsal.
   */
  readonly openSince: readonly string[];
}

/** The plan of an operation, stored for at most 15 minutes. */
export interface Rehearsal {
  readonly id: string;
  readonly query: string;
  readonly nowUs: string;
  readonly action: OperationAction;
  readonly changes: Changes;
  readonly boundary: Boundary;
  /** The number of jobs that match the query. */
  readonly matched: Value;
  /** The number of jobs that the operation would change. */
  readonly expected: Value;
}

/** How many jobs an undo does not restore, by reason. */
export interface UndoSkippedCounts {
  /** Deleted jobs whose key another job has now. */
  readonly keyTaken: number;
  /** Jobs that have changed since the operation; for a deletion, jobs whose ids exist again. */
  readonly changed: number;
  readonly gone: number;
  /** Jobs that a worker or another transaction had locked. */
  readonly locked: number;
}

export interface JobOperation {
  readonly id: string;
  readonly query: string;
  readonly nowUs: string;
  readonly action: OperationAction;
  readonly changes: Changes;
  readonly origin: Origin;
  readonly state: OperationState;
  readonly boundary: Boundary;
  /** As in the rehearsal; null for an operation of an earlier version of this library. */
  readonly matched: Value | null;
  /** As in the rehearsal, but at most `limit`; null as for `matched`. */
  readonly expected: Value | null;
  readonly startedAt: string;
  readonly finishedAt: string | null;
  /** The id up to which all jobs have been processed. */
  readonly afterId: string;
  readonly done: number;
  /** Jobs that a worker or another transaction had locked. */
  readonly skippedLocked: number;
  /** Jobs that were changed after the rehearsal, or stopped matching after their batch had found them. */
  readonly skippedChanged: number;
  /** Jobs that were deleted after their batch had found them; for an action by ids, ids without a job. */
  readonly skippedGone: number;
  /** The number of stored rows, for the receipt and the undo. */
  readonly storedRows: number;
  /** The maximum number of jobs per second; null: no maximum; 0: no maximum, and no pauses between batches. */
  readonly rate: number | null;
  readonly canary: number | null;
  readonly isCanaryOver: boolean;
  /** The maximum number of jobs to change, from the lowest id on; null: no maximum. */
  readonly limit: number | null;
  readonly ratePerS: number | null;
  readonly etaS: number | null;
  /** The id up to which an undo has restored or skipped all jobs; null: no undo has started. */
  readonly undoAfterId: string | null;
  readonly undone: number;
  readonly undoSkipped: UndoSkippedCounts;
  readonly error: string | null;
  readonly canUndo: boolean;
  readonly undoUntil: string | null;
}

export const atWork: readonly OperationState[] = ["running", "canary", "undoing"];

/** Returns the number of all skipped jobs. */
export const skippedJobs = ({ skippedLocked, skippedChanged, skippedGone }: JobOperation) =>
  skippedLocked + skippedChanged + skippedGone;

/** Returns how many locked jobs an operation `cancel` has requested to end; 0 for other actions. */
export const cancellingCount = ({ action, skippedLocked }: JobOperation) =>
  isOperationAction(action) && actionData(action).ofRunning !== undefined ? skippedLocked : 0;

/** How long receipts and undo data are stored, in hours. */
export const UNDO_HOURS = 24;
/**
 * An operation with this many rows for its receipt and its undo stores no more rows. If all newer operations together
 * have this many rows, the rows of an operation are deleted early.
 */
export const MAX_ROWS = 1_000_000;

/** Returns the JSON of an operation in the HTTP API, with ids as JSON integers. */
export function operationJson(operation: JobOperation): string {
  const { id, afterId, boundary, undoSkipped, expected } = operation;
  const scanned = afterId;
  const members: Record<string, string> = {
    id,
    q: text(operation.query),
    action: text(operation.action),
    changes: text(operation.changes),
    by: text(operation.origin.by),
    source: text(operation.origin.source),
    state: text(operation.state),
    started_at: text(operation.startedAt),
    finished_at: text(operation.finishedAt),
    after_id: afterId,
    boundary: `{"max_id":${boundary.maxId},"before":${text(boundary.before)}}`,
    matched: text(operation.matched),
    expected: text(expected?.value ?? null),
    expected_value: text(expected),
    done: text(operation.done),
    skipped_locked: text(operation.skippedLocked),
    cancelling: text(cancellingCount(operation)),
    skipped_changed: text(operation.skippedChanged),
    skipped_gone: text(operation.skippedGone),
    not_found: text(notFound(operation)),
    scanned,
    rate: text(operation.rate),
    canary: text(operation.canary),
    limit: text(operation.limit),
    rate_per_s: text(operation.ratePerS),
    eta_s: text(operation.etaS),
    undo_jobs: text(operation.storedRows),
    undone: text(operation.undone),
    undo_skipped: text({
      ...{ key_taken: undoSkipped.keyTaken, changed: undoSkipped.changed },
      ...{ gone: undoSkipped.gone, locked: undoSkipped.locked },
    }),
    can_undo: text(operation.canUndo),
    undo_until: text(operation.undoUntil),
    resumable: "true",
    error: text(operation.error),
    cli: text(commandLineOf(operation.action, operation.query, operation.changes, operation)),
  };
  return objectText(members);
}

/** Returns the text of a JSON object whose values are given as JSON texts. */
export function objectText(members: Readonly<Record<string, string>>): string {
  const texts = Object.entries(members).map(([name, value]) => `"${name}":${value}`);
  return `{${texts.join(",")}}`;
}

const text = (value: unknown) => JSON.stringify(value);
