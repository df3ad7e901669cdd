// Where operations are kept: in the extension's tables (table-store.ts). There they outlive the process, and
// every admin sees them.

import type { JobQuery } from "../../../insight/query/job-query.ts";
import type { Origin } from "../../audit/audit-entry.ts";
import type { JobChange } from "../../before-images/job-change.ts";
import type { Manner } from "./action.ts";
import type { JobOperation, OperationState, Rehearsal, UndoLeft } from "./operation.ts";

/** A change of state; nothing happens where the operation is in none of the states `from`. */
export interface Transition {
  readonly from: readonly OperationState[];
  readonly to: OperationState;
  /** The caller works on it from now on; only one operation in a schema is at work. */
  readonly takes?: boolean;
  /** Only where the caller works on it. */
  readonly isMine?: boolean;
  readonly isCanaryOver?: boolean;
  readonly error?: string;
}

/** Where a batch looks: ids after `afterId` up to `uptoId`, at most so many matches. */
export interface Stretch {
  readonly afterId: string;
  readonly uptoId: string;
  readonly limit: number;
  readonly before: string;
  /** Which of them match, where PostgreSQL cannot decide it: as they were read. */
  readonly chosen: Chosen | null;
}

export interface Chosen {
  readonly ids: readonly string[];
  /** The version of the row that was looked at. */
  readonly ctids: readonly string[];
}

/** Which part of what is kept comes back. */
export interface UndoStretch {
  readonly afterId: string;
  readonly limit: number;
}

/** What one batch did. */
export interface Batch {
  /** Jobs that matched, and that were changed. */
  readonly found: number;
  readonly done: number;
  /** The rest, by why they were left alone; none of an undo. */
  readonly skipped: Skipped;
  /** Of an undo: those that it has left as they are so far. */
  readonly undoLeft?: UndoLeft;
  /** How far the operation is now; null: it is not ours any more, and nothing was done. */
  readonly afterId: string | null;
}

export interface Skipped {
  readonly locked: number;
  readonly changed: number;
  readonly gone: number;
}

export interface Speed {
  readonly ratePerS: number | null;
  readonly etaS: number | null;
}

/** What has become of the jobs of a canary. */
export interface CanaryOutcome {
  readonly gone: number;
  readonly failedAgain: number;
  readonly undecided: number;
}

/** `failed_again`: of those that are done. The rest of the list: what an undo did to those. */
export const outcomes = [
  "done",
  "locked",
  "changed",
  "gone",
  "failed_again",
  "undone",
  "undo_key_taken",
  "undo_changed",
  "undo_gone",
  "undo_locked",
] as const;
export type Outcome = (typeof outcomes)[number];

/** What is known of it; null: nothing, or there is none. */
export interface ReceiptJob {
  readonly id: string;
  readonly taskIdentifier: string | null;
  readonly errorLine: string | null;
}

export interface Receipt {
  readonly jobs: readonly ReceiptJob[];
  /** null: that was all. */
  readonly nextCursor: string | null;
}

/** What has become of the jobs that were changed. */
export interface OperationResults {
  /** How many of them were looked at. */
  readonly lookedAt: number;
  /** Gone: completed by a worker, or deleted. */
  readonly finished: number;
  readonly failedAgain: number;
  readonly running: number;
  /** Not taken since. */
  readonly waiting: number;
  /** Written to by others since. */
  readonly changed: number;
  /** An undo would restore them now. */
  readonly restorable: number;
  /** Of those that failed again, most jobs first. */
  readonly errors: readonly { readonly label: string; readonly count: number }[];
}

export interface OperationPage {
  readonly operations: readonly JobOperation[];
  readonly hasMore: boolean;
}

export interface OperationStore {
  /** Keeps a rehearsal for a while. */
  keep(rehearsal: Rehearsal): Promise<void>;
  /** Gives a rehearsal once: what it was for is done once. */
  take(id: string): Promise<Rehearsal | null>;
  /** A new operation, running, that the caller works on. Throws `conflict` while another is at work. */
  begin(rehearsal: Rehearsal, origin: Origin, manner: Manner): Promise<JobOperation>;
  find(id: string): Promise<JobOperation | null>;
  /** Those of them that there are; the newest, where their rows are too long together. */
  findAll(ids: readonly string[]): Promise<JobOperation[]>;
  /** The one at work, else the newest that took its time: what acts on single jobs is over at once. */
  atHand(): Promise<JobOperation | null>;
  /** Newest first; `beforeId`: older than this one. Fewer than `limit` where their rows are long. */
  list(limit: number, beforeId: string | null): Promise<OperationPage>;
  /** null: it is in none of the states. Throws `conflict` like begin(). */
  move(id: string, transition: Transition): Promise<JobOperation | null>;
  /** Says that the caller is still there. False: it is not the caller's any more. */
  renew(id: string): Promise<boolean>;
  batch(
    operation: JobOperation,
    query: JobQuery,
    change: JobChange,
    stretch: Stretch,
    speed: Speed,
  ): Promise<Batch>;
  undoBatch(
    operation: JobOperation,
    change: JobChange,
    stretch: UndoStretch,
    speed: Speed,
  ): Promise<Batch>;
  canary(id: string): Promise<CanaryOutcome>;
  results(operation: Pick<JobOperation, "id" | "action" | "changes">): Promise<OperationResults>;
  receipt(id: string, outcome: Outcome, afterId: string, limit: number): Promise<Receipt>;
  /** Lets go of what has been kept for long enough, a bounded part of it. True: there is more. */
  tidy(): Promise<boolean>;
}
