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
  /** Ids of running jobs whose ordinary lock is committed. */
  readonly #locked = new Set<string>();
  /** Jobs that wait for their ordinary lock. */
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>();
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

  /** Resolves once the job has the ordinary lock. */
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

  /** The jobs that wait get no lock. */
  refuse(error: Error): void {
    for (const waiting of this.#waiting.values()) waiting.reject(error);
    this.#waiting.clear();
  }

  /** Parts what has ended: kept jobs end in the ordinary way, the others with their transaction. */
  handOver(): void {
    const { results, lockedResults, onChange } = this.#parts;
    if (this.#running.size === 0 || results.isEmpty) return;
    const { done, failures } = results.take();
    for (const job of done) (this.#ended(job) ? lockedResults : results).complete(job);
    for (const one of failures) (this.#ended(one.job) ? lockedResults : results).fail(one);
    onChange();
  }

  /** Whether it had the ordinary lock. */
  #ended(job: FetchedJob): boolean {
    this.#locked.delete(job.id);
    return this.#running.delete(job);
  }
}
