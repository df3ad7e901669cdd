// Moves jobs: from the database into the local queue, from there into slots, and their outcomes
// back. One rule drives it all: whenever something changed, `#advance()` gives waiting jobs to free
// slots and work to idle lanes.
//
//   database ──claim──▶ local queue ──slot──▶ executor ──▶ outcomes ──exchange──▶ database
//
// A lost connection is normal weather: jobs in hand go on, their outcomes wait, and before the next
// claim everything that was locked for us without our knowing is given back.
import { monotonic } from "../base/clock.ts";
import { messageOf, WorkerError } from "../base/errors.ts";
import type { ClaimedRow } from "../queue/claim-jobs.ts";
import { registerTasks } from "../queue/register-tasks.ts";
import { returnUnknownJobs } from "../queue/settle-jobs.ts";
import { ClaimedJob, workUnits } from "./claimed-job.ts";
import { Holdings } from "./holdings.ts";
import type { Hooks } from "./hooks.ts";
import type { JobExecutor } from "./job-executor.ts";
import type { Claim, Exchange, Lane } from "./lane.ts";
import { Lanes, type LanesEvents } from "./lanes.ts";
import { LocalQueue } from "./local-queue.ts";
import { LowWater } from "./low-water.ts";
import type { OutcomeBatch, Outcomes } from "./outcomes.ts";
import { Slots } from "./slots.ts";
import { WakeTimer } from "./wake-timer.ts";
import type { WorkerConfig } from "./worker-options.ts";

export class Dispatcher<E> {
  readonly #config: WorkerConfig<E>;
  readonly #workerId: string;
  readonly #outcomes: Outcomes;
  readonly #hooks: Hooks;
  readonly #lanes: Lanes;
  readonly #localQueue: LocalQueue;
  readonly #slots: Slots<E>;
  readonly #identifiers: readonly string[];
  readonly #rawPayloads: boolean;
  #taskNames: ReadonlyMap<number, string> = new Map();
  readonly #holdings = new Holdings();
  /** Jobs that claims under way have asked for. */
  #asked = 0;
  #exchanges = 0;
  /** Raised by everything that may have made a job ready; a short claim older than it proves nothing. */
  #pulse = 1;
  #drainedAt = 0;
  #queuesInUse = true;
  readonly #lowWater = new LowWater();
  #claiming = true;
  #advancing = false;
  readonly #wakeTimer: WakeTimer;
  #idleWaiters: (() => void)[] = [];
  #quietWaiters: (() => void)[] = [];

