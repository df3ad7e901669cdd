// The safe mode: jobs are taken by writing the worker's id into `locked_by`, wait in the local queue,
// and leave with their results. Two connections overlap, so that Node and PostgreSQL do not take turns.
//
//   database ──fetch──▶ local queue ──slot──▶ executor ──▶ results ──flush, with the next fetch──▶ database
//
// After a lost connection running jobs go on, and jobs locked without our knowing are given back first.
import { monotonic } from "../../base/clock.ts";
import { errorOf, WorkerError } from "../../base/errors.ts";
import { returnUnknownJobs } from "../../queue/settle/give-back.ts";
import { WorkerConnections } from "../connection/connections.ts";
import type { WorkerConnection } from "../connection/worker-connection.ts";
import type { ClaimedJob } from "../execute/claimed-job.ts";
import type { InFlight } from "../execute/in-flight.ts";
import type { JobExecutor } from "../execute/job-executor.ts";
import { emitSettled, idOf, jobsIn, type ResultBatch } from "../execute/results.ts";
import type { WorkSource } from "../execute/slots.ts";
import { type QueueRun, workUnits } from "../execute/work-unit.ts";
import { LONG_FETCH } from "../fetch/fetch-pace.ts";
import type { Fetcher, FetcherLink } from "../fetch/fetcher.ts";
import { PendingFetches } from "../fetch/pending-fetches.ts";
import { QuickFetches } from "../fetch/quick-fetches.ts";
import { type FlushAnswer, fetchQuickly, flushAndFetch } from "./flush-and-fetch.ts";
import { LateJobs } from "./late-jobs.ts";
import { LocalQueue } from "./local-queue.ts";
import { NextFetch } from "./next-fetch.ts";
import type { SafeFetcherParts } from "./safe-fetcher-parts.ts";
import { UncertainLocks } from "./uncertain-locks.ts";

export class SafeFetcher<E> implements Fetcher<E>, WorkSource {
  readonly isFetchingFirst = false;
  readonly #parts: SafeFetcherParts<E>;
  readonly #link: FetcherLink;
  readonly #connections: WorkerConnections;
  readonly #localQueue: LocalQueue;
  readonly #next: NextFetch;
  readonly #quick: QuickFetches;
  readonly #pending: PendingFetches;
  readonly #uncertain: UncertainLocks;
  readonly #late: LateJobs;
  #phase: "new" | "fetching" | "ending" = "new";

