// Helpers for tests of operations: the tools of an operation, functions that begin and run an operation, and a function
// that reads all columns of the jobs, which an undo must restore.
import { randomUUID } from "node:crypto";
import { monotonic, wait } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { compilerOn } from "../../src/commands/operations/compile.ts";
import { beginOperation } from "../../src/commands/operations/lifecycle.ts";
import type { OperationAction } from "../../src/commands/operations/model/action.ts";
import type { JobOperation } from "../../src/commands/operations/model/operation.ts";
import type { OperationTools } from "../../src/commands/operations/model/operation-tools.ts";
import { rehearse } from "../../src/commands/operations/rehearse/rehearse.ts";
import { tableStore } from "../../src/commands/operations/store/table-store.ts";
import { workOn } from "../../src/commands/operations/work.ts";
import type { Database } from "../../src/database/database.ts";
import { addJobs } from "../../src/queue/add/add-jobs.ts";
import type { TestQueue } from "../queue/queue-database.ts";

export const never = new AbortController().signal;
export const origin = { by: "tester", source: "admin" } as const;

/** Returns the tools of operations. By default, each call makes a store with a new owner, as a new process does. */
export function operationTools(db: Database, store = tableStore(db, randomUUID())): OperationTools {
  return {
    store,
    reads: db,
    quickReads: db,
    compile: compilerOn(db),
    logger: silentLogger,
    monotonic,
    wait,
  };
}

export interface Wish {
  readonly changes?: object;
  readonly rate?: number | null;
  readonly canary?: number | null;
  readonly limit?: number | null;
}

export async function beginWith(
  with_: OperationTools,
  action: OperationAction,
  query: string,
  { changes = {}, rate = 0, canary = null, limit = null }: Wish = {},
) {
  const report = await rehearse(with_, { query, action, changes });
  const { id } = report.rehearsal;
  return {
    report,
    operation: await beginOperation(with_.store, id, origin, { rate, canary, limit }),
  };
}

export async function runWith(
  with_: OperationTools,
  action: OperationAction,
  query: string,
  wish: Wish = {},
): Promise<JobOperation> {
  const { operation } = await beginWith(with_, action, query, wish);
  return workOn(with_, operation, never);
}

export const addSome = ({ db }: TestQueue, count: number, identifier = "t") =>
  addJobs(
    db,
    Array.from({ length: count }, (_, n) => ({ identifier, payload: { n } })),
  );

/** Reads every column of every job, to the microsecond and the byte. */
export const jobRows = (queue: TestQueue) =>
  queue.sql<Record<string, unknown>>(`select id, job_queue_id, task_id, payload::text, priority,
    extract(epoch from run_at)::text as run_at, attempts, max_attempts, last_error,
    extract(epoch from created_at)::text as created_at,
    extract(epoch from updated_at)::text as updated_at,
    key, locked_at, locked_by, revision, flags::text, is_available
    from worker._private_jobs order by id`);
