// The server and database of a pool, as people recognize them, without the login.
import pg from "pg";
import type { ServerConfig } from "./client.ts";

const DEFAULT_PORT = 5432;

/**
 * Returns `host/database`, such as `db.example:5433/app`. If the pool's options name no database, the user's name takes
 * its place. null: the options are invalid, or name neither a database nor a user.
 */
export function databasePlace({ options }: pg.Pool): string | null {
  const { server } = options as ServerConfig;
  const { hosts, database } = server ?? placeOf(options);
  if (!database) return null;
  // A host that begins with / or @ is a socket of this machine.
  const names = hosts.map(({ host, port }) => {
    const name = /^[/@]/.test(host) ? "localhost" : host.includes(":") ? `[${host}]` : host;
    return port === DEFAULT_PORT ? name : `${name}:${port}`;
  });
  return `${[...new Set(names)].join(",")}/${database}`;
}

/** Returns the hosts and the database of an application's own pool, as pg reads its options. */
function placeOf(options: pg.PoolConfig) {
  const Client = options.Client ?? pg.Client;
  try {
    const { host, port, database } = new Client(options) as pg.Client;
    return { hosts: [{ host, port }], database };
  } catch {
    // The same error is thrown, and shown, when the pool connects.
    return { hosts: [], database: undefined };
  }
}
