// The transactions of the fast mode on one connection. Each transaction begins with a fetch, which locks a batch of
// jobs by row locks.
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { builtOnce, type Database, query, type Statement } from "../../database/database.ts";
import { isBusy } from "../../database/errors/database-errors.ts";
import { FetchedRows } from "../../queue/fetch/fetched-rows.ts";
import type { FetchedColumns } from "../../queue/fetch/job-columns.ts";
import { keepJobs, lockStatement } from "../../queue/fetch/lock-jobs.ts";
import { type QuickRow, quickStatement } from "../../queue/fetch/quick-fetch.ts";
import { failJobs } from "../../queue/settle/fail.ts";
import { finishJobs } from "../../queue/settle/finish.ts";
import { settleAll, type WorkerConnection } from "../connection/worker-connection.ts";
import { type FetchedJob, loadedJobs } from "../execute/fetched-job.ts";
import { logFailedInstead, type Refusals } from "../execute/refusals.ts";
import {
  byStatement,
  emitSettled,
  idOf,
  jobsIn,
  type ResultBatch,
  type Results,
  toFailure,
} from "../execute/results.ts";
import { isOfOneRow, settleSeparately } from "../execute/settle-separately.ts";
import { FetchPlan, type FetchRequest } from "../fetch/fetch-plan.ts";
import type { TaskParameters } from "../fetch/task-parameters.ts";
import type { Hooks } from "../task/hooks.ts";

const MAX_BATCH = 2_000;

/** The error of keep() if no job was kept. After any other error of keep(), jobs may have been kept. */
export const ROLLED_BACK = new Error(
  "the transaction was rolled back: PostgreSQL refused a change",
);

/** The jobs that a transaction has locked. */
export interface FastFetchResult {
  readonly jobs: readonly FetchedJob[];
  /** Whether as many jobs were fetched as requested. */
  readonly isFull: boolean;
}

export interface FastTransactionParts {
  readonly connection: WorkerConnection;
  readonly tasks: TaskParameters;
  readonly clock: Clock;
  readonly workerId: string;
  readonly hooks: Hooks;
  readonly results: Results;
  readonly refusals: Refusals;
  readonly logger: Logger;
  /** Called when results are committed. */
  onWritten(): void;
}

interface FastStatements {
  readonly lock: Statement;
  readonly quick: Statement;
}

const fastStatements = (flags: boolean, pauses: boolean): FastStatements => ({
  lock: builtOnce(lockStatement({ flags, pauses })),
  quick: builtOnce(quickStatement({ flags, pauses, mode: "row" })),
});

export class FastTransaction {
  readonly plan: FetchPlan;
  readonly #parts: FastTransactionParts;
  /** `paused`: leaves out paused tasks. */
  readonly #statements: Readonly<Record<"plain" | "paused", FastStatements>>;
  #isOpen = false;
  #pausesRead = 0;

  constructor(parts: FastTransactionParts) {
    const flags = parts.tasks.forbiddenFlags !== null;
    this.plan = new FetchPlan(parts.clock, "fast");
    this.#parts = parts;
    this.#statements = { plain: fastStatements(flags, false), paused: fastStatements(flags, true) };
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Whether the worker has read a new pause since the last fetch was sent. */
  get isOutdated(): boolean {
    return this.#pausesRead !== this.#parts.tasks.pausesRead;
  }

  /** Called after an error. The connection is lost, or the caller closes the connection. */
  connectionLost(error: unknown): void {
    this.#isOpen = false;
    this.plan.learnFailure(error);
    this.plan.resetSpeed();
    this.plan.raise();
  }

  /** Returns the request for a quick fetch; null if the plan allows no quick fetch now. */
  quickRequest(slots: number): FetchRequest | null {
    const request = this.plan.request(slots, this.#parts.connection.keepsStatements);
    return request.isQuick ? request : null;
  }

  /** Begins a transaction with this fetch. Must not be called while a transaction is open or results are unwritten. */
  async open(request: FetchRequest): Promise<FastFetchResult> {
    const fetched = await this.#fetch(request);
    this.#isOpen = true;
    return fetched;
  }

  /**
   * Writes results, commits, and begins the next transaction, which fetches jobs for `slots` free slots. Resolves to
   * null, and leaves no transaction open, if `slots` is null, PostgreSQL refused a change, or a lock delayed the fetch.
   */
  async next(batch: ResultBatch, slots: number | null): Promise<FastFetchResult | null> {
    const { connection } = this.#parts;
    const wasOpen = this.#isOpen;
    this.#isOpen = false;
    this.plan.countEnded(batch.done.length + batch.failures.length);
    let fetching: Promise<FastFetchResult> | null = null;
    const answers = await this.#write(batch, () => {
      const committing = wasOpen ? connection.commit() : null;
      if (slots !== null) fetching = this.#fetch(this.#request(slots));
      // Hides a failure of the fetch from #write(). Otherwise #write() would write the committed results again.
      return [committing, fetching?.catch(() => {})];
    });
    if (fetching === null) return null;
    try {
      if (answers !== null) {
        const fetched = await fetching;
        this.#isOpen = true;
        return fetched;
      }
    } catch (error) {
      if (!isBusy(error)) throw error;
      await connection.rollback();
    }
    this.plan.wake(false); // The fetch was rolled back, so its jobs are ready again.
    return null;
  }

