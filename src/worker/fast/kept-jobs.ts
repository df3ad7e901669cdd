// Jobs of the fast mode that outlasted their transaction. They are locked by `locked_by`, so the safe mode writes
// their results.
import type { FetchedJob } from "../execute/fetched-job.ts";
import type { Results } from "../execute/results.ts";

export interface KeptJobsParts {
  /** The results of a lane's jobs. */
  readonly results: Results;
  /** The results of jobs locked by `locked_by`, which the safe mode writes. */
  readonly lockedResults: Results;
  /** Called when jobs have ended or were handed over, or the lane is idle. */
  onChange(): void;
}

export class KeptJobs {
  readonly #running = new Set<FetchedJob>();
  /** Ids of running jobs whose lock by `locked_by` is committed. */
  readonly #locked = new Set<string>();
  /** Jobs that wait for their lock by `locked_by`. */
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>();
  readonly #parts: KeptJobsParts;

  constructor(parts: KeptJobsParts) {
    this.#parts = parts;
  }

  /** The kept jobs that still run. */
  get jobs(): readonly FetchedJob[] {
    return [...this.#running];
  }

  add(jobs: readonly FetchedJob[]): void {
    for (const job of jobs) this.#running.add(job);
  }

  /** Resolves once the job is locked by `locked_by`. */
  async locked(id: string): Promise<void> {
    if (this.#locked.has(id)) return;
    const waiting = this.#waiting.get(id) ?? Promise.withResolvers<void>();
    this.#waiting.set(id, waiting);
    await waiting.promise;
  }

  committed(jobs: readonly FetchedJob[]): void {
    for (const job of jobs) {
      if (this.#running.has(job)) this.#locked.add(job.id);
      this.#waiting.get(job.id)?.resolve();
      this.#waiting.delete(job.id);
    }
  }

  /** Rejects the waits for a lock. */
  refuse(error: Error): void {
    for (const waiting of this.#waiting.values()) waiting.reject(error);
    this.#waiting.clear();
  }

  /** Moves the results of kept jobs to the safe mode. The others are written with their transaction. */
  handOver(): void {
    const { results, lockedResults, onChange } = this.#parts;
    if (this.#running.size === 0 || results.isEmpty) return;
    const { done, failures } = results.take();
    for (const job of done) (this.#ended(job) ? lockedResults : results).complete(job);
    for (const one of failures) (this.#ended(one.job) ? lockedResults : results).fail(one);
    onChange();
  }

  /** Returns whether the job was a kept one. */
  #ended(job: FetchedJob): boolean {
    this.#locked.delete(job.id);
    return this.#running.delete(job);
  }
}
