// A connection on which a worker fetches jobs and writes results. Statements are sent without waiting for earlier
// answers (pg's pipeline mode). A *patient* statement may take up to a minute.
import type pg from "pg";
import type { QueryConfig, QueryResult, QueryResultRow } from "pg";
import { wait } from "../../base/clock.ts";
import { BEGIN } from "../../database/connection/bounded-statement.ts";
import { cancelStatement } from "../../database/connection/cancel-request.ts";
import { Client, type ServerConfig } from "../../database/connection/client.ts";
import type { Database, Queryable } from "../../database/database.ts";
import { explainDatabaseError } from "../../database/errors/database-errors.ts";
import { serverProcessOf } from "../../database/pg-internals.ts";
import type { SchemaName } from "../../database/schema-name.ts";
import { endLostConnection, markConnection } from "../../queue/workers/session-lock.ts";
import {
  BEGIN_WITH_SETTINGS,
  FROZEN_LEASED_MS,
  PATIENT,
  SESSION_SETTINGS,
} from "./session-settings.ts";

export interface WorkerConnectionSettings {
  readonly connection: ServerConfig;
  readonly schema: SchemaName;
  readonly preparedStatements: boolean;
  /** The id in `locked_by`. */
  readonly sessionId: string;
  /** Whether #mark() sets the time limit for an idle transaction to FROZEN_LEASED_MS. */
  isLeased(): boolean;
  onLoss(error: Error): void;
}

// By default, an idle worker polls every 2 s. So the worker detects within 10 s that its connection does not respond.
const ANSWER_TIMEOUT_MS = 7_500;
const CONNECT_TIMEOUT_MS = 10_000;
const PATIENT_ANSWER = { query_timeout: 65_000 };
/** The time limit of prove() if no statement is under way. Also the wait after which endPatient() disconnects. */
const PROOF_TIMEOUT_MS = 5_000;
const END_TIMEOUT_MS = 500;

export class WorkerConnection {
  /** The queue's statements on this connection. */
  readonly database: Database;
  /** Like `database`, but for patient statements in a transaction that beginPatiently() has begun. */
  readonly patient: Database;
  /** Like `patient`, but begins and commits a transaction for each statement. */
  readonly patientSingly: Database;
  readonly #settings: WorkerConnectionSettings;
  readonly #names = new Map<string, string>();
  #client: Client | null = null;
  /** The number of statements without an answer. */
  #underWay = 0;
  #patientUnderWay = 0;
  #connecting: Client | null = null;
  #listening: { readonly channel: string; onPayload(payload: string): void } | null = null;
  /** The id of the previous connection's server process, which #mark() ends; null: none, or an unknown id. */
  #lostPid: number | null = null;
  /** Called at the loss of the connection, after the onLoss() of the settings. */
  onLoss: (() => void) | null = null;

