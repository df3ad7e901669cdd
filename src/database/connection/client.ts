// pg's client, with better manners when something goes wrong, and libpq's way to a server: several hosts
// and ways to encrypt, tried in order at each connect (server/attempts.ts). pg leaves the socket of a
// failed login open until the server gives up (60 s), and waits for ever for the goodbye of a server that
// is cut off; both keep a process alive that has nothing more to do. And a value that is longer than a
// string may be ends the process.

import { isIP, type Socket } from "node:net";
import pg from "pg";
import { clearTimeout, setTimeout } from "../../base/clock.ts";
import { WorkerError } from "../../base/errors.ts";
import {
  type ClientState,
  catchLongValues,
  newConnection,
  plainWhereRefused,
  stateOf,
  UNCONNECTED,
} from "../pg-internals.ts";
import {
  type Attempt,
  attemptAfter,
  attemptsOf,
  type ConnectFailure,
  failureOf,
  remember,
} from "./server/attempts.ts";
import { requireChannelBinding, unbound } from "./server/channel-binding.ts";
import { tlsOptions } from "./server/encryption.ts";
import { type Login, passwordOf } from "./server/password-file.ts";
import type { ServerSettings } from "./server/server-settings.ts";
import { assertTarget, leaveWhenReadOnly } from "./server/target.ts";

/** pg gives the error alone, or null and the client. */
export type OnConnect = (error: Error | null, client?: pg.Client) => void;

/** A configuration of pg, or of libpq's rules. */
export interface ServerConfig extends pg.ClientConfig {
  /** Instead of pg's own names for the same, and before them. */
  readonly server?: ServerSettings | undefined;
}

/** How long the server may take to close the connection after our goodbye. */
const GOODBYE_MS = 500;

/** For every connection of ours: by itself, or as a pool's option `Client`. */
export class Client extends pg.Client {
  readonly #config: ServerConfig;
  readonly #state: ClientState;
  #isAbandoned = false;
  #isBound = () => true;

  constructor(config: ServerConfig = {}) {
    super(configOf(config));
    this.#config = config;
    this.#state = stateOf(this);
    catchLongValues(this.connection);
    // Asked for only where the server wants one. pg would look into the file by itself, with a warning
    // that it will not for much longer, and would go on without a password.
    this.#state.password ??= (login: Login) => filePassword(login, undefined);
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
    const { server } = this.#config;
    if (this.#isAbandoned) callback(new Error("Connection terminated"), this);
    else if (server === undefined) this.#login(false, callback);
    else this.#try(server, attemptsOf(server), 0, [], callback);
    return undefined;
  }

  /** How much the server has said, bytes; of several servers the one that is asked now. */
  get bytesRead(): number {
    return (this.connection.stream as Partial<Socket>).bytesRead ?? 0;
  }

  /** Ends the try to connect, under way or to come, and tries no other server. */
  abandon(): void {
    this.#isAbandoned = true;
    this.connection.stream.destroy();
  }

  #try(
    server: ServerSettings,
    attempts: readonly Attempt[],
    at: number,
    failures: readonly ConnectFailure[],
    callback: OnConnect,
  ): void {
    const attempt = attempts[at] as Attempt;
    const failed = (error: unknown) => {
      const all = [...failures, { attempt, error }];
      remember(attempt, error);
      const isWanted = !this.#isAbandoned && !this.#state._ending;
      const next = isWanted ? attemptAfter(attempts, at, error) : -1;
      if (next < 0) {
        this.#leave();
        callback(failureOf(all, server.target) as Error, this);
      } else this.#try(server, attempts, next, all, callback);
    };
    try {
      this.#aimAt(server, attempt);
    } catch (error) {
      failed(error);
      return;
    }
    this.#login(attempt.way.optional, (error) => {
      if (error !== null) failed(error);
      else if (!this.#isBound()) failed(unbound());
      else if (attempt.target === "any") callback(null, this);
      else {
        leaveWhenReadOnly(this, attempt.target);
        assertTarget(this, attempt.target).then(() => callback(null, this), failed);
      }
    });
  }

  /** A server that is not what was asked for: its connection would keep the process alive. */
  #leave(): void {
    if (!this.#state._connected) return;
    forget(this.#state);
    this.#state._ended = true;
  }

  /** Makes pg's client one that has not connected, and is to connect there. */
  #aimAt(server: ServerSettings, { host, way, enoughMs }: Attempt): void {
    const state = this.#state;
    const { host: name, port, address } = host;
    const { encryption, hosts, user, database, passfile } = server;
    const { connectionTimeoutMillis = 0 } = this.#config;
    const shareMs = server.connectTimeoutMs ?? Math.ceil(connectionTimeoutMillis / hosts.length);
    forget(state);
    const named = address === null ? {} : { host: name, servername: isIP(name) === 0 ? name : "" };
    Object.assign(state, {
      ...UNCONNECTED,
      host: address ?? name,
      port,
      ssl: way.encrypts ? { ...tlsOptions(encryption), ...named } : false,
      sslNegotiation: encryption.negotiation ?? "postgres",
      // pg takes 0 for no limit.
      _connectionTimeoutMillis: shareMs > 0 ? Math.min(shareMs, enoughMs ?? shareMs) : enoughMs,
    });
    if (typeof state.ssl === "object") hideKey(state.ssl);
    state.password =
      server.password ?? (() => filePassword({ host: name, port, database, user }, passfile));
    state.connection = newConnection({
      ssl: state.ssl,
      sslNegotiation: state.sslNegotiation,
      keepAlive: server.keepAlive && this.#config.keepAlive !== false,
      keepAliveInitialDelayMillis: server.keepAliveIdleMs ?? 0,
    });
    catchLongValues(state.connection);
    this.#isBound = encryption.bindsChannel ? requireChannelBinding(this) : () => true;
  }

  #login(mayBePlain: boolean, callback: OnConnect): void {
    super.connect((error: Error | null) => {
      const { stream } = this.connection;
      if (error) stream.destroy();
      // Our half is closed. The other one is the server's.
      else stream.once("finish", () => closeIn(stream, GOODBYE_MS));
      callback(error ?? null, this);
    });
    if (mayBePlain) plainWhereRefused(this.connection);
  }

  /** Rejects when the server does not answer, or is no longer what was asked for. */
  prove(timeoutMs?: number): Promise<void> {
    return assertTarget(this, this.#config.server?.target ?? "any", timeoutMs);
  }
}

