// Dependencies of the code that runs operations.
import type { Logger } from "../../../base/logger.ts";
import type { Database } from "../../../database/database.ts";
import type { JobQuery } from "../../../insight/query/job-query.ts";
import type { JobOperation } from "./operation.ts";
import type { OperationStore } from "./operation-store.ts";

/** Dependencies of a rehearsal: no store if the schema has no tables for operations. */
export interface RehearsalTools {
  readonly store: OperationStore | null;
  /** Bounded reads. */
  readonly reads: Database;
  /** For reads that are better skipped than waited for. */
  readonly quickReads: Database;
  /** Compiles a query; with `nowUs`, its ages are relative to that moment. */
  readonly compile: (text: string, nowUs?: string) => Promise<JobQuery>;
  readonly logger: Logger;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
  /** True when the time has passed, false when `signal` has aborted. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<boolean>;
  /** Called after each batch. */
  readonly onProgress?: (operation: JobOperation) => void;
}

export interface OperationTools extends RehearsalTools {
  readonly store: OperationStore;
}
