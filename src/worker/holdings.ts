// What the database has locked for this worker: claimed jobs whose outcome is not yet written, and
// the queues of runs that have not ended. Whatever is locked for us and not in here is unknown to us.
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

  job(id: string): ClaimedJob | null {
    return this.#jobs.get(id) ?? null;
  }

  claimed(units: readonly WorkUnit[]): void {
    for (const { jobs, queueId } of units) {
      for (const job of jobs) this.#jobs.set(job.id, job);
      if (queueId !== null) this.#queueIds.add(queueId);
    }
  }

  written(batch: OutcomeBatch): void {
    for (const id of batch.done) this.#jobs.delete(id);
    for (const { id } of batch.failures) this.#jobs.delete(id);
    for (const id of batch.returned) this.#jobs.delete(id);
    for (const id of batch.freedQueues) this.#queueIds.delete(id);
  }
}