/** What pg is told at once; where to connect is decided at each connect. */
function configOf(config: ServerConfig): pg.ClientConfig {
  const { server } = config;
  if (server === undefined) return quietly(config);
  const { user, database, password, timeouts } = server;
  const name = server.applicationName ?? config.application_name;
  const options = [server.options, config.options].filter(Boolean).join(" ");
  return {
    ...timeouts,
    ...config,
    host: "localhost",
    port: 5432,
    user,
    database,
    password,
    ssl: false,
    ...(name === undefined ? {} : { application_name: name }),
    ...(options === "" ? {} : { options }),
  };
}

/**
 * A pool's own configuration, read as the pool reads it: `prefer`, `require` and `verify-ca` mean
 * `verify-full` to pg, the strictest, and it prints eight lines about that; said so, it prints nothing.
 */
function quietly(config: pg.ClientConfig): pg.ClientConfig {
  const { connectionString } = config;
  // What pg has hidden from copying, a pool's password, counts only without a URL.
  if (connectionString === undefined) return config;
  const url = connectionString.trim();
  if (/[?&]uselibpqcompat=true(?=&|$)/.test(url)) return { ...config, connectionString: url };
  const strict = url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/g, "$1verify-full");
  return { ...config, connectionString: strict };
}

/** What an earlier attempt has left must not be heard any more. */
function forget({
  connection,
  connectionTimeoutHandle,
  _connected: isLoggedIn,
}: ClientState): void {
  clearTimeout(connectionTimeoutHandle);
  connection.removeAllListeners();
  connection.on("error", () => {});
  const { stream } = connection;
  if (!isLoggedIn) {
    stream.destroy();
    return;
  }
  closeIn(stream, GOODBYE_MS);
  connection.end();
}

/** From whoever prints the client. */
function hideKey(ssl: object): void {
  if ("key" in ssl) Object.defineProperty(ssl, "key", { enumerable: false });
}

function closeIn(stream: pg.Connection["stream"], ms: number): void {
  const timer = setTimeout(() => stream.destroy(), ms);
  stream.once("close", () => clearTimeout(timer));
}

async function filePassword(login: Login, passfile: string | undefined): Promise<string> {
  const named = passfile ?? (process.env["PGPASSFILE"] || undefined);
  const password = await passwordOf(login, named);
  if (password !== undefined) return password;
  throw new WorkerError("database_unreachable", noPassword(login.user));
}

function noPassword(user = ""): string {
  return `PostgreSQL asks for the password of user "${user}", and none was given; put it into the database URL (postgres://user:password@host:port/database), into PGPASSWORD or into ~/.pgpass`;
}
