// One connection of a worker's own. What it sends goes out in one go (pg's pipeline mode, also behind
// pgbouncer); each statement is a transaction of its own, unless begin() is called.
import type { QueryConfig, QueryResult, QueryResultRow } from "pg";
import pg from "pg";
import { settled } from "../base/settled.ts";
import type { Database, Queryable } from "../database/database.ts";
import type { PacketStatement, TextRow } from "../database/packet-statement.ts";
import type { SchemaName } from "../database/schema-name.ts";

export interface LaneSettings {
  readonly connection: pg.ClientConfig;
  readonly schema: SchemaName;
  readonly preparedStatements: boolean;
  onLoss(error: Error): void;
}

// A claim is a few index probes; one that takes this long is stuck, and the lane must not be.
const STATEMENT_TIMEOUT_MS = 60_000;

// A server that is cut off says nothing at all: without an answer the connection is given up.
const ANSWER_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 5_000;
const CONNECT_TIMEOUT_MS = 10_000;

// A process that is frozen in the middle of a transaction gives its rows back after this long.
const FROZEN_MS = 10_000;

// The claim's plan must walk its index in order whatever the statistics say: a bitmap or a
// sequential scan would read every ready job to take a few. A lane's connection runs nothing else.
const SETTINGS = [
  "enable_bitmapscan = off",
  "enable_seqscan = off",
  "jit = off",
  "plan_cache_mode = force_generic_plan",
  `statement_timeout = ${STATEMENT_TIMEOUT_MS}`,
  `idle_in_transaction_session_timeout = ${FROZEN_MS}`,
];
const FOR_THE_SESSION = SETTINGS.map((one) => `set ${one}`).join("; ");
const BEGIN_WITH_SETTINGS = ["begin", ...SETTINGS.map((one) => `set local ${one}`)].join("; ");

export class Lane {
  /** Lane statements through the ordinary queue operations. */
  readonly database: Database;
  readonly #settings: LaneSettings;
  readonly #names = new Map<string, string>();
  #client: pg.Client | null = null;
  #listening: { readonly channel: string; heard(payload: string): void } | null = null;
  /** Told of a lost connection, too. */
  onLoss: (() => void) | null = null;

  constructor(settings: LaneSettings) {
    this.#settings = settings;
    const client: Queryable = { query: (config) => this.#query(config) };
    this.database = { client, schema: settings.schema };
  }

  get isConnected(): boolean {
    return this.#client !== null;
  }

  /** Also listens on this connection from the next connect() on; heard whenever it is idle. */
  listen(channel: string, heard: (payload: string) => void): void {
    this.#listening = { channel, heard };
  }

  async connect(): Promise<void> {
    const { connection, preparedStatements, onLoss } = this.#settings;
    const client = new pg.Client({
      ...connection,
      connectionTimeoutMillis: connection.connectionTimeoutMillis || CONNECT_TIMEOUT_MS,
      query_timeout: ANSWER_TIMEOUT_MS,
      pipeline: true,
      keepAlive: true,
    });
    const lost = (error: Error): void => {
      if (this.#client !== client) return;
      this.#client = null;
      onLoss(error);
      this.onLoss?.();
    };
    client.on("error", lost);
    client.on("end", () => lost(new Error("the connection was closed")));
    try {
      await client.connect();
      // Behind a transaction pooler they would reach somebody else: see begin().
      if (preparedStatements) await client.query(FOR_THE_SESSION);
      await this.#listen(client);
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
    this.#client = client;
  }

  async #listen(client: pg.Client): Promise<void> {
    const listening = this.#listening;
    if (listening === null) return;
    client.on("notification", ({ payload }) => listening.heard(payload ?? ""));
    await client.query(`listen ${client.escapeIdentifier(listening.channel)}`);
  }

  async close(): Promise<void> {
    const client = this.#client;
    this.#client = null;
    await client?.end().catch(() => {});
  }

  /** Whether statements stay prepared on its connection, which is its own then. */
  get keepsStatements(): boolean {
    return this.#settings.preparedStatements;
  }

  /** For connections that keep statements. */
  async sendPacket(statement: PacketStatement, packet: Uint8Array): Promise<readonly TextRow[]> {
    const client = this.#client;
    if (client === null) throw new Error("Connection terminated");
    return statement.send(client, packet);
  }

  /** Begins a transaction under a lane's settings. */
  begin(): Promise<unknown> {
    return this.#simply(this.#settings.preparedStatements ? "begin" : BEGIN_WITH_SETTINGS);
  }

  commit(): Promise<unknown> {
    return this.#simply("commit");
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

  /** One statement under a lane's settings. */
  async within<T>(work: () => Promise<T>): Promise<T> {
    if (this.#settings.preparedStatements) return work();
    const [, result] = await settled([this.begin(), work(), this.commit()]);
    return result as T;
  }

  /** Without parameters: a single message, for which nothing is prepared. */
  #simply(text: string): Promise<unknown> {
    return this.#client?.query(text) ?? Promise.reject(new Error("Connection terminated"));
  }

  #query<R extends QueryResultRow>(config: QueryConfig): Promise<QueryResult<R>> {
    const client = this.#client;
    if (client === null) return Promise.reject(new Error("Connection terminated"));
    if (!this.#settings.preparedStatements) return client.query<R>(config);
    return client.query<R>({ ...config, name: this.#nameOf(config.text) });
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
