// The store of operations: the tables of the extension `operations` (table-store.ts). They outlive the process, and
// every admin reads them.

import type { JobQuery } from "../../../insight/query/job-query.ts";
import type { Origin } from "../../audit/audit-entry.ts";
import type { JobChange } from "../../before-images/job-change.ts";
import type { OperationSettings } from "./action.ts";
import type { JobOperation, OperationState, Rehearsal, UndoSkippedCounts } from "./operation.ts";

/** A change of state. It is made only if the operation is in one of the states `from`. */
export interface Transition {
  readonly from: readonly OperationState[];
  readonly to: OperationState;
  /** Whether the caller works on the operation from now on. Only one operation of a schema runs at a time. */
  readonly takes?: boolean;
  /** Whether the change is made only if the caller owns the operation. Then an expired lease does not matter. */
  readonly isMine?: boolean;
  readonly isCanaryOver?: boolean;
  readonly error?: string;
}

/** The part of an operation that a batch processes: ids after `afterId` up to `uptoId`, with a limit on matches. */
export interface Stretch {
  readonly afterId: string;
  readonly uptoId: string;
  readonly limit: number;
  readonly before: string;
  readonly openSince: readonly string[];
  /** The matching jobs as they were read, if PostgreSQL cannot evaluate the query; otherwise null. */
  readonly selection: BatchSelection | null;
}

export interface BatchSelection {
  readonly ids: readonly string[];
  /** The versions of the rows that were checked. */
  readonly ctids: readonly string[];
}

/** The part of the stored rows that is restored next. */
export interface UndoStretch {
  readonly afterId: string;
  readonly limit: number;
}

/** The result of one batch. */
export interface Batch {
  /** The number of matching jobs, and that of changed jobs. */
  readonly found: number;
  readonly done: number;
  /** The number of the other jobs by the reason they were skipped. For an undo, see `undoSkipped`. */
  readonly skipped: SkippedCounts;
  /** For an undo: the number of jobs that it has left unchanged so far. */
  readonly undoSkipped?: UndoSkippedCounts;
  /** The id up to which the operation is done; null if the operation belongs to another process: nothing was done. */
  readonly afterId: string | null;
}

export interface SkippedCounts {
  readonly locked: number;
  readonly changed: number;
  readonly gone: number;
}

export interface Speed {
  readonly ratePerS: number | null;
  readonly etaS: number | null;
}

/** The outcome of a canary's jobs. */
export interface CanaryOutcome {
  readonly gone: number;
  readonly failedAgain: number;
  readonly undecided: number;
}

/** The outcomes of jobs. `failed_again` is a part of `done`. The last five are outcomes of an undo. */
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

/** A job of a receipt; null: unknown, or none. */
export interface ReceiptJob {
  readonly id: string;
  readonly taskIdentifier: string | null;
  readonly errorLine: string | null;
}

export interface Receipt {
  readonly jobs: readonly ReceiptJob[];
  /** The cursor of the next page; null on the last page. */
  readonly nextCursor: string | null;
}

/** The present state of the jobs that an operation changed. */
export interface OperationResults {
  /** The number of jobs that were checked. */
  readonly scanned: number;
  /** Jobs that a worker has completed, or that were deleted. */
  readonly finished: number;
  readonly failedAgain: number;
  readonly running: number;
  /** Jobs that have not been locked since the change. After a deletion: jobs that an undo would restore. */
  readonly waiting: number;
  /** Jobs that were changed by something else since. */
  readonly changed: number;
  /** Jobs that an undo would restore now. */
  readonly restorable: number;
  /** The errors of jobs that failed again, those with most jobs first. */
  readonly errors: readonly { readonly label: string; readonly count: number }[];
}

export interface OperationPage {
  readonly operations: readonly JobOperation[];
  readonly hasMore: boolean;
}

export interface OperationStore {
  /** Stores a rehearsal for a limited time. */
  keep(rehearsal: Rehearsal): Promise<void>;
  /** Returns a rehearsal and deletes it: each can be used once. */
  take(id: string): Promise<Rehearsal | null>;
  /** Creates a running operation that the caller owns. Throws `conflict` while another one runs. */
  begin(rehearsal: Rehearsal, origin: Origin, settings: OperationSettings): Promise<JobOperation>;
  find(id: string): Promise<JobOperation | null>;
  /** Returns the existing operations. If their rows are too long together, only the newest are returned. */
  findAll(ids: readonly string[]): Promise<JobOperation[]>;
  /**
   * Returns the running operation; if none runs, the newest one by query. Actions on jobs by id or key are left out.
   */
  currentOrLast(): Promise<JobOperation | null>;
  /**
   * Returns operations, newest first. `beforeId`: only older ones. Fewer than `limit` are returned if their rows are
   * long.
   */
  list(limit: number, beforeId: string | null): Promise<OperationPage>;
  /** Changes the state. Returns null if the operation is in none of the states. Throws `conflict` like begin(). */
  move(id: string, transition: Transition): Promise<JobOperation | null>;
  /** Renews the caller's lease. Returns false if the operation no longer belongs to the caller. */
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
  /** Deletes some of the expired rows. Returns true if there are more. */
  tidy(): Promise<boolean>;
}
