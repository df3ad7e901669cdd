// Creates and closes this library's pools, and runs statements on any pool: withClient() without time limits,
// boundedQueryable() in short transactions with time limits.
import { once } from "node:events";
import type { Pool, PoolClient, QueryConfig, QueryResultRow } from "pg";
import pg from "pg";
import { clearTimeout, MAX_TIMER_MS, setTimeout, timeoutSignal, wait } from "../../base/clock.ts";
import { messageOf, WorkerError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Transactional } from "../database.ts";
import { isAnswerLost, markUnsent } from "../errors/lost-answer.ts";
import { isSuspect, recordAnswer, recordLoss } from "../errors/suspect-clients.ts";
import { endInUse } from "../pg-internals.ts";
import { beginWith, limitStatement, runBounded } from "./bounded-statement.ts";
import { Client, type OnConnect, type ServerConfig } from "./client.ts";
import { serverSettings, warnAboutIgnored } from "./server/server-settings.ts";

export interface PoolOptions {
  /** A URL or "key=value" text as in libpq, or empty. libpq's environment variables supply what the text omits. */
  readonly connectionString: string;
  /** Default 5. */
  readonly maxConnections?: number;
  /** The name in pg_stat_activity, unless the connection settings have an application_name. Default `worker`. */
  readonly applicationName?: string;
  readonly logger: Logger;
}

/** How long to wait for a connection if the connection settings have no connect_timeout, in milliseconds. */
const CONNECT_MS = 5_000;

/** Each pool's connections that are in use. */
const taken = new WeakMap<Pool, Set<PoolClient>>();
/** Each pool's connections that are not closed yet. */
const open = new WeakMap<Pool, Set<PoolClient>>();

/** Creates a pool that survives the loss of idle connections. The caller ends it. */
export function createPool(options: PoolOptions): Pool {
  const server = serverSettings(options.connectionString);
  const { connectTimeoutMs, hosts } = server;
  warnAboutIgnored(server, options.logger);
  const config: pg.PoolConfig & ServerConfig = {
    Client,
    server,
    max: options.maxConnections ?? 5,
    application_name: options.applicationName ?? "worker",
    // connect_timeout limits the attempt at each host, and this option of pg limits all attempts together.
    connectionTimeoutMillis:
      connectTimeoutMs === undefined
        ? CONNECT_MS
        : Math.min(connectTimeoutMs * hosts.length, MAX_TIMER_MS),
    keepAlive: true,
  };
  const pool = new pg.Pool(config);
  // Without a listener the loss of an idle connection would end the process.
  pool.on("error", (error) => {
    options.logger.debug({ error: messageOf(error) }, "an idle database connection was lost");
  });
  const clients = new Set<PoolClient>();
  taken.set(pool, clients);
  const connections = new Set<PoolClient>();
  open.set(pool, connections);
  pool.on("connect", (client) => {
    connections.add(client);
    // A connection can be lost before the code that awaits pool.connect() continues.
    client.on("error", () => {});
  });
  pool.on("remove", (client) => connections.delete(client));
  pool.on("acquire", (client) => clients.add(client));
  pool.on("release", (_error, client) => clients.delete(client));
  return pool;
}

/** Returns a placeholder for a missing pool. Each use fails with `reason()`. */
export function refusingPool(reason: () => Error): Pool {
  class RefusingClient extends Client {
    override connect(): Promise<pg.Client>;
    override connect(callback: OnConnect): void;
    override connect(callback?: OnConnect): Promise<pg.Client> | undefined {
      if (callback === undefined) return Promise.reject(reason());
      callback(reason());
      return undefined;
    }
  }
  return new pg.Pool({ Client: RefusingClient });
}

/**
 * Ends a pool of createPool(). Connections that are still in use after `graceMs` are closed, because they would keep
 * the process alive.
 */
export async function endPool(pool: Pool, graceMs: number): Promise<void> {
  const ended = new AbortController();
  void pool.end().then(() => ended.abort());
  if (!(await wait(graceMs, ended.signal))) return;
  for (const client of taken.get(pool) ?? []) void endInUse(client);
}

/** Ends a pool of createPool(). Unlike pool.end(), also waits up to `limitMs` until the connections are closed. */
export async function closePool(pool: Pool, limitMs: number): Promise<void> {
  await pool.end();
  const limit = timeoutSignal(limitMs);
  while ((open.get(pool)?.size ?? 0) > 0 && !limit.aborted) {
    await once(pool, "remove", { signal: limit }).catch(() => {});
  }
}

const GRACE_MS = 3_000;

export interface Bounds {
  readonly statementTimeoutMs: number;
  readonly lockTimeoutMs: number;
  readonly readOnly: boolean;
  /** How long to wait while all connections are in use, in ms; a pool's own timeout may be shorter. Default 10,000. */
  readonly connectionWaitMs?: number;
  /** How long to wait for an answer after a statement's timeout, in ms. Default 3,000. */
  readonly graceMs?: number;
}

/** The request for which statements run. When its signal aborts, the running statement is cancelled. */
export interface RequestScope {
  readonly signal: AbortSignal;
  /** Returns the request's remaining time in milliseconds. */
  leftMs(): number;
  /** Returns how many of the remaining milliseconds may be spent on waits for a connection and locks. Default: all. */
  waitLeftMs?(): number;
  /** Called after each query or transaction. `ms`: the duration, with all waits. */
  waited?(ms: number): void;
}

