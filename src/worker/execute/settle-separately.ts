// Writes the results of a batch that PostgreSQL has refused as a whole, for example because of a trigger. Each list of
// the batch is halved repeatedly, until each refused result is sent alone and all other results are written. If a
// statement reaches its time limit, the safe mode leaves the results of locked rows for later, and sends the other
// results together. In the fast mode, or if no locked row is found, each result is sent alone.
import { codeOf, messageOf } from "../../base/errors.ts";
import type { Database } from "../../database/database.ts";
import { isBusy, isRefusedResult, isSlowTrigger } from "../../database/errors/database-errors.ts";
import { readLockedRows } from "../../database/locked-rows.ts";
import { type Change, withSkippers } from "../../database/skipped-rows.ts";
import { BY_FORMULA, failJobs } from "../../queue/settle/fail.ts";
import type { LockMode } from "../../queue/settle/fence.ts";
import { finishJobs } from "../../queue/settle/finish.ts";
import { returnJobs } from "../../queue/settle/give-back.ts";
import type { FetchedJob } from "./fetched-job.ts";
import { byStatement, type FailedJob, idOf, type ResultBatch, toFailure } from "./results.ts";

/** How many statements may reach their time limit. After one more, nothing is sent. */
const MAX_TIMEOUTS = 8;

/** Whether a single row may be the cause of a statement's error. */
export const isOfOneRow = (error: unknown): boolean =>
  isRefusedResult(error) || isSlowTrigger(error) || isBusy(error);

/** Whether a statement has reached its time limit in a trigger, or while it waited for a lock. */
const hasWaited = (error: unknown): boolean =>
  isSlowTrigger(error) || codeOf((error as Error).cause) === LOCK_TIMEOUT;

const LOCK_TIMEOUT = "55P03";

/** A result that PostgreSQL refuses. */
export interface RefusedResult {
  readonly job: FetchedJob;
  /** null: the job is returned unstarted. */
  readonly result: "done" | FailedJob | null;
  readonly error: unknown;
}

export interface SeparateResults {
  readonly written: ResultBatch;
  /** Jobs that succeeded but are written as failed, each with the error of the refused success. */
  readonly failedInstead: readonly { readonly job: FetchedJob; readonly error: unknown }[];
  /** Ids of the jobs in `written` whose lock was lost. */
  readonly lost: readonly string[];
  readonly refused: readonly RefusedResult[];
  /** Locks of runs of queues that PostgreSQL refuses to remove. `unconfirmed` has these locks, too. */
  readonly refusedLocks: readonly { readonly lock: number; readonly error: unknown }[];
  readonly unconfirmed: ResultBatch;
  /** An error because of which results are unconfirmed; null if `unconfirmed` is empty. */
  readonly failure: unknown;
}

/** Returns PostgreSQL's message and, if known, the place of the error. */
export function raisedText(error: unknown): string {
  const cause = ((error as { cause?: unknown }).cause ?? error) as Record<string, unknown>;
  const place = typeof cause["where"] === "string" ? cause["where"].split("\n")[0] : "";
  return place ? `${messageOf(cause)} (${place})` : messageOf(cause);
}

export const refusalText = (error: unknown): string =>
  `PostgreSQL refuses the result of the job: ${raisedText(error)}`;

/**
 * Writes the results that PostgreSQL accepts. If a success is refused, a failure is usually written instead. `reason`:
 * the error with which the write of the whole batch failed. Never rejects.
 */
export async function settleSeparately(
  db: Database,
  workerId: string,
  batch: ResultBatch,
  mode: LockMode,
  reason: unknown,
): Promise<SeparateResults> {
  const { isRepeated, unlockedQueues } = batch;
  const written = emptyBatch(isRepeated);
  const unconfirmed = emptyBatch(isRepeated);
  const writer = new HalvingWriter(db, mode, hasWaited(reason) ? reason : null);
  const failedInstead = new Map<FailedJob, unknown>();
  const refused: RefusedResult[] = [];
  const refusedLocks: { lock: number; error: unknown }[] = [];
  await writer.write(batch.done, {
    change: "delete",
    idOf,
    send: (jobs) => finishJobs(db, workerId, jobs.map(idOf), mode),
    ...{ written: written.done, unconfirmed: unconfirmed.done },
    onRefused: (job, error) => {
      // A trigger may be slow only once, so in the safe mode the caller can send the success again. In the fast mode
      // the job is no longer locked, and would run again in any case.
      if (isSlowTrigger(error) && mode === "locked_by") {
        refused.push({ job, result: "done", error });
        return;
      }
      failedInstead.set(
        { job, message: refusalText(error), payload: null, next: BY_FORMULA },
        error,
      );
    },
  });
  const failing: Part<FailedJob> = {
    change: "update",
    idOf: ({ job }) => job.id,
    send: (some) => failJobs(db, workerId, some.map(toFailure), mode),
    ...{ written: written.failures, unconfirmed: unconfirmed.failures },
    onRefused: (one, error) => {
      const { job } = one;
      if (failedInstead.has(one))
        refused.push({ job, result: "done", error: failedInstead.get(one) });
      else refused.push({ job, result: one, error });
    },
  };
  for (const some of byStatement([...batch.failures, ...failedInstead.keys()])) {
    await writer.write(some, failing);
  }
  await writer.write(batch.returned, {
    change: "update",
    idOf,
    send: (jobs) => {
      const keyed = jobs.filter(({ key }) => key !== null).map(idOf);
      return returnJobs(db, workerId, jobs.map(idOf), [], keyed);
    },
    ...{ written: written.returned, unconfirmed: unconfirmed.returned },
    onRefused: (job, error) => void refused.push({ job, result: null, error }),
  });
  // If the return of a job is unconfirmed, the job's queue stays locked, so that later jobs of the queue do not start
  // before this job.
  if (mode === "locked_by") {
    const isWaiting = (lock: number) =>
      unconfirmed.returned.some(({ runLock }) => runLock === lock);
    const [waiting, others] = [true, false].map((is) =>
      unlockedQueues.filter((lock) => isWaiting(lock) === is),
    ) as [number[], number[]];
    unconfirmed.unlockedQueues.push(...waiting);
    await writer.write(others, {
      change: "update",
      idOf: null,
      send: (locks) => finishJobs(db, workerId, [], mode, locks),
      ...{ written: written.unlockedQueues, unconfirmed: unconfirmed.unlockedQueues },
      onRefused: (lock, error) => {
        refusedLocks.push({ lock, error });
        unconfirmed.unlockedQueues.push(lock);
        writer.later ??= error;
      },
    });
  }
  const { lost } = writer;
  const failure = writer.failure ?? writer.later;
  const asFailed = written.failures.flatMap((one) => {
    return failedInstead.has(one) ? [{ job: one.job, error: failedInstead.get(one) }] : [];
  });
  return { written, failedInstead: asFailed, lost, refused, refusedLocks, unconfirmed, failure };
}

