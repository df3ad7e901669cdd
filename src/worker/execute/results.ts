// Keeps the results of jobs until they are written, and emits the events of written results. Results that the database
// does not confirm are put back and sent again.
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
  /** The locks of ended runs of named queues (queue/sql/slots.ts). */
  readonly unlockedQueues: number[];
  /** Whether some results may have been written before. If so, a missing row does not prove that a lock was lost. */
  readonly isRepeated: boolean;
}

type ResultPart = Partial<ResultBatch>;

/** Joins the `failures` of all parts. Every other member has the value of the last part with this member. */
export function batchOf(isRepeated: boolean, parts: readonly ResultPart[]): ResultBatch {
  const nothing = { done: [], failures: [], returned: [], unlockedQueues: [], isRepeated };
  const failures = parts.flatMap((part) => part.failures ?? []);
  return Object.assign(nothing, ...parts, { failures });
}

/** Splits failures into snoozes and others, which separate statements write. */
export function byStatement(failures: readonly FailedJob[]): readonly FailedJob[][] {
  const isSnooze = ({ next }: FailedJob) => next.kind === "snooze";
  const [snoozes, others] = [failures.filter(isSnooze), failures.filter((one) => !isSnooze(one))];
  return [snoozes, others].filter(({ length }) => length > 0);
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
 * Emits `job:complete` for written results, and `job:interrupted` for jobs that were no longer locked for this attempt
 * (`lost`). A lost job whose task deletes the job's row is completed. In a repeated batch, each other lost job gets the
 * result `unknown`, because its result may have been written before.
 */
export function emitSettled(
  hooks: Hooks,
  workerId: string,
  written: Omit<ResultBatch, "unlockedQueues">,
  lost: readonly string[],
  sent: readonly FetchedJob[] = jobsIn(written),
): void {
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

/** Jobs whose rows a transaction of their task deletes. */
const byTask = new WeakSet<FetchedJob>();

/** Skipped jobs are rare, so batches have no list of these jobs. */
const skipped = new WeakSet<FetchedJob>();

export class Results {
  #done: FetchedJob[] = [];
  #failures: FailedJob[] = [];
  #returned: FetchedJob[] = [];
  #unlockedQueues: number[] = [];
  #isRepeated = false;
  /**
   * By the lock of a run: the number of unanswered batches that return jobs of the run without unlocking the run. The
   * run is unlocked after these batches, so that later jobs of the queue do not start before the returned jobs.
   */
  readonly #goingBack = new Map<number, number>();
  /** Unanswered batches. Not a Set, because V8 keeps a Set's old tables until a full garbage collection. */
  #sent: readonly ResultBatch[] = [];
  /** Resolves at the next endWait(). */
  #answer: PromiseWithResolvers<void> | null = null;

  complete(job: FetchedJob): void {
    this.#done.push(job);
  }

  skip(job: FetchedJob): void {
    skipped.add(job);
    this.complete(job);
  }

  /**
   * Records a job whose task deletes the job's row in a transaction of its own. If the row still exists, that
   * transaction was not committed, and the attempt fails with `message`.
   */
  completedByTask(job: FetchedJob, message: string, next: NextAttempt = BY_FORMULA): void {
    byTask.add(job);
    this.fail({ job, message, payload: null, next });
  }

  fail(failure: FailedJob): void {
    this.#failures.push(failure);
  }

  /** Records that an unstarted job is to be unlocked; its attempt does not count. A cancelled job fails instead. */
  return(job: FetchedJob): void {
    const { cancelled } = job;
    if (cancelled === undefined) this.#returned.push(job);
    else this.fail({ job, message: cancelled.message, payload: null, next: { kind: "never" } });
  }

  freeQueue(queueId: number): void {
    this.#unlockedQueues.push(queueId);
  }

  /** `queueIds`: the locks of the runs to unlock. */
  giveBack(jobs: readonly FetchedJob[], queueIds: readonly number[]): void {
    for (const job of jobs) this.return(job);
    for (const id of queueIds) this.freeQueue(id);
  }

  /** The jobs whose results wait to be sent. */
  get jobs(): readonly FetchedJob[] {
    return jobsIn({ done: this.#done, failures: this.#failures, returned: this.#returned });
  }

  /** Completed and failed jobs whose results wait to be sent. */
  get ended(): readonly FetchedJob[] {
    return jobsIn({ done: this.#done, failures: this.#failures, returned: [] });
  }

  /** Unstarted jobs whose return is not confirmed yet. */
  get unstarted(): readonly FetchedJob[] {
    return [...this.#sent, { returned: this.#returned }].flatMap(({ returned }) => returned);
  }

  async allReturned(): Promise<void> {
    while (this.unstarted.length > 0) {
      this.#answer ??= Promise.withResolvers();
      await this.#answer.promise;
    }
  }

  get unlockedQueues(): readonly number[] {
    return this.#unlockedQueues;
  }

  get isEmpty(): boolean {
    return this.#done.length === 0 && !this.isUrgent;
  }

  /** Whether there are failures, returned jobs, or queues that can be unlocked now. */
  get isUrgent(): boolean {
    return (
      this.#failures.length > 0 ||
      this.#returned.length > 0 ||
      !this.#unlockedQueues.every((id) => this.#goingBack.has(id))
    );
  }

  /** Whether some waiting results were sent before and not confirmed. */
  get isRepeated(): boolean {
    return this.#isRepeated;
  }

  /** Takes the results for a write. After the answer or the failure of the write, call endWait() with the batch. */
  send(): ResultBatch {
    const batch = this.take();
    this.#sent = [...this.#sent, batch];
    for (const id of queuesGoingBack(batch)) {
      this.#goingBack.set(id, (this.#goingBack.get(id) ?? 0) + 1);
    }
    return batch;
  }

  /** Like send(), but the batch needs no endWait(). Both methods leave the locks in `#goingBack` for a later batch. */
  take(): ResultBatch {
    const waiting = this.#unlockedQueues.filter((id) => this.#goingBack.has(id));
    const batch = {
      done: this.#done,
      failures: this.#failures,
      returned: this.#returned,
      unlockedQueues:
        waiting.length === 0
          ? this.#unlockedQueues
          : this.#unlockedQueues.filter((id) => !this.#goingBack.has(id)),
      isRepeated: this.#isRepeated,
    };
    this.#done = [];
    this.#failures = [];
    this.#returned = [];
    this.#unlockedQueues = waiting;
    this.#isRepeated = false;
    return batch;
  }

  /** The jobs whose failures may have been written before. */
  get repeatedFailures(): readonly FetchedJob[] {
    return this.#isRepeated ? this.#failures.map(({ job }) => job) : [];
  }

  /**
   * Takes the results of attempts whose jobs this worker has locked again. These results would change later attempts.
   * `locked`: the jobs that are locked for this worker. `fetched`: the ids of jobs that an unanswered fetch has locked.
   */
  takeOutdated(locked: readonly FetchedJob[], fetched: ReadonlySet<string>): ResultBatch {
    const latestMs = new Map<string, number>();
    for (const { id, fetchedAtMs } of locked) {
      latestMs.set(id, Math.max(fetchedAtMs, latestMs.get(id) ?? fetchedAtMs));
    }
    const isOutdated = (job: FetchedJob) =>
      fetched.has(job.id) || job.fetchedAtMs < (latestMs.get(job.id) ?? 0);
    return { ...this.takeSome(isOutdated), isRepeated: true };
  }

  /** Takes the results of the jobs for which `isTaken` is true, and no locks of runs. */
  takeSome(isTaken: (job: FetchedJob) => boolean): ResultBatch {
    const part = (taken: boolean) => ({
      done: this.#done.filter((job) => isTaken(job) === taken),
      failures: this.#failures.filter(({ job }) => isTaken(job) === taken),
      returned: this.#returned.filter((job) => isTaken(job) === taken),
    });
    const [taken, left] = [part(true), part(false)];
    this.#done = left.done;
    this.#failures = left.failures;
    this.#returned = left.returned;
    return { ...taken, unlockedQueues: [], isRepeated: this.#isRepeated };
  }

  /** Ends the wait for a batch that was written or put back. */
  endWait(batch: ResultBatch): void {
    this.#sent = this.#sent.filter((one) => one !== batch);
    for (const id of queuesGoingBack(batch)) {
      const others = (this.#goingBack.get(id) ?? 1) - 1;
      if (others > 0) this.#goingBack.set(id, others);
      else this.#goingBack.delete(id);
    }
    this.#answer?.resolve();
    this.#answer = null;
  }

  putBack(batch: ResultBatch): void {
    if (jobsIn(batch).length + batch.unlockedQueues.length === 0) return;
    this.#done = batch.done.concat(this.#done);
    this.#failures = batch.failures.concat(this.#failures);
    this.#returned = batch.returned.concat(this.#returned);
    this.#unlockedQueues = batch.unlockedQueues.concat(this.#unlockedQueues);
    this.#isRepeated = true;
  }
}

function queuesGoingBack({ returned, unlockedQueues }: ResultBatch): ReadonlySet<number> {
  const ids = new Set<number>();
  for (const { runLock } of returned) if (runLock !== null) ids.add(runLock);
  for (const id of unlockedQueues) ids.delete(id);
  return ids;
}
