// One connection on which a worker exchanges finished jobs for new ones. What it sends goes out in
// one go (pg's pipeline mode, also behind pgbouncer); each statement is a transaction of its own.

import type { QueryConfig, QueryResult, QueryResultRow } from "pg";
import pg from "pg";
import { settled } from "../base/settled.ts";
import {
  builtOnce,
  type Database,
  type Queryable,
  query,
  type Statement,
} from "../database/database.ts";
import type { OpeningStatement, TextRow } from "../database/opening-packet.ts";
import type { SchemaName } from "../database/schema-name.ts";
import { type ClaimAnswer, claimStatement } from "../queue/claim-jobs.ts";
import { ClaimedRows } from "../queue/claimed-rows.ts";
import type { ReadyForm } from "../queue/ready-jobs.ts";
import { failJobs, finishJobs, parseIdArray, returnJobs } from "../queue/settle-jobs.ts";
import type { LowWaterMark } from "./low-water.ts";
import { batchOf, idOf, type OutcomeBatch, toFailure } from "./outcomes.ts";

export interface LaneSettings {
  readonly connection: pg.ClientConfig;
  readonly schema: SchemaName;
  readonly workerId: string;
  readonly preparedStatements: boolean;
  onLoss(error: Error): void;
}

export interface Claim {
  /** As PostgreSQL writes an array. */
  readonly identifiers: string;
  readonly want: number;
  readonly form: ReadyForm;
  readonly mark: LowWaterMark;
  readonly forbiddenFlags: readonly string[];
}

export interface Exchange {
  /** null: no claim was made, or it failed. */
  readonly rows: ClaimedRows | null;
  /** Some named queue is free: the next claim should look at queued jobs, too. */
  readonly queues: boolean;
  /** The claim's moment by the database's clock, seconds. */
  readonly now_s: number;
  readonly written: OutcomeBatch;
  /** Jobs among them that were no longer ours. */
  readonly lost: readonly string[];
  /** What failed, or, when the connection was lost, may have failed. */
  readonly unwritten: OutcomeBatch;
  /** Why some outcome or the claim was not written; what came is to be kept all the same. */
  readonly failure: unknown;
}

/**
 * Jobs of one named queue that are taken at once. They run one after another, so more would only
 * keep them from other workers for longer.
 */
const QUEUE_RUN_JOBS = 50;

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

  /** Begins a transaction with a statement; for connections that keep statements. */
  async open(statement: OpeningStatement, packet: Uint8Array): Promise<readonly TextRow[]> {
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

  /** Writes outcomes and takes new jobs, all in one round trip. */
  async exchange(batch: OutcomeBatch, claim: Claim | null): Promise<Exchange> {
    const { workerId } = this.#settings;
    const { failures, returned, done, freedQueues, isRepeated } = batch;
    const db = this.database;
    const writes: Write[] = [];
    if (failures.length > 0) {
      writes.push({
        part: { failures },
        lost: failJobs(db, workerId, failures.map(toFailure), []),
      });
    }
    if (returned.length > 0) {
      writes.push({ part: { returned }, lost: returnJobs(db, workerId, returned.map(idOf), []) });
    }
    // Freeing a queue and taking queued jobs in one statement deadlocks with another worker that
    // does the same, so then the deletes go with the freeing, ahead of the claim.
    const alone = claim === null || freedQueues.length > 0;
    if (alone && done.length + freedQueues.length > 0) {
      const lost = finishJobs(db, workerId, done.map(idOf), freedQueues);
      writes.push({ part: { done, freedQueues }, lost });
    }
    let claimed: ClaimAnswer | null = null;
    if (claim !== null) {
      const answer = this.#claim(db, claim, alone ? [] : done.map(idOf)).then((one) => {
        claimed = one;
        return parseIdArray(one.lost);
      });
      writes.push({ part: alone ? {} : { done }, lost: answer });
    }
    // Each statement is a transaction of its own: when one fails, the others stand, and the jobs of
    // a claim that went through are ours.
    const results = await Promise.allSettled(writes.map(({ lost }) => lost));
    const isWritten = (_: Write, place: number) => results[place]?.status === "fulfilled";
    const partsOf = (some: readonly Write[]) =>
      batchOf(
        isRepeated,
        some.map(({ part }) => part),
      );
    const answer = claimed as ClaimAnswer | null;
    return {
      rows: answer === null ? null : new ClaimedRows(answer),
      queues: answer?.queues ?? false,
      now_s: answer?.now_s ?? 0,
      written: partsOf(writes.filter(isWritten)),
      lost: results.flatMap((one) => (one.status === "fulfilled" ? one.value : [])),
      unwritten: partsOf(writes.filter((write, place) => !isWritten(write, place))),
      failure: results.find((one) => one.status === "rejected")?.reason ?? null,
    };
  }

  async #claim(db: Database, claim: Claim, done: readonly string[]) {
    const { form, mark } = claim;
    const values: unknown[] = [
      claim.identifiers,
      claim.want,
      this.#settings.workerId,
      `{${done.join(",")}}`,
      mark.priority,
      mark.runAt_s,
    ];
    // PostgreSQL wants each parameter to be used: these exist only in the forms that have them.
    if (form.queues) values.push(QUEUE_RUN_JOBS);
    if (form.flags) values.push(claim.forbiddenFlags);
    const claimed = () => query<ClaimAnswer>(db, statementOf(form), values);
    const [row] = await (this.#settings.preparedStatements ? claimed() : this.#within(claimed));
    return row as ClaimAnswer;
  }

  async #within<T>(work: () => Promise<T>): Promise<T> {
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

/** A statement on its way, and the outcomes that it writes. */
interface Write {
  readonly part: Partial<OutcomeBatch>;
  /** Jobs that were no longer ours. */
  readonly lost: Promise<string[]>;
}

const statements = new Map<string, Statement>();

function statementOf(form: ReadyForm): Statement {
  const key = JSON.stringify(Object.values(form));
  let statement = statements.get(key);
  if (statement === undefined) {
    statement = builtOnce(claimStatement(form));
    statements.set(key, statement);
  }
  return statement;
}
