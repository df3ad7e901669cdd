// Jobs of the fast mode that outlasted their transaction. They are locked by `locked_by`, so the safe mode writes
// their results.
import type { FetchedJob } from "../execute/fetched-job.ts";
import { jobsIn, type Results } from "../execute/results.ts";

export interface KeptJobsParts {
  /** The results of a lane's jobs. */
  readonly results: Results;
  /** The results of jobs locked by `locked_by`, which the safe mode writes. */
  readonly lockedResults: Results;
  /** Called when jobs have ended or were handed over, or the lane is idle. */
  onChange(): void;
}

export class KeptJobs {
  /** The kept jobs that still run. */
  readonly jobs = new Set<FetchedJob>();
  readonly #parts: KeptJobsParts;

  constructor(parts: KeptJobsParts) {
    this.#parts = parts;
  }

  add(jobs: readonly FetchedJob[]): void {
    for (const job of jobs) this.jobs.add(job);
  }

  /** Moves the results of kept jobs to the safe mode. The others are written with their transaction. */
  handOver(): void {
    const { results, lockedResults, onChange } = this.#parts;
    if (results.isEmpty) return;
    // The results of kept jobs have never been sent. The others may have been, and stay where that is recorded.
    const kept = results.takeSome((job) => this.jobs.has(job));
    for (const job of kept.done) lockedResults.complete(job);
    for (const failure of kept.failures) lockedResults.fail(failure);
    for (const job of jobsIn(kept)) this.jobs.delete(job);
    onChange();
  }
}
