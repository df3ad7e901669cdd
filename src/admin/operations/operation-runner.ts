// Does the operations of this admin, one at a time, in the background: no request waits for one, and
// none ends because whoever began it has closed the page. When the admin stops, what runs becomes
// `interrupted` behind its last batch, and waits for somebody who resumes it.
import { randomUUID } from "node:crypto";
import { monotonic, wait } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Service } from "../../base/service.ts";
import type { AuditTrail } from "../../commands/audit/audit-trail.ts";
import { compilerOn } from "../../commands/operations/compile.ts";
import {
  type MissingTables,
  missingTables,
} from "../../commands/operations/model/missing-tables.ts";
import type { JobOperation } from "../../commands/operations/model/operation.ts";
import type { OperationStore } from "../../commands/operations/model/operation-store.ts";
import type { OperationTools } from "../../commands/operations/model/operation-tools.ts";
import { tableStore } from "../../commands/operations/store/table-store.ts";
import { workOn } from "../../commands/operations/work.ts";
import type { Database } from "../../database/database.ts";
import { hasOperations } from "../../database/schema/extensions/has-operations.ts";
import type { Readiness } from "../live/readiness.ts";

export interface OperationRunner extends Service {
  /** null where the schema has no tables for operations, or this role no rights to them. */
  store(): Promise<OperationStore | null>;
  /** Why there is no store; null where there is one. */
  missing(): Promise<MissingTables | null>;
  /** They work on the tables, so first ask what is missing(). */
  readonly tools: OperationTools;
  /** Works on an operation that has been begun or taken, in the background. */
  run(operation: JobOperation): void;
  /** Told of every batch and change of state of an operation that this process works on. */
  onChange(listener: (operation: JobOperation) => void): void;
}

export interface RunnerOptions {
  readonly reads: Database;
  readonly quickReads: Database;
  readonly writes: Database;
  readonly audit: AuditTrail;
  readonly readiness: Readiness;
  readonly logger: Logger;
}

const TIDY_EVERY_MS = 60_000;

export function createOperationRunner(options: RunnerOptions): OperationRunner {
  const { reads, quickReads, writes, readiness, logger } = options;
  const inTables = tableStore(writes, randomUUID());
  const ending = new AbortController();
  const listeners = new Set<(operation: JobOperation) => void>();
  const atWork = new Set<Promise<void>>();
  const tell = (operation: JobOperation) => {
    for (const listener of listeners) listener(operation);
  };
  const store = async () => ((await hasOperations(reads)) ? inTables : null);
  const compile = compilerOn(reads);
  const tools: OperationTools = {
    ...{ store: inTables, reads, quickReads, compile, logger, monotonic, wait },
    onProgress: tell,
  };

  const run = async (operation: JobOperation) => {
    tell(operation);
    const { id, state, done, error } = await workOn(tools, operation, ending.signal);
    const fields = { operation: id, state, done, ...(error === null ? {} : { error }) };
    if (state === "interrupted") logger.warn(fields, "an operation was interrupted: resume it");
    else if (state === "running") logger.info(fields, "another process goes on with an operation");
    else logger.info(fields, "an operation has ended its work");
    const last = await inTables.find(id).catch(() => null);
    if (last !== null) tell(last);
  };
  const keepTidy = async () => {
    while (await wait(TIDY_EVERY_MS, ending.signal)) {
      try {
        if ((await readiness.look()).isReadOnlyServer) continue;
        while (!ending.signal.aborted && (await store()) !== null && (await inTables.tidy())) {
          await wait(100, ending.signal);
        }
        while (!ending.signal.aborted && (await options.audit.tidy())) {
          await wait(100, ending.signal);
        }
      } catch (error) {
        logger.debug({ error: messageOf(error) }, "old receipts could not be tidied up");
      }
    }
  };
  const track = (work: Promise<void>) => {
    const tracked = work
      .catch((error) => {
        logger.error({ error: messageOf(error) }, "an operation could not be worked on");
      })
      .finally(() => atWork.delete(tracked));
    atWork.add(tracked);
  };
  const stop = async () => {
    ending.abort();
    await Promise.all(atWork);
  };
  return {
    start: async () => track(keepTidy()),
    stop,
    [Symbol.asyncDispose]: stop,
    store,
    missing: () => missingTables(reads),
    tools,
    run: (operation) => track(run(operation)),
    onChange: (listener) => void listeners.add(listener),
  };
}
