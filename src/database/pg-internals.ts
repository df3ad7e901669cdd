// The undocumented parts of pg that this library uses. test/database/pg-internals.test.ts tests most of them.
import type { Duplex } from "node:stream";
import pg from "pg";
import { codeOf } from "../base/errors.ts";

/** The internal state of pg's client. */
export interface ClientState {
  connection: pg.Connection;
  host: string;
  port: number;
  ssl: object | boolean;
  sslNegotiation: string;
  password: unknown;
  _connectionTimeoutMillis: number;
  connectionTimeoutHandle: NodeJS.Timeout | undefined;
  _connecting: boolean;
  _connected: boolean;
  _connectionError: boolean;
  _ending: boolean;
  _ended: boolean;
  _queryable: boolean;
  readyForQuery: boolean;
}

export const stateOf = (client: pg.Client): ClientState => client as unknown as ClientState;

/**
 * If these values and a new `connection` are assigned to a client's state after an attempt to connect, connect() can be
 * called again, unless end() was called.
 */
export const UNCONNECTED = {
  _connecting: false,
  _connected: false,
  _connectionError: false,
  _ended: false,
  _queryable: true,
  readyForQuery: false,
} as const satisfies Partial<ClientState>;

/** Returns a new connection for `ClientState.connection`. */
export function newConnection(options: object): pg.Connection {
  return new (pg.Connection as unknown as new (options: object) => pg.Connection)(options);
}

/** The server process of a connection, for a cancel request. `processID` and `secretKey` are null before the login. */
export interface ServerProcess {
  readonly host: string;
  readonly port: number;
  readonly processID: number | null;
  readonly secretKey: number | null;
}

export const serverProcessOf = (client: pg.ClientBase): ServerProcess =>
  client as unknown as ServerProcess;

/** Ends the connection of a client in use. A running query is cut off, except in pipeline mode. */
export const endInUse = (client: pg.ClientBase): Promise<void> =>
  (client as unknown as pg.Client).end();

/** Whether the object is a Client, PoolClient or Pool of any copy of pg. */
export function isPg(client: object): boolean {
  const { getTypeParser, totalCount } = client as { getTypeParser?: unknown; totalCount?: unknown };
  return typeof getTypeParser === "function" || typeof totalCount === "number";
}

/** The settings that pg sends with the login, and `query_timeout`, which pg itself applies to each statement. */
export interface LoginSettings {
  options: string | undefined;
  statement_timeout: number | string | false;
  lock_timeout: number | string | false;
  query_timeout: number | string | false;
}

/** Returns the settings of a client that has not connected yet. */
export const loginSettingsOf = (client: pg.Client): LoginSettings =>
  (client as unknown as { readonly connectionParameters: LoginSettings }).connectionParameters;

/** Calls `listener` with the SQLSTATE of each error that the server sends on the client's current connection. */
export function onServerError(
  client: pg.Client,
  listener: (code: string | undefined) => void,
): void {
  client.connection.on("errorMessage", ({ code }: { code?: string }) => listener(code));
}

interface ConnectionInternals {
  ssl: unknown;
  readonly stream: Duplex;
  /** Begins to read PostgreSQL's protocol from the socket. */
  attachListeners(stream: Duplex): void;
  emit(event: "sslconnect"): void;
}

const internalsOf = (connection: pg.Connection) => connection as unknown as ConnectionInternals;

type OnData = (data: Buffer) => void;

/**
 * Makes the connection fail if the server sends a value that is longer than Node's longest string. Without this, pg's
 * parser would throw in an event of the socket, which would end the process.
 */
