// The server and database of a pool as a short text for the admin's page, without the user and the password.
import pg from "pg";
import type { ServerConfig } from "./client.ts";

const DEFAULT_PORT = 5432;

/**
 * Returns `host/database`, such as `db.example:5433/app`. Several hosts are separated by commas. If no database is
 * set, the database has the user's name. Returns null if the options are invalid, or if neither a database nor a user
 * is set, not even by default.
 */
export function databasePlace({ options }: pg.Pool): string | null {
  const { server } = options as ServerConfig;
  const { hosts, database } = server ?? placeOf(options);
  if (!database) return null;
  // A host that begins with / or @ is a Unix socket, which is on this machine.
  const names = hosts.map(({ host, port }) => {
    const name = /^[/@]/.test(host) ? "localhost" : host.includes(":") ? `[${host}]` : host;
    return port === DEFAULT_PORT ? name : `${name}:${port}`;
  });
  return `${[...new Set(names)].join(",")}/${database}`;
}

/** Returns the host and the database of an application's own pool, as pg determines them from the pool's options. */
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
