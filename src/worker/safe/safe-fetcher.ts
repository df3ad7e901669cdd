// The fetcher of the safe mode. A fetch writes the worker's id into `locked_by`. Round trips of several connections
// overlap, so that Node and PostgreSQL work in parallel.
//
//   database ──fetch──▶ local queue ──slot──▶ executor ──▶ results ──flush, with the next fetch if any──▶ database
//
// If a connection is lost, running jobs continue.
import { monotonic } from "../../base/clock.ts";
import { errorOf } from "../../base/errors.ts";
import { registerTasks } from "../../queue/add/register-tasks.ts";
import { WorkerConnections } from "../connection/connections.ts";
import type { WorkerConnection } from "../connection/worker-connection.ts";
import { type FetchedJob, loadedJobs } from "../execute/fetched-job.ts";
import type { JobExecutor } from "../execute/job-executor.ts";
import { emitSettled, jobsIn, type ResultBatch } from "../execute/results.ts";
import type { QueueRun, WorkSource } from "../execute/slots.ts";
import type { Fetcher, FetcherLink } from "../fetch/fetcher.ts";
import { type FlushAnswer, flushAndFetch, isRefused, settleRefused } from "./flush-and-fetch.ts";
import { LateJobs } from "./late-jobs.ts";
import { RoundTrips } from "./round-trips.ts";
import type { SafeFetcherParts } from "./safe-fetcher-parts.ts";
import type { Stream } from "./stream.ts";
import { Streams, type StreamWant } from "./streams.ts";
import { reconcile, UncertainLocks } from "./uncertain-locks.ts";

export class SafeFetcher<E> implements Fetcher<E>, WorkSource {
  readonly isFetchingFirst = false;
  readonly #parts: SafeFetcherParts<E>;
  readonly #link: FetcherLink;
  readonly #connections: WorkerConnections;
  readonly #streams: Streams;
  readonly #trips: RoundTrips;
  readonly #uncertain: UncertainLocks;
  readonly #late: LateJobs;
  #phase: "new" | "fetching" | "ending" = "new";

