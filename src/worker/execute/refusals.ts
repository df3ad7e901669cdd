// Records changes that PostgreSQL refuses, for example because of a trigger. A refused result of a job is sent up to
// three times. Until PostgreSQL accepts the result, the job stays locked, and the log, `worker doctor` and `worker why`
// report the refusal. If PostgreSQL never accepts the result, the job is recovered when the worker has ended and the
// worker's lease has expired.
//
// If PostgreSQL refuses to lock a job or a queue, fetches leave the job or queue out for five minutes. If another
// transaction has locked the row of the job or queue, or conflicts with the fetch, fetches leave the job or queue out
// for ten seconds, and only the log reports the failure.
import type { Clock } from "../../base/clock.ts";
import { codeOf, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { isBusy, isRefusedResult } from "../../database/errors/database-errors.ts";
import { queueOf } from "../../queue/sql/slots.ts";
import { ExcludedJobs } from "../lease/excluded-jobs.ts";
import type { FetchedJob } from "./fetched-job.ts";
import { jobsIn, type ResultBatch, type Results } from "./results.ts";
import {
  type RefusedResult,
  raisedText,
  refusalText,
  type SeparateResults,
} from "./settle-separately.ts";

/** The pauses before a result is sent for the second and the third time. */
const PAUSES_MS = [1_000, 4_000];
const LOG_MS = 60_000;
/** How long fetches leave out a job or queue that cannot be locked or read now. */
const BUSY_MS = 10_000;

/** A change that PostgreSQL refuses. `id`: the id of the job, or minus the id of the queue. */
export interface RefusedChange {
  readonly id: string;
  readonly error: string;
  /** true: the result of a job is refused, so the job stays locked. false: the job or queue cannot be locked. */
  readonly isLocked: boolean;
}

interface KeptRefusal {
  readonly error: string;
  readonly times: number;
  /** Cancels the next sending. null: the result is not sent again. */
  readonly cancel: (() => void) | null;
}

const QUEUE_STAYS_LOCKED =
  "PostgreSQL refuses to unlock a queue; the unlock is sent again until it succeeds";
const UNREAD = "cannot read the large payloads of fetched jobs; these jobs are fetched again";
const JOB_UNREAD = "cannot read the payload of a job; it is fetched again in ten seconds";
const FETCH_REFUSED =
  "PostgreSQL refuses to lock one of the jobs of a fetch; the fetch is sent again. Until it succeeds, later jobs do not run in this worker";

export interface RefusalsParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly results: Results;
  /** Called when a refused result was put back into `results`. */
  onChange(): void;
}

export class Refusals {
  readonly #parts: RefusalsParts;
  /** Jobs whose results were refused. */
  readonly kept = new Map<FetchedJob, KeptRefusal>();
  readonly #excluded = new ExcludedJobs();
  readonly #busy = new ExcludedJobs(BUSY_MS);
  readonly #leftOut = new Set<string>();
  #hasEnded = false;
  #loggedAtMs = Number.NEGATIVE_INFINITY;

  constructor(parts: RefusalsParts) {
    this.#parts = parts;
  }

  /** Whether a refused result is to be sent again, or is being sent again. */
  get isWaiting(): boolean {
    return [...this.kept.values()].some(({ cancel }) => cancel !== null);
  }

