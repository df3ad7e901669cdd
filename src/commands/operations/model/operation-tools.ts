// The dependencies of the code that runs operations.
import type { Logger } from "../../../base/logger.ts";
import type { Database } from "../../../database/database.ts";
import type { JobQuery } from "../../../insight/query/job-query.ts";
import type { JobOperation } from "./operation.ts";
import type { OperationStore } from "./operation-store.ts";

/** The dependencies of a rehearsal. There is no store if the schema has no tables for operations. */
export interface RehearsalTools {
  readonly store: OperationStore | null;
  /** The database for bounded reads. */
  readonly reads: Database;
  /** The database for reads that are skipped if they take long. */
  readonly quickReads: Database;
  /** Compiles a query. With `nowUs`, its ages are relative to that time. */
  readonly compile: (text: string, nowUs?: string) => Promise<JobQuery>;
  readonly logger: Logger;
  /** Returns milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
  /** Waits. Resolves to true when the time has passed, to false when `signal` has aborted. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<boolean>;
  /** Called after each batch. */
  readonly onProgress?: (operation: JobOperation) => void;
}

export interface OperationTools extends RehearsalTools {
  readonly store: OperationStore;
}
