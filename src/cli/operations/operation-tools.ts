// What an operation needs, on the connections of a command. The command works on it itself: it ends
// with the command, and goes on with whoever resumes it.
import { randomUUID } from "node:crypto";
import { monotonic, now, wait } from "../../base/clock.ts";
import { boundedQueryable } from "../../database/connection/pool.ts";
import { hasOperations } from "../../queue/audit/has-operations.ts";
import { compilerOn } from "../../queue/operations/compile.ts";
import type { JobOperation } from "../../queue/operations/model/operation.ts";
import type { OperationTools } from "../../queue/operations/model/operation-tools.ts";
import { memoryStore } from "../../queue/operations/store/memory-store.ts";
import { tableStore } from "../../queue/operations/store/table-store.ts";
import { quietly } from "../output/quietly.ts";
import type { Connected } from "../shell/connection.ts";

// As in the admin: a batch that takes longer is made smaller.
const READS = { statementTimeoutMs: 2_000, lockTimeoutMs: 1_000, readOnly: true } as const;
const GLANCES = { statementTimeoutMs: 250, lockTimeoutMs: 100, readOnly: true } as const;
const WRITES = { statementTimeoutMs: 8_000, lockTimeoutMs: 4_000, readOnly: false } as const;

export async function operationTools(
  { database, pool, logger }: Connected,
  onProgress: (operation: JobOperation) => void,
): Promise<OperationTools> {
  const { schema } = database;
  const reads = { schema, client: boundedQueryable(pool, READS) };
  const glances = { schema, client: boundedQueryable(pool, GLANCES) };
  const writes = { schema, client: boundedQueryable(pool, WRITES) };
  const quiet = quietly(logger);
  const store = (await hasOperations(reads))
    ? tableStore(writes, randomUUID())
    : memoryStore(writes, () => new Date(now()), quiet);
  const compile = compilerOn(reads);
  return { store, reads, glances, compile, logger: quiet, monotonic, wait, onProgress };
}
