// Results that PostgreSQL refuses even alone. Each is sent three times in all. Then the job stays locked, and the
// log, doctor and `why` report it. When the worker ends, its lease expires and the job is recovered. Also jobs that
// PostgreSQL refuses to lock, which fetches leave out for a while.
import type { Clock } from "../../base/clock.ts";
import { codeOf, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { isRefusedResult } from "../../database/errors/database-errors.ts";
import { BarredJobs } from "../lease/barred-jobs.ts";
import type { FetchedJob } from "./fetched-job.ts";
import { jobsIn, type ResultBatch, type Results } from "./results.ts";
import {
  type RefusedResult,
  raisedText,
  refusalText,
  type SeparateResults,
} from "./settle-separately.ts";

/** The pauses before the second and the third time. */
const PAUSES_MS = [1_000, 4_000];
const LOG_MS = 60_000;

/** A job that stays locked, and its error. */
export interface UnsettledResult {
  readonly id: string;
  readonly error: string;
}

interface KeptRefusal {
  readonly error: string;
  readonly times: number;
  /** Cancels the next sending; null: it is not sent again. */
  readonly cancel: (() => void) | null;
}

const BARRED = "PostgreSQL refuses to lock a job; it is not fetched for five minutes";
const DENIED =
  "PostgreSQL refuses a fetch of jobs, which is sent again: jobs behind the refused one do not run in this worker";

export interface RefusalsParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly results: Results;
  /** Called when there are results to write. */
  onChange(): void;
}

export class Refusals {
  readonly #parts: RefusalsParts;
  /** The jobs whose results were refused, and are locked. */
  readonly kept = new Map<FetchedJob, KeptRefusal>();
  readonly #barred = new BarredJobs();
  #hasEnded = false;
  #deniedAtMs = Number.NEGATIVE_INFINITY;

  constructor(parts: RefusalsParts) {
    this.#parts = parts;
  }

  /** Whether a result will be sent again. */
  get isWaiting(): boolean {
    return [...this.kept.values()].some(({ cancel }) => cancel !== null);
  }

  get unsettled(): readonly UnsettledResult[] {
    return [...this.kept].map(([{ id }, { error }]) => ({ id, error }));
  }

  /** Records results that were sent. `separate`: those written one by one, because PostgreSQL refused some. */
  recordSent(written: ResultBatch, separate: SeparateResults | null): void {
    for (const job of jobsIn(written)) this.kept.delete(job);
    if (separate === null) return;
    logFailedInstead(this.#parts.logger, separate.failedInstead);
    for (const one of separate.refused) this.#add(one);
  }

  /** The ids of jobs that PostgreSQL refuses to lock. */
  get barredIds(): readonly string[] {
    return this.#barred.ids();
  }

  /**
   * A fetch was denied. Returns whether PostgreSQL refuses a job. `id`: that job; null: it is unknown, which is logged
   * once a minute; undefined: a fetch of one job will find it.
   */
  recordDenial(failure: unknown, id: string | null | undefined): boolean {
    const { clock, logger } = this.#parts;
    if (typeof id !== "string" && !isRefused(failure)) return false;
    // Another connection may have fetched it at the same time.
    if (typeof id === "string" && !this.barredIds.includes(id)) {
      this.#barred.add(id);
      logger.error({ job_id: id, error: raisedText(failure) }, BARRED);
    }
    if (typeof id !== "object") return true;
    const isNews = clock.monotonic() - this.#deniedAtMs >= LOG_MS;
    if (isNews) this.#deniedAtMs = clock.monotonic();
    if (isNews) logger.error({ error: messageOf(failure) }, DENIED);
    return true;
  }

  /** Sends nothing again. The remaining jobs stay locked. */
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
 * Whether the server works and makes a change not now: a lock is held, or a trigger refuses a row. Nothing was changed,
 * unless the answer was too large for this process.
 */
export function isDenied(failure: unknown): boolean {
  const code = codeOf(failure);
  return code === "database_busy" || (code !== "too_large" && isRefused(failure));
}

const isRefused = (failure: unknown) => failure !== null && isRefusedResult(failure);

export function logFailedInstead(
  logger: Logger,
  failedInstead: SeparateResults["failedInstead"],
): void {
  for (const one of failedInstead) {
    logger.error(fieldsOf(one), "PostgreSQL refused the result of a job; the job counts as failed");
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