  constructor(
    config: WorkerConfig<E>,
    workerId: string,
    parts: {
      executor: JobExecutor<E>;
      outcomes: Outcomes;
      hooks: Hooks;
      lanes: readonly Lane[];
    },
  ) {
    this.#config = config;
    this.#workerId = workerId;
    this.#outcomes = parts.outcomes;
    this.#hooks = parts.hooks;
    this.#lanes = new Lanes(parts.lanes, this.#laneEvents(), config.logger);
    this.#wakeTimer = new WakeTimer(config.pollInterval_ms, () => this.pulse(0));
    this.#identifiers = [...config.tasks.keys()];
    this.#rawPayloads =
      parts.hooks.interceptors("beforeJobRun").length > 0 ||
      [...config.tasks.values()].some(({ rawPayload }) => rawPayload === true);
    this.#localQueue = new LocalQueue(config.localQueue, parts.hooks, workerId, {
      returnJobs: (jobs, queueIds) => this.#giveBack(jobs, queueIds),
      delayOver: () => this.#advance(),
    });
    this.#slots = new Slots(config.concurrency, this.#localQueue, {
      executor: parts.executor,
      outcomes: parts.outcomes,
      ended: () => this.#scheduleAdvance(),
    });
  }

  /** Ids of the jobs this worker holds: running, waiting, or not yet written. */
  get heldIds(): string[] {
    return this.#holdings.jobIds;
  }

  async start(): Promise<void> {
    await this.#lanes.connect();
    const { database } = this.#lanes.any as Lane;
    this.#taskNames = await registerTasks(database, this.#identifiers);
    this.#localQueue.start();
    this.#advance();
  }

  /** Something may have become ready; `count` jobs, where that is known. */
  pulse(count = 1): void {
    this.#pulse++;
    this.#lowWater.forget();
    this.#localQueue.announce(count);
    this.#scheduleAdvance();
  }

  /** Resolves once there is nothing to run, nothing running and nothing unwritten. */
  async drained(signal: AbortSignal): Promise<void> {
    while (!this.#isIdle() && !signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#idleWaiters.push(resolve);
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    }
  }

  /** Claims nothing more and gives back what has not started. */
  stopClaiming(): void {
    this.#claiming = false;
    this.#slots.endRuns();
    this.#wakeTimer.cancel();
    this.#localQueue.release();
    this.#scheduleAdvance();
  }

  /** Lets the connections go. What is unwritten then stays locked until the lease is swept. */
  async close(): Promise<void> {
    this.#wakeTimer.cancel();
    await this.#lanes.close();
  }

  /** A lane's connection was lost. */
  connectionLost(error: Error): void {
    this.#lanes.lost(error);
  }

  #laneEvents(): LanesEvents {
    const workerId = this.#workerId;
    return {
      reconcile: (lane) => this.#reconcile(lane),
      lost: (error) => this.#hooks.emit("worker:disconnected", { workerId, error }),
      back: () => {
        this.#hooks.emit("worker:reconnected", { workerId });
        this.pulse(0);
      },
    };
  }

  #isIdle(): boolean {
    const drained = !this.#claiming || this.#drainedAt >= this.#pulse;
    const empty = this.#localQueue.size === 0 && this.#slots.isIdle;
    return drained && empty && this.#outcomes.isEmpty && this.#exchanges === 0;
  }

  /** Once a turn of the event loop, however many jobs end in it. */
  #scheduleAdvance(): void {
    if (this.#advancing) return;
    this.#advancing = true;
    setImmediate(() => {
      this.#advancing = false;
      this.#advance();
    });
  }

  #advance(): void {
    this.#slots.fill();
    this.#feedLanes();
    if (this.#idleWaiters.length > 0 && this.#isIdle()) {
      for (const resolve of this.#idleWaiters.splice(0)) resolve();
    }
  }

  #feedLanes(): void {
    while (this.#lanes.hasIdle) {
      const want = this.#wanted();
      if (want === 0 && this.#outcomes.isEmpty) return;
      const lane = this.#lanes.take();
      if (lane !== undefined) void this.#exchange(lane, this.#outcomes.take(), want);
    }
  }

  /** How many jobs a claim should ask for now. */
  #wanted(): number {
    if (!this.#claiming || this.#drainedAt >= this.#pulse || this.#localQueue.isDelayed) return 0;
    const free = this.#slots.free;
    const { aim, size } = this.#localQueue;
    // Room for two claims of a full aim, so that one is under way while the other is worked off.
    const room = free + 2 * aim - size - this.#asked;
    const isWorthIt = room > 0 && room >= Math.min(free + aim, aim / 2);
    return isWorthIt ? Math.min(room, free + aim) : 0;
  }

  async #exchange(lane: Lane, batch: OutcomeBatch, want: number): Promise<void> {
    this.#exchanges++;
    this.#asked += want;
    const pulse = this.#pulse;
    const startedAt_ms = monotonic();
    const queues = this.#queuesInUse;
    const answer = await lane.exchange(batch, want === 0 ? null : this.#claim(want, queues));
    if (answer.failure === null) this.#written(batch, answer.lost);
    else this.#unwritten(batch, answer.failure);
    if (want > 0) this.#received(answer, { want, pulse, queues, startedAt_ms });
    this.#exchanges--;
    if (this.#exchanges === 0) for (const resolve of this.#quietWaiters.splice(0)) resolve();
    this.#asked -= want;
    this.#lanes.giveBack(lane);
    this.#advance();
  }

  #claim(want: number, queues: boolean): Claim {
    const { forbiddenFlags } = this.#config;
    const flags = forbiddenFlags.length > 0;
    return {
      identifiers: this.#identifiers,
      want,
      form: { queues, flags, rawPayloads: this.#rawPayloads },
      mark: this.#lowWater.mark,
      forbiddenFlags,
    };
  }

  #written(batch: OutcomeBatch, lost: readonly string[]): void {
    const jobs = batch.isRepeated ? [] : lost.map((id) => ({ id, job: this.#holdings.job(id) }));
    this.#holdings.written(batch);
    // A queue that is free again has perhaps more work: look at once, not at the next poll.
    if (batch.freedQueues.length > 0) this.#pulse++;
    for (const { id, job } of jobs) {
      this.#hooks.emit("job:interrupted", { jobId: id, job, reason: "lease_lost" });
    }
  }

  #unwritten(batch: OutcomeBatch, failure: unknown): void {
    this.#outcomes.putBack(batch);
    const error = failure instanceof Error ? failure : new Error(String(failure));
    // The victim of a deadlock has waited already.
    if (error instanceof WorkerError && error.code === "database_busy") return;
    this.#config.logger.warn({ error: messageOf(error) }, "cannot exchange jobs");
    this.connectionLost(error);
  }

  #received(
    { rows, queues, failure }: Exchange,
    asked: { want: number; pulse: number; queues: boolean; startedAt_ms: number },
  ): void {
    const now_ms = monotonic();
    const { want, pulse, startedAt_ms } = asked;
    // A claim that failed says nothing about what is there.
    if (failure !== null && rows.length === 0) return;
    if (this.#hooks.observed("job:fetch")) {
      const duration_ms = now_ms - startedAt_ms;
      this.#hooks.emit("job:fetch", { workerId: this.#workerId, count: rows.length, duration_ms });
    }
    this.#localQueue.measure();
    const jobs = rows.map((row) => this.#job(row, now_ms));
    const units = workUnits(jobs);
    this.#holdings.claimed(units);
    this.#queuesInUse = queues;
    const sawAll = asked.queues || !queues;
    if (rows.length < want && sawAll) this.#drained(pulse);
    else this.#remember(jobs);
    this.#localQueue.add(units, rows.length, want);
  }

  #job(row: ClaimedRow, now_ms: number): ClaimedJob {
    return new ClaimedJob(row, this.#taskNames.get(row[1]) ?? "", this.#rawPayloads, now_ms);
  }

  /** A full claim: the next one starts where it ended. */
  #remember(jobs: readonly ClaimedJob[]): void {
    const last = jobs.at(-1);
    if (last !== undefined && !last.isQueued && !this.#queuesInUse) this.#lowWater.remember(last);
  }

  /** A short claim: there is no more, unless something happened since it was sent. */
  #drained(pulse: number): void {
    this.#lowWater.forget();
    this.#drainedAt = Math.max(this.#drainedAt, pulse);
    if (this.#drainedAt < this.#pulse || !this.#claiming) return;
    this.#wakeTimer.sleep(() => this.#lanes.any?.database ?? null);
  }

  #giveBack(jobs: readonly ClaimedJob[], queueIds: readonly number[]): void {
    for (const job of jobs) this.#outcomes.return(job.id);
    for (const id of queueIds) this.#outcomes.freeQueue(id);
    this.#scheduleAdvance();
  }

  /** Gives back what a broken claim may have locked for us without our knowing. */
  async #reconcile(lane: Lane): Promise<void> {
    // A claim under way on another lane may have committed without our having its answer yet: its
    // jobs would look unknown, be given back, and run twice.
    if (this.#exchanges > 0) await new Promise<void>((resolve) => this.#quietWaiters.push(resolve));
    this.#taskNames = await registerTasks(lane.database, this.#identifiers);
    const { jobIds, queueIds } = this.#holdings;
    await returnUnknownJobs(lane.database, this.#workerId, jobIds, queueIds);
  }
}
