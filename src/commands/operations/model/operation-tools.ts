// What working on operations takes beside the operation itself.
import type { Logger } from "../../../base/logger.ts";
import type { Database } from "../../../database/database.ts";
import type { JobQuery } from "../../../insight/query/job-query.ts";
import type { JobOperation } from "./operation.ts";
import type { OperationStore } from "./operation-store.ts";

/** What a rehearsal takes: no store where the schema has no tables for operations. */
export interface RehearsalTools {
  readonly store: OperationStore | null;
  /** Reads, each bounded. */
  readonly reads: Database;
  /** For what is better left than waited for. */
  readonly quickReads: Database;
  /** The query; with `nowUs` the ages in it mean what they meant at that moment. */
  readonly compile: (text: string, nowUs?: string) => Promise<JobQuery>;
  readonly logger: Logger;
  /** Milliseconds by a clock that never jumps. */
  readonly monotonic: () => number;
  /** True when the time has passed, false when `signal` has aborted. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<boolean>;
  /** Told after each batch. */
  readonly onProgress?: (operation: JobOperation) => void;
}

export interface OperationTools extends RehearsalTools {
  readonly store: OperationStore;
}
