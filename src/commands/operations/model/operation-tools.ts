// The dependencies of the code that rehearses operations and of the code that runs them.
import type { Logger } from "../../../base/logger.ts";
import type { Database } from "../../../database/database.ts";
import type { JobQuery } from "../../../insight/query/job-query.ts";
import type { JobOperation } from "./operation.ts";
import type { OperationStore } from "./operation-store.ts";

/** The dependencies of a rehearsal. `store` is null if the schema lacks the tables that operations need. */
export interface RehearsalTools {
  readonly store: OperationStore | null;
  /** The database for the usual reads. A statement may take at most 2 s. */
  readonly reads: Database;
  /**
   * The database for optional reads: if such a read fails, the operation continues. A statement may take at most
   * 0.25 s.
   */
  readonly quickReads: Database;
  /**
   * Compiles a query. `nowUs`: the time from which ages count, in microseconds since 1970; default: the database's
   * present time.
   */
  readonly compile: (text: string, nowUs?: string) => Promise<JobQuery>;
  readonly logger: Logger;
  /** Returns milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
  /** Waits. Resolves to true when the time has passed, to false when `signal` has aborted. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<boolean>;
  /** Called after each batch of an operation or of an undo, and after the wait for a canary. */
  readonly onProgress?: (operation: JobOperation) => void;
}

export interface OperationTools extends RehearsalTools {
  readonly store: OperationStore;
}
