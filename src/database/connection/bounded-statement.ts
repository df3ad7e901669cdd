// Runs a statement in its own transaction with time limits: if possible as one packet, in one round trip.
// limitStatement() stops statements that are no longer needed, or to which the server does not respond.
import type pg from "pg";
import type { QueryConfig, QueryResult, QueryResultRow } from "pg";
import { serialize } from "pg-protocol";
import { clearTimeout, setImmediate, setTimeout } from "../../base/clock.ts";
import { endInUse, type MessageWriter, PgQuery } from "../pg-internals.ts";
import { cancelStatement } from "./cancel-request.ts";
import { Client } from "./client.ts";

/**
 * Begins a transaction. The isolation level is set, because the default may be serializable. With that level,
 * concurrent fetches can fail with 40001.
 */
export const BEGIN = "begin isolation level read committed";
const BEGIN_READ_ONLY = `${BEGIN} read only`;

/** The minimum of idle_in_transaction_session_timeout, so that a process that is briefly busy keeps its connection. */
const MIN_IDLE_MS = 5_000;

/** The shortest lock_timeout: PostgreSQL treats 0 as no limit. */
const MIN_LOCK_MS = 20;

/** Returns the statements that begin a transaction. `limitMs`: the statement_timeout; `lockMs`: the lock_timeout. */
export function beginWith(
  { readOnly, statementTimeoutMs }: { readOnly: boolean; statementTimeoutMs: number },
  { limitMs, lockMs }: { limitMs: number; lockMs: number },
): string[] {
  const statementMs = Math.max(1, Math.trunc(limitMs));
  const idleMs = Math.max(MIN_IDLE_MS, Math.trunc(statementTimeoutMs));
  return [
    readOnly ? BEGIN_READ_ONLY : BEGIN,
    // With this search path, reads use no functions or operators that other roles have created. Writes keep the
    // session's search path, which the application's triggers may need.
    ...(readOnly ? ["set local search_path = pg_catalog, pg_temp"] : []),
    `set local statement_timeout = ${statementMs}`,
    `set local lock_timeout = ${Math.max(MIN_LOCK_MS, Math.trunc(lockMs))}`,
    // A process that freezes before its commit must not keep its locks.
    `set local idle_in_transaction_session_timeout = ${idleMs}`,
    // JIT compilation may take longer than a short statement, and parallel workers would take cores from the jobs.
    "set local jit = off",
    "set local max_parallel_workers_per_gather = 0",
  ];
}

interface Options<R extends QueryResultRow> extends QueryConfig {
  readonly callback: (error: Error | null, result: QueryResult<R>) => void;
}

const BIND = serialize.bind();
const EXECUTE = serialize.execute();
const COMMIT = bytesOf(["commit"]);

class PacketQuery<R extends QueryResultRow> extends PgQuery {
  readonly #before: readonly string[];
  #completed = 0;

  constructor(options: Options<R>, before: readonly string[]) {
    super(options);
    this.#before = before;
  }

  submit(connection: MessageWriter): null {
    connection.stream.cork();
    try {
      connection.stream.write(bytesOf(this.#before));
      this.prepare(connection);
    } finally {
      connection.stream.uncork();
    }
    return null;
  }

  /** After an error, PostgreSQL skips all messages up to the sync, the commit included. */
  override _getRows(connection: MessageWriter): void {
    connection.execute({});
    connection.stream.write(COMMIT);
    connection.sync();
  }

  override handleCommandComplete(message: unknown, connection: MessageWriter): void {
    const isOwn = this.#completed === this.#before.length;
    this.#completed += 1;
    if (isOwn) super.handleCommandComplete(message, connection);
  }
}

// One write to a socket is faster than twenty small ones.
function bytesOf(texts: readonly string[]): Buffer {
  return Buffer.concat(texts.flatMap((text) => [serialize.parse({ text }), BIND, EXECUTE]));
}

/**
 * Runs the statements `before`, which begin a transaction, then the statement `config`, and commits. After an error,
 * the caller must roll the transaction back.
 */
export async function runBounded<R extends QueryResultRow>(
  client: pg.PoolClient,
  before: readonly string[],
  config: QueryConfig,
): Promise<QueryResult<R>> {
  if (isPackable(client, config)) return sendPacket<R>(client, before, config);
  await client.query(before.join("; "));
  const result = await client.query<R>(config);
  await client.query("commit");
  return result;
}

// False for three kinds of statements: statements on an application's client, which may be from another version of pg;
// texts without values, which may contain several statements; and named statements, which pg would count as prepared at
// the packet's first response, the response to `begin`.
const isPackable = (client: unknown, { values, name }: QueryConfig) =>
  client instanceof Client && values !== undefined && name === undefined;

function sendPacket<R extends QueryResultRow>(
  client: pg.PoolClient,
  before: readonly string[],
  config: QueryConfig,
): Promise<QueryResult<R>> {
  return new Promise((resolve, reject) => {
    const callback: Options<R>["callback"] = (error, result) =>
      error === null ? resolve(result) : reject(error);
    client.query(new PacketQuery<R>({ ...config, callback }, before) as unknown as pg.Submittable);
  });
}

const CANCEL_MS = 1_000;

/**
 * Limits the statement that runs on `client`, until end() of the result is called. Cancels the statement when `signal`
 * aborts. Cuts the connection if the statement still runs a second after the abort or, without an abort, after `cutMs`.
 */
export function limitStatement(
  client: pg.PoolClient,
  cutMs: number,
  signal: AbortSignal | undefined,
) {
  // A frozen or unreachable server does not end a statement at its time limit. Ending a client during a query cuts the
  // connection.
  const cutIn = (ms: number) =>
    setTimeout(() => {
      // Data that has already arrived is read first, because it may end the statement.
      setImmediate(() => {
        if (hasEnded) return;
        isCut = cancelled !== undefined;
        void endInUse(client).catch(() => {});
      });
    }, ms);
  let hasEnded = false;
  let isCut = false;
  let overdue = cutIn(cutMs);
  let cancelled: Promise<void> | undefined;
  const cancel = () => {
    clearTimeout(overdue);
    overdue = cutIn(CANCEL_MS);
    cancelled = cancelStatement(client);
  };
  signal?.addEventListener("abort", cancel, { once: true });
  return {
    /** Whether the connection was cut after the signal had aborted. */
    get isCut() {
      return isCut;
    },
    async end() {
      hasEnded = true;
      signal?.removeEventListener("abort", cancel);
      await cancelled;
      clearTimeout(overdue);
    },
  };
}
