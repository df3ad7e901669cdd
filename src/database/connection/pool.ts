// Connection pools of our own, and the two ways in which statements run on them: plainly, or each
// in a short transaction under a statement timeout.

import { once } from "node:events";
import type { QueryConfig, QueryResultRow } from "pg";
import pg from "pg";
import {
  clearTimeout,
  LONGEST_TIMER_MS,
  setTimeout,
  timeoutSignal,
  wait,
} from "../../base/clock.ts";
import { messageOf, WorkerError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Transactional } from "../database.ts";
import { isAnswerLost, markUnsent } from "../errors/lost-answer.ts";
import { endLent } from "../pg-internals.ts";
import { beginWith, limitStatement, runBounded } from "./bounded-statement.ts";
import { Client, type OnConnect, type ServerConfig } from "./client.ts";
import { serverSettings, tellIgnored } from "./server/server-settings.ts";

export interface PoolOptions {
  /** A URL or "key=value" text, as libpq takes it; empty: what libpq's variables say. */
  readonly connectionString: string;
  /** Default 5. */
  readonly maxConnections?: number;
  /** Shown in pg_stat_activity. Default `worker`. */
  readonly applicationName?: string;
  /** How long to wait for a connection, milliseconds. Default 5,000. */
  readonly connectionTimeoutMs?: number;
  readonly logger: Logger;
}

/** Connections of our pools that somebody has and has not given back. */
const taken = new WeakMap<pg.Pool, Set<pg.PoolClient>>();
/** The connections that PostgreSQL may still see. */
const open = new WeakMap<pg.Pool, Set<pg.PoolClient>>();

/** A pool that survives the loss of idle connections. The caller ends it. */
export function createPool(options: PoolOptions): pg.Pool {
  const server = serverSettings(options.connectionString);
  const { connectTimeoutMs, hosts } = server;
  tellIgnored(server, options.logger);
  const config: pg.PoolConfig & ServerConfig = {
    Client,
    server,
    max: options.maxConnections ?? 5,
    application_name: options.applicationName ?? "worker",
    // For all hosts together.
    connectionTimeoutMillis:
      connectTimeoutMs === undefined
        ? (options.connectionTimeoutMs ?? 5_000)
        : Math.min(connectTimeoutMs * hosts.length, LONGEST_TIMER_MS),
    keepAlive: true,
  };
  const pool = new pg.Pool(config);
  // Without a listener the loss of an idle connection would end the process.
  pool.on("error", (error) => {
    options.logger.debug({ error: messageOf(error) }, "an idle database connection was lost");
  });
  const clients = new Set<pg.PoolClient>();
  taken.set(pool, clients);
  const connections = new Set<pg.PoolClient>();
  open.set(pool, connections);
  pool.on("connect", (client) => {
    connections.add(client);
    // Nor may what is lost while nobody listens yet, between pg's callback and who awaits it.
    client.on("error", () => {});
  });
  pool.on("remove", (client) => connections.delete(client));
  pool.on("acquire", (client) => clients.add(client));
  pool.on("release", (_error, client) => clients.delete(client));
  return pool;
}

/** Stands where a pool must be and nobody has given one: who asks it for anything hears `reason()`. */
export function refusingPool(reason: () => Error): pg.Pool {
  class Refusing extends Client {
    override connect(): Promise<pg.Client>;
    override connect(callback: OnConnect): void;
    override connect(callback?: OnConnect): Promise<pg.Client> | undefined {
      if (callback === undefined) return Promise.reject(reason());
      callback(reason());
      return undefined;
    }
  }
  return new pg.Pool({ Client: Refusing });
}

/**
 * Ends a pool that createPool() made. A connection that is not given back within `graceMs` is cut:
 * nobody can wait for it, and it would keep the process alive.
 */
export async function endPool(pool: pg.Pool, graceMs: number): Promise<void> {
  const ended = new AbortController();
  void pool.end().then(() => ended.abort());
  if (!(await wait(graceMs, ended.signal))) return;
  for (const client of taken.get(pool) ?? []) void endLent(client);
}

/**
 * Ends a pool that createPool() made, and waits up to `limitMs` until its connections are closed:
 * end() alone resolves while its goodbyes are still on their way, and a server that is stopped then
 * answers them with errors.
 */
export async function closePool(pool: pg.Pool, limitMs: number): Promise<void> {
  await pool.end();
  const limit = timeoutSignal(limitMs);
  while ((open.get(pool)?.size ?? 0) > 0 && !limit.aborted) {
    await once(pool, "remove", { signal: limit }).catch(() => {});
  }
}

export interface Bounds {
  /** PostgreSQL's statement_timeout, milliseconds. */
  readonly statementTimeoutMs: number;
  /** PostgreSQL's lock_timeout, milliseconds. */
  readonly lockTimeoutMs: number;
  readonly readOnly: boolean;
  /** How long a statement may wait for a connection, milliseconds. Default 10,000. */
  readonly lineMs?: number;
}

