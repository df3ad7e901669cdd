// The transactions of the fast mode on one connection, one after another. Each begins with a fetch and
// holds a batch of jobs by its row locks; its end, what has become of them, and the beginning of the next
// one are one packet.
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { builtOnce, type Database, query, type Statement } from "../../database/database.ts";
import { isRefusedResult } from "../../database/errors/database-errors.ts";
import { FetchedRows } from "../../queue/fetch/fetched-rows.ts";
import type { FetchedColumns } from "../../queue/fetch/job-columns.ts";
import { keepJobs, lockStatement } from "../../queue/fetch/lock-jobs.ts";
import { type QuickRow, quickStatement } from "../../queue/fetch/quick-fetch.ts";
import { failJobs } from "../../queue/settle/fail.ts";
import { finishJobs } from "../../queue/settle/finish.ts";
import { settled, type WorkerConnection } from "../connection/worker-connection.ts";
import { type FetchedJob, loadedJobs } from "../execute/fetched-job.ts";
import { logTurned } from "../execute/refusals.ts";
import {
  emitSettled,
  idOf,
  jobsIn,
  type ResultBatch,
  type Results,
  toFailure,
} from "../execute/results.ts";
import { settleApart } from "../execute/settle-apart.ts";
import { FetchPlan, type FetchRequest } from "../fetch/fetch-plan.ts";
import type { TaskParameters } from "../fetch/task-parameters.ts";
import type { Hooks } from "../task/hooks.ts";

/** Jobs a transaction takes at the most; less where they are slow. */
const LARGEST_BATCH = 2_000;

/** What a transaction has locked. */
export interface FastFetched {
  readonly jobs: readonly FetchedJob[];
  /** There is more than this connection can take. */
  readonly isFull: boolean;
}

export interface FastTransactionParts {
  readonly connection: WorkerConnection;
  readonly tasks: TaskParameters;
  readonly clock: Clock;
  readonly workerId: string;
  readonly hooks: Hooks;
  readonly results: Results;
  readonly logger: Logger;
  /** Results are in the database. */
  onWritten(): void;
}

export class FastTransaction {
  readonly plan: FetchPlan;
  readonly #parts: FastTransactionParts;
  readonly #lock: Statement;
  readonly #quick: Statement;
  #isOpen = false;

  constructor(parts: FastTransactionParts) {
    const flags = parts.tasks.forbiddenFlags !== null;
    this.plan = new FetchPlan(parts.clock, "fast");
    this.#parts = parts;
    this.#lock = builtOnce(lockStatement({ flags }));
    this.#quick = quickStatement({ flags, mode: "row" });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Its connection is gone. */
  forget(): void {
    this.#isOpen = false;
  }

  /** For a few of the jobs that have just become ready; null where a quick fetch does not pay. */
  quickRequest(slots: number): FetchRequest | null {
    const request = this.plan.request(slots, this.#parts.connection.keepsStatements);
    return request.isQuick ? request : null;
  }

  /** Begins one: there is nothing to be written. */
  async open(request: FetchRequest): Promise<FastFetched> {
    const fetched = await this.#fetch(request);
    this.#isOpen = true;
    return fetched;
  }

  /**
   * Writes what ended and commits; with `slots`, which are to be filled, follows the next transaction.
   * null: there is none, also where PostgreSQL has refused a result.
   */
  async next(batch: ResultBatch, slots: number | null): Promise<FastFetched | null> {
    const { connection } = this.#parts;
    const wasOpen = this.#isOpen;
    this.#isOpen = false;
    this.plan.finished(batch.done.length + batch.failures.length);
    const answers = await this.#written(batch, () => [
      wasOpen ? connection.commit() : null,
      slots === null ? null : this.#fetch(this.#request(slots)),
    ]);
    if (slots === null) return null;
    if (answers === null) {
      this.plan.wake(false); // What was fetched is undone with the refused result, and ready again.
      return null;
    }
    this.#isOpen = true;
    return answers[1] as FastFetched;
  }

