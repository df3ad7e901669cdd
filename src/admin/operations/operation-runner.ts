// Runs the operations of this admin in the background, and deletes old receipts and audit entries. stop() waits for the
// current batch of each running operation. If an operation is not complete after this batch, it becomes `interrupted`.
import { randomUUID } from "node:crypto";
import { monotonic, wait } from "../../base/clock.ts";
import { isOutage, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Service } from "../../base/service.ts";
import type { AuditTrail } from "../../commands/audit/audit-trail.ts";
import { compilerOn } from "../../commands/operations/compile.ts";
import type { JobOperation } from "../../commands/operations/model/operation.ts";
import type { OperationStore } from "../../commands/operations/model/operation-store.ts";
import type { OperationTools } from "../../commands/operations/model/operation-tools.ts";
import { tableStore } from "../../commands/operations/store/table-store.ts";
import { workOn } from "../../commands/operations/work.ts";
import type { Database } from "../../database/database.ts";
import { hasOperations } from "../../database/schema/extensions/has-operations.ts";
import {
  type MissingTables,
  missingTables,
  OPERATION_TABLES,
} from "../../database/schema/extensions/missing-tables.ts";
import type { Readiness } from "../live/readiness.ts";

export interface OperationRunner extends Service {
  /**
   * Resolves to the store of operations; null if missing() resolves to a reason. `of`: the database for the store's
   * statements. Default: the database for writes. A request that only reads passes its own database, which cancels the
   * statements when the request ends.
   */
  store(of?: Database): Promise<OperationStore | null>;
  /** Resolves to the reason why there is no store; null if there is a store. */
  missing(): Promise<MissingTables | null>;
  /** The tools need the tables of operations, so check missing() first. */
  readonly tools: OperationTools;
  /** Runs, in the background, an operation that this process has started, resumed or begun to undo. */
  run(operation: JobOperation): void;
  /** Calls `listener` after every batch and change of state of an operation that this process runs. */
  onChange(listener: (operation: JobOperation) => void): void;
}

export interface RunnerTimes {
  /** The time between two deletions of old receipts and audit entries, in milliseconds. Default: 60,000. */
  readonly tidyEveryMs?: number;
}

export interface RunnerOptions extends RunnerTimes {
  readonly reads: Database;
  readonly quickReads: Database;
  readonly writes: Database;
  readonly audit: AuditTrail;
  readonly readiness: Readiness;
  readonly logger: Logger;
}

export function createOperationRunner(options: RunnerOptions): OperationRunner {
  const { reads, quickReads, writes, readiness, logger, tidyEveryMs = 60_000 } = options;
  const owner = randomUUID();
  const inTables = tableStore(writes, owner);
  const ending = new AbortController();
  const listeners = new Set<(operation: JobOperation) => void>();
  const atWork = new Set<Promise<void>>();
  const notify = (operation: JobOperation) => {
    for (const listener of listeners) listener(operation);
  };
  const store = async (of?: Database) => {
    if (!(await hasOperations(of ?? reads))) return null;
    return of === undefined ? inTables : tableStore(of, owner);
  };
  const compile = compilerOn(reads);
  const tools: OperationTools = {
    ...{ store: inTables, reads, quickReads, compile, logger, monotonic, wait },
    onProgress: notify,
  };

  const run = async (operation: JobOperation) => {
    notify(operation);
    const { id, state, done, error } = await workOn(tools, operation, ending.signal);
    const fields = { operation: id, state, done, ...(error === null ? {} : { error }) };
    if (state === "interrupted") logger.warn(fields, "an operation was interrupted: resume it");
    else if (state === "running") logger.info(fields, "another process continues an operation");
    else if (state === "paused") logger.info(fields, "an operation was paused");
    else logger.info(fields, "an operation has ended");
    const last = await inTables.find(id).catch(() => null);
    if (last !== null) notify(last);
  };
  const keepTidy = async () => {
    while (await wait(tidyEveryMs, ending.signal)) {
      if ((await readiness.check()).isReadOnlyServer) continue;
      await tidyAll("receipts", async () => (await store()) !== null && inTables.tidy());
      await tidyAll("audit entries", () => options.audit.tidy());
    }
  };
  // Only the first failure in a row is a warning. An outage is reported elsewhere.
  const failing = new Set<string>();
  const tidyAll = async (what: string, tidySome: () => Promise<boolean>) => {
    try {
      while (!ending.signal.aborted && (await tidySome())) await wait(100, ending.signal);
      failing.delete(what);
    } catch (error) {
      const isNew = !failing.has(what) && !isOutage(error);
      if (isNew) failing.add(what);
      logger[isNew ? "warn" : "debug"](
        { error: messageOf(error) },
        `old ${what} could not be deleted`,
      );
    }
  };
  const track = (work: Promise<void>) => {
    const tracked = work
      .catch((error) => {
        logger.error({ error: messageOf(error) }, "an operation failed");
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
    missing: () => missingTables(reads, OPERATION_TABLES),
    tools,
    run: (operation) => track(run(operation)),
    onChange: (listener) => void listeners.add(listener),
  };
}