/** For whom statements run: when that ends, the one under way is stopped. */
export interface RequestScope {
  readonly signal: AbortSignal;
  /** Milliseconds that are left to it. */
  leftMs(): number;
  /** Of them those for which it may wait for others: for a connection, and for locks. Default: all. */
  patienceMs?(): number;
}

/**
 * Runs each statement in a transaction of its own under `bounds`, or several in one. SET LOCAL, not
 * connection options: it also holds on a pool that was lent to us and behind pgbouncer.
 */
export function boundedQueryable(
  pool: pg.Pool,
  bounds: Bounds,
  scope?: RequestScope,
): Transactional {
  const limitOf = () => Math.min(bounds.statementTimeoutMs, scope?.leftMs() ?? Infinity);
  const before = () => {
    const lockMs = Math.min(bounds.lockTimeoutMs, scope?.patienceMs?.() ?? Infinity);
    return beginWith(bounds, { limitMs: limitOf(), lockMs });
  };
  const limited = async <T>(client: pg.PoolClient, run: () => Promise<T>): Promise<T> => {
    const limits = limitStatement(client, limitOf(), scope?.signal);
    try {
      scope?.signal.throwIfAborted();
      return await run();
    } catch (error) {
      // That the connection was lost is our own doing, and says nothing of the server.
      throw limits.isCut ? scope?.signal.reason : error;
    } finally {
      await limits.end();
    }
  };
  const connected = <T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> =>
    withClient(pool, work, {
      waitMs: Math.min(bounds.lineMs ?? LONGEST_WAIT_MS, scope?.patienceMs?.() ?? Infinity),
      signal: scope?.signal,
    });
  return {
    query: <R extends QueryResultRow>(config: QueryConfig) =>
      connected((client) => limited(client, () => runBounded<R>(client, before(), config))),
    transaction: (work) =>
      connected(async (client) => {
        const query = <R extends QueryResultRow>(config: QueryConfig) =>
          limited(client, () => client.query<R>(config));
        await query({ text: before().join("; ") });
        const result = await work({ query });
        await query({ text: "commit" });
        return result;
      }),
  };
}

export function isPool(client: object): client is pg.Pool {
  return "connect" in client && "totalCount" in client;
}

interface Line {
  readonly waitMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A connection for a while. When `work` throws, its transaction is rolled back. */
export async function withClient<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  line: Line = {},
): Promise<T> {
  let broken: Error | undefined;
  // pg reports a lost connection to the query and also as an event of the client, and an event
  // "error" that nobody hears ends the process. The pool listens to idle clients only.
  const onError = (error: Error) => {
    broken = error;
  };
  const client = await connectInTime(pool, line, onError);
  try {
    if (broken !== undefined) throw markUnsent(broken);
    return await work(client);
  } catch (error) {
    // One that does not answer would not answer a rollback, either. A failed one means the connection itself is
    // gone: do not give it back for reuse.
    if (isAnswerLost(error)) broken ??= error as Error;
    else {
      await client.query("rollback").catch((lost: Error) => {
        broken ??= lost;
      });
    }
    throw error;
  } finally {
    client.off("error", onError);
    client.release(broken);
  }
}

// Our own pools give up sooner; a pool that was lent to us may be set to wait for ever.
const LONGEST_WAIT_MS = 10_000;

/** The client is heard by `onError` from its first moment on. */
async function connectInTime(
  pool: pg.Pool,
  { waitMs = LONGEST_WAIT_MS, signal }: Line,
  onError: (error: Error) => void,
): Promise<pg.PoolClient> {
  signal?.throwIfAborted();
  // Others have all connections, so that only the line is long.
  const isFull = pool.idleCount === 0 && pool.totalCount >= pool.options.max;
  const connecting = connected(pool, onError);
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(TOO_LATE)), isFull ? waitMs : LONGEST_WAIT_MS);
  const onAbort = () => reject(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([connecting, late]);
  } catch (error) {
    // What comes too late goes back unused.
    connecting.then(
      (client) => client.off("error", onError).release(),
      () => {},
    );
    throw isFull && messageOf(error) === TOO_LATE ? fullPool(pool, error) : markUnsent(error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}

/**
 * In a callback and not behind a promise: what comes in the same packet as the server's welcome, such as
 * that it shuts down, is heard only by who listens at once.
 */
function connected(pool: pg.Pool, onError: (error: Error) => void): Promise<pg.PoolClient> {
  return new Promise((resolve, reject) => {
    pool.connect((error, client) => {
      if (client === undefined) reject(error);
      else resolve(client.on("error", onError));
    });
  });
}

/** In pg's words, too. */
const TOO_LATE = "timeout exceeded when trying to connect";

function fullPool(pool: pg.Pool, cause: unknown): WorkerError {
  const message = `all ${pool.options.max} database connections are busy; try again, or allow more with --max-connections`;
  return new WorkerError("busy", message, { cause });
}
