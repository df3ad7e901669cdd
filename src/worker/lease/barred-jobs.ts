// Jobs of stale workers that PostgreSQL refuses to change. A sweep leaves each alone for five minutes, so that
// the jobs beside it are recovered in one statement.
import { monotonic } from "../../base/clock.ts";

const BARRED_MS = 300_000;
const MOST_BARRED = 1_000;

export class BarredJobs {
  readonly #sinceMs = new Map<string, number>();

  /** Does nothing when there are 1,000 already: those beyond are tried with each sweep. */
  add(id: string): void {
    if (this.#sinceMs.size < MOST_BARRED) this.#sinceMs.set(id, monotonic());
  }

  /** Those that are to be left alone now. */
  ids(): string[] {
    const endMs = monotonic() - BARRED_MS;
    for (const [id, sinceMs] of this.#sinceMs) if (sinceMs < endMs) this.#sinceMs.delete(id);
    return [...this.#sinceMs.keys()];
  }
}
