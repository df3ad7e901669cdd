// The tools with which a command runs an operation, on the command's own connections. If the process of the command is
// killed, the operation is interrupted, and another command or an admin can resume it.
import { randomUUID } from "node:crypto";
import { monotonic, wait } from "../../base/clock.ts";
import { compilerOn } from "../../commands/operations/compile.ts";
import type { JobOperation } from "../../commands/operations/model/operation.ts";
import type { OperationTools } from "../../commands/operations/model/operation-tools.ts";
import { tableStore } from "../../commands/operations/store/table-store.ts";
import { boundedQueryable } from "../../database/connection/pool.ts";
import { quietLogger } from "../output/quiet-logger.ts";
import type { CommandConnection } from "../shell/connection.ts";

// The same time limits as in the admin (admin/config/databases.ts). After a batch has exceeded its limit, the next
// batches have fewer jobs.
const READS = { statementTimeoutMs: 2_000, lockTimeoutMs: 1_000, readOnly: true } as const;
const QUICK_READS = { statementTimeoutMs: 250, lockTimeoutMs: 100, readOnly: true } as const;
const WRITES = { statementTimeoutMs: 8_000, lockTimeoutMs: 4_000, readOnly: false } as const;

/** Returns the tools. Before `store` is used, check with missingTables() that the tables of operations exist. */
export function operationTools(
  { database, pool, logger }: CommandConnection,
  onProgress: (operation: JobOperation) => void,
): OperationTools {
  const { schema } = database;
  const reads = { schema, client: boundedQueryable(pool, READS) };
  const quickReads = { schema, client: boundedQueryable(pool, QUICK_READS) };
  const writes = { schema, client: boundedQueryable(pool, WRITES) };
  const store = tableStore(writes, randomUUID());
  const compile = compilerOn(reads);
  return {
    ...{ store, reads, quickReads, compile, logger: quietLogger(logger), monotonic, wait },
    onProgress,
  };
}
