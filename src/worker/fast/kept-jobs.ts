// Jobs of the fast mode that outlasted their transaction: they are locked in the ordinary way now, so
// their results are for the safe mode to write.
import type { FetchedJob } from "../execute/fetched-job.ts";
import type { Results } from "../execute/results.ts";

export interface KeptJobsParts {
  /** The executor's: what has become of the jobs of a lane. */
  readonly results: Results;
  /** Of jobs that are locked in the ordinary way: the safe mode writes them. */
  readonly lockedResults: Results;
  /** Jobs ended or were handed over, or the lane went idle. */
  onChange(): void;
}

export class KeptJobs {
  readonly #running = new Set<FetchedJob>();
  readonly #parts: KeptJobsParts;

  constructor(parts: KeptJobsParts) {
    this.#parts = parts;
  }

  /** Those that still run. */
  get jobs(): readonly FetchedJob[] {
    return [...this.#running];
  }

  add(jobs: readonly FetchedJob[]): void {
    for (const job of jobs) this.#running.add(job);
  }

  /** Parts what has ended: kept jobs end in the ordinary way, the others with their transaction. */
  handOver(): void {
    const { results, lockedResults, onChange } = this.#parts;
    if (this.#running.size === 0 || results.isEmpty) return;
    const { done, failures } = results.take();
    for (const job of done) (this.#running.delete(job) ? lockedResults : results).complete(job);
    for (const one of failures) {
      (this.#running.delete(one.job) ? lockedResults : results).fail(one);
    }
    onChange();
  }
}
