// What has been decided about claimed jobs and not yet been told to the database. A lane takes all
// of it at once; what could not be written comes back and is written again.
import type { Failure } from "../queue/settle-jobs.ts";

export interface OutcomeBatch {
  readonly done: string[];
  readonly failures: Failure[];
  readonly returned: string[];
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

export class Outcomes {
  #done: string[] = [];
  #failures: Failure[] = [];
  #returned: string[] = [];
  #freedQueues: number[] = [];
  #isRepeated = false;

  complete(id: string): void {
    this.#done.push(id);
  }

  fail(failure: Failure): void {
    this.#failures.push(failure);
  }

  /** Never started: the attempt is given back. */
  return(id: string): void {
    this.#returned.push(id);
  }

  freeQueue(queueId: number): void {
    this.#freedQueues.push(queueId);
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
