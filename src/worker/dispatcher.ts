// Moves jobs: from the database into the local queue, from there into slots, and their outcomes
// back. Whenever something changed, `#advance()` gives waiting jobs to free slots, work to idle lanes.
//
//   database ──claim──▶ local queue ──slot──▶ executor ──▶ outcomes ──exchange──▶ database
//
// A lost connection is normal weather: jobs in hand go on, their outcomes wait, and before the next
// claim everything that was locked for us without our knowing is given back.
import { monotonic } from "../base/clock.ts";
import { messageOf, WorkerError } from "../base/errors.ts";
import { Gate } from "../base/gate.ts";
import { returnUnknownJobs } from "../queue/settle-jobs.ts";
import { type ClaimedJob, workUnits } from "./claimed-job.ts";
import { ALL_JOBS, Claims, leavesLocked } from "./claims.ts";
import { type Claim, type Exchange, exchange } from "./exchange.ts";
import type { FastLaneLink, FastLanes } from "./fast-lanes.ts";
import { type Held, held } from "./held.ts";
import type { Hooks } from "./hooks.ts";
import type { JobExecutor } from "./job-executor.ts";
import type { Lane } from "./lane.ts";
import { Lanes, type LanesEvents } from "./lanes.ts";
import { LocalQueue } from "./local-queue.ts";
import { idOf, jobsIn, type OutcomeBatch, type Outcomes, tellLost } from "./outcomes.ts";
import { Readiness } from "./readiness.ts";
import { Slots } from "./slots.ts";
import { Traffic } from "./traffic.ts";
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
  readonly #fastLanes: FastLanes<E> | null;
  readonly #claims: Claims<E>;
  readonly #mayTake: () => boolean;
  readonly #traffic = new Traffic(() => this.#scheduleAdvance());
  /** A claim broke: it may have locked jobs for us without our knowing. */
  #isInDoubt = false;
  readonly #readiness = new Readiness();
  #phase: "new" | "claiming" | "ending" = "new";
  #advancing = false;
  readonly #wakeTimer: WakeTimer;
  readonly #idle = new Gate();

  constructor(
    config: WorkerConfig<E>,
    workerId: string,
    parts: {
      executor: JobExecutor<E>;
      outcomes: Outcomes;
      hooks: Hooks;
      lanes: readonly Lane[];
      fastLanes: ((link: FastLaneLink<E>) => FastLanes<E>) | null;
      /** Whether the lease under which jobs would be taken is good. */
      mayTake(): boolean;
    },
  ) {
    this.#config = config;
    this.#workerId = workerId;
    this.#outcomes = parts.outcomes;
    this.#hooks = parts.hooks;
    this.#mayTake = parts.mayTake;
    const laneEvents: LanesEvents = {
      reconcile: (lane) => this.#reconcile(lane),
      lost: (error) => parts.hooks.emit("worker:disconnected", { workerId, error }),
      back: () => {
        parts.hooks.emit("worker:reconnected", { workerId });
        this.pulse(0);
      },
    };
    this.#lanes = new Lanes(parts.lanes, laneEvents, config.logger);
    this.#wakeTimer = new WakeTimer(config.pollInterval_ms, () => this.pulse(0));
    this.#claims = new Claims(config, workerId);
    this.#localQueue = new LocalQueue(config.localQueue, parts.hooks, workerId, {
      returnJobs: (jobs, queueIds) => {
        this.#outcomes.giveBack(jobs, queueIds);
        this.#scheduleAdvance();
      },
      delayOver: () => this.#advance(),
    });
    this.#slots = new Slots(config.concurrency, this.#localQueue, {
      executor: parts.executor,
      outcomes: parts.outcomes,
      ended: () => {
        this.#fastLanes?.slotFreed();
        this.#scheduleAdvance();
      },
    });
    this.#fastLanes =
      parts.fastLanes?.({
        slots: this.#slots,
        claims: this.#claims,
        classic: this.#outcomes,
        onChange: () => this.#scheduleAdvance(),
        onRan: () => this.#ran(),
        onKeyed: () => this.#queuesFreed(),
      }) ?? null;
  }

  /** What runs jobs beside the executor that was given. */
  get fastExecutors(): readonly JobExecutor<E>[] {
    return this.#fastLanes?.executors ?? [];
  }

  /** Nothing is locked for us, as far as we know, and no broken claim makes that doubtful. */
  get holdsNothing(): boolean {
    return this.#outcomes.isEmpty && !this.#isInDoubt && this.#held().jobs.length === 0;
  }

  async start(): Promise<void> {
    await this.#lanes.connect();
    await this.#claims.register((this.#lanes.any as Lane).database);
    if (this.#phase !== "new") return;
    // Not before: lanes may be lost and repaired meanwhile, and a start that fails runs nothing.
    this.#phase = "claiming";
    this.#localQueue.start();
    this.#advance();
  }

  /** Something may have become ready; `count` jobs, where that is known. */
  pulse(count = 1): void {
    this.#fastLanes?.pulse(count > 0);
    const wasDrained = this.#readiness.raise();
    this.#claims.forgetMark();
    this.#localQueue.announce(count);
    // In this moment, not a turn later: some job waits for it.
    if (wasDrained && this.#traffic.isQuiet) this.#advance(count > 0);
    else this.#scheduleAdvance();
  }

  /** Resolves once there is nothing to run, nothing running and nothing unwritten. */
  async drained(signal: AbortSignal): Promise<void> {
    this.pulse(0);
    while (!this.#isIdle() && !signal.aborted) await this.#idle.pass(signal);
  }

  /** Claims nothing more and gives back what has not started. */
  stopClaiming(): void {
    this.#phase = "ending";
    this.#slots.endRuns();
    this.#wakeTimer.cancel();
    this.#localQueue.release();
    void this.#fastLanes?.stop();
    this.#scheduleAdvance();
  }

  /** Waits no longer for running jobs: they have been given up. */
  abandon(): void {
    this.#slots.abandon();
    this.#fastLanes?.abandon();
    this.#scheduleAdvance();
  }

  /** Lets the connections go. What is unwritten then stays locked until the lease is swept. */
  async close(): Promise<void> {
    this.#wakeTimer.cancel();
    await this.#fastLanes?.stop();
    await this.#lanes.close();
  }

  connectionLost(error: Error): void {
    this.#lanes.lost(error);
  }

  #isIdle(): boolean {
    const drained = this.#phase !== "claiming" || this.#readiness.isDrained;
    const empty = this.#localQueue.size === 0 && this.#slots.isIdle && this.#outcomes.isEmpty;
    // Who stops waits for a database that is away only where that has something of ours.
    const isQuiet = this.#traffic.isQuiet && !this.#isInDoubt;
    return drained && empty && (this.#fastLanes?.isIdle ?? true) && isQuiet;
  }

  /** Ends of jobs are written. Who waits until all is done also waits for what those have added. */
  #ran(): void {
    if (this.#idle.hasWaiting) this.pulse(0);
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

  /** `isFresh`: after a rest, for what has just become ready. */
  #advance(isFresh = false): void {
    this.#slots.fill();
    this.#feedLanes(isFresh);
    if (this.#idle.hasWaiting && this.#isIdle()) this.#idle.open();
  }

  #feedLanes(isFresh: boolean): void {
    while (this.#lanes.hasIdle) {
      const want = this.#wanted();
      const { isEmpty } = this.#outcomes;
      if (want === 0 && isEmpty) return;
      const lane = this.#lanes.take() as Lane;
      void this.#exchange(lane, this.#outcomes.take(), want, isFresh && isEmpty);
    }
  }

  /** How many jobs a claim should ask for now. */
  #wanted(): number {
    const isAllowed = this.#phase === "claiming" && this.#mayTake() && !this.#fastLanes?.isLooking;
    if (!isAllowed || this.#readiness.isDrained || this.#localQueue.isDelayed) return 0;
    return this.#localQueue.wanted(this.#slots.free, this.#traffic.asked);
  }

  async #exchange(lane: Lane, batch: OutcomeBatch, want: number, isFresh: boolean) {
    const isFirst = this.#traffic.isQuiet;
    const sent = this.#traffic.sent(want);
    const { pulse } = this.#readiness;
    const kinds = this.#fastLanes?.left ?? ALL_JOBS;
    const claim = want === 0 ? null : this.#claims.next(want, kinds, isFresh && isFirst);
    const answer = await exchange(lane, this.#workerId, batch, claim);
    this.#written(answer, batch);
    if (answer.failure !== null) this.#unwritten(answer, claim !== null);
    // A claim that failed says nothing about what is there.
    if (claim !== null && answer.rows !== null) {
      const jobs = await this.#claims.jobs(answer.rows, lane.database);
      const event = { workerId: this.#workerId, count: jobs.length };
      this.#hooks.emit("job:fetch", { ...event, duration_ms: monotonic() - claim.sentAt_ms });
      this.#received(jobs, claim, answer, pulse);
    }
    this.#traffic.answered(sent);
    this.#lanes.giveBack(lane);
    this.#advance();
  }

  #written({ written, lost }: Exchange, sent: OutcomeBatch): void {
    if (written.freedQueues.length > 0) {
      this.#queuesFreed();
      this.#fastLanes?.queuesFreed();
    }
    if (written.done.length + written.failures.length > 0) this.#ran();
    if (!written.isRepeated) tellLost(this.#hooks, lost, jobsIn(sent));
  }

  /** A queue that is free again has perhaps more work: look at once, not at the next poll. */
  #queuesFreed(): void {
    this.#readiness.raise();
    this.#scheduleAdvance();
  }

  #unwritten({ unwritten, failure }: Exchange, hasClaimed: boolean): void {
    this.#outcomes.putBack(unwritten);
    const error = failure instanceof Error ? failure : new Error(messageOf(failure));
    // The victim of a deadlock has waited already. Others may have passed over what it had locked.
    if (hasClaimed) this.#readiness.raise();
    if (error instanceof WorkerError && error.code === "database_busy") return;
    this.#isInDoubt ||= hasClaimed;
    this.#localQueue.fetchFailed();
    this.#config.logger.warn({ error: messageOf(error) }, "cannot exchange jobs");
    this.connectionLost(error);
  }

  #received(jobs: readonly ClaimedJob[], claim: Claim, answer: Exchange, pulse: number): void {
    const count = jobs.length;
    const isLast = this.#claims.learn(claim, jobs, answer.queues);
    if (leavesLocked(claim, jobs)) this.#readiness.raise();
    this.#fastLanes?.classicClaim(count, isLast);
    if (isLast && this.#readiness.drained(pulse) && this.#phase === "claiming") {
      this.#wakeTimer.sleep(answer.now_s, () => this.#lanes.any?.database ?? null);
    }
    this.#localQueue.add(workUnits(jobs), count, claim.want);
  }

  #held(): Held {
    const fast = this.#fastLanes === null ? [] : [this.#fastLanes];
    return held([this.#localQueue, this.#slots, ...fast], this.#outcomes);
  }

  /** Gives back what a broken claim may have locked for us without our knowing. */
  async #reconcile(lane: Lane): Promise<void> {
    // A claim under way on another lane may have committed without our having its answer yet: its
    // jobs would look unknown, be given back, and run twice.
    await this.#traffic.quiet();
    // What may not be written is written again before anything is claimed: later the lock of such a
    // job may be that of another attempt.
    const batch = this.#outcomes.take();
    const answer = await exchange(lane, this.#workerId, batch, null);
    this.#written(answer, batch);
    if (answer.failure !== null) {
      this.#outcomes.putBack(answer.unwritten);
      throw answer.failure;
    }
    await this.#claims.register(lane.database);
    const { jobs, queueIds } = this.#held();
    await returnUnknownJobs(lane.database, this.#workerId, jobs.map(idOf), queueIds);
    this.#isInDoubt = false;
  }
}
