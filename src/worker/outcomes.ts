// What has been decided about claimed jobs and not yet been told to the database. A lane takes all
// of it at once; what could not be written comes back and is written again.
import type { Failure } from "../queue/settle-jobs.ts";
import type { ClaimedJob } from "./claimed-job.ts";
import type { Hooks } from "./hooks.ts";

export interface FailedJob extends Omit<Failure, "id"> {
  readonly job: ClaimedJob;
}

export interface OutcomeBatch {
  readonly done: ClaimedJob[];
  readonly failures: FailedJob[];
  readonly returned: ClaimedJob[];
  /** Named queues whose run has ended. */
  readonly freedQueues: number[];
  /** A part may have been written before: a missing row then says nothing about the lease. */
  readonly isRepeated: boolean;
}

type OutcomePart = Partial<OutcomeBatch>;

/** The batch that consists of these parts. */
export function batchOf(isRepeated: boolean, parts: readonly OutcomePart[]): OutcomeBatch {
  const nothing = { done: [], failures: [], returned: [], freedQueues: [], isRepeated };
  return Object.assign(nothing, ...parts);
}

export function idOf({ id }: ClaimedJob): string {
  return id;
}

export function toFailure({ job, ...failure }: FailedJob): Failure {
  return { id: job.id, ...failure };
}

export function jobsIn(
  batch: Pick<OutcomeBatch, "done" | "failures" | "returned">,
): readonly ClaimedJob[] {
  return [...batch.done, ...batch.failures.map(({ job }) => job), ...batch.returned];
}

/** Tells of jobs, by their ids, that were no longer ours. */
export function tellLost(hooks: Hooks, lost: readonly string[], sent: readonly ClaimedJob[]): void {
  for (const jobId of lost) {
    const job = sent.find(({ id }) => id === jobId) ?? null;
    hooks.emit("job:interrupted", { jobId, job, reason: "lease_lost" });
  }
}

export class Outcomes {
  #done: ClaimedJob[] = [];
  #failures: FailedJob[] = [];
  #returned: ClaimedJob[] = [];
  #freedQueues: number[] = [];
  #isRepeated = false;

  complete(job: ClaimedJob): void {
    this.#done.push(job);
  }

  fail(failure: FailedJob): void {
    this.#failures.push(failure);
  }

  /** Never started: the attempt is given back. */
  return(job: ClaimedJob): void {
    this.#returned.push(job);
  }

  freeQueue(queueId: number): void {
    this.#freedQueues.push(queueId);
  }

  /** Never started, and their queues. */
  giveBack(jobs: readonly ClaimedJob[], queueIds: readonly number[]): void {
    for (const job of jobs) this.return(job);
    for (const id of queueIds) this.freeQueue(id);
  }

  /** Whom they are about. */
  get jobs(): readonly ClaimedJob[] {
    return jobsIn({ done: this.#done, failures: this.#failures, returned: this.#returned });
  }

  get freedQueues(): readonly number[] {
    return this.#freedQueues;
  }

  get isEmpty(): boolean {
    return (
      this.#done.length === 0 &&
      this.#failures.length === 0 &&
      this.#returned.length === 0 &&
      this.#freedQueues.length === 0
    );
  }

  take(): OutcomeBatch {
    const batch = {
      done: this.#done,
      failures: this.#failures,
      returned: this.#returned,
      freedQueues: this.#freedQueues,
      isRepeated: this.#isRepeated,
    };
    this.#done = [];
    this.#failures = [];
    this.#returned = [];
    this.#freedQueues = [];
    this.#isRepeated = false;
    return batch;
  }

  putBack(batch: OutcomeBatch): void {
    this.#done = batch.done.concat(this.#done);
    this.#failures = batch.failures.concat(this.#failures);
    this.#returned = batch.returned.concat(this.#returned);
    this.#freedQueues = batch.freedQueues.concat(this.#freedQueues);
    this.#isRepeated = true;
  }
}
