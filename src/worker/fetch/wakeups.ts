// Decides when an idle worker fetches: at an announcement of jobs, when the next job becomes due, and after the poll
// interval.
//
//   jobs announced ──▶ wake
//   fetched, nothing ready ──15 ms──▶ reads when the next job becomes due ──▶ sleeps until then
//            ▲                                                             (at most a poll interval)
//            └──────────────────────────── wake ◀──────────────────────────┘
import type { Clock } from "../../base/clock.ts";
import { isOfResumed } from "../../queue/pauses/pause.ts";

// Without this delay, a worker that gets a job every few milliseconds would read the next due time after each job.
const SETTLED_MS = 15;

// The search for the next due time begins this long before the last fetch of the safe mode. The fast lane may have
// fetched before that fetch, and so may have missed jobs that became due in between.
const MARGIN_S = 0.05;

/** How many announcements are kept, to ignore their repetitions. */
const REMEMBERED = 64;

export interface WakeupsParts {
  readonly clock: Clock;
  readonly pollIntervalMs: number;
  /** Called when jobs may have become ready. `count`: the number of announced jobs; 0: unknown. */
  wake(count: number): void;
}

/**
 * Resolves to the milliseconds from now until the first time after `sinceSeconds` at which a job becomes due;
 * negative: this time has passed; null: no job becomes due within a day, or no connection can read the time now.
 * `sinceSeconds`: a time of the database's clock, in seconds since the epoch.
 */
export type NextRunAt = (sinceSeconds: number) => Promise<number | null>;

export class Wakeups {
  readonly #parts: WakeupsParts;
  #cancelTimer: () => void = () => {};
  /** Counts the calls of sleep(), so that a due time read for an earlier call is ignored. */
  #sleep = 0;
  #isStopped = false;
  readonly #announcements = new Set<string>();

  constructor(parts: WakeupsParts) {
    this.#parts = parts;
  }

  /** Wakes the worker after each poll interval. */
  start(): void {
    this.#arm(this.#parts.pollIntervalMs, () => this.#poll());
  }

  /**
   * Wakes the worker for announced jobs. `payload`: for example `{"r":0.123,"count":1}`. The random number `r`
   * identifies the announcement. With a fast lane, most announcements arrive twice.
   */
  jobsAnnounced(payload: string): void {
    if (payload.startsWith('{"r":')) {
      if (this.#announcements.has(payload)) return;
      this.#announcements.add(payload);
      const [oldest] = this.#announcements;
      if (this.#announcements.size > REMEMBERED) this.#announcements.delete(oldest as string);
    }
    const [, count = 1] = /"count":(\d{1,9})\b/.exec(payload) ?? [];
    // The count 0 prevents a quick fetch, which might miss resumed jobs.
    this.#parts.wake(isOfResumed(payload) ? 0 : Number(count));
  }

  /**
   * Called when a fetch at `sinceSeconds` has found no ready job. Wakes the worker when the next job becomes due, at
   * the latest after the poll interval.
   */
  sleep(sinceSeconds: number, nextRunAt: NextRunAt): void {
    const sleep = ++this.#sleep;
    const settledMs = Math.min(SETTLED_MS, this.#parts.pollIntervalMs);
    this.#arm(settledMs, () => void this.#readNextRun(sleep, sinceSeconds, nextRunAt));
  }

  /** Ends the polls and the waits for due jobs. Announcements still call `wake`. */
  stop(): void {
    this.#isStopped = true;
    this.#sleep++;
    this.#cancelTimer();
  }

  async #readNextRun(sleep: number, sinceSeconds: number, nextRunAt: NextRunAt): Promise<void> {
    const { pollIntervalMs } = this.#parts;
    this.start();
    // Without an answer, the poll interval that has just been started applies.
    const nextMs = await nextRunAt(sinceSeconds - MARGIN_S).catch(() => null);
    if (nextMs === null || sleep !== this.#sleep) return;
    this.#arm(Math.min(pollIntervalMs, Math.max(1, Math.ceil(nextMs))), () => this.#poll());
  }

  #poll(): void {
    // The next poll does not depend on the result of this fetch.
    this.start();
    this.#parts.wake(0);
  }

  #arm(waitMs: number, then: () => void): void {
    this.#cancelTimer();
    if (this.#isStopped) return;
    this.#cancelTimer = this.#parts.clock.after(waitMs, then);
  }
}
