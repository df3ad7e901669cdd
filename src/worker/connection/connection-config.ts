// How the worker's own connections are made: as the application's pool makes its own, and for the
// heartbeat thread only of what can be handed to a thread.
import pg from "pg";
import { wait } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { Client, type ServerConfig } from "../../database/connection/client.ts";
import { boundedQueryable } from "../../database/connection/pool.ts";
import type { Database } from "../../database/database.ts";
import type { SchemaName } from "../../database/schema-name.ts";

/** As the pool makes its connections. pg hides the password and the key from spreading. */
export function connectionOf(pool: pg.Pool): ServerConfig {
  const { max: _max, min: _min, idleTimeoutMillis: _idle, ...rest } = pool.options;
  const { server }: ServerConfig = rest;
  // The pool is our own.
  if (server !== undefined) return { server, application_name: "worker lane" };
  const { password } = pool.options;
  return password === undefined ? rest : { ...rest, password };
}

/** The same under a name of its own in pg_stat_activity; an application's pool keeps the application's. */
export function named(connection: ServerConfig, name: string): ServerConfig {
  return connection.server === undefined ? connection : { ...connection, application_name: name };
}

/** What the heartbeat thread connects with. */
export interface PortableConnection {
  readonly config: ServerConfig;
  /** The password comes from a function, which stays with us: the thread asks for it. */
  readonly asksForPassword: boolean;
}

// Of no use to a heartbeat: how results are read, the life of a pool's clients and their class.
const WITHOUT = new Set(
  `types Promise Client log verify onConnect pipeline binary poolSize maxUses allowExitOnIdle
  maxLifetimeSeconds query_timeout connectionTimeoutMillis`.split(/\s+/),
);

/** null when something in it only works in this thread, such as a function that opens sockets. */
export function portable(connection: ServerConfig): PortableConnection | null {
  const { password, ...rest } = connection;
  const asksForPassword = typeof password === "function";
  const config: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(rest)) {
    if (WITHOUT.has(name) || value === undefined) continue;
    const copy = plainCopy(value);
    if (copy === undefined) return null;
    config[name] = copy;
  }
  if (!asksForPassword && password !== undefined) config["password"] = password;
  return { config, asksForPassword };
}

/** A copy made of nothing but plain data, or undefined. Sees members that pg has hidden. */
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

/** A connection for rare statements of our own: tasks may have taken all of the pool's. */
export interface Maintenance {
  readonly database: Database;
  /** Takes half a second at most. */
  close(): Promise<void>;
  /** At once, and for good: nobody answers. */
  cut(): void;
}

// A sweep may have to read all jobs once; its locks it never waits for.
const BOUNDS = { statementTimeoutMs: 10_000, lockTimeoutMs: 5_000, readOnly: false };

/** What a statement that is under way may take when all else has ended. */
const CLOSE_MS = 500;

/** Connects when it is needed, and lets go soon after. */
export function maintenance(
  connection: ServerConfig,
  schema: SchemaName,
  logger: Logger,
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
    database: { client: boundedQueryable(pool, BOUNDS), schema },
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
