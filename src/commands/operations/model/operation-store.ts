// The interface of the store of operations. Stored operations outlive their process, so every admin of the schema can
// show and resume them.

import type { JobQuery } from "../../../insight/query/job-query.ts";
import type { Origin } from "../../audit/audit-entry.ts";
import type { JobChange } from "../../before-images/job-change.ts";
import type { OperationSettings } from "./action.ts";
import type { JobOperation, OperationState, Rehearsal, UndoSkippedCounts } from "./operation.ts";

/** A change of an operation's state, from one of the states `from`. */
export interface Transition {
  readonly from: readonly OperationState[];
  readonly to: OperationState;
  /** Whether the caller becomes the owner of the operation, and so has to run it. */
  readonly takes?: boolean;
  /** Whether the caller must own the operation. If false, an operation whose lease has expired is `interrupted`. */
  readonly isMine?: boolean;
  readonly isCanaryOver?: boolean;
  readonly error?: string;
}

/**
 * The jobs that a batch processes: at most `limit` matching jobs, with ids above `afterId` and not above `uptoId`.
 * `before` and `openSince`: as in the operation's boundary.
 */
export interface Stretch {
  readonly afterId: string;
  readonly uptoId: string;
  readonly limit: number;
  readonly before: string;
  readonly openSince: readonly string[];
  /** The matching jobs; null if SQL alone can evaluate the query. */
  readonly selection: BatchSelection | null;
}

export interface BatchSelection {
  readonly ids: readonly string[];
  /** For each id, the ctid of the checked row. A job whose row has another ctid is not changed. */
  readonly ctids: readonly string[];
}

/** What a batch of an undo processes: the first `limit` stored rows of jobs with ids above `afterId`. */
export interface UndoStretch {
  readonly afterId: string;
  readonly limit: number;
}

/** The result of one batch. */
export interface Batch {
  /** The number of matching jobs that the batch has found; for an undo, of stored rows. */
  readonly found: number;
  /** The number of changed jobs; for an undo, of restored jobs. */
  readonly done: number;
  /** How many matching jobs were skipped, by reason; without meaning for an undo. */
  readonly skipped: SkippedCounts;
  /** For an undo: how many jobs all batches so far have not restored, by reason. */
  readonly undoSkipped?: UndoSkippedCounts;
  /** The id up to which jobs are processed; null if the batch did nothing, as when the operation was paused. */
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

/** How many jobs of a canary no longer exist, have failed again, or have no result yet. */
export interface CanaryOutcome {
  readonly gone: number;
  readonly failedAgain: number;
  readonly undecided: number;
}

/** The outcomes that a job of an operation can have. A job with the outcome `failed_again` also has `done`. */
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

/** A job of a receipt. */
export interface ReceiptJob {
  readonly id: string;
  /** Null if the task is unknown. */
  readonly taskIdentifier: string | null;
  /** The first line of the job's error, up to 300 characters; null if no error is known. */
  readonly errorLine: string | null;
}

export interface Receipt {
  readonly jobs: readonly ReceiptJob[];
  /** The cursor of the next page; null on the last page. */
  readonly nextCursor: string | null;
}

/**
 * The jobs that an operation has changed, counted by their present states: at most 20,000 jobs, lowest ids first. If
 * the operation deletes jobs, a job counts as `waiting` if an undo would restore the job, and as `changed` if not.
 */
export interface OperationResults {
  /** The number of counted jobs. */
  readonly scanned: number;
  /** Jobs that were completed or deleted after the operation had changed them. */
  readonly finished: number;
  readonly failedAgain: number;
  readonly running: number;
  /** Jobs that are still as the operation left them. */
  readonly waiting: number;
  /** All other jobs, such as jobs that a user has changed since. */
  readonly changed: number;
  /** Jobs that an undo would restore now. */
  readonly restorable: number;
  /** The error groups of the jobs that failed again: at most five, the largest first. `count`: jobs in the group. */
  readonly errors: readonly { readonly label: string; readonly count: number }[];
}

export interface OperationPage {
  readonly operations: readonly JobOperation[];
  readonly hasMore: boolean;
}

export interface OperationStore {
  /** Stores a rehearsal for 15 minutes, or until 1,000 newer rehearsals are stored. */
  keep(rehearsal: Rehearsal): Promise<void>;
  /** Returns a rehearsal and deletes it; null if it does not exist or has expired. */
  take(id: string): Promise<Rehearsal | null>;
  /** Creates an operation that the caller owns. Throws `conflict` while another operation runs or is being undone. */
  begin(rehearsal: Rehearsal, origin: Origin, settings: OperationSettings): Promise<JobOperation>;
  find(id: string): Promise<JobOperation | null>;
  /** Returns the existing operations with these ids; only the newest of them if the rows together are too long. */
  findAll(ids: readonly string[]): Promise<JobOperation[]>;
  /**
   * Returns the operation that runs or is being undone. If there is none, returns the newest operation that was started
   * with a query, not with ids or a key; null if there is none among the newest 200 operations.
   */
  currentOrLast(): Promise<JobOperation | null>;
  /**
   * Returns at most `limit` operations, newest first, and fewer if their rows are long. With `beforeId`, all are older
   * than this operation.
   */
  list(limit: number, beforeId: string | null): Promise<OperationPage>;
  /**
   * Changes the operation's state. Returns null if a condition of the transition does not hold. Throws `conflict` if
   * two operations would run or be undone at the same time.
   */
  move(id: string, transition: Transition): Promise<JobOperation | null>;
  /** Renews the caller's lease. Returns false if the caller no longer owns the operation. */
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
  /** Deletes some of the expired data. Returns true if there may be more. */
  tidy(): Promise<boolean>;
}
