// A PostgreSQL server for tests of faults.
import { readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { silentLogger } from "../../../src/base/logger.ts";
import { type EmbeddedServer, startEmbeddedServer } from "../../../src/database/embedded/server.ts";
import { migrate } from "../../../src/database/schema/migrate.ts";
import { schemaName } from "../../../src/database/schema-name.ts";
import { machineTime } from "../../worker/run-log.ts";
import { followerOf } from "./standby.ts";

export interface ServerOptions {
  readonly settings?: Readonly<Record<string, string>>;
  /** The port on 127.0.0.1. Default: a unix socket only. */
  readonly port?: number;
  /** The primary of which the new server is a standby. Give both servers a port. */
  readonly standbyOf?: Server;
  /** A directory with `bin/postgres` and `bin/initdb`. Default: the embedded server's. */
  readonly binaries?: string;
}

export interface Server {
  /** The data directory (PGDATA) is `cluster` in this directory. */
  readonly directory: string;
  url(database?: string): string;
  /** Runs a statement as the superuser on a new connection. */
  sql<R extends pg.QueryResultRow>(
    text: string,
    values?: readonly unknown[],
    database?: string,
  ): Promise<R[]>;
  /** Creates a database with the queue's schema. Returns the connection string. */
  createDatabase(name: string, extensions?: readonly string[]): Promise<string>;
  /** Kills all processes of the server. Resolves when the main process has ended. */
  kill(): Promise<void>;
  /** Stops the server cleanly. */
  stop(): Promise<void>;
  /** Starts the server again. Returns the machineTime() at which it is ready. `settings` are for this start only. */
  start(settings?: Readonly<Record<string, string>>): Promise<number>;
  /** Promotes this standby to a primary. Returns the machineTime() at which it accepts writes. */
  promote(): Promise<number>;
  /**
   * Replaces the data of this stopped server by a copy of `primary`, and starts the server as a standby. Returns the
   * machineTime() at which the standby is ready.
   */
  follow(primary: Server): Promise<number>;
}

// fsync is off, because the tests kill only processes: the kernel keeps the data of each acknowledged commit.
const SETTINGS = {
  fsync: "off",
  synchronous_commit: "on",
  max_connections: "300",
  shared_buffers: "64MB",
};

export async function startServer(directory: string, options: ServerOptions = {}): Promise<Server> {
  const { port } = options;
  const listen = port === undefined ? {} : { listen_addresses: "127.0.0.1", port: String(port) };
  let running: EmbeddedServer;
  const start = async (settings: Readonly<Record<string, string>> = {}) => {
    const all = { ...SETTINGS, ...listen, ...options.settings, ...following, ...settings };
    const from = options.binaries === undefined ? {} : { binaries: options.binaries };
    running = await startEmbeddedServer({ dataDir: directory, settings: all, ...from });
    return machineTime();
  };
  /** The settings of a standby. Empty for a primary. */
  let following: Readonly<Record<string, string>> = {};
  const follow = async (primary: Server) => {
    following = await followerOf(primary, directory);
    return start();
  };
  await (options.standbyOf === undefined ? start() : follow(options.standbyOf));
  const url = (database = "postgres") =>
    port === undefined
      ? running.url(database)
      : `postgres://postgres@127.0.0.1:${port}/${encodeURIComponent(database)}`;
  const sql = async <R extends pg.QueryResultRow>(
    text: string,
    values: readonly unknown[] = [],
    database?: string,
  ) => {
    const client = new pg.Client({ connectionString: url(database) });
    client.on("error", () => {});
    await client.connect();
    try {
      return (await client.query<R>(text, [...values])).rows;
    } finally {
      await client.end();
    }
  };
  return {
    directory,
    url,
    sql,
    async createDatabase(name, extensions = []) {
      await sql(`create database ${pg.escapeIdentifier(name)} template template0`);
      const pool = new pg.Pool({ connectionString: url(name), max: 1 });
      try {
        const { signal } = new AbortController();
        await migrate(pool, schemaName(), { logger: silentLogger, signal, extensions });
      } finally {
        await pool.end();
      }
      return url(name);
    },
    async kill() {
      killAll(join(directory, "cluster"));
      await running.exited;
    },
    stop: () => running.stop(),
    start,
    follow,
    async promote() {
      await sql("select pg_promote(true, 60)");
      following = {};
      return machineTime();
    },
  };
}

/** The working directory of all processes of a server is the data directory. */
function killAll(cluster: string): void {
  const place = realpathSync(cluster);
  const postmaster = Number(readFileSync(join(cluster, "postmaster.pid"), "utf8").split("\n")[0]);
  process.kill(postmaster, "SIGKILL");
  for (const name of readdirSync("/proc")) {
    try {
      if (/^\d+$/.test(name) && readlinkSync(`/proc/${name}/cwd`) === place) {
        process.kill(Number(name), "SIGKILL");
      }
    } catch {} // The process has ended, or belongs to another user.
  }
}
