// pg's client with libpq's rules for connecting: a connect can attempt several hosts and encryption modes, one after
// another. This client also avoids three defects of pg: the socket of a failed login stays open, the end of a
// connection waits for a server that cannot be reached, and a value longer than Node's longest string ends the process.

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
  recordFailure,
} from "./server/attempts.ts";
import { requireChannelBinding, unbound } from "./server/channel-binding.ts";
import { tlsOptions } from "./server/encryption.ts";
import { type Login, passwordOf } from "./server/password-file.ts";
import type { ServerSettings } from "./server/server-settings.ts";
import { assertTarget, leaveWhenReadOnly } from "./server/target.ts";

/** Receives the error, or null if there is none, and the client, as in pg. */
export type OnConnect = (error: Error | null, client?: pg.Client) => void;

/** A configuration for pg, with or without settings by libpq's rules. */
export interface ServerConfig extends pg.ClientConfig {
  /** The settings by libpq's rules. Their hosts, login, encryption and target take precedence over pg's own options. */
  readonly server?: ServerSettings | undefined;
}

/** How long the server may take to close the connection after this side has begun to close it. */
const GOODBYE_MS = 500;

/** The client of each connection that this library opens. */
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
    // Called only if the server requests a password. If pg itself read the password file, it would print a deprecation
    // warning.
    this.#state.password ??= (login: Login) => filePassword(login, undefined);
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: OnConnect): void;
  // The end of the login is reported through a callback, because the packet that ends the login can also contain an
  // error. Code after an `await` would add its error listener too late, when this error has already been emitted.
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

  /** The number of bytes that the server has sent on the current connection. */
  get bytesRead(): number {
    return (this.connection.stream as Partial<Socket>).bytesRead ?? 0;
  }

  /** Ends the current attempt to connect. No further attempt follows, and a later connect() fails. */
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
      recordFailure(attempt, error);
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

  /**
   * Closes the connection if connect() fails after the login, for example because the server does not match the target.
   * An open connection would keep the process alive.
   */
  #leave(): void {
    if (!this.#state._connected) return;
    dropConnection(this.#state);
    this.#state._ended = true;
  }

  /** Resets pg's client, and sets the server, the encryption and the time limit of the attempt. */
  #aimAt(server: ServerSettings, { host, way, enoughMs }: Attempt): void {
    const state = this.#state;
    const { host: name, port, address } = host;
    const { encryption, hosts, user, database, passfile } = server;
    const { connectionTimeoutMillis = 0 } = this.#config;
    const shareMs = server.connectTimeoutMs ?? Math.ceil(connectionTimeoutMillis / hosts.length);
    dropConnection(state);
    const named = address === null ? {} : { host: name, servername: isIP(name) === 0 ? name : "" };
    Object.assign(state, {
      ...UNCONNECTED,
      host: address ?? name,
      port,
      ssl: way.encrypts ? { ...tlsOptions(encryption), ...named } : false,
      sslNegotiation: encryption.negotiation ?? "postgres",
      // pg treats 0 as no limit.
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
      else stream.once("finish", () => closeSoon(stream));
      callback(error ?? null, this);
    });
    if (mayBePlain) plainWhereRefused(this.connection);
  }

  /**
   * Checks the connection. Rejects if the server does not respond within `timeoutMs`, or does not match the target.
   * Default of `timeoutMs`: the client's `query_timeout`.
   */
  prove(timeoutMs?: number): Promise<void> {
    return assertTarget(this, this.#config.server?.target ?? "any", timeoutMs);
  }
}

/** If `config.server` is set, `host`, `port` and `ssl` are placeholders, which #aimAt() replaces for each attempt. */
function configOf(config: ServerConfig): pg.ClientConfig {
  const { server } = config;
  if (server === undefined) return withoutWarning(config);
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

/** Avoids a warning of pg, which treats `prefer`, `require` and `verify-ca` of a URL's sslmode as `verify-full`. */
function withoutWarning(config: pg.ClientConfig): pg.ClientConfig {
  const { connectionString } = config;
  // A copy would lose options that pg makes non-enumerable, such as the password.
  if (connectionString === undefined) return config;
  const url = connectionString.trim();
  if (/[?&]uselibpqcompat=true(?=&|$)/.test(url)) return { ...config, connectionString: url };
  const strict = url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/g, "$1verify-full");
  return { ...config, connectionString: strict };
}

/** Closes the current connection, and ignores its further events. */
function dropConnection({
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
  closeSoon(stream);
  connection.end();
}

/** Makes the private key non-enumerable, so that printed objects do not show it. */
function hideKey(ssl: object): void {
  if ("key" in ssl) Object.defineProperty(ssl, "key", { enumerable: false });
}

/** Closes the socket if the server does not close it within GOODBYE_MS. */
function closeSoon(stream: pg.Connection["stream"]): void {
  const timer = setTimeout(() => stream.destroy(), GOODBYE_MS);
  stream.once("close", () => clearTimeout(timer));
}

async function filePassword(login: Login, passfile: string | undefined): Promise<string> {
  const named = passfile ?? (process.env["PGPASSFILE"] || undefined);
  const password = await passwordOf(login, named);
  if (password !== undefined) return password;
  throw new WorkerError("database_unreachable", noPassword(login.user));
}

function noPassword(user = ""): string {
  return `PostgreSQL requires a password for user "${user}", and none was given; put it into the database URL (postgres://user:password@host:port/database), into PGPASSWORD or into ~/.pgpass`;
}
