// Jobs that PostgreSQL refuses to change. Sweeps and fetches skip each for five minutes, so that one statement recovers
// or takes the other jobs.
import { monotonic } from "../../base/clock.ts";

const EXCLUDED_MS = 300_000;
const MAX_EXCLUDED = 1_000;

export class ExcludedJobs {
  readonly #sinceMs = new Map<string, number>();

  /** Adds a job. Beyond 1,000 jobs it does nothing, and the others are tried each time. */
  add(id: string): void {
    if (this.#sinceMs.size < MAX_EXCLUDED) this.#sinceMs.set(id, monotonic());
  }

  /** Returns the jobs to skip now. */
  ids(): string[] {
    const endMs = monotonic() - EXCLUDED_MS;
    for (const [id, sinceMs] of this.#sinceMs) if (sinceMs < endMs) this.#sinceMs.delete(id);
    return [...this.#sinceMs.keys()];
  }
}