  constructor(settings: WorkerConnectionSettings) {
    this.#settings = settings;
    const client: Queryable = { query: (config) => this.#query(config) };
    const patientClient: Queryable = { query: (config) => this.#queryPatiently(config) };
    this.database = { client, schema: settings.schema };
    this.patient = { client: patientClient, schema: settings.schema };
    const singly: Queryable = {
      query: (config) => this.runPatiently(({ client }) => client.query(config)),
    };
    this.patientSingly = { client: singly, schema: settings.schema };
  }

  get isConnected(): boolean {
    return this.#client !== null;
  }

  get isBusy(): boolean {
    return this.#underWay > 0;
  }

  /** Whether the connection is open, and no patient statement delays the next statement. */
  get isPrompt(): boolean {
    return this.isConnected && this.#patientUnderWay === 0;
  }

  /** The number of bytes received on the current connection. */
  get bytesReceived(): number {
    return (this.#client ?? this.#connecting)?.bytesRead ?? 0;
  }

  /** Takes effect at the next connect(). Within a transaction, no notifications arrive. */
  listen(channel: string, onPayload: (payload: string) => void): void {
    this.#listening = { channel, onPayload };
  }

  async connect(): Promise<void> {
    const { connection, schema, preparedStatements, onLoss } = this.#settings;
    const client = new Client({
      ...connection,
      connectionTimeoutMillis: connection.connectionTimeoutMillis || CONNECT_TIMEOUT_MS,
      query_timeout: ANSWER_TIMEOUT_MS,
      pipeline: true,
      keepAlive: true,
    });
    const lost = (error: Error): void => {
      if (this.#client !== client) return;
      this.#client = null;
      this.#lostPid = processOf(client);
      onLoss(explainDatabaseError(error, schema.name));
      this.onLoss?.();
    };
    this.#connecting = client;
    client.on("error", lost);
    client.on("end", () => lost(new Error("the connection was closed")));
    try {
      await client.connect();
      // Behind a transaction pooler, session settings would affect other clients. There, begin() sends the settings.
      if (preparedStatements) {
        await client.query(SESSION_SETTINGS);
        await this.#mark(client);
      }
      await this.#listen(client);
    } catch (error) {
      // end() would wait for an answer from a server that has refused the connection.
      client.connection.stream.destroy();
      throw explainDatabaseError(error, schema.name);
    } finally {
      this.#connecting = null;
    }
    this.#client = client;
  }

  /** Closes the connection unless a test query succeeds within seconds. */
  async prove(): Promise<void> {
    const client = this.#client;
    // A patient statement has its own time limit, and the test query would wait for the statement.
    if (client === null || this.#patientUnderWay > 0) return;
    // The test query also waits for other statements: a fetch may take 6.5 s.
    const timeout = this.#underWay > 0 ? ANSWER_TIMEOUT_MS : PROOF_TIMEOUT_MS;
    await client.prove(timeout).catch(() => client.connection.stream.destroy());
  }

  /** Requests that the server cancels the running statement. */
  cancel(): void {
    if (this.#client !== null && this.#underWay > 0) void cancelStatement(this.#client);
  }

  /** Cancels a patient statement; closes the connection if the caller has waited 5 s for the statement (`waitedMs`). */
  endPatient(waitedMs: number): void {
    if (this.#client === null || this.#patientUnderWay === 0) return;
    if (waitedMs < PROOF_TIMEOUT_MS) this.cancel();
    else this.#client.connection.stream.destroy();
  }

  /**
   * Marks the connection by the session's advisory lock, and ends the server process of the previous connection. In
   * that process, a late statement could lock jobs, and this worker would not notice the locks.
   */
  async #mark(client: pg.Client): Promise<void> {
    const { sessionId, isLeased, schema } = this.#settings;
    const db = { client, schema };
    await markConnection(db, sessionId);
    if (this.#lostPid !== null) await endLostConnection(db, sessionId, this.#lostPid);
    this.#lostPid = null;
    if (!isLeased()) return;
    await client.query(`set idle_in_transaction_session_timeout = ${FROZEN_LEASED_MS}`);
  }

  async #listen(client: pg.Client): Promise<void> {
    const listening = this.#listening;
    if (listening === null) return;
    client.on("notification", ({ payload }) => listening.onPayload(payload ?? ""));
    await client.query(`listen ${client.escapeIdentifier(listening.channel)}`);
  }

  /** Closes the connection, or cancels connecting. Takes half a second at most. */
  async close(): Promise<void> {
    const client = this.#client;
    this.#client = null;
    if (client !== null) this.#lostPid = processOf(client);
    this.#connecting?.abandon();
    if (client === null) return;
    const ended = new AbortController();
    const over = () => ended.abort();
    const ending = client.end().then(over, over);
    if (await wait(END_TIMEOUT_MS, ended.signal)) client.connection.stream.destroy();
    else await ending;
  }

  /** Whether statements stay prepared: the option `preparedStatements`, which is false behind a transaction pooler. */
  get keepsStatements(): boolean {
    return this.#settings.preparedStatements;
  }

  /** Begins a transaction. Behind a transaction pooler, also sends the settings. */
  begin(): Promise<unknown> {
    return this.#sendPlain(this.keepsStatements ? BEGIN : BEGIN_WITH_SETTINGS);
  }

  commit(): Promise<unknown> {
    return this.#sendPlain("commit");
  }

  rollback(): Promise<unknown> {
    return this.#sendPlain("rollback");
  }

  /** Sends the statements of `work` in one write, so that the server process is woken once. */
  sendTogether<T>(work: () => T): T {
    const stream = this.#client?.connection.stream;
    stream?.cork();
    try {
      return work();
    } finally {
      stream?.uncork();
    }
  }

  beginPatiently(): Promise<unknown> {
    return this.#sendPlain(`${this.keepsStatements ? BEGIN : BEGIN_WITH_SETTINGS}; ${PATIENT}`);
  }

  /** Runs `work` in a transaction for patient statements. The final commit is a rollback if a statement has failed. */
  async runPatiently<T>(work: (db: Database) => Promise<T>): Promise<T> {
    try {
      await this.beginPatiently();
      return await work(this.patient);
    } finally {
      await this.commit();
    }
  }

  /** Runs `work`, which must send one statement immediately. Behind a transaction pooler, adds begin() and commit(). */
  async withSettings<T>(work: () => Promise<T>): Promise<T> {
    if (this.keepsStatements) return work();
    const [, result] = await settleAll([this.begin(), work(), this.commit()]);
    return result as T;
  }

  #sendPlain(text: string): Promise<unknown> {
    const client = this.#client;
    if (client === null) return Promise.reject(new Error("Connection terminated"));
    return this.#answer(client.query(text));
  }

  async #answer<T>(sent: Promise<T>): Promise<T> {
    this.#underWay++;
    try {
      return await sent;
    } finally {
      this.#underWay--;
    }
  }

  async #queryPatiently<R extends QueryResultRow>(config: QueryConfig): Promise<QueryResult<R>> {
    this.#patientUnderWay++;
    try {
      return await this.#query<R>({ ...config, ...PATIENT_ANSWER });
    } finally {
      this.#patientUnderWay--;
    }
  }

  #query<R extends QueryResultRow>(config: QueryConfig): Promise<QueryResult<R>> {
    const client = this.#client;
    if (client === null) return Promise.reject(new Error("Connection terminated"));
    const named = this.keepsStatements ? { ...config, name: this.#nameOf(config.text) } : config;
    return this.#answer(client.query<R>(named));
  }

  /** Values are parameters, so there are few texts to remember. */
  #nameOf(text: string): string {
    let name = this.#names.get(text);
    if (name === undefined) {
      name = `worker_${this.#names.size}`;
      this.#names.set(text, name);
    }
    return name;
  }
}

/** Returns the id of the server process; null behind a pooler that does not send it. */
function processOf(client: pg.Client): number | null {
  return serverProcessOf(client).processID ?? null;
}

/** Waits for all promises, also after an error. Returns their values, or throws the first error of the list. */
export async function settleAll(work: readonly unknown[]): Promise<unknown[]> {
  const results = await Promise.allSettled(work);
  return results.map((one) => {
    if (one.status === "rejected") throw one.reason;
    return one.value;
  });
}
