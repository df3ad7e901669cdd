// Makes the configurations of the worker's own connections from the options of its pool, and creates maintenance
// connections.
import pg from "pg";
import { wait } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { Client, type ServerConfig } from "../../database/connection/client.ts";
import { type Bounds, boundedQueryable } from "../../database/connection/pool.ts";
import type { Database } from "../../database/database.ts";
import type { SchemaName } from "../../database/schema-name.ts";

/** Returns those options of a pool that a connection needs, with the password, which is not enumerable in the pool. */
export function connectionOf(pool: pg.Pool): ServerConfig {
  const { max: _max, min: _min, idleTimeoutMillis: _idle, ...rest } = pool.options;
  const { server }: ServerConfig = rest;
  // Only a pool of this library has `server`, which contains all that a connection needs.
  if (server !== undefined) return { server, application_name: "worker connection" };
  const { password } = pool.options;
  return password === undefined ? rest : { ...rest, password };
}

/** Returns the options with a name for pg_stat_activity. Options of an application's pool are returned unchanged. */
export function withApplicationName(connection: ServerConfig, name: string): ServerConfig {
  return connection.server === undefined ? connection : { ...connection, application_name: name };
}

/** The configuration for the heartbeat thread: plain data, because nothing else can be sent. */
export interface PortableConnection {
  readonly config: ServerConfig;
  /**
   * Whether a function returns the password. The worker's thread calls the function when the heartbeat thread requests
   * the password.
   */
  readonly needsPassword: boolean;
}

// Options that a heartbeat does not need.
const WITHOUT = new Set(
  `types Promise Client log verify onConnect pipeline binary poolSize maxUses allowExitOnIdle
  maxLifetimeSeconds query_timeout connectionTimeoutMillis`.split(/\s+/),
);

/**
 * Returns a copy for the heartbeat thread; null if a needed option cannot be sent, such as a function that opens
 * sockets.
 */
export function portable(connection: ServerConfig): PortableConnection | null {
  const { password, ...rest } = connection;
  const needsPassword = typeof password === "function";
  const config: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(rest)) {
    if (WITHOUT.has(name) || value === undefined) continue;
    const copy = plainCopy(value);
    if (copy === undefined) return null;
    config[name] = copy;
  }
  if (!needsPassword && password !== undefined) config["password"] = password;
  return { config, needsPassword };
}

/** Returns a copy of plain data, including non-enumerable members; undefined for other values, such as functions. */
function plainCopy(value: unknown): unknown {
  if (value === null || ["string", "number", "boolean"].includes(typeof value)) return value;
  if (value instanceof Uint8Array) return value;
  if (Array.isArray(value)) {
    const items = value.map(plainCopy);
    return items.includes(undefined) ? undefined : items;
  }
  if (typeof value !== "object" || Object.getPrototypeOf(value) !== Object.prototype) {
    return undefined;
  }
  const copy: Record<string, unknown> = {};
  for (const name of Object.getOwnPropertyNames(value)) {
    const member = (value as Record<string, unknown>)[name];
    if (member === undefined) continue;
    const plain = plainCopy(member);
    if (plain === undefined) return undefined;
    copy[name] = plain;
  }
  return copy;
}

/** A connection for rare statements of the worker. It is not in the pool, because tasks may use the whole pool. */
export interface Maintenance {
  readonly database: Database;
  /** Closes the connection within half a second. */
  close(): Promise<void>;
  /** Closes the connection, and any opened later, at once. */
  cut(): void;
}

const BOUNDS: Bounds = { statementTimeoutMs: 10_000, lockTimeoutMs: 5_000, readOnly: false };

/**
 * The time limits of statements for permits, tokens and back-offs. `statementTimeoutMs` and `graceMs` are as short as
 * for a fetch, because limited jobs wait for these statements.
 */
export const SHORT_BOUNDS: Bounds = { ...BOUNDS, statementTimeoutMs: 6_500, graceMs: 1_000 };

/** The time limits of statements that may have to read all jobs. A minute is enough to read ten million from a disk. */
export const PATIENT_BOUNDS: Bounds = { ...BOUNDS, statementTimeoutMs: 60_000 };

/**
 * Returns a database on the pool, with time limits. Without limits, a statement on a connection that was cut without
 * notice would wait until the operating system closes the connection.
 */
export function withBounds(pool: pg.Pool, schema: SchemaName, bounds: Bounds = BOUNDS): Database {
  return { client: boundedQueryable(pool, bounds), schema };
}

const CLOSE_MS = 500;

/** Returns a connection that is opened for a statement, and closed after it was idle for 5 s. */
export function maintenance(
  connection: ServerConfig,
  schema: SchemaName,
  logger: Logger,
  bounds: Bounds = BOUNDS,
): Maintenance {
  let last: Client | undefined;
  let isCut = false;
  const pool = new pg.Pool({
    connectionTimeoutMillis: 5_000,
    ...connection,
    Client: class extends Client {
      constructor(config: ServerConfig = {}) {
        super(config);
        last = this;
        if (isCut) this.abandon();
      }
    },
    max: 1,
    idleTimeoutMillis: 5_000,
    allowExitOnIdle: true,
    application_name: "worker maintenance",
  });
  pool.on("error", (error) => {
    logger.debug({ error: messageOf(error) }, "the maintenance connection was lost");
  });
  return {
    database: withBounds(pool, schema, bounds),
    async close() {
      if (pool.ending) return;
      const ended = new AbortController();
      void pool.end().then(() => ended.abort());
      if (await wait(CLOSE_MS, ended.signal)) last?.abandon();
    },
    cut() {
      isCut = true;
      last?.abandon();
    },
  };
}
