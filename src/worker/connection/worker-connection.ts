// One connection of a worker's own. What it sends goes out in one go (pg's pipeline mode, also behind
// pgbouncer); each statement is a transaction of its own, unless begin() is called.
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
  FOR_THE_SESSION,
  FROZEN_LEASED_MS,
  PATIENTLY,
} from "./session-settings.ts";

export interface WorkerConnectionSettings {
  readonly connection: ServerConfig;
  readonly schema: SchemaName;
  readonly preparedStatements: boolean;
  /** Under which it takes jobs: by that it finds what is left of a connection that it has lost. */
  readonly sessionId: string;
  /** A lease stands for what transactions on this connection hold: its recovery ends them. */
  isLeased(): boolean;
  onLoss(error: Error): void;
}

// With the poll interval of an idle worker before it, a silent connection is found within 10 s.
const ANSWER_TIMEOUT_MS = 7_500;
const CONNECT_TIMEOUT_MS = 10_000;

/** For statements under PATIENTLY. */
const PATIENT_ANSWER_TIMEOUT_MS = 65_000;

/** How long a connection that may be dead has to answer. */
const PROOF_TIMEOUT_MS = 5_000;
const END_TIMEOUT_MS = 500;

export class WorkerConnection {
  /** Statements of queue operations over this connection. */
  readonly database: Database;
  /** The same for those that may take long, after beginPatiently(). */
  readonly patient: Database;
  readonly #settings: WorkerConnectionSettings;
  readonly #names = new Map<string, string>();
  #client: Client | null = null;
  /** Statements without an answer, and those among them that may take long. */
  #underWay = 0;
  #patientUnderWay = 0;
  /** Not connected yet. */
  #connecting: Client | null = null;
  #listening: { readonly channel: string; heard(payload: string): void } | null = null;
  /** The server's process of a connection that was lost, until the server is known to know. */
  #lostPid: number | null = null;
  /** Called when the connection is lost, too. */
  onLoss: (() => void) | null = null;

