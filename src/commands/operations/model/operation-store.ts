// The interface of the store of operations. table-store.ts implements it with the tables of the extension `operations`,
// so operations outlive their process, and every admin of the schema can show and resume them.

import type { JobQuery } from "../../../insight/query/job-query.ts";
import type { Origin } from "../../audit/audit-entry.ts";
import type { JobChange } from "../../before-images/job-change.ts";
import type { OperationSettings } from "./action.ts";
import type { JobOperation, OperationState, Rehearsal, UndoSkippedCounts } from "./operation.ts";

/** A change of state. It is made only if the operation is in one of the states `from`. */
export interface Transition {
  readonly from: readonly OperationState[];
  readonly to: OperationState;
  /** Whether the caller becomes the operation's owner, which has to run it. */
  readonly takes?: boolean;
  /**
   * Whether the caller must own the operation. `from` is then compared with the stored state, which the end of the
   * owner's lease alone does not change.
   */
  readonly isMine?: boolean;
  readonly isCanaryOver?: boolean;
  readonly error?: string;
}

/** What a batch processes: at most `limit` matches with ids after `afterId` up to `uptoId`, within a Boundary. */
export interface Stretch {
  readonly afterId: string;
  readonly uptoId: string;
  readonly limit: number;
  readonly before: string;
  readonly openSince: readonly string[];
  /** The matches that candidates.ts has found, if SQL alone cannot evaluate the query; otherwise null. */
  readonly selection: BatchSelection | null;
}

export interface BatchSelection {
  readonly ids: readonly string[];
  /** The checked row version (ctid) of each of these jobs. */
  readonly ctids: readonly string[];
}

/** What a batch of an undo processes: the next `limit` stored rows after the job id `afterId`. */
export interface UndoStretch {
  readonly afterId: string;
  readonly limit: number;
}

/** The result of one batch. */
export interface Batch {
  /** The number of matching jobs; for an undo, of stored rows. */
  readonly found: number;
  /** The number of changed jobs; for an undo, of restored jobs. */
  readonly done: number;
  /** How many matching jobs were skipped, by reason. It has no meaning for an undo, which has `undoSkipped`. */
  readonly skipped: SkippedCounts;
  /** For an undo: how many jobs all its batches so far have not restored, by reason. */
  readonly undoSkipped?: UndoSkippedCounts;
  /**
   * The id up to which jobs are processed. Null if the batch did nothing, for example because the operation was paused
   * or stopped, or has a new owner.
   */
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

/** The outcomes by which a receipt lists jobs. `failed_again` is a part of `done`. The last five are of an undo. */
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
  /** The first line of the job's error, up to 300 characters; null if there is no error, or it is unknown. */
  readonly errorLine: string | null;
}

export interface Receipt {
  readonly jobs: readonly ReceiptJob[];
  /** The cursor of the next page; null on the last page. */
  readonly nextCursor: string | null;
}

/** How many of the jobs that an operation changed are in which state now. Only the first 20,000 by id are counted. */
export interface OperationResults {
  /** The number of jobs that were checked. */
  readonly scanned: number;
  /** Jobs that no longer exist: completed or deleted. Always 0 after a deletion. */
  readonly finished: number;
  readonly failedAgain: number;
  readonly running: number;
  /** Jobs that are still as the change left them. After a deletion: jobs that an undo would restore. */
  readonly waiting: number;
  /** All other jobs, such as those changed or failed by hand since. After a deletion: jobs that cannot be restored. */
  readonly changed: number;
  /** Jobs that an undo would restore now. */
  readonly restorable: number;
  /** The error groups with the most jobs that failed again, at most five. `count`: the number of these jobs. */
  readonly errors: readonly { readonly label: string; readonly count: number }[];
}

export interface OperationPage {
  readonly operations: readonly JobOperation[];
  readonly hasMore: boolean;
}

export interface OperationStore {
  /** Stores a rehearsal for 15 minutes, or until 1,000 newer ones are stored. */
  keep(rehearsal: Rehearsal): Promise<void>;
  /** Returns a rehearsal and deletes it, so that it is used once; null if it does not exist or has expired. */
  take(id: string): Promise<Rehearsal | null>;
  /** Creates a running operation that the caller owns. Throws `conflict` while another one runs. */
  begin(rehearsal: Rehearsal, origin: Origin, settings: OperationSettings): Promise<JobOperation>;
  find(id: string): Promise<JobOperation | null>;
  /** Returns the operations with these ids that exist; if their rows together are too long, only the newest of them. */
  findAll(ids: readonly string[]): Promise<JobOperation[]>;
  /**
   * Returns the operation that runs or is being undone. If there is none, returns the newest one that was started with
   * a query; actions on jobs by ids or a key do not count.
   */
  currentOrLast(): Promise<JobOperation | null>;
  /**
   * Returns operations, newest first. `beforeId`: only those older than this one. Fewer than `limit` are returned if
   * their rows are long.
   */
  list(limit: number, beforeId: string | null): Promise<OperationPage>;
  /** Changes the state. Returns null if a condition of the transition does not hold. Throws `conflict` like begin(). */
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
  /** Deletes some of the expired data. Returns true if there may be more. */
  tidy(): Promise<boolean>;
}
