// Decides when an idle worker fetches: at an announcement of jobs, when the next job becomes due, and after the poll
// interval.
//
//   jobs announced ──▶ wake
//   fetched, nothing ready ──15 ms──▶ reads when the next job becomes due ──▶ sleeps until then
//            ▲                                                             (at most a poll interval)
//            └──────────────────────────── wake ◀──────────────────────────┘
import type { Clock } from "../../base/clock.ts";
import { isOfResumed } from "../../queue/pauses/pause.ts";

// The delay between a fetch that finds nothing and the read of the next due time. Without it, a worker that gets a job
// every few milliseconds would read the next due time after each job.
const SETTLED_MS = 15;

// The search for the next due job begins this long before `sinceSeconds`. A fast lane may have fetched a moment before
// `sinceSeconds`, so it may have missed jobs that became due after its fetch.
const MARGIN_S = 0.05;

/** How many announcements are kept, to ignore their repetitions. Later repetitions only cause needless fetches. */
const REMEMBERED = 64;

export interface WakeupsParts {
  readonly clock: Clock;
  readonly pollIntervalMs: number;
  /** Called when jobs may have become ready. `count`: the number of announced jobs; 0: unknown. */
  wake(count: number): void;
}

/**
 * Resolves to the milliseconds from now until the first job that becomes due after `sinceSeconds`; negative: the job is
 * due already; null: no such job becomes due within a day, or no connection can read it now. `sinceSeconds`: a time of
 * the database's clock, in seconds since the epoch.
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
   * `payload`: that of an announcement, such as `{"r":0.123,"count":1}`. The random number `r` identifies the
   * announcement. If a fast lane also listens, most announcements arrive twice, and the repetition is ignored. An
   * announcement without `r` always counts as new.
   */
  jobsAnnounced(payload: string): void {
    if (payload.startsWith('{"r":')) {
      if (this.#announcements.has(payload)) return;
      this.#announcements.add(payload);
      const [oldest] = this.#announcements;
      if (this.#announcements.size > REMEMBERED) this.#announcements.delete(oldest as string);
    }
    const [, count = 1] = /"count":(\d{1,9})\b/.exec(payload) ?? [];
    // For resumed jobs, the count 0 prevents a quick fetch, which might miss them: other jobs may come before them.
    this.#parts.wake(isOfResumed(payload) ? 0 : Number(count));
  }

  /**
   * Called when a fetch at `sinceSeconds` (see NextRunAt) has found no ready job. After a moment, reads when the next
   * job becomes due. Wakes the worker at that time, or after the poll interval if that is sooner.
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