export function catchLongValues(pgConnection: pg.Connection): void {
  const connection = internalsOf(pgConnection);
  const attach = connection.attachListeners;
  connection.attachListeners = (stream) => {
    const others = new Set(stream.listeners("data"));
    attach.call(connection, stream);
    const parse = stream.listeners("data").find((one) => !others.has(one)) as OnData;
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

/** The server's byte that refuses a request to encrypt (PostgreSQL documentation, "SSL Session Encryption"). */
const REFUSED = "N".charCodeAt(0);

/**
 * Implements sslmode=prefer: if the server refuses to encrypt, the login continues without encryption. Call this after
 * the connection has begun to connect.
 */
export function plainWhereRefused(pgConnection: pg.Connection): void {
  const connection = internalsOf(pgConnection);
  const { stream } = connection;
  // The socket's only "data" listener waits for the server's response to the request to encrypt: a single byte.
  const [onAnswer] = stream.listeners("data") as OnData[];
  if (onAnswer === undefined) return;
  stream.removeAllListeners("data");
  stream.once("data", (data: Buffer) => {
    if (data.length !== 1 || data[0] !== REFUSED) {
      onAnswer.call(stream, data);
      return;
    }
    connection.ssl = false;
    connection.attachListeners(stream);
    connection.emit("sslconnect");
  });
}

interface LoginInternals {
  enableChannelBinding: boolean;
  /** Undefined before the login, null once the server's proof is verified. */
  readonly saslSession: object | null | undefined;
  _handleAuthSASL(message: { readonly mechanisms: readonly string[] }): void;
  _handleAuthSASLFinal(message: unknown): void;
  _handleAuthCleartextPassword(message: unknown): void;
  _handleAuthMD5Password(message: unknown): void;
}

/**
 * Lets a client log in with a password only by the SASL mechanism `mechanism`. If the server requests the password in a
 * different way, `refuse` is called. Returns a function that returns whether the server has proved by SASL that it has
 * the password's hash.
 */
export function loginOnlyBy(client: pg.Client, mechanism: string, refuse: () => void) {
  const login = client as unknown as LoginInternals;
  const { _handleAuthSASL: begin, _handleAuthSASLFinal: end } = pg.Client
    .prototype as unknown as LoginInternals;
  let isProved = false;
  login.enableChannelBinding = true;
  login._handleAuthSASL = (message) => {
    if (message.mechanisms.includes(mechanism)) begin.call(login, message);
    else refuse();
  };
  login._handleAuthSASLFinal = (message) => {
    end.call(login, message);
    isProved = login.saslSession === null;
  };
  login._handleAuthCleartextPassword = refuse;
  login._handleAuthMD5Password = refuse;
  return () => isProved;
}

/** The part of pg's connection that writes the protocol's messages. */
export interface MessageWriter {
  readonly stream: Duplex;
  query(text: string): void;
  execute(portal: object): void;
  sync(): void;
  endCopyFrom(): void;
}

/** The steps of a pg.Query that write messages and handle the response. */
export interface QuerySteps {
  /** Writes parse, bind and describe, and then calls `_getRows`. */
  prepare(connection: MessageWriter): void;
  /** Writes the messages that make the server respond. */
  _getRows(connection: MessageWriter): void;
  handleCommandComplete(message: unknown, connection: MessageWriter): void;
}

/** pg's class Query, for subclasses. In pipeline mode, pg accepts only queries that are objects of this class. */
export const PgQuery = pg.Query as unknown as new (config: object) => QuerySteps;

/** The methods that pg calls on a query that writes its messages itself. */
export interface SubmittedQuery {
  submit(connection: MessageWriter): void;
  handleCopyInResponse?(): void;
  handleCommandComplete(message: { readonly text: string }): void;
  handleReadyForQuery(): void;
  handleError(error: Error): void;
}

const ignoredMessages = {
  handleRowDescription() {},
  handleDataRow() {},
  handlePortalSuspended() {},
  handleEmptyQuery() {},
};

/** Passes pg a query that writes its messages itself. Rows of the response are ignored. */
export function submitQuery(client: pg.ClientBase, query: SubmittedQuery): void {
  client.query({ ...ignoredMessages, ...query } as unknown as pg.Submittable);
}
