// The transactions of the fast mode on one connection, one after another. Each holds a batch of jobs by
// its row locks; its end, what has become of them, and the beginning of the next one are one packet.

import type { Logger } from "../../base/logger.ts";
import { settled } from "../../base/settled.ts";
import { isRefusedResult } from "../../database/errors/database-errors.ts";
import { keepJobs } from "../../queue/fetch/lock-jobs.ts";
import { failJobs } from "../../queue/settle/fail.ts";
import { finishJobs } from "../../queue/settle/finish.ts";
import type { WorkerConnection } from "../connection/worker-connection.ts";
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
import type { Hooks } from "../task/hooks.ts";

export interface FastTransactionParts {
  readonly connection: WorkerConnection;
  readonly workerId: string;
  readonly hooks: Hooks;
  readonly results: Results;
  readonly logger: Logger;
  /** Results are in the database. */
  onWritten(): void;
}

export class FastTransaction {
  readonly #parts: FastTransactionParts;
  #isOpen = false;

  constructor(parts: FastTransactionParts) {
    this.#parts = parts;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Its connection is gone. */
  forget(): void {
    this.#isOpen = false;
  }

  /** Begins one, with `fetch`: there is nothing to be written. */
  async open<T>(fetch: () => Promise<T>): Promise<T> {
    const fetched = await fetch();
    this.#isOpen = true;
    return fetched;
  }

  /**
   * Writes what ended and commits; with `fetch`, which begins it, follows the next transaction. null:
   * there is none, also where PostgreSQL has refused a result.
   */
  async next<T>(batch: ResultBatch, fetch: (() => Promise<T>) | null): Promise<T | null> {
    const { connection } = this.#parts;
    const wasOpen = this.#isOpen;
    this.#isOpen = false;
    const answers = await this.#written(batch, () => [
      wasOpen ? connection.commit() : null,
      fetch?.() ?? null,
    ]);
    if (answers === null || fetch === null) return null;
    this.#isOpen = true;
    return answers[1] as T;
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
