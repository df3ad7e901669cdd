// The kept jobs of the fast mode, and how their results are moved to the safe mode, which writes them.
import type { FetchedJob } from "../execute/fetched-job.ts";
import { emitSettled, idOf, jobsIn, type Results } from "../execute/results.ts";
import type { Hooks } from "../task/hooks.ts";
import { ROLLED_BACK } from "./fast-transaction.ts";

export interface KeptJobsParts {
  readonly workerId: string;
  readonly hooks: Hooks;
  /** The results of the fast lane's jobs, kept or not. */
  readonly results: Results;
  /** The results that the safe mode writes. */
  readonly lockedResults: Results;
  /** Returns the jobs in flight that are locked by `locked_by`. */
  lockedJobs(): readonly FetchedJob[];
  /** Called after changes of the fast lane. */
  onChange(): void;
}

export class KeptJobs {
  /** The kept jobs whose results have not been handed over to the safe mode. */
  readonly jobs = new Set<FetchedJob>();
  readonly #parts: KeptJobsParts;
  /**
   * Jobs that are possibly not locked by `locked_by`, because `keeping` (see add()) rejected. The safe mode may fetch
   * them again.
   */
  readonly #uncertain = new WeakSet<FetchedJob>();

  constructor(parts: KeptJobsParts) {
    this.#parts = parts;
  }

  /** Adds jobs. `keeping` resolves when the jobs are locked by `locked_by`. Rejects if `keeping` rejects. */
  async add(jobs: readonly FetchedJob[], keeping: Promise<void>): Promise<void> {
    for (const job of jobs) this.jobs.add(job);
    try {
      await keeping;
    } catch (error) {
      for (const job of jobs) {
        if (error === ROLLED_BACK) this.jobs.delete(job);
        else this.#uncertain.add(job);
      }
      throw error;
    }
  }

  /** Moves the results of kept jobs to the safe mode. */
  handOver(): void {
    const { results, lockedResults, hooks, workerId, onChange } = this.#parts;
    if (results.isEmpty) return;
    // If this worker has fetched a job again, the earlier result would be written for the later attempt. So the earlier
    // result is discarded.
    const outdated = results.takeSome((job) => this.#isFetchedAgain(job));
    // The fast lane never sends results of kept jobs, so these results were not sent before.
    emitSettled(hooks, workerId, { ...outdated, isRepeated: false }, jobsIn(outdated).map(idOf));
    const kept = results.takeSome((job) => this.jobs.has(job));
    for (const job of kept.done) lockedResults.complete(job);
    for (const failure of kept.failures) lockedResults.fail(failure);
    for (const job of [...jobsIn(kept), ...jobsIn(outdated)]) this.jobs.delete(job);
    onChange();
  }

  #isFetchedAgain(job: FetchedJob): boolean {
    if (!this.#uncertain.has(job)) return false;
    const isLater = (one: FetchedJob) => one.id === job.id && one.fetchedAtMs > job.fetchedAtMs;
    return this.#parts.lockedJobs().some(isLater);
  }
}
