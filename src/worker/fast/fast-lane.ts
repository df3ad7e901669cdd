// A lane is one connection of the fast mode. Each of its transactions locks a batch of short jobs by row locks.
//
//   idle ──wake──▶ flush and fetch ──jobs──▶ running ──all jobs have ended──▶ flush and fetch
//    ▲                    │                     └──the transaction has to end──▶ keep ──▶ flush and fetch
//    └──────no jobs───────┘
// Flush and fetch: writes results and commits. If jobs may be fetched, also begins the next transaction with a fetch.
// Keep: writes results, locks the running jobs by `locked_by` and commits. The commit unlocks the unstarted jobs.
import type { Outage } from "../../base/outage.ts";
import type { FetchedJob } from "../execute/fetched-job.ts";
import type { JobExecutor } from "../execute/job-executor.ts";
import { idOf } from "../execute/results.ts";
import type { Slots } from "../execute/slots.ts";
import type { FetchRequest } from "../fetch/fetch-plan.ts";
import { FastBatch } from "./fast-batch.ts";
import {
  type FastFetchResult,
  FastTransaction,
  type FastTransactionParts,
} from "./fast-transaction.ts";
import { Idle } from "./idle.ts";
import { KeptJobs, type KeptJobsParts } from "./kept-jobs.ts";

export interface FastLaneParts<E> extends FastTransactionParts, KeptJobsParts {
  readonly name: string;
  readonly outage: Outage;
  readonly executor: JobExecutor<E>;
  readonly slots: Slots;
  /** The time limit of a transaction. */
  readonly limitMs: number;
  /** Whether jobs may be fetched and started now. */
  mayFetch(): boolean;
  /** Called when there may be more ready jobs than this lane can take. */
  onFull(): void;
  /** Called when jobs are, or may be, left to the safe mode. */
  onLeft(): void;
  onError(): void;
}

const LOST = new Error("the lease was lost with the connection");

export class FastLane<E> {
  readonly #parts: FastLaneParts<E>;
  readonly #transaction: FastTransaction;
  readonly #idle: Idle;
  readonly #stop = new AbortController();
  readonly #close = new AbortController();
  #leavesJobs = false; // unstarted jobs of the open transaction are left to the safe mode
  #early: Promise<readonly FetchedJob[]> | null = null; // a fetch that wake() has started
  #hasEnded = false;
  #isWriting = false;
  #batch: FastBatch<E> | null = null;
  /** The current batch, and earlier batches whose kept jobs still run. */
  #busy: readonly FastBatch<E>[] = [];
  readonly #kept: KeptJobs;
  #turning: Promise<void> = Promise.resolve();
  #loop: Promise<unknown> | null = null;

  constructor(parts: FastLaneParts<E>) {
    this.#parts = parts;
    this.#transaction = new FastTransaction(parts);
    this.#idle = new Idle(parts.clock);
    this.#kept = new KeptJobs(parts);
  }

