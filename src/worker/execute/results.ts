// What has been decided about jobs and is not yet in the database. A connection takes all of it at
// once; what could not be written comes back and is written again.
import { BY_FORMULA, type FailedAttempt, type NextAttempt } from "../../queue/settle/fail.ts";
import type { Hooks, JobResult } from "../task/hooks.ts";
import type { FetchedJob } from "./fetched-job.ts";

export interface FailedJob extends Omit<FailedAttempt, "id" | "isKeyed"> {
  readonly job: FetchedJob;
}

export interface ResultBatch {
  readonly done: FetchedJob[];
  readonly failures: FailedJob[];
  readonly returned: FetchedJob[];
  /** Named queues whose run has ended. */
  readonly freedQueues: number[];
  /** A part may have been written before: a missing row then says nothing about the lease. */
  readonly isRepeated: boolean;
}

type ResultPart = Partial<ResultBatch>;

/** The batch that consists of these parts. */
export function batchOf(isRepeated: boolean, parts: readonly ResultPart[]): ResultBatch {
  const nothing = { done: [], failures: [], returned: [], freedQueues: [], isRepeated };
  return Object.assign(nothing, ...parts);
}

export function idOf({ id }: FetchedJob): string {
  return id;
}

export function toFailure({ job, ...failure }: FailedJob): FailedAttempt {
  return { id: job.id, isKeyed: job.key !== null, ...failure };
}

export function jobsIn(
  batch: Pick<ResultBatch, "done" | "failures" | "returned">,
): readonly FetchedJob[] {
  return [...batch.done, ...batch.failures.map(({ job }) => job), ...batch.returned];
}

/**
 * Emits what has become of results that were sent: of those that are committed, and of jobs (by their
 * ids: `lost`) that were no longer ours. `sent`: where those are found.
 */
export function emitSettled(
  hooks: Hooks,
  workerId: string,
  written: Omit<ResultBatch, "freedQueues">,
  lost: readonly string[],
  sent: readonly FetchedJob[] = jobsIn(written),
): void {
  // What may have been written before is missing for that reason, too.
  for (const jobId of written.isRepeated ? [] : lost) {
    const job = sent.find(({ id }) => id === jobId) ?? null;
    if (job !== null && byTask.has(job)) continue;
    hooks.emit("job:interrupted", { workerId, jobId, job, reason: "lease_lost" });
  }
  if (!hooks.hasObservers("job:complete")) return;
  const isLost = new Set(lost);
  const emit = (job: FetchedJob, result: JobResult, error: string | null): void => {
    if (!isLost.has(job.id)) hooks.emit("job:complete", { workerId, job, result, error });
    else if (byTask.has(job)) {
      hooks.emit("job:complete", { workerId, job, result: "completed", error: null });
    } else if (written.isRepeated) {
      hooks.emit("job:complete", { workerId, job, result: "unknown", error: null });
    }
  };
  for (const job of written.done) emit(job, skipped.has(job) ? "skipped" : "completed", null);
  for (const { job, message, next } of written.failures) {
    if (next.kind === "snooze") emit(job, "snoozed", null);
    else emit(job, "failed", message);
  }
  for (const job of written.returned) emit(job, "returned", null);
}

/** Jobs whose rows a transaction of their task deletes: a row that is gone was completed. */
const byTask = new WeakSet<FetchedJob>();

/** Jobs that are done without having run. Beside the batches: hardly any worker has one. */
const skipped = new WeakSet<FetchedJob>();

export class Results {
  #done: FetchedJob[] = [];
  #failures: FailedJob[] = [];
  #returned: FetchedJob[] = [];
  #freedQueues: number[] = [];
  #isRepeated = false;
  /**
   * Named queues with jobs whose way back has no answer yet, and how many batches have some. They are
   * freed afterwards: before, what is behind these jobs could start first.
   */
  readonly #goingBack = new Map<number, number>();
  /** Sent and not answered. Not a Set: V8 keeps what was in its outgrown tables until the next full collection. */
  #sent: readonly ResultBatch[] = [];

  complete(job: FetchedJob): void {
    this.#done.push(job);
  }