  get unsettled(): readonly RefusedChange[] {
    const ended = [...this.kept].map(([{ id }, { error }]) => ({ id, error, isLocked: true }));
    return [...ended, ...this.#excluded.all().map((one) => ({ ...one, isLocked: false }))];
  }

  /**
   * Records the answer to a batch of results. `separate`: the answer of settleSeparately(); null: that function was not
   * called.
   */
  recordSent(written: ResultBatch, separate: SeparateResults | null): void {
    for (const job of jobsIn(written)) this.kept.delete(job);
    if (separate === null) return;
    logFailedInstead(this.#parts.logger, separate.failedInstead);
    for (const result of separate.refused) this.#add(result);
    const [locked] = separate.refusedLocks;
    if (locked === undefined || !this.#mayLog()) return;
    const fields = { queue_id: queueOf(locked.lock), error: raisedText(locked.error) };
    this.#parts.logger.error(fields, QUEUE_STAYS_LOCKED);
  }

  /** The ids of the jobs, and the negated ids of the queues, that fetches leave out. */
  get excludedIds(): readonly string[] {
    return [...this.#excluded.ids(), ...this.#busy.ids(), ...this.#leftOut];
  }

  /** Runs `work`. Meanwhile, fetches of the safe mode leave out the jobs `ids`. */
  async leaveOut<T>(ids: readonly string[], work: () => Promise<T>): Promise<T> {
    for (const id of ids) this.#leftOut.add(id);
    try {
      return await work();
    } finally {
      for (const id of ids) this.#leftOut.delete(id);
    }
  }

  /**
   * Records that PostgreSQL refused a fetch, or could not lock the jobs of the fetch now. Returns whether the next
   * fetch should request a single job. `id`: the id of the job, or minus the id of the queue, that is the cause;
   * null: no cause was found; undefined: the cause is not known yet.
   */
  recordRefusal(failure: unknown, id: string | null | undefined): boolean {
    if (typeof id === "string") this.#exclude(id, failure);
    else if (id === null && isRefused(failure)) this.#logRefused(failure);
    return typeof id === "string" || isRefusedOrBusy(failure);
  }

  /**
   * Logs the first of the errors with which large payloads of `jobs` could not be read. Returns whether the next fetch
   * should request a single job, because the payloads together were too large, or the read took too long. If `jobs`
   * has only one job in this case, fetches leave this job out for ten seconds.
   */
  recordUnread(jobs: readonly FetchedJob[], [failure]: readonly unknown[]): boolean {
    if (failure === undefined) return false;
    const { logger } = this.#parts;
    const error = messageOf(failure);
    const isTooMuch = ["database_timeout", "too_large"].includes(codeOf(failure) ?? "");
    const [job] = jobs;
    const isOne = isTooMuch && job !== undefined && jobs.length === 1;
    if (isOne && this.#busy.add(job.id, error)) logger.warn({ job_id: job.id, error }, JOB_UNREAD);
    else logger.warn({ error }, UNREAD);
    return isTooMuch;
  }

  /** Returns true at most once a minute. */
  #mayLog(): boolean {
    const nowMs = this.#parts.clock.monotonic();
    if (nowMs - this.#loggedAtMs < LOG_MS) return false;
    this.#loggedAtMs = nowMs;
    return true;
  }

  #exclude(id: string, failure: unknown): void {
    // The job or queue may have been excluded already, after a fetch on another connection.
    if (this.excludedIds.includes(id)) return;
    const error = raisedText(failure);
    const { logger } = this.#parts;
    const isOfQueue = id.startsWith("-");
    const fields = isOfQueue ? { queue_id: Number(id.slice(1)), error } : { job_id: id, error };
    const [what, jobs] = isOfQueue ? ["a queue", "its jobs are"] : ["a job", "it is"];
    const isNowBusy = isBusy(failure);
    if (!(isNowBusy ? this.#busy : this.#excluded).add(id, error)) this.#logRefused(failure);
    else if (isNowBusy)
      logger.warn(fields, `${what} cannot be locked now; ${jobs} fetched again in ten seconds`);
    else
      logger.error(
        fields,
        `PostgreSQL refuses to lock ${what}; ${jobs} not fetched for five minutes`,
      );
  }

  #logRefused(failure: unknown): void {
    if (this.#mayLog()) this.#parts.logger.error({ error: messageOf(failure) }, FETCH_REFUSED);
  }

  /** From now on, refused results are not sent again. */
  end(): void {
    this.#hasEnded = true;
    for (const [job, kept] of this.kept) {
      kept.cancel?.();
      this.kept.set(job, { ...kept, cancel: null });
    }
  }

  #add(refused: RefusedResult): void {
    const { clock, logger } = this.#parts;
    const { job, error } = refused;
    const times = (this.kept.get(job)?.times ?? 0) + 1;
    const pauseMs = this.#hasEnded ? undefined : PAUSES_MS[times - 1];
    const cancel =
      pauseMs === undefined ? null : clock.after(pauseMs, () => this.#sendAgain(refused));
    this.kept.set(job, { error: refusalText(error), times, cancel });
    const fields = fieldsOf(refused);
    if (cancel !== null)
      logger.warn(fields, "PostgreSQL refused the result of a job; it is sent again");
    else logger.error(fields, "PostgreSQL refused the result of a job; the job stays locked");
  }

  #sendAgain({ job, result }: RefusedResult): void {
    const { results, onChange } = this.#parts;
    const kept = this.kept.get(job);
    if (kept === undefined || kept.cancel === null) return;
    this.kept.set(job, { ...kept, cancel: () => {} });
    if (result === "done") results.complete(job);
    else if (result === null) results.return(job);
    else results.fail(result);
    onChange();
  }
}

/**
 * Whether an error proves that a change was not made. False for `too_large`: the change may have been made, and only
 * the answer was too large.
 */
export function isRefusedOrBusy(failure: unknown): boolean {
  return isBusy(failure) || (codeOf(failure) !== "too_large" && isRefused(failure));
}

const isRefused = (failure: unknown) => failure !== null && isRefusedResult(failure);

export function logFailedInstead(
  logger: Logger,
  failedInstead: SeparateResults["failedInstead"],
): void {
  for (const failed of failedInstead) {
    logger.error(
      fieldsOf(failed),
      "PostgreSQL refused the result of a job; the attempt counts as failed",
    );
  }
}

function fieldsOf({ job, error }: Pick<RefusedResult, "job" | "error">): object {
  const { constraint, table } = ((error as { cause?: unknown }).cause ?? {}) as Record<
    string,
    unknown
  >;
  return {
    job_id: job.id,
    task: job.taskIdentifier,
    error: refusalText(error),
    sqlstate: codeOf((error as { cause?: unknown }).cause),
    ...(constraint === undefined ? {} : { constraint }),
    ...(table === undefined ? {} : { table }),
  };
}
