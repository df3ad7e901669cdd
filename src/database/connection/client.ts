// pg's client, with better manners when something goes wrong. pg leaves the socket of a failed login
// open until the server gives up (60 s), and waits for ever for the goodbye of a server that is cut
// off; both keep a process alive that has nothing more to do. And a value that is longer than a string
// may be ends the process.
import type { Duplex } from "node:stream";
import pg from "pg";
import { codeOf, WorkerError } from "../../base/errors.ts";
import { pgUrl } from "./connection-url.ts";

/** pg gives the error alone, or null and the client. */
export type OnConnect = (error: Error | null, client?: pg.Client) => void;

/** How long the server may take to close the connection after our goodbye. */
const GOODBYE_MS = 2_000;

/** For every connection of ours: by itself, or as a pool's option `Client`. */
export class Client extends pg.Client {
  constructor(config: pg.ClientConfig = {}) {
    const { connectionString } = config;
    super(
      // What pg has hidden from copying, a pool's password, counts only without a URL.
      connectionString === undefined
        ? config
        : { ...config, connectionString: pgUrl(connectionString) },
    );
    survivesLongValues(this.connection as unknown as PgConnection);
    // Asked for only where the server wants one. pg would look into the file by itself, with a warning
    // that it will not for much longer, and would go on without a password.
    const parts = this as { password?: unknown };
    parts.password ??= filePassword;
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: OnConnect): void;
  // A callback and not a promise underneath: what comes in the same packet as the server's welcome, an
  // error say, is heard only by listeners that are there at once.
  override connect(callback?: OnConnect): Promise<pg.Client> | undefined {
    if (callback === undefined) {
      return new Promise((resolve, reject) => {
        this.connect((error) => (error === null ? resolve(this) : reject(error)));
      });
    }
    super.connect((error: Error | null) => {
      const { stream } = this.connection;
      if (error) stream.destroy();
      // Our half is closed. The other one is the server's.
      else stream.once("finish", () => closeIn(stream, GOODBYE_MS));
      callback(error ?? null, this);
    });
    return undefined;
  }
}

/** What pg calls when the socket is one on which PostgreSQL's protocol is spoken, encrypted or not. */
interface PgConnection {
  attachListeners(stream: Duplex): void;
}

/**
 * pg's parser throws inside the socket's event `data`, where nobody can catch it. Here it becomes the
 * connection's error, and so that of the query which has asked for the value.
 */
function survivesLongValues(connection: PgConnection): void {
  const attach = connection.attachListeners;
  connection.attachListeners = (stream) => {
    const others = new Set(stream.listeners("data"));
    attach.call(connection, stream);
    const parse = stream.listeners("data").find((one) => !others.has(one)) as (
      data: Buffer,
    ) => void;
    stream.off("data", parse);
    stream.on("data", (data: Buffer) => {
      try {
        parse.call(stream, data);
      } catch (error) {
        if (codeOf(error) !== "ERR_STRING_TOO_LONG") throw error;
        stream.destroy(error as Error);
      }
    });
  };
}

function closeIn(stream: pg.Connection["stream"], ms: number): void {
  const timer = setTimeout(() => stream.destroy(), ms);
  stream.once("close", () => clearTimeout(timer));
}

async function filePassword(connection: { readonly user?: string }): Promise<string> {
  const { default: pgpass } = await import("pgpass");
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  pgpass(connection, resolve);
  const password = await promise;
  if (password !== undefined) return password;
  throw new WorkerError("database_unreachable", noPassword(connection.user));
}

function noPassword(user = ""): string {
  return `PostgreSQL asks for the password of user "${user}", and none was given; put it into the database URL (postgres://user:password@host:port/database), into PGPASSWORD or into ~/.pgpass`;
}
