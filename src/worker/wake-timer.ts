// Wakes an idle worker: at the next scheduled job, or after the poll interval, whichever is sooner.
import type { Database } from "../database/database.ts";
import { nextRunAt } from "../queue/next-run-at.ts";

// A worker that has a job every few milliseconds would ask after each of them.
const SETTLED_MS = 15;

// Fast lanes look a little sooner than the claim whose moment we know.
const MARGIN_S = 0.05;

export class WakeTimer {
  readonly #pollInterval_ms: number;
  readonly #wake: () => void;
  #timer: NodeJS.Timeout | undefined;
  /** Counts sleeps: an answer for an earlier one is too late. */
  #sleep = 0;

  constructor(pollInterval_ms: number, wake: () => void) {
    this.#pollInterval_ms = pollInterval_ms;
    this.#wake = wake;
  }

  /**
   * Nothing was ready at `since_s` of the database's clock. Once that has lasted a moment, asks the
   * database for how long.
   */
  sleep(since_s: number, db: () => Database | null): void {
    const sleep = ++this.#sleep;
    const settled_ms = Math.min(SETTLED_MS, this.#pollInterval_ms);
    this.#arm(settled_ms, () => void this.#ask(sleep, since_s, db()));
  }

  async #ask(sleep: number, since_s: number, db: Database | null): Promise<void> {
    this.#arm(this.#pollInterval_ms, this.#wake);
    if (db === null) return;
    // Without an answer the poll interval stands.
    const next_ms = await nextRunAt(db, since_s - MARGIN_S).catch(() => null);
    if (next_ms === null || sleep !== this.#sleep) return;
    this.#arm(Math.min(this.#pollInterval_ms, Math.max(1, Math.ceil(next_ms))), this.#wake);
  }

  cancel(): void {
    this.#sleep++;
    clearTimeout(this.#timer);
  }

  #arm(wait_ms: number, then: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(then, wait_ms);
  }
}