  constructor(parts: SafeFetcherParts<E>, link: FetcherLink) {
    const { workerId, clock, hooks } = parts;
    this.#parts = parts;
    this.#link = link;
    const onLeft = () => link.changed();
    this.#trips = new RoundTrips(clock, onLeft);
    this.#connections = new WorkerConnections(parts.connections, {
      reconcile: (connection) => this.#uncertain.settle(() => this.#reconcile(connection)),
      lost: (error) => hooks.emit("worker:disconnected", { workerId, error }),
      back: () => {
        hooks.emit("worker:reconnected", { workerId });
        this.wake(0);
      },
      outage: parts.outage,
    });
    const [trips, connections] = [this.#trips, this.#connections];
    this.#uncertain = new UncertainLocks({ ...parts, trips, connections, onLeft });
    this.#streams = new Streams({
      ...{ parts, link, trips, connections },
      giveBack: (jobs, queueIds) => this.#giveBack(jobs, queueIds),
      delayOver: () => this.advance(),
    });
    this.#late = new LateJobs({
      ...{ clock, slots: link.slots, source: this },
      hasWaitingRuns: () => this.#streams.queueIds.length > 0,
      giveBack: (jobs) => this.#giveBack(jobs, []),
    });
  }

  get executors(): readonly JobExecutor<E>[] {
    return [this.#parts.executor];
  }

  get waiting(): number {
    return this.#streams.waiting;
  }

  get isUncertain(): boolean {
    return this.#uncertain.mayHaveLocks;
  }

  get jobs(): readonly FetchedJob[] {
    const ended = [...this.#parts.results.jobs, ...this.#parts.refusals.kept.keys()];
    return [...this.#streams.jobs, ...this.#link.slots.jobs(this), ...ended];
  }

  get queueIds(): readonly number[] {
    const waiting = [...this.#streams.queueIds, ...this.#link.slots.queueIds(this)];
    return [...waiting, ...this.#parts.results.unlockedQueues];
  }

  get isIdle(): boolean {
    const isDrained = this.#phase !== "fetching" || this.#streams.isDrained;
    const isEmpty = this.#streams.waiting === 0 && this.#parts.results.isEmpty;
    return isDrained && isEmpty && !this.#uncertain.delaysStop && !this.#parts.refusals.isWaiting;
  }

  async start(): Promise<void> {
    await this.#connections.connect();
    const { database } = this.#connections.any as WorkerConnection;
    await registerTasks(database, this.#parts.tasks.names);
    if (this.#phase !== "new") return; // The worker was stopped during the start.
    this.#phase = "fetching";
    this.#streams.start();
    this.advance();
  }

  wake(count: number): void {
    const wasDrained = this.#streams.wake(count);
    // If no round trip is under way, the fetch is sent at once, not in the next turn of the event loop.
    if (wasDrained && this.#trips.isNone) this.advance();
    else this.#link.changed();
  }

  wakeForOthers(unlocked: readonly number[] = []): void {
    this.#streams.raise(unlocked);
    this.#link.changed();
  }

  advance(): void {
    this.#link.slots.fill(this, () => this.#streams.hasStartable);
    if (this.#phase === "fetching") this.#streams.prepare();
    while (this.#connections.hasIdle) {
      const wanted = this.#demand();
      if (wanted === null && !this.#trips.mustWrite(this.#parts.results, this.#link.slots)) return;
      void this.#exchange(this.#connections.take() as WorkerConnection, wanted);
    }
  }

  /** Called when a task or a queue may have other limits than before. */
  limitsChanged(): void {
    if (this.#streams.rearrange(this.#link.slots.runningJobs(this))) this.#link.changed();
  }

  stop(): void {
    this.#phase = "ending";
    this.#streams.release();
    this.#connections.hurry();
    this.#uncertain.end();
    this.#parts.refusals.end();
    this.#link.changed();
  }

  async returnUnstarted(): Promise<void> {
    if (this.#phase === "fetching") this.#late.returnUnstarted(this.#streams);
    await this.#trips.waitForCurrent();
    await this.#parts.results.allReturned();
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
    this.#streams.release();
    this.#late.close();
    await this.#parts.limits.close();
    await this.#connections.close().finally(() => this.#uncertain.close());
  }

  connectionLost(error: Error): void {
    this.#link.connectionLost();
    this.#connections.lost(error);
  }

  /** Whether a job may start. If not, gives the waiting jobs back. */
  mayStart(): boolean {
    if (this.#phase === "fetching" && this.#parts.lease.isGood) return true;
    this.#streams.giveBackAll();
    return false;
  }

  mayFollow(job: FetchedJob): boolean {
    return !this.#late.isLate(job) && this.#streams.mayFollow(job);
  }

  take() {
    return this.#streams.take();
  }

  run(job: FetchedJob): Promise<void> | undefined {
    this.#parts.lease.jobStarts(job.id);
    this.#streams.jobBegan(job);
    return this.#parts.executor.run(job);
  }

  jobEnded(job: FetchedJob): void {
    this.#streams.jobEnded(job);
  }

  runEnded({ lock, isOvertaken }: QueueRun, unstarted: readonly FetchedJob[]): void {
    this.#parts.results.giveBack(unstarted, isOvertaken ? [] : [lock]);
  }

  #giveBack(jobs: readonly FetchedJob[], queueIds: readonly number[]): void {
    this.#parts.results.giveBack(jobs, queueIds);
    this.#link.changed();
  }

  /** Repeated results are sent without a fetch, because their write may wait for a lock. */
  #demand(): StreamWant | null {
    const mayFetch = this.#phase === "fetching" && this.#link.mayFetch(this);
    return mayFetch && !this.#parts.results.isRepeated ? this.#streams.demand() : null;
  }

  async #exchange(connection: WorkerConnection, wanted: StreamWant | null): Promise<void> {
    const { workerId, hooks, results, refusals } = this.#parts;
    const { excludedIds: excluded } = refusals;
    const { mark, main } = this.#streams;
    const stream = wanted?.stream ?? main;
    const mayBeQuick = connection.keepsStatements && results.isEmpty && excluded.length === 0;
    const request = wanted && stream.request(wanted.want, mayBeQuick);
    const trip = this.#trips.begin(stream, request, !results.isEmpty);
    const batch = results.send();
    const fetch = request && { request, tasks: stream.tasks, managed: stream.managed, excluded };
    const sentAtMs = monotonic();
    const answer = await flushAndFetch(connection, workerId, batch, fetch);
    if (request && !answer.rows && isRefused(answer)) await this.#connections.delay(sentAtMs);
    if (answer.refused === null) this.#onAnswer(answer, batch, request && stream);
    if (request !== null && answer.rows !== null) {
      const errors: unknown[] = [];
      const jobs = await loadedJobs(answer.rows, connection.database, (one) => errors.push(one));
      hooks.emit("job:fetch", { workerId, count: jobs.length, durationMs: monotonic() - sentAtMs });
      const isDrained = stream.learn(jobs, request, answer.queuesAreFree);
      if (refusals.recordUnread(jobs, errors)) stream.plan.learnRefusal();
      if (isDrained) this.#link.nothingReady(answer.nowSeconds, connection);
      this.#streams.add(stream, jobs, request, { mark, now: answer.nowSeconds });
      if (jobs.some(({ isQueued }) => isQueued)) this.#late.watch();
    }
    if (answer.refused !== null) {
      // settleRefused() may wait for locks. So the fetched jobs start first, and other connections fetch more jobs.
      const rest = this.#trips.begin(null, null, true);
      this.#trips.end(trip);
      this.advance();
      const settled = await settleRefused(connection, workerId, answer);
      this.#onAnswer(settled, batch, request && stream);
      this.#trips.end(rest);
    } else this.#trips.end(trip);
    this.#connections.giveBack(connection);
    // After a quick fetch, the next fetch waits for a turn of the event loop, to also write results of very short jobs.
    if (request?.isQuick) this.#link.slots.fill(this, () => this.#streams.hasStartable);
    else this.advance();
    this.#link.changed();
  }

  #onAnswer(answer: FlushAnswer, batch: ResultBatch, stream: Stream | null): void {
    this.#onWritten(answer, batch);
    if (isRefused(answer) && (answer.rows || !stream)) return void this.#sendLater(answer, batch);
    if (answer.failure !== null) this.#onUnconfirmed(answer, stream);
    this.#parts.results.endWait(batch);
  }

  readonly #onWritten = ({ written, lost, separate }: FlushAnswer, sent: ResultBatch): void => {
    const { hooks, workerId, refusals } = this.#parts;
    // An unlocked queue may have more jobs.
    if (written.unlockedQueues.length > 0) this.wakeForOthers(written.unlockedQueues);
    if (written.returned.length > 0) this.#streams.jobsReturned(written.returned);
    if (written.done.length + written.failures.length > 0) this.#link.resultsWritten();
    if (separate !== null || refusals.kept.size > 0) refusals.recordSent(written, separate);
    if (separate !== null) this.#streams.raise();
    emitSettled(hooks, workerId, written, lost, jobsIn(sent));
  };

  /** Puts unwritten results back after a pause, which occupies no connection. */
  async #sendLater({ unconfirmed }: FlushAnswer, batch: ResultBatch): Promise<void> {
    const trip = this.#trips.begin(null, null, true);
    await this.#connections.delay(monotonic());
    this.#parts.results.putBack(unconfirmed);
    this.#parts.results.endWait(batch);
    this.#trips.end(trip);
    this.#link.changed();
  }

  #onUnconfirmed(answer: FlushAnswer, stream: Stream | null): void {
    this.#parts.results.putBack(answer.unconfirmed);
    const error = errorOf(answer.failure);
    // Before the fetch failed, other fetches may have skipped rows that this fetch had locked. So a fetch must follow.
    stream?.plan.raise();
    if (isRefused(answer) || typeof answer.refusedId === "string") {
      if (this.#parts.refusals.recordRefusal(error, answer.refusedId)) stream?.plan.learnRefusal();
      return;
    }
    // A stop cancels fetches, which is no reason for a warning about slow fetches.
    const logger = this.#phase === "fetching" ? this.#parts.config.logger : null;
    // After a timeout, PostgreSQL has rolled back the fetch, so the fetch has locked no jobs.
    if (stream?.learnFailure(error, logger) === true) return;
    if (stream !== null) this.#uncertain.fetchLost();
    for (const { plan } of this.#streams.all) plan.resetSpeed();
    this.connectionLost(error);
  }

  async #reconcile(connection: WorkerConnection): Promise<void> {
    // Without this wait, reconcile() could unlock jobs that a fetch has just locked, and two workers would run them.
    await this.#trips.waitForAll((waitedMs) => this.#connections.endPatient(waitedMs));
    this.#uncertain.fetchLost();
    await reconcile(connection, { ...this.#parts, link: this.#link, onWritten: this.#onWritten });
  }
}