/**
 * Returns a Transactional whose transactions have the limits `bounds`. The limits are set by SET LOCAL, which also
 * works behind pgbouncer.
 */
export function boundedQueryable(pool: Pool, bounds: Bounds, scope?: RequestScope): Transactional {
  const limitOf = () => Math.min(bounds.statementTimeoutMs, scope?.leftMs() ?? Infinity);
  const before = () => {
    const lockMs = Math.min(bounds.lockTimeoutMs, scope?.waitLeftMs?.() ?? Infinity);
    return beginWith(bounds, { limitMs: limitOf(), lockMs });
  };
  const limited = async <T>(client: PoolClient, run: () => Promise<T>): Promise<T> => {
    const cutMs = limitOf() + (bounds.graceMs ?? GRACE_MS);
    const limits = limitStatement(client, cutMs, scope?.signal);
    try {
      scope?.signal.throwIfAborted();
      return await run();
    } catch (error) {
      // If this process cut the connection because the request had ended, the server was not lost.
      throw limits.isCut ? scope?.signal.reason : error;
    } finally {
      await limits.end();
    }
  };
  const connectClient = <T>(work: (client: PoolClient) => Promise<T>): Promise<T> =>
    withClient(pool, work, {
      waitMs: Math.min(bounds.connectionWaitMs ?? MAX_WAIT_MS, scope?.waitLeftMs?.() ?? Infinity),
      signal: scope?.signal,
    });
  return {
    query: <R extends QueryResultRow>(config: QueryConfig, ...first: string[]) =>
      connectClient((client) =>
        limited(client, () => runBounded<R>(client, [...before(), ...first], config)),
      ),
    transaction: (work) =>
      connectClient(async (client) => {
        const query = <R extends QueryResultRow>(config: QueryConfig) =>
          limited(client, () => client.query<R>(config));
        await query({ text: before().join("; ") });
        const result = await work({ query });
        await query({ text: "commit" });
        return result;
      }),
  };
}

export function isPool(client: object): client is Pool {
  return "connect" in client && "totalCount" in client;
}

interface Line {
  readonly waitMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Runs `work` with a connection of the pool. If `work` throws, the transaction that it has begun is rolled back. */
export async function withClient<T>(
  pool: Pool,
  work: (client: PoolClient) => Promise<T>,
  line: Line = {},
): Promise<T> {
  let broken: Error | undefined;
  // An application's pool listens to idle clients only. Without this listener, a loss would end the process.
  const onError = (error: Error) => {
    broken = error;
  };
  const client = await connectAlive(pool, line, onError);
  try {
    if (broken !== undefined) throw markUnsent(broken);
    const result = await work(client);
    recordAnswer(client);
    return result;
  } catch (error) {
    // A connection that did not answer a statement would not answer a rollback, either.
    if (isAnswerLost(error)) {
      broken ??= error as Error;
      recordLoss(pool);
    } else {
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

/** Returns a connection of the pool. Closes connections that may be lost. */
async function connectAlive(
  pool: Pool,
  line: Line,
  onError: (error: Error) => void,
): Promise<PoolClient> {
  for (;;) {
    const client = await connectInTime(pool, line, onError);
    if (!isSuspect(pool, client)) return client;
    client.off("error", onError);
    client.release(true);
  }
}

// An application's pool may have no timeout. If a pool has a timeout and is not full, connectInTime() waits at least
// EXTRA_MS longer than this timeout, because the error of the pool is usually more precise.
const MAX_WAIT_MS = 10_000;
const EXTRA_MS = 1_000;

async function connectInTime(
  pool: Pool,
  { waitMs = MAX_WAIT_MS, signal }: Line,
  onError: (error: Error) => void,
): Promise<PoolClient> {
  signal?.throwIfAborted();
  // A timeout of a full pool does not mean that the server is unreachable. A wrapped pool may have no options.
  const isFull = pool.idleCount === 0 && pool.totalCount >= pool.options?.max;
  const connecting = connectClient(pool, onError);
  const { promise: late, reject } = Promise.withResolvers<never>();
  const ownMs = (pool.options?.connectionTimeoutMillis ?? 0) + EXTRA_MS;
  const limitMs = isFull ? waitMs : Math.min(Math.max(MAX_WAIT_MS, ownMs), MAX_TIMER_MS);
  const timer = setTimeout(() => reject(new Error(TOO_LATE)), limitMs);
  const onAbort = () => reject(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([connecting, late]);
  } catch (error) {
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

/** With pg's promise, the listener would be too late: the packet that ends the login can also report a shutdown. */
function connectClient(pool: Pool, onError: (error: Error) => void): Promise<PoolClient> {
  return new Promise((resolve, reject) => {
    pool.connect((error, client) => {
      if (client === undefined) reject(error);
      else resolve(client.on("error", onError));
    });
  });
}

/** The message of pg's pool for a timeout. */
const TOO_LATE = "timeout exceeded when trying to connect";

function fullPool(pool: Pool, cause: unknown): WorkerError {
  const message = `all ${pool.options.max} database connections are busy; try again, or allow more with maxConnections (--max-connections)`;
  return new WorkerError("busy", message, { cause });
}
