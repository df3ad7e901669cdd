// What the database has locked for this worker: claimed jobs without an outcome, and the queues of
// runs that have not ended. What is locked for us and neither in here nor among the outcomes that
// are still to be written is unknown to us.
import type { ClaimedJob, WorkUnit } from "./claimed-job.ts";
import type { OutcomeBatch } from "./outcomes.ts";

export class Holdings {
  readonly #jobs = new Map<string, ClaimedJob>();
  readonly #queueIds = new Set<number>();

  get jobIds(): string[] {
    return [...this.#jobs.keys()];
  }

  get queueIds(): number[] {
    return [...this.#queueIds];
  }

  claimed(units: readonly WorkUnit[]): void {
    for (const { jobs, queueId } of units) {
      this.adopt(jobs);
      if (queueId !== null) this.#queueIds.add(queueId);
    }
  }

  adopt(jobs: readonly ClaimedJob[]): void {
    for (const job of jobs) this.#jobs.set(job.id, job);
  }

  /**
   * Forgets what is about to be written, and gives those jobs. At the sending, not at the answer:
   * another lane's answer may bring the same job or queue anew before that.
   */
  sent(batch: OutcomeBatch): ReadonlyMap<string, ClaimedJob> {
    const jobs = new Map<string, ClaimedJob>();
    const forget = (id: string): void => {
      const job = this.#jobs.get(id);
      if (job !== undefined) jobs.set(id, job);
      this.#jobs.delete(id);
    };
    for (const id of batch.done) forget(id);
    for (const { id } of batch.failures) forget(id);
    for (const id of batch.returned) forget(id);
    for (const id of batch.freedQueues) this.#queueIds.delete(id);
    return jobs;
  }
}
