// Wakes an idle worker: at the next scheduled job, or after the poll interval, whichever is sooner.
import type { Database } from "../database/database.ts";
import { nextRunAt } from "../queue/next-run-at.ts";

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

  /** Nothing is ready now. Asks the database how long that will last. */
  async sleep(db: Database | null): Promise<void> {
    const sleep = ++this.#sleep;
    this.#arm(this.#pollInterval_ms);
    if (db === null) return;
    // Without an answer the poll interval stands.
    const next_ms = await nextRunAt(db).catch(() => null);
    if (next_ms === null || sleep !== this.#sleep) return;
    this.#arm(Math.min(this.#pollInterval_ms, Math.max(1, Math.ceil(next_ms))));
  }

  cancel(): void {
    this.#sleep++;
    clearTimeout(this.#timer);
  }

  #arm(wait_ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#wake, wait_ms);
  }
}
