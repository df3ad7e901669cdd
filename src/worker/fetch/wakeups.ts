// The one place that decides when an idle worker fetches again without having been told of jobs: when
// the next scheduled job falls due, and after the poll interval.
//
//   fetched, nothing ready ──15 ms──▶ asks when the next job falls due ──▶ sleeps until then
//            ▲                                                             (at most a poll interval)
//            └──────────────────────────── wake ◀──────────────────────────┘
import type { Clock } from "../../base/clock.ts";

// A worker that has a job every few milliseconds would ask after each of them.
const SETTLED_MS = 15;

// Another connection may fetch a little sooner than the one whose moment we know.
const MARGIN_S = 0.05;

export interface WakeupsParts {
  readonly clock: Clock;
  readonly pollIntervalMs: number;
  /** Jobs may have become ready. */
  wake(): void;
  /**
   * Milliseconds until the next job falls due after `sinceSeconds` of the database's clock; null =
   * not soon, or the database cannot be asked.
   */
  nextRunAt(sinceSeconds: number): Promise<number | null>;
}

export class Wakeups {
  readonly #parts: WakeupsParts;
  #cancelTimer: () => void = () => {};
  /** Counts sleeps: an answer for an earlier one is too late. */
  #sleep = 0;
  #isStopped = false;

  constructor(parts: WakeupsParts) {
    this.#parts = parts;
  }

  /** From now on nobody sleeps longer than the poll interval. */
  start(): void {
    this.#arm(this.#parts.pollIntervalMs, () => this.#poll());
  }

  /**
   * Nothing was ready at `sinceSeconds` of the database's clock. Once that has lasted a moment, asks
   * the database for how long.
   */
  sleep(sinceSeconds: number): void {
    const sleep = ++this.#sleep;
    const settledMs = Math.min(SETTLED_MS, this.#parts.pollIntervalMs);
    this.#arm(settledMs, () => void this.#ask(sleep, sinceSeconds));
  }

  /** Nothing is woken any more. */
  stop(): void {
    this.#isStopped = true;
    this.#sleep++;
    this.#cancelTimer();
  }

  async #ask(sleep: number, sinceSeconds: number): Promise<void> {
    const { pollIntervalMs, nextRunAt } = this.#parts;
    this.start();
    // Without an answer the poll interval stands.
    const nextMs = await nextRunAt(sinceSeconds - MARGIN_S).catch(() => null);
    if (nextMs === null || sleep !== this.#sleep) return;
    this.#arm(Math.min(pollIntervalMs, Math.max(1, Math.ceil(nextMs))), () => this.#poll());
  }

  #poll(): void {
    // Whatever becomes of the fetch: the next one is not left to its answer.
    this.start();
    this.#parts.wake();
  }

  #arm(waitMs: number, then: () => void): void {
    this.#cancelTimer();
    if (this.#isStopped) return;
    this.#cancelTimer = this.#parts.clock.after(waitMs, then);
  }
}
