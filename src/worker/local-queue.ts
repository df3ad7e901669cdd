// Jobs that are claimed and wait for a slot, and the pace at which more are asked for.
//
//                    ┌────────── all taken ──────────┐
//                    ▼                               │
//   starting ──▶  polling ──── jobs came ───────▶ waiting ──── ttl passed ──▶ ttl_expired
//                  ▲  │ refetch delay holds           │                           │
//                  │  └ the next fetch back           │                           │
//                  └──────────── a slot asks ─────────┼───────────────────────────┘
//   any ── release() ──▶ released
//
// In `polling` nothing is cached. A worker never stops fetching in `waiting`: it refills while it
// works, so that Node and PostgreSQL do not take turns.
import { monotonic } from "../base/clock.ts";
import { type ClaimedJob, jobsOf, QueueRun, type WorkUnit } from "./claimed-job.ts";
import type { Hooks, LocalQueueMode } from "./hooks.ts";
import { Pace } from "./pace.ts";
import type { LocalQueueConfig } from "./worker-options.ts";

/** Jobs that are soon used up, where one claim after the other would not do. */
const BUSY_JOBS = 8;

export class LocalQueue {
  readonly #config: LocalQueueConfig;
  readonly #hooks: Hooks;
  readonly #workerId: string;
  readonly #returnJobs: (jobs: readonly ClaimedJob[], queueIds: readonly number[]) => void;
  readonly #onDelayOver: () => void;
  #mode: LocalQueueMode = "starting";
  #units: readonly WorkUnit[] = [];
  /** The units before this place have been taken. */
  #next = 0;
  #size = 0;
  #ttl: NodeJS.Timeout | undefined;
  #delay: NodeJS.Timeout | undefined;
  #announced = 0;
  #abortAt = 0;
  readonly #pace = new Pace();

  constructor(
    config: LocalQueueConfig,
    hooks: Hooks,
    workerId: string,
    events: {
      returnJobs(jobs: readonly ClaimedJob[], queueIds: readonly number[]): void;
      delayOver(): void;
    },
  ) {
    this.#config = config;
    this.#hooks = hooks;
    this.#workerId = workerId;
    this.#returnJobs = events.returnJobs;
    this.#onDelayOver = events.delayOver;
    hooks.emit("localQueue:init", { workerId });
  }

  get mode(): LocalQueueMode {
    return this.#mode;
  }

  /** Jobs that wait. */
  get size(): number {
    return this.#size;
  }

  /** What waits. */
  get jobs(): readonly ClaimedJob[] {
    return this.#waiting.flatMap(jobsOf);
  }

