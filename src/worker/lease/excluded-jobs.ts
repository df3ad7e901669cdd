// The ids of jobs that PostgreSQL refuses to change and, as negative numbers, of queues that it refuses to lock. Sweeps
// and fetches skip each for a while, so that one statement can recover or fetch the other jobs.
import { monotonic } from "../../base/clock.ts";

const EXCLUDED_MS = 300_000;
const MAX_EXCLUDED = 1_000;

export class ExcludedJobs {
  readonly #forMs: number;
  readonly #jobs = new Map<string, { readonly untilMs: number; readonly error: string }>();

  /** `forMs`: how long each is skipped; five minutes by default. */
  constructor(forMs = EXCLUDED_MS) {
    this.#forMs = forMs;
  }

  /** Adds a job or a queue. Returns false, without adding it, if 1,000 are skipped already. */
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
