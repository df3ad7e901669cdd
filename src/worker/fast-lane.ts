// The opt-in fast lane: one connection that holds a batch of short jobs by row locks.
//
//   idle ──pulse──▶ taking ──rows──▶ running ──all ended──▶ (delete, commit, begin, take) ─┐
//    ▲               │ none            │                                  ▲                │
//    └───────────────┘                 └─ limit passed: what runs gets the classic lock, ◀─┘
//                                         what has not started is let go with the commit
//
// attempts is not raised before a job runs, so a job that kills its process would come back for
// ever: a worker therefore takes its first jobs in the classic way (see `FastLanes`), and a job that
// was at the head when the process died meets that first.
import { wait } from "../base/clock.ts";
import { backoffDelay } from "../base/retry.ts";
import type { ClaimedJob } from "./claimed-job.ts";
import { FastBatch } from "./fast-batch.ts";
import type { FastTake, Taken } from "./fast-take.ts";
import { FastTransaction, type FastTransactionParts } from "./fast-transaction.ts";
import type { JobExecutor } from "./job-executor.ts";
import { idOf, type Outcomes } from "./outcomes.ts";
import { Rest } from "./rest.ts";
import type { Slots } from "./slots.ts";

export interface FastLaneParts<E> extends FastTransactionParts {
  readonly executor: JobExecutor<E>;
  /** The executor's: what this lane's jobs have come to. */
  readonly outcomes: Outcomes;
  /** Of jobs that have the classic lock: the worker's lanes write them. */
  readonly classic: Outcomes;
  readonly slots: Slots<E>;
  readonly take: FastTake<E>;
  /** How long a transaction may hold its rows. */
  readonly limit_ms: number;
  /** Jobs ended, or the lane went idle. */
  onChange(): void;
  /** There is more than this lane can take. */
  onFull(): void;
  /** What stood before jobs with keys is done: they are for the ordinary lanes. */
  onKeyed(): void;
  onError(error: unknown): void;
}

const LOST = new Error("the lease was lost with the connection");

export class FastLane<E> {
  readonly #parts: FastLaneParts<E>;
  readonly #transaction: FastTransaction;
  readonly #stop = new AbortController();
  readonly #rest = new Rest();
  /** Jobs with keys follow those of the open transaction. */
  #hasKeyed = false;
  /** An exchange that began with the pulse. */
  #early: Promise<readonly ClaimedJob[]> | null = null;
  #hasEnded = false;
  #running = 0;
  #batch: FastBatch<E> | null = null;
  /** Ends the wait for it. */
  #limit: AbortController | null = null;
  /** Running jobs that have the classic lock. */
  readonly #kept = new Set<ClaimedJob>();
  #isAbandoned = false;
  #loop: Promise<void> | null = null;

  constructor(parts: FastLaneParts<E>) {
    this.#parts = parts;
    this.#transaction = new FastTransaction(parts);
  }

  /** Nothing to take, nothing running, nothing unwritten. */
  get isIdle(): boolean {
    const isResting = this.#hasEnded || (this.isResting && !this.#rest.isImpatient);
    return isResting && this.#running === 0 && this.#parts.outcomes.isEmpty;
  }

  get keptJobs(): readonly ClaimedJob[] {
    return [...this.#kept];
  }

  start(): void {
    // Others may take what the connection held: what runs is told to end.
    this.#parts.lane.onLoss = () => this.#abortHeld();
    this.#loop = this.#run();
  }

  get isResting(): boolean {
    return this.#rest.isResting;
  }

  get isLooking(): boolean {
    return this.#rest.isLooking;
  }

  /** Something may have become ready; `isNews`: just now. */
  pulse(isNews = false): void {
    this.#rest.pulse(isNews);
  }

  /** Anything may have become ready: the next take looks at everything. */
  forgetMark(): void {
    this.#parts.take.forgetMark();
  }

  /** Only matters to a lane that knows of ready jobs. */
  slotFreed(): void {
    if (this.#rest.hasPulse) this.#rest.wake();
  }

  /** Takes no more; running jobs end and are written. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#batch?.close();
    this.#rest.wake();
    await this.#loop;
  }

  /** Waits no longer for what runs: the executor has given up on it. */
  abandon(): void {
    this.#isAbandoned = true;
    this.#running = 0;
    this.#batch?.abandon();
    this.#limit?.abort();
    this.#rest.wake();
  }

  async #run(): Promise<void> {
    const { lane, take, onError, onChange } = this.#parts;
    for (let failures = 0; !this.#isOver(); ) {
      try {
        if (!lane.isConnected) await lane.connect();
        await this.#turn();
        failures = 0;
      } catch (error) {
        // The rows are free again, and another worker may take them: what runs is told to end. What
        // has ended is written all the same, where nobody else has the job by then. Not on this
        // connection, whose transaction may be open still, or failed.
        this.#transaction.forget();
        this.#hasKeyed = false;
        take.forgetPace();
        this.#rest.looked();
        this.#rest.pulse();
        void lane.close();
        this.#abortHeld();
        onError(error);
        onChange();
        if (!(await wait(backoffDelay(failures++), this.#stop.signal))) break;
      }
    }
    await lane.close();
    this.#rest.lookNoMore();
    this.#hasEnded = true;
    onChange();
  }

  /** Not what has the classic lock: that is still ours. */
  #abortHeld(): void {
    const held = this.#batch?.running ?? [];
    this.#parts.executor.abort(LOST, new Set(held.map(idOf)));
  }

  #isOver(): boolean {
    const isQuiet = this.#running === 0 && this.#early === null && this.#parts.outcomes.isEmpty;
    return this.#stop.signal.aborted && isQuiet;
  }

  /** One round trip, and the jobs that it brought. */
  async #turn(): Promise<void> {
    const early = this.#early;
    this.#early = null;
    const jobs = await (early ?? this.#exchanged());
    if (jobs.length > 0) await this.#runBatch(jobs);
  }

  async #exchanged(): Promise<readonly ClaimedJob[]> {
    const { outcomes, onChange } = this.#parts;
    this.#handOver();
    const isTaking = this.#mayTake && this.#rest.hasPulse;
    // An open transaction of which nothing could be started is ended, too: others wait for its rows.
    if (!isTaking) this.#looked();
    if (isTaking || !outcomes.isEmpty || this.#transaction.isOpen) return this.#exchange(isTaking);
    await this.#rest.rest(onChange, (isNews) => {
      // At once, not a few turns later: some job waits for this.
      const { take, lane } = this.#parts;
      if (!this.#mayTake || !lane.isConnected) return;
      this.#early = isNews && take.mayLook() ? this.#look() : this.#exchange(true);
    });
    return [];
  }

  /** For what has just become ready, after a rest. */
  async #look(): Promise<readonly ClaimedJob[]> {
    const { take, slots } = this.#parts;
    this.#rest.look();
    const taken = await this.#transaction.open(() => take.look(slots.free));
    if (taken.jobs.length === 0) return this.#exchange(true);
    this.#looked();
    return this.#took(taken);
  }

