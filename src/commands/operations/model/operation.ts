// An operation: an action on all jobs that match a query, performed in batches, ascending by id.
//
//   running ⇄ paused            running ──▶ canary ──▶ running if all succeeded, otherwise paused
//      │  ╲ lease expired: interrupted, until it is resumed; paused or interrupted for 24 hours: stopped
//      ├──▶ done      ┐
//      ├──▶ stopped   ├──▶ undoing ──▶ undone
//      └──▶ failed    ┘
//
// An operation changes only jobs within its boundary (interface Boundary). Each id is processed once, so no job is
// changed twice.
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
 * changes jobs that have changed since the rehearsal.
 */
export interface Boundary {
  /** The highest id of a job at the rehearsal. */
  readonly maxId: string;
  /** The time of the rehearsal, RFC 3339 with microseconds. */
  readonly before: string;
  /**
   * The start times of the transactions that were open at the rehearsal. A job that such a transaction changes gets the
   * transaction's start time as its `updated_at`. So a job with one of these times counts as changed since the
   * rehearsal, although the time is earlier than `before`.
   */
  readonly openSince: readonly string[];
}

/** The plan of an operation. It is stored until the operation starts, at most 15 minutes. */
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
  /** Jobs that the operation has deleted, and whose key another job has now. */
  readonly keyTaken: number;
  /** Jobs that have changed since the operation. If the operation deletes jobs: jobs whose ids exist again. */
  readonly changed: number;
  readonly gone: number;
  /** Jobs that were locked by a worker, or whose row was locked by another transaction. */
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
  /** As in the rehearsal; null if an earlier version of this library began the operation. */
  readonly matched: Value | null;
  /** As in the rehearsal, but at most `limit`; null if an earlier version of this library began the operation. */
  readonly expected: Value | null;
  readonly startedAt: string;
  readonly finishedAt: string | null;
  /** The id up to which all jobs have been processed. */
  readonly afterId: string;
  readonly done: number;
  /** Skipped jobs that were locked by a worker, or whose row was locked by another transaction. */
  readonly skippedLocked: number;
  /** Skipped jobs that were changed after the rehearsal, or stopped matching after their batch had found them. */
  readonly skippedChanged: number;
  /** Skipped jobs that were deleted after their batch had found them. For an action by ids: ids without a job. */
  readonly skippedGone: number;
  /** The number of rows that are stored for the receipt and the undo. */
  readonly storedRows: number;
  /**
   * The maximum number of jobs per second. null: no maximum, but the operation waits after each batch. 0: no maximum,
   * and the operation does not wait between batches.
   */
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

/** Returns the number of skipped jobs, for all reasons together. */
export const skippedJobs = ({ skippedLocked, skippedChanged, skippedGone }: JobOperation) =>
  skippedLocked + skippedChanged + skippedGone;

/** Returns how many locked jobs an operation `cancel` has requested to end; 0 for other actions. */
export const cancellingCount = ({ action, skippedLocked }: JobOperation) =>
  isOperationAction(action) && actionData(action).ofRunning !== undefined ? skippedLocked : 0;

/** How long receipts and undo data are stored, in hours, unless there are too many (MAX_ROWS). */
export const UNDO_HOURS = 24;
/**
 * An operation with this many rows for its receipt and its undo stores no more rows. Once all newer operations together
 * have this many rows, the rows of an operation are deleted before UNDO_HOURS have passed.
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

/** Returns the text of a JSON object. `members`: the names of its members, each with the JSON text of the value. */
export function objectText(members: Readonly<Record<string, string>>): string {
  const texts = Object.entries(members).map(([name, value]) => `"${name}":${value}`);
  return `{${texts.join(",")}}`;
}

const text = (value: unknown) => JSON.stringify(value);
