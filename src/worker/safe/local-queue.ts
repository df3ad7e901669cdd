// Keeps the fetched jobs that wait for a slot, and decides when more jobs are fetched, and how many.
//
//                    ┌─ all started, giveBackAll() ──┐
//                    ▼                               │
//   starting ──▶  polling ──── jobs fetched ────▶ waiting ──── ttl passed ──▶ ttl_expired
//                  ▲  │ a refetch delay delays        │                           │
//                  │  └ the next fetch                │                           │
//                  └──────────── a slot is free ──────┼───────────────────────────┘
//   ttl_expired ── jobs of an earlier fetch arrive ──▶ waiting
//   any ── release() ──▶ released
//
// In the mode `waiting` the worker continues to fetch, so that Node and PostgreSQL work in parallel.
import type { Clock } from "../../base/clock.ts";
import type { FetchedJob } from "../execute/fetched-job.ts";
import { jobsOf, QueueRun, type WorkUnit } from "../execute/slots.ts";
import type { FetchPlan } from "../fetch/fetch-plan.ts";
import type { LocalQueueConfig } from "../options/local-queue-options.ts";
import type { Hooks, LocalQueueMode } from "../task/hooks.ts";

/** If at least this many jobs end in 25 ms (FetchPlan.ahead), a fetch may be sent before the last fetch is answered. */
const BUSY_JOBS = 8;

export interface LocalQueueParts {
  readonly clock: Clock;
  readonly hooks: Hooks;
  readonly workerId: string;
  readonly plan: Pick<FetchPlan, "ahead">;
  /** The fetches under way: how many jobs they request, and whether one of them is not slow. */
  readonly trips: { readonly requested: number; readonly hasPrompt: boolean };
  /** Gives unstarted jobs and their queues back to the database. */
  giveBack(jobs: readonly FetchedJob[], queueIds: readonly number[]): void;
  /** Called when a refetch delay has passed, or was ended by announced jobs. */
  delayOver(): void;
}

export class LocalQueue {
  readonly #config: LocalQueueConfig;
  readonly #parts: LocalQueueParts;
  #mode: LocalQueueMode = "starting";
  #units: readonly WorkUnit[] = [];
  /** The units before this index have been taken. */
  #next = 0;
  #size = 0;
  #cancelTtl: (() => void) | null = null;
  #cancelDelay: (() => void) | null = null;
  #announced = 0;
  #abortAt = 0;
  /** Whether jobs have waited longer than the ttl. */
  #hasOverreached = false;

  constructor(config: LocalQueueConfig, parts: LocalQueueParts) {
    this.#config = config;
    this.#parts = parts;
    parts.hooks.emit("localQueue:init", { workerId: parts.workerId });
  }

  get mode(): LocalQueueMode {
    return this.#mode;
  }

  /** The number of waiting jobs. */
  get size(): number {
    return this.#size;
  }

  get jobs(): readonly FetchedJob[] {
    return this.#waiting.flatMap(jobsOf);
  }

