// A list of jobs that cannot be recovered, locked or read now, and of queues that cannot be locked now. The id of a
// queue is stored as a negative number. Fetches or recoveries skip each listed job or queue for some time, so that
// their statements succeed for all other jobs.
import { monotonic } from "../../base/clock.ts";

const EXCLUDED_MS = 300_000;
const MAX_EXCLUDED = 1_000;

export class ExcludedJobs {
  readonly #forMs: number;
  readonly #jobs = new Map<string, { readonly untilMs: number; readonly error: string }>();

  /** `forMs`: how long a listed job or queue is skipped, in milliseconds. Default: five minutes. */
  constructor(forMs = EXCLUDED_MS) {
    this.#forMs = forMs;
  }

  /** Adds a job or a queue. Returns false, without adding it, if the list has 1,000 entries already. */
  add(id: string, error: string): boolean {
    if (this.#jobs.size >= MAX_EXCLUDED) return false;
    this.#jobs.set(id, { untilMs: monotonic() + this.#forMs, error });
    return true;
  }

  /** Returns the ids to skip now. */
  ids(): string[] {
    return this.all().map(({ id }) => id);
  }

  /** Returns the ids to skip now, with the errors. */
  all(): { readonly id: string; readonly error: string }[] {
    const nowMs = monotonic();
    for (const [id, { untilMs }] of this.#jobs) if (untilMs < nowMs) this.#jobs.delete(id);
    return [...this.#jobs].map(([id, { error }]) => ({ id, error }));
  }
}