  /** Done without having run. */
  skip(job: FetchedJob): void {
    skipped.add(job);
    this.complete(job);
  }

  /**
   * Its task was to delete the row in a transaction of its own. Where the row is still there, that was not committed,
   * and the attempt has failed.
   */
  completedByTask(job: FetchedJob, message: string, next: NextAttempt = BY_FORMULA): void {
    byTask.add(job);
    this.fail({ job, message, payload: null, next });
  }

  fail(failure: FailedJob): void {
    this.#failures.push(failure);
  }

  /** Never started: the attempt is given back. */
  return(job: FetchedJob): void {
    this.#returned.push(job);
  }

  freeQueue(queueId: number): void {
    this.#freedQueues.push(queueId);
  }

  /** Never started, and their queues. */
  giveBack(jobs: readonly FetchedJob[], queueIds: readonly number[]): void {
    for (const job of jobs) this.return(job);
    for (const id of queueIds) this.freeQueue(id);
  }

  /** The jobs that they are about. */
  get jobs(): readonly FetchedJob[] {
    return jobsIn({ done: this.#done, failures: this.#failures, returned: this.#returned });
  }

  /** Jobs that have ended and are not written. */
  get ended(): readonly FetchedJob[] {
    return jobsIn({ done: this.#done, failures: this.#failures, returned: [] });
  }

  /** Jobs that never started, until it is written that they are back. */
  get unstarted(): readonly FetchedJob[] {
    return [...this.#sent, { returned: this.#returned }].flatMap(({ returned }) => returned);
  }

  get freedQueues(): readonly number[] {
    return this.#freedQueues;
  }

  get isEmpty(): boolean {
    return (
      this.#done.length === 0 &&
      this.#failures.length === 0 &&
      this.#returned.length === 0 &&
      this.#freedQueues.every((id) => this.#goingBack.has(id))
    );
  }

  /** Some of them could not be written, or nobody knows whether they were. */
  get isRepeated(): boolean {
    return this.#isRepeated;
  }

  /** All of them, to be written; answered() follows once the database has, or has not. */
  send(): ResultBatch {
    const batch = this.take();
    this.#sent = [...this.#sent, batch];
    for (const id of queuesGoingBack(batch)) {
      this.#goingBack.set(id, (this.#goingBack.get(id) ?? 0) + 1);
    }
    return batch;
  }

  /** All of them; nothing waits for their answer. */
  take(): ResultBatch {
    const waiting = this.#freedQueues.filter((id) => this.#goingBack.has(id));
    const batch = {
      done: this.#done,
      failures: this.#failures,
      returned: this.#returned,
      freedQueues:
        waiting.length === 0
          ? this.#freedQueues
          : this.#freedQueues.filter((id) => !this.#goingBack.has(id)),
      isRepeated: this.#isRepeated,
    };
    this.#done = [];
    this.#failures = [];
    this.#returned = [];
    this.#freedQueues = waiting;
    this.#isRepeated = false;
    return batch;
  }

  /** A batch that was sent is written, or put back. */
  answered(batch: ResultBatch): void {
    this.#sent = this.#sent.filter((one) => one !== batch);
    for (const id of queuesGoingBack(batch)) {
      const others = (this.#goingBack.get(id) ?? 1) - 1;
      if (others > 0) this.#goingBack.set(id, others);
      else this.#goingBack.delete(id);
    }
  }

  putBack(batch: ResultBatch): void {
    if (jobsIn(batch).length + batch.freedQueues.length === 0) return;
    this.#done = batch.done.concat(this.#done);
    this.#failures = batch.failures.concat(this.#failures);
    this.#returned = batch.returned.concat(this.#returned);
    this.#freedQueues = batch.freedQueues.concat(this.#freedQueues);
    this.#isRepeated = true;
  }
}

/** Named queues to which a batch gives jobs back without freeing them. */
function queuesGoingBack({ returned, freedQueues }: ResultBatch): ReadonlySet<number> {
  const ids = new Set<number>();
  for (const { queueId } of returned) if (queueId !== null) ids.add(queueId);
  for (const id of freedQueues) ids.delete(id);
  return ids;
}