  /** Writes what ended, locks these jobs in the ordinary way and commits: the rest is let go. */
  async keep(batch: ResultBatch, ids: readonly string[]): Promise<void> {
    const { connection, workerId } = this.#parts;
    this.#isOpen = false;
    const answers = await this.#written(batch, () => [
      ids.length > 0 ? keepJobs(connection.database, workerId, ids) : null,
      connection.commit(),
    ]);
    if (answers === null) throw new Error("the transaction was undone: a result is refused");
  }

  /** Ends a transaction that holds nothing. */
  async commitEmpty(): Promise<void> {
    this.#isOpen = false;
    await this.#parts.connection.commit();
  }

  /** Jobs for these slots, and those that are soon used up. */
  #request(slots: number): FetchRequest {
    this.plan.measure();
    return this.plan.request(Math.min(LARGEST_BATCH, this.plan.ahead + slots), false);
  }

  async #fetch(request: FetchRequest): Promise<FastFetched> {
    const { connection } = this.#parts;
    const { isPatient, isQuick } = request;
    const db = isPatient ? connection.patient : connection.database;
    const sent = connection.together(() => [
      isPatient ? connection.beginPatiently() : connection.begin(),
      isQuick ? this.#lockQuickly(db, request) : this.#lockJobs(db, request),
    ]);
    const [, rows] = await settled(sent);
    // A query that fails here has ended the transaction, which frees them all.
    const jobs = await loadedJobs(rows as readonly FetchedRows[], db);
    this.plan.learn(jobs, request, false);
    return { jobs, isFull: jobs.length === request.want };
  }

  async #lockJobs(db: Database, { want, start }: FetchRequest): Promise<FetchedRows[]> {
    const values = this.#values(want, start.priority, start.runAtSeconds);
    const rows = await query<FetchedColumns>(db, this.#lock, values);
    return rows.map((row) => new FetchedRows(row));
  }

  async #lockQuickly(db: Database, { want }: FetchRequest): Promise<FetchedRows[]> {
    const rows = await query<QuickRow>(db, this.#quick, this.#values(want));
    return rows.map(({ job }) => FetchedRows.ofOne(job));
  }

  #values(...values: unknown[]): unknown[] {
    const { identifiers, forbiddenFlags } = this.#parts.tasks;
    return [identifiers, ...values, ...(forbiddenFlags === null ? [] : [forbiddenFlags])];
  }

  /** null: PostgreSQL has undone it all, and the results were written apart. */
  async #written(batch: ResultBatch, following: () => unknown[]): Promise<unknown[] | null> {
    const { workerId, hooks, results, connection, onWritten } = this.#parts;
    const { done, failures } = batch;
    const db = connection.database;
    const sent = connection.together(() => [
      done.length > 0 ? finishJobs(db, workerId, done.map(idOf), "row") : [],
      failures.length > 0 ? failJobs(db, workerId, failures.map(toFailure), "row") : [],
      ...following(),
    ]);
    try {
      const [lostDone, lostFailures, ...answers] = await settled(sent);
      const lost = [...(lostDone as string[]), ...(lostFailures as string[])];
      emitSettled(hooks, workerId, batch, lost, jobsIn(batch));
      if (done.length + failures.length > 0) onWritten();
      return answers;
    } catch (error) {
      if (isRefusedResult(error)) return this.#apart(batch);
      results.putBack(batch);
      throw error;
    }
  }

  /**
   * The rows are free, and what PostgreSQL refuses once more is left to the safe mode, which counts the
   * attempt. A transaction that was begun meanwhile is undone with its locks.
   */
  async #apart(batch: ResultBatch): Promise<null> {
    const { connection, workerId, hooks, results, logger, onWritten } = this.#parts;
    await connection.rollback();
    const apart = await settleApart(connection.database, workerId, batch, "row");
    const { written, lost, turned, unconfirmed, failure } = apart;
    logTurned(logger, turned);
    emitSettled(hooks, workerId, written, lost, jobsIn(written));
    results.putBack(unconfirmed);
    if (failure !== null) throw failure;
    onWritten();
    return null;
  }
}