  /**
   * Whether no job is running or unconfirmed, and no fetch is unanswered. During a stop, a fetch that writes no results
   * does not count if it is lost or late.
   */
  get isIdle(): boolean {
    const isEmpty = this.#busy.length === 0 && this.#parts.results.isEmpty;
    const isCutOff = this.#isOver() && !this.#parts.connection.isConnected;
    const isLeft = isCutOff || (this.#idle.isLate && !this.#isWriting);
    return isEmpty && (this.#loop === null || this.#hasEnded || this.isWaiting || isLeft);
  }

  get keptJobs(): ReadonlySet<FetchedJob> {
    return this.#kept.jobs;
  }

  get isWaiting(): boolean {
    return this.#idle.isWaiting;
  }

  get isFetchingFirst(): boolean {
    return this.#idle.isFetchingFirst;
  }

  start(): void {
    this.#parts.connection.onLoss = () => this.#abortRunning();
    this.#loop = this.#run();
  }

  /** Makes the next fetch start at the beginning of the index. */
  resetPlan(): void {
    this.#transaction.plan.reset();
  }

  /** Called when jobs may have become ready. `isNews`: they were just announced. */
  wake(isNews: boolean): void {
    this.#transaction.plan.wake(isNews);
    this.#idle.wake(isNews);
  }

  /** Called when a slot is free again. */
  slotFreed(): void {
    const hasMore = !this.#transaction.plan.isDrained && this.#mayFetch;
    if (hasMore || !this.#parts.results.isEmpty) this.#idle.resume();
  }

  /** Ends the transaction that locks the job, if any. Resolves when the job is locked by `locked_by` or unlocked. */
  async lockOrdinarily({ id }: { readonly id: string }): Promise<void> {
    if (this.#batch?.has(id) !== true) return;
    this.#batch.cut();
    await this.#turning.catch(() => {});
  }

  returnUnstarted(): void {
    if (this.#batch?.hasUnstarted) this.#batch.cut();
  }

  /** Fetches and starts no more jobs. Running jobs end, and their results are written. */
  stop(): void {
    this.#stop.abort();
    this.#batch?.stop();
    this.#idle.end(this.#parts.onChange);
  }

  /** Stops waiting for running jobs, which the executor has abandoned. */
  abandon(): void {
    for (const batch of this.#busy) batch.abandon();
    this.#busy = [];
    this.#idle.resume();
  }

  /** Closes the connection. This unlocks the jobs of the open transaction. */
  async close(): Promise<void> {
    this.stop();
    this.#close.abort();
    await this.#parts.connection.close();
    await this.#loop;
    this.#idle.close();
  }

  async #run(): Promise<void> {
    const { connection, onChange, name, outage } = this.#parts;
    // The retries continue during a stop, so that results are written when the database is back.
    await outage.runWithRetries(
      name,
      async (succeeded) => {
        for (let isBack = false; !this.#isOver(); ) {
          if (!connection.isConnected) {
            isBack = false;
            await outage.tryConnect(() => connection.connect());
          }
          this.#turning = this.#turn();
          await this.#turning;
          if (!isBack) succeeded();
          isBack = true;
        }
      },
      { signal: this.#close.signal, onError: (error) => this.#onBroken(error) },
    );
    this.#hasEnded = true;
    onChange();
    await connection.close();
  }

  /** Other workers may fetch the jobs of the transaction, so its running jobs are aborted. */
  #onBroken(error: unknown): void {
    const { connection, onError, onChange } = this.#parts;
    this.#transaction.connectionLost(error);
    this.#leavesJobs = false;
    this.#idle.endFirstFetch();
    void connection.close();
    this.#abortRunning();
    this.#batch = null;
    if (!this.#close.signal.aborted) onError();
    this.#parts.onLeft();
    onChange();
  }

  /** Kept jobs of earlier batches continue, because they stay locked. */
  #abortRunning(): void {
    this.#batch?.stop();
    this.#parts.executor.abort(LOST, new Set(this.#batch?.running.map(idOf)));
    this.#idle.resume(); // to connect again
  }

  #isOver(): boolean {
    if (this.#close.signal.aborted) return true;
    const isQuiet = this.#busy.length === 0 && this.#early === null && this.#parts.results.isEmpty;
    return this.#stop.signal.aborted && isQuiet && !this.#transaction.isOpen;
  }

  async #turn(): Promise<void> {
    const next = this.#early ?? this.#exchange();
    this.#early = null;
    const jobs = await next;
    if (jobs.length > 0) await this.#runBatch(jobs);
  }

  async #exchange(): Promise<readonly FetchedJob[]> {
    const { results, onChange, connection, slots } = this.#parts;
    if (this.#kept.jobs.size > 0) this.#kept.handOver();
    const isFetching = this.#mayFetch && !this.#transaction.plan.isDrained;
    if (!isFetching) this.#onAnswer();
    // An open transaction is ended even without results, because its row locks keep other workers from its jobs.
    if (isFetching || !results.isEmpty || this.#transaction.isOpen) {
      return this.#flushAndFetch(isFetching);
    }
    await this.#idle.wait(onChange, (isNews) => {
      // Fetches before the next turn, to save time. If this fetch fails, the next turn handles the error.
      if (!this.#mayFetch || !connection.isConnected) return;
      const request = isNews ? this.#transaction.quickRequest(slots.free) : null;
      this.#early = request === null ? this.#flushAndFetch(true) : this.#quick(request);
      this.#early.catch(() => {});
    });
    return [];
  }

  async #quick(request: FetchRequest): Promise<readonly FetchedJob[]> {
    const fetched = await this.#transaction.open(request);
    if (fetched.jobs.length === 0) return this.#flushAndFetch(true);
    this.#onAnswer();
    return this.#onFetched(fetched);
  }

  get #mayFetch(): boolean {
    return !this.#stop.signal.aborted && this.#parts.slots.free > 0 && this.#parts.mayFetch();
  }

  #onAnswer(): void {
    this.#isWriting = false;
    if (this.#idle.endFirstFetch()) this.#parts.onChange();
  }

  async #flushAndFetch(isFetching: boolean): Promise<readonly FetchedJob[]> {
    const { slots, results } = this.#parts;
    if (this.#kept.jobs.size > 0) this.#kept.handOver();
    const batch = results.take();
    this.#isWriting = batch.done.length + batch.failures.length > 0;
    const fetched = await this.#transaction
      .next(batch, isFetching ? slots.free : null)
      .finally(() => this.#onAnswer());
    this.#announceLeft();
    if (fetched !== null) return this.#onFetched(fetched);
    if (isFetching) this.#parts.onLeft();
    return [];
  }

  #announceLeft(): void {
    if (!this.#leavesJobs) return;
    this.#leavesJobs = false;
    this.#parts.onLeft();
  }

  async #onFetched({ jobs, isFull }: FastFetchResult): Promise<readonly FetchedJob[]> {
    if (isFull) this.#parts.onFull();
    if (jobs.length > 0) return jobs;
    await this.#transaction.commitEmpty();
    this.#announceLeft();
    return jobs;
  }

  async #runBatch(jobs: readonly FetchedJob[]): Promise<void> {
    const { executor, slots, limitMs, onLeft, mayFetch } = this.#parts;
    const slotEnded = (): void => {
      if (!batch.isBusy) this.#busy = this.#busy.filter((one) => one !== batch);
      this.#idle.resume();
    };
    const batch = new FastBatch({ jobs, executor, slots, limitMs, slotEnded });
    this.#batch = batch;
    // No job starts if, since the fetch, the worker was stopped, has read a new pause, or was frozen beyond its lease.
    if (this.#stop.signal.aborted || this.#transaction.isOutdated || !mayFetch()) batch.stop();
    batch.start();
    if (batch.isBusy) this.#busy = [...this.#busy, batch];
    if (!(await batch.waitForSlots())) await this.#keep(batch.running);
    this.#batch = null;
    // Unstarted jobs keep the mark of the row lock (`xmax`), so only the safe mode fetches them.
    if (!batch.hasUnstarted) return;
    if (this.#transaction.isOpen) this.#leavesJobs = true;
    else onLeft();
  }

  /**
   * Results are written first, because the commit unlocks the ended jobs. Rejects if the connection is lost or a write
   * is refused.
   */
  async #keep(jobs: readonly FetchedJob[]): Promise<void> {
    if (!this.#parts.connection.isConnected) throw LOST;
    if (this.#kept.jobs.size > 0) this.#kept.handOver();
    const keeping = this.#transaction.keep(this.#parts.results.take(), jobs.map(idOf));
    await this.#kept.add(jobs, keeping);
    this.#announceLeft();
  }
}