  /** The locks of the waiting runs of named queues. */
  get queueIds(): readonly number[] {
    return queueIdsOf(this.#waiting);
  }

  get isDelayed(): boolean {
    return this.#cancelDelay !== null;
  }

  start(): void {
    if (this.#mode === "released") return;
    this.#setMode("polling");
  }

  /**
   * Returns the number of jobs to request now, in addition to those that are already requested. `most`: the maximum
   * number of jobs that wait or are requested.
   */
  demand(freeSlots: number, most = Number.POSITIVE_INFINITY): number {
    if (this.#mode === "ttl_expired" && freeSlots === 0) return 0;
    const aim = this.#aim();
    const { requested, hasPrompt } = this.#parts.trips;
    // If few jobs end in 25 ms, a second fetch would find few jobs and compete with the first fetch for the cores of
    // the database server.
    if (hasPrompt && this.#parts.plan.ahead < BUSY_JOBS) return 0;
    // There is room for two full fetches, so that a fetch can be sent while the jobs of the previous fetch run.
    const room = Math.min(freeSlots + 2 * aim, most) - this.#size - requested;
    const full = Math.min(freeSlots + aim, most);
    const few = freeSlots === 0 && aim < BUSY_JOBS ? full : Math.min(full, aim / 2, most / 2);
    const isWorthIt = room > 0 && room >= few;
    return isWorthIt ? Math.min(room, full) : 0;
  }

  /** Returns how many jobs one fetch may request in addition to one job for each free slot. */
  #aim(): number {
    const most = Math.ceil(this.#config.size / 2);
    if (!this.#config.adaptive && !this.#hasOverreached) return most;
    return Math.min(most, this.#parts.plan.ahead);
  }

  /**
   * Adds fetched jobs after the waiting jobs. `demand`: the number of requested jobs. If fewer jobs were fetched, a
   * refetch delay may begin.
   */
  add(units: readonly WorkUnit[], count: number, demand: number): void {
    this.#parts.hooks.emit("localQueue:getJobs:complete", {
      workerId: this.#parts.workerId,
      count,
    });
    this.#considerDelay(count, demand);
    if (count === 0) return;
    this.#units = this.#size === 0 ? units : [...this.#waiting, ...units];
    this.#next = 0;
    this.#size += count;
    if (this.#mode === "released") {
      this.#giveBack();
      return;
    }
    if (this.#mode !== "waiting") this.#setMode("waiting");
    this.#armTtl();
  }

  get head(): FetchedJob | undefined {
    return this.#oldest;
  }

  take(): WorkUnit | undefined {
    const unit = this.#units[this.#next];
    if (unit === undefined) {
      if (this.#mode === "ttl_expired") this.#setMode("polling");
      return undefined;
    }
    this.#next++;
    this.#size -= unit instanceof QueueRun ? unit.jobs.length : 1;
    if (this.#size === 0) this.#onEmpty();
    return unit;
  }

  /** Counts announced jobs. If there are enough of them, the refetch delay ends early. */
  announce(count: number): void {
    if (this.#cancelDelay === null) return;
    this.#announced += count;
    if (this.#announced < this.#abortAt) return;
    this.#endDelay();
    this.#parts.hooks.emit("localQueue:refetchDelay:abort", {
      workerId: this.#parts.workerId,
      count: this.#announced,
    });
    this.#parts.delayOver();
  }

  /** Gives the waiting jobs back, and later also each job that is added. */
  release(): void {
    if (this.#mode === "released") return;
    this.#giveBack();
    this.#endDelay();
    this.#setMode("released");
  }

  /** Gives the waiting jobs back. */
  giveBackAll(): void {
    if (this.#size === 0) return;
    this.#giveBack();
    this.#setMode("polling");
  }

  #onEmpty(): void {
    this.#units = [];
    this.#next = 0;
    this.#endTtl();
    if (this.#mode === "waiting") this.#setMode("polling");
  }

  #armTtl(): void {
    if (this.#cancelTtl !== null) return;
    const nowMs = this.#parts.clock.monotonic();
    const oldestMs = this.#oldest?.fetchedAtMs ?? nowMs;
    const leftMs = Math.max(1, oldestMs + this.#config.ttlMs - nowMs);
    this.#cancelTtl = this.#parts.clock.after(leftMs, () => {
      this.#cancelTtl = null;
      this.#onTtl();
    });
  }

  #onTtl(): void {
    const first = this.#oldest;
    if (first === undefined) return;
    // The waiting jobs may be newer than the jobs for which the timer was started.
    if (this.#parts.clock.monotonic() - first.fetchedAtMs < this.#config.ttlMs) {
      this.#armTtl();
      return;
    }
    this.#hasOverreached = true;
    this.#giveBack();
    this.#setMode("ttl_expired");
  }

  #endTtl(): void {
    this.#cancelTtl?.();
    this.#cancelTtl = null;
  }

  get #waiting(): readonly WorkUnit[] {
    return this.#units.slice(this.#next);
  }

  get #oldest(): FetchedJob | undefined {
    const unit = this.#units[this.#next];
    return unit instanceof QueueRun ? unit.jobs[0] : unit;
  }

  #giveBack(): void {
    const units = this.#waiting;
    this.#units = [];
    this.#next = 0;
    this.#size = 0;
    this.#endTtl();
    if (units.length === 0) return;
    const jobs = units.flatMap(jobsOf);
    const queueIds = queueIdsOf(units);
    this.#parts.hooks.emit("localQueue:returnJobs", {
      workerId: this.#parts.workerId,
      count: jobs.length,
    });
    this.#parts.giveBack(jobs, queueIds);
  }

  #considerDelay(count: number, demand: number): void {
    const delay = this.#config.refetchDelay;
    if (delay === null || this.#cancelDelay !== null) return;
    if (this.#mode === "released") return;
    if (count >= Math.min(delay.threshold, demand)) return;
    this.#announced = 0;
    // Random, so that workers with the same announcements do not all fetch at once.
    this.#abortAt = Math.ceil(Math.random() * delay.maxAbortThreshold);
    const { durationMs } = delay;
    this.#parts.hooks.emit("localQueue:refetchDelay:start", {
      workerId: this.#parts.workerId,
      durationMs,
    });
    this.#cancelDelay = this.#parts.clock.after(durationMs, () => {
      this.#cancelDelay = null;
      this.#parts.hooks.emit("localQueue:refetchDelay:expired", { workerId: this.#parts.workerId });
      this.#parts.delayOver();
    });
  }

  #endDelay(): void {
    this.#cancelDelay?.();
    this.#cancelDelay = null;
  }

  #setMode(newMode: LocalQueueMode): void {
    const oldMode = this.#mode;
    this.#mode = newMode;
    if (oldMode === newMode || !this.#parts.hooks.hasObservers("localQueue:setMode")) return;
    this.#parts.hooks.emit("localQueue:setMode", {
      workerId: this.#parts.workerId,
      oldMode,
      newMode,
    });
  }
}

function queueIdsOf(units: readonly WorkUnit[]): number[] {
  return units.flatMap((unit) => (unit instanceof QueueRun ? [unit.lock] : []));
}
