// Decides when an idle worker fetches: at an announcement of jobs, when the next job becomes due, and after the poll
// interval.
//
//   jobs announced ──▶ wake
//   fetched, nothing ready ──15 ms──▶ reads when the next job becomes due ──▶ sleeps until then
//            ▲                                                             (at most a poll interval)
//            └──────────────────────────── wake ◀──────────────────────────┘
import type { Clock } from "../../base/clock.ts";
import { isOfResumed } from "../../queue/pauses/pause.ts";

// Without this delay a worker with a job every few milliseconds would read the next due time after each job.
const SETTLED_MS = 15;

// The next due time is read from this long before `sinceSeconds` on. A fast lane may have fetched a moment before that
// time, and have missed jobs that became due since its fetch.
const MARGIN_S = 0.05;

/** The number of announcements in memory. A repetition of an older one causes a needless fetch. */
const REMEMBERED = 64;

export interface WakeupsParts {
  readonly clock: Clock;
  readonly pollIntervalMs: number;
  /** Called when jobs may have become ready. `count`: the number of announced jobs; 0: unknown. */
  wake(count: number): void;
}

/**
 * Resolves to the milliseconds from now until the first job that becomes due after `sinceSeconds` of the database's
 * clock; null: none within a day, or no connection can read it now.
 */
export type NextRunAt = (sinceSeconds: number) => Promise<number | null>;

export class Wakeups {
  readonly #parts: WakeupsParts;
  #cancelTimer: () => void = () => {};
  /** Counts the calls of sleep(), so that the due time read for an earlier call is ignored. */
  #sleep = 0;
  #isStopped = false;
  readonly #announcements = new Set<string>();

  constructor(parts: WakeupsParts) {
    this.#parts = parts;
  }

  /** Begins a poll interval. At its end the worker is woken, and the next interval begins. */
  start(): void {
    this.#arm(this.#parts.pollIntervalMs, () => this.#poll());
  }

  /**
   * Called with the payload of an announcement: `{"r":0.123,"count":1}`, with a random number. If a fast lane listens
   * in addition to the listener, most announcements arrive twice. Those without a random number always count as new.
   */
  jobsAnnounced(payload: string): void {
    if (payload.startsWith('{"r":')) {
      if (this.#announcements.has(payload)) return;
      this.#announcements.add(payload);
      const [oldest] = this.#announcements;
      if (this.#announcements.size > REMEMBERED) this.#announcements.delete(oldest as string);
    }
    const [, count = 1] = /"count":(\d{1,9})\b/.exec(payload) ?? [];
    // A count of 0 prevents a quick fetch. It might not reach jobs that were paused, because others may be before them.
    this.#parts.wake(isOfResumed(payload) ? 0 : Number(count));
  }

  /**
   * Called when nothing was ready at `sinceSeconds` of the database's clock. After a moment, reads when the next job
   * becomes due, and wakes the worker then, or after the poll interval if that is sooner.
   */
  sleep(sinceSeconds: number, nextRunAt: NextRunAt): void {
    const sleep = ++this.#sleep;
    const settledMs = Math.min(SETTLED_MS, this.#parts.pollIntervalMs);
    this.#arm(settledMs, () => void this.#readNextRun(sleep, sinceSeconds, nextRunAt));
  }

  /** Ends all wake-ups. */
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