  /**
   * Writes results, locks the jobs `ids` by `locked_by`, and commits. Throws ROLLED_BACK if PostgreSQL refused a
   * change.
   */
  async keep(batch: ResultBatch, ids: readonly string[]): Promise<void> {
    const { connection, workerId } = this.#parts;
    this.#isOpen = false;
    const answers = await this.#write(batch, () => [
      ids.length > 0 ? keepJobs(connection.database, workerId, ids) : null,
      connection.commit(),
    ]);
    if (answers === null) throw ROLLED_BACK;
  }

  /** Ends a transaction that has fetched no jobs. */
  async commitEmpty(): Promise<void> {
    this.#isOpen = false;
    await this.#parts.connection.commit();
  }

  #request(slots: number): FetchRequest {
    this.plan.measure();
    return this.plan.request(Math.min(MAX_BATCH, this.plan.ahead + slots), false);
  }

  async #fetch(request: FetchRequest): Promise<FastFetchResult> {
    const { connection } = this.#parts;
    const { isPatient, isQuick } = request;
    this.#pausesRead = this.#parts.tasks.pausesRead;
    const db = isPatient ? connection.patient : connection.database;
    const sent = connection.sendTogether(() => [
      isPatient ? connection.beginPatiently() : connection.begin(),
      isQuick ? this.#lockQuickly(db, request) : this.#lockJobs(db, request),
    ]);
    const [, rows] = await settleAll(sent);
    // If large payloads cannot be read, the lane closes the connection. This unlocks all jobs of the transaction.
    const jobs = await loadedJobs(rows as readonly FetchedRows[], db);
    this.plan.learn(jobs, request, false);
    return { jobs, isFull: jobs.length === request.want };
  }

  async #lockJobs(db: Database, { want, start }: FetchRequest): Promise<FetchedRows[]> {
    const values = this.#values(want, start.priority, start.runAtSeconds);
    const rows = await query<FetchedColumns>(db, this.#statement.lock, values);
    return rows.map((row) => new FetchedRows(row));
  }

  async #lockQuickly(db: Database, { want }: FetchRequest): Promise<FetchedRows[]> {
    const rows = await query<QuickRow>(db, this.#statement.quick, this.#values(want));
    return rows.map(({ job }) => FetchedRows.ofOne(job));
  }

  get #statement(): FastStatements {
    return this.#statements[this.#parts.tasks.pauses ? "paused" : "plain"];
  }

  #values(...values: unknown[]): unknown[] {
    const { identifiers, forbiddenFlags } = this.#parts.tasks;
    return [identifiers, ...values, ...(forbiddenFlags === null ? [] : [forbiddenFlags])];
  }

  /**
   * Writes results, in one packet with the statements that `following` sends. Resolves to the answers to these
   * statements; null if PostgreSQL refused a change.
   */
  async #write(batch: ResultBatch, following: () => unknown[]): Promise<unknown[] | null> {
    const { workerId, hooks, results, connection, onWritten } = this.#parts;
    const { done, failures } = batch;
    const db = connection.database;
    const writes: Promise<string[]>[] = [];
    const sent = connection.sendTogether(() => {
      if (done.length > 0) writes.push(finishJobs(db, workerId, done.map(idOf), "row"));
      for (const some of byStatement(failures)) {
        writes.push(failJobs(db, workerId, some.map(toFailure), "row"));
      }
      return [...writes, ...following()];
    });
    try {
      const answers = await settleAll(sent);
      const lost = answers.splice(0, writes.length) as string[][];
      emitSettled(hooks, workerId, batch, lost.flat(), jobsIn(batch));
      if (done.length + failures.length > 0) onWritten();
      return answers;
    } catch (error) {
      if (isOfOneRow(error)) return this.#writeOneByOne(batch, error);
      results.putBack(batch);
      throw error;
    }
  }

  /**
   * Rolls back, and writes the results that PostgreSQL accepts. The rollback unlocks the jobs. Until their results are
   * written, the safe mode of this worker does not fetch these jobs. If another worker locks one of the jobs in this
   * time, the job runs again.
   */
  async #writeOneByOne(batch: ResultBatch, reason: unknown): Promise<null> {
    const { connection, workerId, hooks, results, refusals, logger, onWritten } = this.#parts;
    const separate = await refusals.leaveOut(jobsIn(batch).map(idOf), async () => {
      await connection.rollback().catch((error: unknown) => {
        results.putBack(batch);
        throw error;
      });
      return settleSeparately(connection.database, workerId, batch, "row", reason);
    });
    const { written, lost, failedInstead: turned, unconfirmed, failure } = separate;
    logFailedInstead(logger, turned);
    emitSettled(hooks, workerId, written, lost, jobsIn(written));
    results.putBack(unconfirmed);
    if (failure !== null) throw failure;
    onWritten();
    return null;
  }
}
