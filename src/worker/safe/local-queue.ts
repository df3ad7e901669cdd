// Jobs that are fetched and wait for a slot, and when more are fetched.
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
import type { Clock } from "../../base/clock.ts";
import type { FetchedJob } from "../execute/fetched-job.ts";
import { jobsOf, QueueRun, type WorkUnit } from "../execute/work-unit.ts";
import type { FetchPlan } from "../fetch/fetch-plan.ts";
import type { LocalQueueConfig } from "../options/local-queue-options.ts";
import type { Hooks, LocalQueueMode } from "../task/hooks.ts";
import type { RoundTrips } from "./round-trips.ts";

/** Jobs that are soon used up, where one fetch after the other would not do. */
const BUSY_JOBS = 8;

export interface LocalQueueParts {
  readonly clock: Clock;
  readonly hooks: Hooks;
  readonly workerId: string;
  readonly plan: Pick<FetchPlan, "ahead">;
  readonly trips: Pick<RoundTrips, "asked" | "hasPrompt">;
  /** These go back to the database unstarted, with their queues. */
  giveBack(jobs: readonly FetchedJob[], queueIds: readonly number[]): void;
  /** A refetch delay is over. */
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
  /** Jobs went back unstarted: from then on the measured speed decides, whatever the options say. */
  #hasOverreached = false;

  constructor(config: LocalQueueConfig, parts: LocalQueueParts) {
    this.#config = config;
    this.#parts = parts;
    parts.hooks.emit("localQueue:init", { workerId: parts.workerId });
  }

  get mode(): LocalQueueMode {
    return this.#mode;
  }

  /** Jobs that wait. */
  get size(): number {
    return this.#size;
  }

  /** What waits. */
  get jobs(): readonly FetchedJob[] {
    return this.#waiting.flatMap(jobsOf);
  }

  /** The named queues whose jobs wait. */
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

  /** How many jobs to ask for now, beside what is under way. */
  wanted(freeSlots: number): number {
    // What has just been given back is for others.
    if (this.#mode === "ttl_expired" && freeSlots === 0) return 0;
    const aim = this.#aim();
    const { asked, hasPrompt } = this.#parts.trips;
    // Two fetches at once are for who needs them to keep up: of a handful a second one would take a
    // part, or nothing, and compete with the first for the server's cores.
    if (hasPrompt && this.#parts.plan.ahead < BUSY_JOBS) return 0;
    // Room for two fetches of a full aim, so that one is under way while the other is worked off.
    const room = freeSlots + 2 * aim - this.#size - asked;
    const isWorthIt = room > 0 && room >= Math.min(freeSlots + aim, aim / 2);
    return isWorthIt ? Math.min(room, freeSlots + aim) : 0;
  }

  /** How many jobs beyond the free slots one fetch should bring now: up to half the size. */
  #aim(): number {
    const most = Math.ceil(this.#config.size / 2);
    if (!this.#config.adaptive && !this.#hasOverreached) return most;
    return Math.min(most, this.#parts.plan.ahead);
  }

  /**
   * Puts fetched jobs behind what waits; after release() they go back at once. `wanted` tells a
   * short answer from a full one.
   */
  add(units: readonly WorkUnit[], count: number, wanted: number): void {
    this.#parts.hooks.emit("localQueue:getJobs:complete", {
      workerId: this.#parts.workerId,
      count,
    });
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

  /** Gives back what waits and takes no more. */
  release(): void {
    if (this.#mode === "released") return;
    this.#giveBack();
    this.#endDelay();
    this.#setMode("released");
  }

  /** Gives back what waits, but goes on: the worker may fetch again later. */
  giveBackAll(): void {
    if (this.#size === 0) return;
    this.#giveBack();
    this.#setMode("polling");
  }

  #emptied(): void {
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
      this.#ttlPassed();
    });
  }

  #ttlPassed(): void {
    const first = this.#oldest;
    if (first === undefined) return;
    // What waits now may have come later than what armed the timer.
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

  #considerDelay(count: number, wanted: number): void {
    const delay = this.#config.refetchDelay;
    if (delay === null || this.#cancelDelay !== null) return;
    // A fetch that was under way at the stop: there is no next one to wait for.
    if (this.#mode === "released") return;
    if (count >= Math.min(delay.threshold, wanted)) return;
    this.#announced = 0;
    // Random, so that workers that heard of the same jobs do not all come at once.
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
  return units.flatMap((unit) => (unit instanceof QueueRun ? [unit.queueId] : []));
}