interface Part<T> {
  readonly change: Change;
  /** null: the items are locks of runs of queues. */
  readonly idOf: ((item: T) => string) | null;
  send(items: readonly T[]): Promise<string[]>;
  readonly written: T[];
  readonly unconfirmed: T[];
  onRefused(item: T, error: unknown): void;
}

class HalvingWriter {
  readonly #db: Database;
  readonly #mode: LockMode;
  /** The error of the whole batch, if a statement of the batch had reached its time limit. */
  readonly #waited: unknown;
  readonly lost: string[] = [];
  #timeouts = 0;
  /** The error after which no more results are sent, such as a lost connection. */
  failure: unknown = null;
  /** The first error because of which results are sent later. */
  later: unknown = null;

  constructor(db: Database, mode: LockMode, waited: unknown) {
    this.#db = db;
    this.#mode = mode;
    this.#waited = waited;
  }

  async write<T>(items: readonly T[], part: Part<T>): Promise<void> {
    if (this.#waited !== null && items.length > 1)
      await this.#splitLocked(items, part, this.#waited);
    else await this.#write(items, part);
  }

  async #write<T>(items: readonly T[], part: Part<T>): Promise<void> {
    if (items.length === 0) return;
    if (this.failure !== null) {
      // Unsent items are put before items that were sent without success, so the next batch begins with unsent items.
      part.unconfirmed.unshift(...items);
      return;
    }
    try {
      this.lost.push(...(await part.send(items)));
      part.written.push(...items);
    } catch (error) {
      const [first] = items;
      const isSlow = hasWaited(error);
      if (isSlow) this.#timeouts++;
      if (!isOfOneRow(error) || this.#timeouts > MAX_TIMEOUTS) {
        this.failure = error;
        part.unconfirmed.push(...items);
      } else if (items.length === 1 && isBusy(error) && this.#mode === "locked_by") {
        part.unconfirmed.push(first as T);
        this.later ??= error;
      } else if (items.length === 1) await this.#settleRefused(first as T, part, error);
      else if (isSlow) await this.#splitLocked(items, part, error);
      else await this.#split(items, Math.ceil(items.length / 2), part);
    }
  }

  async #split<T>(items: readonly T[], size: number, part: Part<T>): Promise<void> {
    for (let n = 0; n < items.length; n += size) await this.#write(items.slice(n, n + size), part);
  }

  async #splitLocked<T>(items: readonly T[], part: Part<T>, error: unknown): Promise<void> {
    const { idOf: id } = part;
    let locked: readonly string[] = [];
    try {
      if (id !== null && this.#mode === "locked_by") {
        locked = await readLockedRows(this.#db, items.map(id));
      }
    } catch (failure) {
      this.failure ??= failure;
    }
    if (id === null || locked.length === 0) return this.#split(items, 1, part);
    const ids = new Set(locked);
    part.unconfirmed.push(...items.filter((item) => ids.has(id(item))));
    this.later ??= error;
    await this.#write(
      items.filter((item) => !ids.has(id(item))),
      part,
    );
  }

  async #settleRefused<T>(item: T, part: Part<T>, error: unknown): Promise<void> {
    try {
      part.onRefused(item, await withSkippers(this.#db, part.change, error));
    } catch (failure) {
      this.failure = failure;
      part.unconfirmed.push(item);
    }
  }
}

function emptyBatch(isRepeated: boolean): ResultBatch {
  return { done: [], failures: [], returned: [], unlockedQueues: [], isRepeated };
}

export function joinBatches(one: ResultBatch, other: ResultBatch): ResultBatch {
  return {
    done: [...one.done, ...other.done],
    failures: [...one.failures, ...other.failures],
    returned: [...one.returned, ...other.returned],
    unlockedQueues: [...one.unlockedQueues, ...other.unlockedQueues],
    isRepeated: one.isRepeated || other.isRepeated,
  };
}