  constructor(settings: WorkerConnectionSettings) {
    this.#settings = settings;
    const client: Queryable = { query: (config) => this.#query(config) };
    const patientClient: Queryable = { query: (config) => this.#patiently(config) };
    this.database = { client, schema: settings.schema };
    this.patient = { client: patientClient, schema: settings.schema };
  }

  get isConnected(): boolean {
    return this.#client !== null;
  }

  /** How much the server has said on the connection that there is, or is being made, bytes. */
  get heard(): number {
    return (this.#client ?? this.#connecting)?.bytesRead ?? 0;
  }

  /** Also listens on this connection from the next connect() on; heard whenever it is idle. */
  listen(channel: string, heard: (payload: string) => void): void {
    this.#listening = { channel, heard };
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
      // Behind a transaction pooler they would reach somebody else: see begin().
      if (preparedStatements) {
        await client.query(FOR_THE_SESSION);
        await this.#mark(client);
      }
      await this.#listen(client);
    } catch (error) {
      // Not end(): of a server that has refused us it would wait for an answer.
      client.connection.stream.destroy();
      throw explainDatabaseError(error, schema.name);
    } finally {
      this.#connecting = null;
    }
    this.#client = client;
  }

  /** Gives the connection up unless it answers within seconds: it may be dead without knowing it. */
  async prove(): Promise<void> {
    const client = this.#client;
    // What is patient has a bound of its own, and the question would wait behind it.
    if (client === null || this.#patientUnderWay > 0) return;
    // It waits behind any other, too: a fetch of six seconds has not died after five.
    const timeout = this.#underWay > 0 ? ANSWER_TIMEOUT_MS : PROOF_TIMEOUT_MS;
    // A failure here is a lost connection, which lost() reports.
    await client.prove(timeout).catch(() => client.connection.stream.destroy());
  }

  /** Stops the statement that is under way, if the server hears of it. */
  cancel(): void {
    if (this.#client !== null && this.#underWay > 0) void cancelStatement(this.#client);
  }

  /**
   * What was sent on a connection that was lost may still be on its way, and would be done when it
   * arrives: jobs would be taken that nobody knows of.
   */
  async #mark(client: pg.Client): Promise<void> {
    const { sessionId, isLeased, schema } = this.#settings;
    await markConnection({ client, schema }, sessionId);
    if (this.#lostPid !== null) {
      await endLostConnection({ client, schema }, sessionId, this.#lostPid);
    }
    this.#lostPid = null;
    if (!isLeased()) return;
    await client.query(`set idle_in_transaction_session_timeout = ${FROZEN_LEASED_MS}`);
  }

  async #listen(client: pg.Client): Promise<void> {
    const listening = this.#listening;
    if (listening === null) return;
    client.on("notification", ({ payload }) => listening.heard(payload ?? ""));
    await client.query(`listen ${client.escapeIdentifier(listening.channel)}`);
  }

  /** Ends the connection, or the try to make one. Takes a moment at most, also of a dead one. */
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

  /** Whether statements stay prepared on its connection, which is its own then. */
  get keepsStatements(): boolean {
    return this.#settings.preparedStatements;
  }

  /** Begins a transaction under the settings of such a connection. */
  begin(): Promise<unknown> {
    return this.#simply(this.#settings.preparedStatements ? BEGIN : BEGIN_WITH_SETTINGS);
  }

  commit(): Promise<unknown> {
    return this.#simply("commit");
  }

  rollback(): Promise<unknown> {
    return this.#simply("rollback");
  }

  /** Sends all that `work` sends as one packet: one wake-up of the server instead of several. */
  together<T>(work: () => T): T {
    const stream = this.#client?.connection.stream;
    stream?.cork();
    try {
      return work();
    } finally {
      stream?.uncork();
    }
  }

  /** Begins a transaction whose statements may take long: those of `patient`. */
  beginPatiently(): Promise<unknown> {
    const { preparedStatements } = this.#settings;
    return this.#simply(`${preparedStatements ? BEGIN : BEGIN_WITH_SETTINGS}; ${PATIENTLY}`);
  }

  /** A statement that may take long, in a transaction of its own. */
  async patiently<T>(work: (db: Database) => Promise<T>): Promise<T> {
    try {
      await this.beginPatiently();
      return await work(this.patient);
    } finally {
      await this.commit();
    }
  }

  /** One statement under the settings of such a connection. */
  async within<T>(work: () => Promise<T>): Promise<T> {
    if (this.#settings.preparedStatements) return work();
    const [, result] = await settled([this.begin(), work(), this.commit()]);
    return result as T;
  }

  /** Without parameters: a single message, for which nothing is prepared. */
  #simply(text: string): Promise<unknown> {
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

  async #patiently<R extends QueryResultRow>(config: QueryConfig): Promise<QueryResult<R>> {
    const patient = { query_timeout: PATIENT_ANSWER_TIMEOUT_MS };
    this.#patientUnderWay++;
    try {
      return await this.#query<R>({ ...config, ...patient });
    } finally {
      this.#patientUnderWay--;
    }
  }

  #query<R extends QueryResultRow>(config: QueryConfig): Promise<QueryResult<R>> {
    const client = this.#client;
    if (client === null) return Promise.reject(new Error("Connection terminated"));
    const { preparedStatements } = this.#settings;
    const named = preparedStatements ? { ...config, name: this.#nameOf(config.text) } : config;
    return this.#answer(client.query<R>(named));
  }

  /** Statement names of this connection; their number is that of our statements' forms. */
  #nameOf(text: string): string {
    let name = this.#names.get(text);
    if (name === undefined) {
      name = `worker_${this.#names.size}`;
      this.#names.set(text, name);
    }
    return name;
  }
}

/** The number of the server's process; null behind what has not said it. */
function processOf(client: pg.Client): number | null {
  return serverProcessOf(client).processID ?? null;
}

/** Waits for all of them, then throws the first error. No promise is left without a handler. */
export async function settled(work: readonly unknown[]): Promise<unknown[]> {
  const results = await Promise.allSettled(work);
  return results.map((one) => {
    if (one.status === "rejected") throw one.reason;
    return one.value;
  });
}