  /** The named queues whose jobs wait. */
  get queueIds(): readonly number[] {
    return queueIdsOf(this.#waiting);
  }

  get isDelayed(): boolean {
    return this.#delay !== undefined;
  }

  start(): void {
    if (this.#mode === "released") return;
    this.#setMode("polling");
  }

  /** How many jobs to ask for now; `asked`: by claims under way. */
  wanted(freeSlots: number, asked: number): number {
    // What has just been given back is for others.
    if (this.#mode === "ttl_expired" && freeSlots === 0) return 0;
    const aim = this.#aim();
    // Two claims at once are for who needs them to keep up.
    if (asked > 0 && this.#pace.ahead < BUSY_JOBS) return 0;
    // Room for two claims of a full aim, so that one is under way while the other is worked off.
    const room = freeSlots + 2 * aim - this.#size - asked;
    const isWorthIt = room > 0 && room >= Math.min(freeSlots + aim, aim / 2);
    return isWorthIt ? Math.min(room, freeSlots + aim) : 0;
  }

  /** How many jobs beyond the free slots one claim should bring now: up to half the size. */
  #aim(): number {
    const most = Math.ceil(this.#config.size / 2);
    if (!this.#config.adaptive) return most;
    return Math.min(most, this.#pace.ahead);
  }

  /** A job ended. */
  finished(): void {
    this.#pace.finished(1);
  }

  /** A fetch failed, perhaps because its jobs were too large together. */
  fetchFailed(): void {
    this.#pace.forget();
  }

  /**
   * Puts fetched jobs behind what waits; after release() they go back at once. `wanted` tells a
   * short answer from a full one.
   */
  add(units: readonly WorkUnit[], count: number, wanted: number): void {
    this.#pace.measure();
    this.#hooks.emit("localQueue:jobsFetched", { workerId: this.#workerId, count });
    this.#considerDelay(count, wanted);
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

  take(): WorkUnit | undefined {
    const unit = this.#units[this.#next];
    if (unit === undefined) {
      if (this.#mode === "ttl_expired") this.#setMode("polling");
      return undefined;
    }
    this.#next++;
    this.#size -= unit instanceof QueueRun ? unit.jobs.length : 1;
    if (this.#size === 0) this.#emptied();
    return unit;
  }

  /** New jobs were announced: enough of them end a refetch delay. */
  announce(count: number): void {
    if (this.#delay === undefined) return;
    this.#announced += count;
    if (this.#announced < this.#abortAt) return;
    this.#endDelay();
    this.#hooks.emit("localQueue:refetchDelayAbort", {
      workerId: this.#workerId,
      count: this.#announced,
    });
    this.#onDelayOver();
  }

  /** Gives back what waits and takes no more. */
  release(): void {
    if (this.#mode === "released") return;
    this.#giveBack();
    this.#endDelay();
    this.#setMode("released");
  }

  #emptied(): void {
    this.#units = [];
    this.#next = 0;
    clearTimeout(this.#ttl);
    this.#ttl = undefined;
    if (this.#mode === "waiting") this.#setMode("polling");
  }

  #armTtl(): void {
    if (this.#ttl !== undefined) return;
    const oldest = this.#oldest?.claimedAt_ms ?? monotonic();
    const left_ms = Math.max(1, oldest + this.#config.ttl_ms - monotonic());
    this.#ttl = setTimeout(() => {
      this.#ttl = undefined;
      const first = this.#oldest;
      if (first === undefined) return;
      // What waits now may have come later than what armed the timer.
      if (monotonic() - first.claimedAt_ms < this.#config.ttl_ms) this.#armTtl();
      else {
        this.#giveBack();
        this.#setMode("ttl_expired");
      }
    }, left_ms).unref();
  }

  get #waiting(): readonly WorkUnit[] {
    return this.#units.slice(this.#next);
  }

  get #oldest(): ClaimedJob | undefined {
    const unit = this.#units[this.#next];
    return unit instanceof QueueRun ? unit.jobs[0] : unit;
  }

  #giveBack(): void {
    const units = this.#waiting;
    this.#units = [];
    this.#next = 0;
    this.#size = 0;
    clearTimeout(this.#ttl);
    this.#ttl = undefined;
    if (units.length === 0) return;
    const jobs = units.flatMap(jobsOf);
    const queueIds = queueIdsOf(units);
    this.#hooks.emit("localQueue:jobsReturned", { workerId: this.#workerId, count: jobs.length });
    this.#returnJobs(jobs, queueIds);
  }

  #considerDelay(count: number, wanted: number): void {
    const delay = this.#config.refetchDelay;
    if (delay === null || this.#delay !== undefined) return;
    // A claim that was under way at the stop: there is no next one to wait for.
    if (this.#mode === "released") return;
    if (count >= Math.min(delay.threshold, wanted)) return;
    this.#announced = 0;
    // Random, so that workers that were told of the same jobs do not all come at once.
    this.#abortAt = Math.ceil(Math.random() * delay.maxAbortThreshold);
    const { duration_ms } = delay;
    this.#hooks.emit("localQueue:refetchDelayStart", { workerId: this.#workerId, duration_ms });
    this.#delay = setTimeout(() => {
      this.#delay = undefined;
      this.#hooks.emit("localQueue:refetchDelayExpired", { workerId: this.#workerId });
      this.#onDelayOver();
    }, duration_ms);
  }

  #endDelay(): void {
    clearTimeout(this.#delay);
    this.#delay = undefined;
  }

  #setMode(newMode: LocalQueueMode): void {
    const oldMode = this.#mode;
    this.#mode = newMode;
    if (oldMode === newMode || !this.#hooks.observed("localQueue:setMode")) return;
    this.#hooks.emit("localQueue:setMode", { workerId: this.#workerId, oldMode, newMode });
  }
}

function queueIdsOf(units: readonly WorkUnit[]): number[] {
  return units.flatMap((unit) => (unit instanceof QueueRun ? [unit.queueId] : []));
}
