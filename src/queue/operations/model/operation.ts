// What an operation is: an action on all jobs that match a query, done in batches, ascending by id.
//
//   running ⇄ paused            running ──▶ canary ──▶ running, or paused when some failed again
//      │  ╲ owner lost: interrupted, until somebody resumes it
//      ├──▶ done      ┐
//      ├──▶ stopped   ├──▶ undoing ──▶ undone
//      └──▶ failed    ┘
//
// Jobs are meant by a boundary: ids up to the highest at the rehearsal, not changed since. So what is
// added later is never touched, and nothing is touched twice.
import type { Value } from "../../../domain/value.ts";
import type { Changes, OperationAction } from "./action.ts";

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

/** Which jobs are meant, by the time of the rehearsal. */
export interface Boundary {
  readonly maxId: string;
  /** RFC 3339, microseconds. */
  readonly before: string;
}

/** Who asks, and through what. */
export interface Origin {
  /** null: nobody has to log in. */
  readonly by: string | null;
  readonly source: "admin" | "command line";
}

/** What somebody means to do, counted and shown before it is done. */
export interface Rehearsal {
  readonly id: string;
  readonly query: string;
  readonly nowUs: string;
  readonly action: OperationAction;
  readonly changes: Changes;
  readonly boundary: Boundary;
  readonly count: Value;
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
  /** Jobs that the rehearsal expected; null: it did not know. */
  readonly expected: number | null;
  readonly startedAt: string;
  readonly finishedAt: string | null;
  /** Ids up to this one have been dealt with. */
  readonly afterId: string;
  readonly done: number;
  readonly skippedLocked: number;
  readonly skippedChanged: number;
  /** Rows kept for receipt and undo. */
  readonly kept: number;
  /** Jobs a second; null: half of the time is left to others; 0: without pauses. */
  readonly rate: number | null;
  readonly canary: number | null;
  readonly isCanaryOver: boolean;
  readonly ratePerS: number | null;
  readonly etaS: number | null;
  /** Jobs up to this one have been put back; null: no undo has begun. */
  readonly undoAfterId: string | null;
  readonly undone: number;
  readonly error: string | null;
  readonly canUndo: boolean;
  readonly undoUntil: string | null;
  /** Somebody can go on with it after the process that works on it is gone. */
  readonly isResumable: boolean;
}

export const atWork: readonly OperationState[] = ["running", "canary", "undoing"];

/** How long undo data are kept, hours; and most rows of one operation. */
export const UNDO_HOURS = 24;
export const MOST_ROWS = 1_000_000;

/** The wire's Operation; ids as JSON integers. */
export function operationJson(operation: JobOperation): string {
  const { id, afterId, boundary } = operation;
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
    expected: text(operation.expected),
    done: text(operation.done),
    skipped_locked: text(operation.skippedLocked),
    skipped_changed: text(operation.skippedChanged),
    scanned,
    rate: text(operation.rate),
    canary: text(operation.canary),
    rate_per_s: text(operation.ratePerS),
    eta_s: text(operation.etaS),
    kept: text(operation.kept),
    undone: text(operation.undone),
    can_undo: text(operation.canUndo),
    undo_until: text(operation.undoUntil),
    resumable: text(operation.isResumable),
    error: text(operation.error),
  };
  return objectText(members);
}

/** JSON texts by name, as an object. */
export function objectText(members: Readonly<Record<string, string>>): string {
  const texts = Object.entries(members).map(([name, value]) => `"${name}":${value}`);
  return `{${texts.join(",")}}`;
}

const text = (value: unknown) => JSON.stringify(value);