  constructor(parts: SafeFetcherParts<E>, link: FetcherLink) {
    const { config, workerId, clock, hooks } = parts;
    this.#parts = parts;
    this.#link = link;
    this.#next = new NextFetch(parts.tasks, parts.free, clock);
    this.#pending = new PendingFetches(clock, () => link.changed());
    this.#connections = new WorkerConnections(parts.connections, {
      reconcile: (connection) => this.#uncertain.settling(() => this.#reconcile(connection)),
      lost: (error) => hooks.emit("worker:disconnected", { workerId, error }),
      back: () => {
        hooks.emit("worker:reconnected", { workerId });
        this.wake(0);
      },
      outage: parts.outage,
    });
    const [pending, connections] = [this.#pending, this.#connections];
    const onLeft = () => link.changed();
    this.#uncertain = new UncertainLocks({ ...parts, pending, connections, onLeft });
    this.#quick = new QuickFetches(parts.tasks, workerId);
    this.#localQueue = new LocalQueue(config.localQueue, {
      clock,
      hooks,
      workerId,
      giveBack: (jobs, queueIds) => this.#giveBack(jobs, queueIds),
      delayOver: () => this.advance(),
    });
    this.#late = new LateJobs({
      clock,
      slots: link.slots,
      source: this,
      hasWaitingRuns: () => this.#localQueue.queueIds.length > 0,
      giveBack: (jobs) => this.#giveBack(jobs, []),
    });
  }

  get executors(): readonly JobExecutor<E>[] {
    return [this.#parts.executor];
  }

  get waiting(): number {
    return this.#localQueue.size;
  }

  get isInDoubt(): boolean {
    return this.#uncertain.isRaised;
  }

  get jobs(): readonly ClaimedJob[] {
    const ended = [...this.#parts.results.jobs, ...this.#parts.refusals.jobs];
    return [...this.#localQueue.jobs, ...this.#link.slots.jobs(this), ...ended];
  }

  get queueIds(): InFlight["queueIds"] {
    const { slots } = this.#link;
    return [
      ...this.#localQueue.queueIds,
      ...slots.queueIds(this),
      ...this.#parts.results.freedQueues,
    ];
  }

  get isIdle(): boolean {
    const isDrained = this.#phase !== "fetching" || this.#next.isDrained;
    const isEmpty = this.#localQueue.size === 0 && this.#parts.results.isEmpty;
    return isDrained && isEmpty && !this.#uncertain.isWaitedFor && !this.#parts.refusals.isWaiting;
  }

  async start(): Promise<void> {
    await this.#connections.connect();
    await this.#parts.tasks.register((this.#connections.any as WorkerConnection).database);
    if (this.#phase !== "new") return; // A start that fails runs nothing.
    this.#phase = "fetching";
    this.#localQueue.start();
    this.advance();
  }

  wake(count: number): void {
    const wasDrained = this.#next.wake(count > 0);
    this.#localQueue.announce(Math.max(1, count));
    // In this moment, not a turn later: some job waits for it.
    if (wasDrained && this.#pending.isNone) this.advance();
    else this.#link.changed();
  }

  wakeForOthers(): void {
    this.#next.raise();
    this.#link.changed();
  }

  advance(): void {
    this.#fill();
    while (this.#connections.hasIdle) {
      const want = this.#wanted();
      if (want === 0 && this.#parts.results.isEmpty) return;
      const connection = this.#connections.take() as WorkerConnection;
      void this.#exchange(connection, want);
    }
  }

  #fill(): void {
    void this.#link.slots.fill(this, () => this.#localQueue.size > 0);
  }

  stop(): void {
    this.#phase = "ending";
    this.#localQueue.release();
    this.#connections.hurry();
    this.#uncertain.end();
    this.#parts.refusals.end();
    this.#link.changed();
  }

  abandon(): void {
    this.#phase = "ending";
    this.#link.slots.abandon(this);
    this.#link.changed();
  }

  prove(): void {
    this.#connections.prove();
  }

  async close(): Promise<void> {
    this.#localQueue.release();
    this.#late.close();
    await this.#connections.close().finally(() => this.#uncertain.close());
  }

  connectionLost(error: Error): void {
    this.#link.connectionLost();
    this.#connections.lost(error);
  }

  /** Jobs of a lease that may be over are others' perhaps: they are given back, fenced, unstarted. */
  mayStart(): boolean {
    if (this.#phase === "fetching" && this.#link.mayStart()) return true;
    this.#localQueue.giveBackAll();
    return false;
  }

  mayFollow(job: ClaimedJob): boolean {
    return !this.#late.isLate(job);
  }

  take() {
    return this.#localQueue.take();
  }

  run(job: ClaimedJob): Promise<void> | undefined {
    this.#parts.starting(job);
    return this.#parts.executor.run(job);
  }

  finished(): void {
    this.#localQueue.finished();
  }

  runEnded({ queueId }: QueueRun, unstarted: readonly ClaimedJob[]): void {
    this.#parts.results.giveBack(unstarted, [queueId]);
  }

  #giveBack(jobs: readonly ClaimedJob[], queueIds: readonly number[]): void {
    this.#parts.results.giveBack(jobs, queueIds);
    this.#link.changed();
  }

  /** How many jobs to ask for now: none beside results that may wait for somebody's lock again. */
  #wanted(): number {
    if (this.#parts.results.isRepeated) return 0;
    if (this.#phase !== "fetching" || !this.#link.mayFetch(this)) return 0;
    if (this.#next.isDrained || this.#localQueue.isDelayed) return 0;
    return this.#localQueue.wanted(this.#link.slots.free, this.#pending);
  }

  async #exchange(connection: WorkerConnection, wanted: number): Promise<void> {
    const { workerId, hooks, tasks, results } = this.#parts;
    const mayBeQuick = () => this.#mayBeQuick(connection);
    const request = wanted === 0 ? null : this.#next.request(wanted, mayBeQuick);
    const { want, isQuick } = request ?? { want: 0, isQuick: false };
    const sent = this.#pending.sent(want, !results.isEmpty);
    const batch = results.take();
    const answer = isQuick
      ? await fetchQuickly(connection, this.#quick, want)
      : await flushAndFetch(connection, workerId, batch, request);
    this.#written(answer, batch);
    if (answer.failure !== null) this.#unwritten(answer, request !== null);
    results.answered(batch);
    if (request !== null && answer.rows !== null) {
      const jobs = await tasks.jobs(answer.rows, connection.database);
      const durationMs = monotonic() - request.sentAtMs;
      hooks.emit("job:fetch", { workerId, count: jobs.length, durationMs });
      if (this.#next.learn(jobs, request, answer)) this.#link.nothingReady(answer.nowSeconds);
      this.#localQueue.add(workUnits(jobs), jobs.length, want);
      if (jobs.some(({ isQueued }) => isQueued)) this.#late.watch();
    }
    this.#pending.answered(sent);
    this.#connections.giveBack(connection);
    // After a quick fetch a turn later, with the results of jobs that end at once.
    if (isQuick) this.#fill();
    else this.advance();
    this.#link.changed();
  }

  #mayBeQuick({ keepsStatements }: WorkerConnection): boolean {
    if (!keepsStatements || !this.#parts.results.isEmpty) return false;
    return this.#parts.config.localQueue.refetchDelay === null && this.#quick.mayBeNext();
  }

  #written({ written, lost, apart }: FlushAnswer, sent: ResultBatch): void {
    // A queue that is free again has perhaps more work: look at once, not at the next poll.
    if (written.freedQueues.length > 0) this.wakeForOthers();
    // They are ready again, before the place at which the next fetch would start.
    if (written.returned.length > 0) this.#next.wake(false);
    if (written.done.length + written.failures.length > 0) this.#link.written();
    const { hooks, workerId, refusals } = this.#parts;
    if (refusals.settled(written, apart)) this.#next.raise();
    emitSettled(hooks, workerId, written, lost, jobsIn(sent));
  }

  #unwritten({ unwritten, failure }: FlushAnswer, hasFetched: boolean): void {
    this.#parts.results.putBack(unwritten);
    const error = errorOf(failure);
    // The victim of a deadlock has waited already. Others may have passed over what it had locked.
    if (hasFetched) this.#next.raise();
    if (error instanceof WorkerError && error.code === "database_busy") return;
    // The server lives, and has undone it: nothing is in doubt.
    const isKnown = this.#next.isPatient;
    if (hasFetched && this.#next.failed(error)) {
      if (!isKnown) this.#parts.config.logger.warn({ error: error.message }, LONG_FETCH);
      return;
    }
    if (hasFetched) this.#uncertain.raise();
    this.#localQueue.fetchFailed();
    this.connectionLost(error);
  }

  /** Gives back what a broken fetch may have locked for us without our knowing. */
  async #reconcile(connection: WorkerConnection): Promise<void> {
    const { results, tasks, workerId } = this.#parts;
    // A fetch under way may have committed unanswered: its jobs would be given back, and run twice.
    await this.#pending.ended();
    this.#uncertain.raise();
    // Results are written before anything is fetched: later the lock of such a job may be another attempt's. Its
    // queue is freed below, with what a lost fetch may have taken of it: before, others would overtake that.
    const taken = results.take();
    const batch = { ...taken, freedQueues: [] };
    const answer = await flushAndFetch(connection, workerId, batch, null);
    this.#written(answer, batch);
    results.putBack(answer.unwritten);
    results.answered(taken);
    if (answer.failure !== null) throw answer.failure;
    await tasks.register(connection.database);
    const { jobs, queueIds } = this.#link.inFlight();
    await connection.patiently((db) => returnUnknownJobs(db, workerId, jobs.map(idOf), queueIds));
  }
}