  get #mayTake(): boolean {
    return !this.#stop.signal.aborted && this.#parts.slots.free > 0;
  }

  #looked(): void {
    if (this.#rest.looked()) this.#parts.onChange();
  }

  /** Jobs with the classic lock end in the classic way. */
  #handOver(): void {
    const { outcomes, classic, onChange } = this.#parts;
    if (this.#kept.size === 0 || outcomes.isEmpty) return;
    const { done, failures } = outcomes.take();
    for (const job of done) (this.#letGo(job) ? classic : outcomes).complete(job);
    for (const one of failures) (this.#letGo(one.job) ? classic : outcomes).fail(one);
    onChange();
  }

  /** True for a job that had the classic lock, as its queue has. */
  #letGo(job: ClaimedJob): boolean {
    const wasKept = this.#kept.delete(job);
    if (wasKept && job.queueId !== null) this.#parts.classic.freeQueue(job.queueId);
    return wasKept;
  }

  /** Finishes what ended, and takes a new batch in the same packet. */
  async #exchange(isTaking: boolean): Promise<readonly ClaimedJob[]> {
    const { slots, take, outcomes } = this.#parts;
    this.#handOver();
    const batch = outcomes.take();
    take.finished(batch.done.length + batch.failures.length);
    const taking = () => {
      this.#rest.look();
      return take.take(slots.free);
    };
    const next = this.#transaction.next(batch, isTaking ? taking : null);
    const taken = await next.finally(() => this.#looked());
    this.#announceKeyed();
    return taken === null ? [] : this.#took(taken);
  }

  /** Jobs with keys that followed the last transaction's are at the head now. */
  #announceKeyed(): void {
    if (!this.#hasKeyed) return;
    this.#hasKeyed = false;
    this.#parts.onKeyed();
  }

  /** Who took much looks for more; an empty transaction is not kept open. */
  async #took(taken: Taken): Promise<readonly ClaimedJob[]> {
    const { jobs, isFull, isForOthers, isContended, isKeyed } = taken;
    if (isContended) this.#rest.lookAgain();
    else this.#rest.lookNoMore();
    if (isForOthers) this.#parts.onFull();
    this.#hasKeyed = isKeyed;
    // What joins a queue while we hold it is seen by nobody else.
    if (isFull || jobs.some(({ isQueued }) => isQueued)) this.#rest.pulse();
    if (jobs.length > 0) return jobs;
    await this.#transaction.end();
    this.#announceKeyed();
    return jobs;
  }

  async #runBatch(jobs: readonly ClaimedJob[]): Promise<void> {
    const { executor, slots, limit_ms } = this.#parts;
    const batch = new FastBatch(jobs, executor);
    this.#batch = batch;
    // The stop came while they were on their way.
    if (this.#stop.signal.aborted) batch.close();
    const ended = batch.start(slots).map((slot) => this.#ended(slot));
    const limit = new AbortController();
    this.#limit = limit;
    const everyone = Promise.all(ended).finally(() => limit.abort());
    if (batch.running.length > 0 && (await wait(limit_ms, limit.signal))) {
      batch.close();
      await this.#keep(batch.running);
    } else if (!this.#isAbandoned) await everyone;
    if (batch.hasUnstarted) this.#rest.pulse();
  }

  async #ended(slot: Promise<void>): Promise<void> {
    this.#running++;
    await slot;
    if (this.#isAbandoned) return;
    this.#running--;
    this.#parts.slots.release();
    this.#rest.wake();
  }

  /**
   * The time is up: what still runs is locked in the classic way, the rest is let go. What has ended
   * is written before that: the commit would give it to others.
   */
  async #keep(jobs: readonly ClaimedJob[]): Promise<void> {
    // Who was kept before and has ended has the classic lock, and is no matter of this transaction.
    this.#handOver();
    for (const job of jobs) this.#kept.add(job);
    await this.#transaction.keep(this.#parts.outcomes.take(), jobs.map(idOf));
    this.#batch = null;
    this.#announceKeyed();
  }
}
