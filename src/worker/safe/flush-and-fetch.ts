// A round trip of the safe mode: writes results and fetches new jobs. If PostgreSQL refuses a statement that writes
// results, settleRefused() then writes the results that PostgreSQL accepts.
import { builtPerForm, type Database, parseIdArray, query } from "../../database/database.ts";
import { isBusy, isSlowTrigger } from "../../database/errors/database-errors.ts";
import { FetchedRows } from "../../queue/fetch/fetched-rows.ts";
import { type QuickRow, quickStatement } from "../../queue/fetch/quick-fetch.ts";
import { type TakeAnswer, takeStatement } from "../../queue/fetch/take-jobs.ts";
import { failJobs } from "../../queue/settle/fail.ts";
import { finishJobs } from "../../queue/settle/finish.ts";
import { returnJobs } from "../../queue/settle/give-back.ts";
import type { WorkerConnection } from "../connection/worker-connection.ts";
import { isRefusedOrBusy } from "../execute/refusals.ts";
import { batchOf, byStatement, idOf, type ResultBatch, toFailure } from "../execute/results.ts";
import {
  isOfOneRow,
  joinBatches,
  type SeparateResults,
  settleSeparately,
} from "../execute/settle-separately.ts";
import type { ManagedFetch } from "../fetch/managed-fetch.ts";
import { type Fetch, formOf, refusedHead } from "../fetch/refused-head.ts";

interface FetchResult {
  readonly rows: readonly FetchedRows[];
  /** See FlushAnswer. */
  readonly queuesAreFree: boolean | null;
  readonly nowSeconds: number;
  /** The ids of completed jobs that the statement of the fetch did not delete, because their lock was lost. */
  readonly lost: string[];
}

export interface FlushAnswer {
  /** null: no fetch was requested, or it failed. */
  readonly rows: readonly FetchedRows[] | null;
  /**
   * Whether some named queue is unlocked, so that the next fetch should read jobs of named queues, too; null: unknown.
   * Without meaning after a quick fetch, and after a fetch from managed queues, which are queues under a limit.
   */
  readonly queuesAreFree: boolean | null;
  /** The time of the fetch by the database's clock, in seconds since the epoch; 0: unknown, as after a quick fetch. */
  readonly nowSeconds: number;
  readonly written: ResultBatch;
  /** The ids of the jobs in `written` whose lock was lost. */
  readonly lost: readonly string[];
  /** Results whose write has failed, or may have failed because the connection was lost; without those of `refused`. */
  readonly unconfirmed: ResultBatch;
  /**
   * The error of a failed statement; null: no statement failed, or only statements whose results are in `refused`. Even
   * if there is an error, the other members are valid.
   */
  readonly failure: unknown;
  /**
   * The results of statements that failed, perhaps because of a single row, and the first of their errors; null: there
   * are none. If the row of a statement's only result was busy, the result is in `unconfirmed` instead.
   */
  readonly refused: { readonly batch: ResultBatch; readonly error: unknown } | null;
  /** What settleRefused() did with the results of `refused`; null: it was not called, or `refused` was null. */
  readonly separate: SeparateResults | null;
  /**
   * The id of the job, or the negated id of the named queue, because of which PostgreSQL refuses the fetch. null: no
   * such job or queue was found. undefined: no fetch was refused, or the refused fetch requested several jobs or runs
   * of queues.
   */
  readonly refusedId: string | null | undefined;
}

/** Whether `failure` shows that a change was not made: PostgreSQL refused it, or a lock or a conflict prevented it. */
export const isRefused = ({ failure }: FlushAnswer): boolean =>
  failure !== null && isRefusedOrBusy(failure);

type ResultPart = Partial<Omit<ResultBatch, "isRepeated">>;

interface PendingWrite {
  readonly part: ResultPart;
  /** Resolves to the ids of jobs whose lock was lost. */
  readonly lost: Promise<string[]>;
}

/** Writes results and fetches new jobs. */
export async function flushAndFetch(
  connection: WorkerConnection,
  workerId: string,
  batch: ResultBatch,
  fetch: Fetch | null,
): Promise<FlushAnswer> {
  const { done, unlockedQueues, isRepeated } = batch;
  // In most cases, the statement of the fetch also deletes the completed jobs. A separate statement before the fetch
  // deletes them if the fetch may take long (isPatient) or is for managed queues, or if the batch unlocks named queues:
  // a statement that both unlocks queues and fetches their jobs can deadlock with such a statement of another worker.
  // A quick fetch deletes no jobs, but it is sent only if there are no results.
  const deletesFirst =
    fetch === null ||
    fetch.managed !== null ||
    fetch.request.isPatient ||
    unlockedQueues.length > 0;
  const writes = writesOf(
    connection.database,
    workerId,
    deletesFirst ? batch : { ...batch, done: [] },
  );
  let answer: FetchResult | null = null;
  if (fetch !== null) {
    const taking =
      fetch.managed !== null
        ? takeManaged(connection, workerId, fetch, fetch.managed)
        : fetch.request.isQuick
          ? takeQuickly(connection, workerId, fetch)
          : take(connection, workerId, fetch, deletesFirst ? [] : done.map(idOf));
    const lost = taking.then((fetched) => {
      answer = fetched;
      return fetched.lost;
    });
    writes.push({ part: deletesFirst ? {} : { done }, lost });
  }
  // Each statement is a transaction of its own. If one statement fails, the others may have been committed, and the
  // jobs of a successful fetch are locked.
  const outcomes = await Promise.allSettled(writes.map(({ lost }) => lost));
  const written: ResultPart[] = [];
  const refused: ResultPart[] = [];
  const unconfirmed: ResultPart[] = [];
  const lost: string[] = [];
  let [refusal, failure, fetchFailure]: unknown[] = [null, null, null];
  for (const [index, one] of outcomes.entries()) {
    const { part } = writes[index] as PendingWrite;
    if (one.status === "fulfilled") {
      written.push(part);
      lost.push(...one.value);
    } else if (isOfOneRow(one.reason) && resultsIn(part) > (isBusy(one.reason) ? 1 : 0)) {
      refused.push(part);
      refusal ??= one.reason;
    } else {
      unconfirmed.push(part);
      // A refused statement has certainly changed nothing. A fetch whose connection was lost may have locked jobs. So
      // the error of a later statement replaces a refusal in `failure`.
      if (failure === null || isRefusedOrBusy(failure)) failure = one.reason;
      if (fetch !== null && index === writes.length - 1) fetchFailure = one.reason;
    }
  }
  const fetched = answer as FetchResult | null;
  // A fetch that has reached its time limit in a trigger counts as refused only if the limit was a minute (isPatient).
  // A fetch with a shorter limit is repeated with a limit of a minute.
  const isFetchRefused =
    fetchFailure !== null &&
    isOfOneRow(fetchFailure) &&
    (fetch?.request.isPatient === true || !isSlowTrigger(fetchFailure));
  return {
    ...(fetched ?? { rows: null, queuesAreFree: null, nowSeconds: 0 }),
    written: batchOf(isRepeated, written),
    unconfirmed: batchOf(isRepeated, unconfirmed),
    ...{ lost, failure, separate: null },
    refused: refusal === null ? null : { batch: batchOf(isRepeated, refused), error: refusal },
    refusedId:
      fetch !== null && isFetchRefused ? await refusedHead(connection, workerId, fetch) : undefined,
  };
}

/**
 * Writes those results in `refused` that PostgreSQL accepts (settle-separately.ts), and returns the changed answer. May
 * wait for locks of rows. Never rejects.
 */
export async function settleRefused(
  { database }: WorkerConnection,
  workerId: string,
  answer: FlushAnswer,
): Promise<FlushAnswer> {
  const { refused } = answer;
  if (refused === null) return answer;
  const { batch, error } = refused;
  const separate = await settleSeparately(database, workerId, batch, "locked_by", error);
  return {
    ...answer,
    written: joinBatches(answer.written, separate.written),
    lost: [...answer.lost, ...separate.lost],
    unconfirmed: joinBatches(answer.unconfirmed, separate.unconfirmed),
    failure: answer.failure ?? separate.failure,
    refused: null,
    separate,
  };
}

const resultsIn = (part: ResultPart): number => Object.values(part).flat().length;

function writesOf(
  db: Database,
  workerId: string,
  { failures, done, returned, unlockedQueues }: ResultBatch,
): PendingWrite[] {
  const writes: PendingWrite[] = [];
  for (const some of byStatement(failures)) {
    const lost = failJobs(db, workerId, some.map(toFailure), "locked_by");
    writes.push({ part: { failures: some }, lost });
  }
  const unlockedWithDone = returned.length > 0 ? [] : unlockedQueues;
  if (done.length + unlockedWithDone.length > 0) {
    const lost = finishJobs(db, workerId, done.map(idOf), "locked_by", unlockedWithDone);
    writes.push({ part: { done, unlockedQueues: unlockedWithDone }, lost });
  }
  if (returned.length > 0) {
    const keyed = returned.filter(({ key }) => key !== null).map(idOf);
    const lost = returnJobs(db, workerId, returned.map(idOf), unlockedQueues, keyed);
    writes.push({ part: { returned, unlockedQueues }, lost });
  }
  return writes;
}

async function take(
  connection: WorkerConnection,
  workerId: string,
  fetch: Fetch,
  done: readonly string[],
): Promise<FetchResult> {
  const { form, values } = formOf(workerId, fetch, done);
  const work = (db: Database) => query<TakeAnswer>(db, takeStatementOf(form), values);
  const [row] = fetch.request.isPatient
    ? await connection.runPatiently(work)
    : await connection.withSettings(() => work(connection.database));
  const { now_s, queues: queuesAreFree, lost } = row as TakeAnswer;
  return {
    rows: [new FetchedRows(row as TakeAnswer)],
    ...{ queuesAreFree, nowSeconds: now_s, lost: parseIdArray(lost) },
  };
}

async function takeManaged(
  connection: WorkerConnection,
  workerId: string,
  fetch: Fetch,
  managed: ManagedFetch,
): Promise<FetchResult> {
  const { rows, nowSeconds } = await managed.take(connection, workerId, fetch);
  return { rows: [rows], queuesAreFree: false, nowSeconds, lost: [] };
}

async function takeQuickly(
  { database }: WorkerConnection,
  workerId: string,
  { request, tasks: { identifiers, forbiddenFlags, pauses } }: Fetch,
): Promise<FetchResult> {
  const flags = forbiddenFlags !== null;
  const statement = quickStatementOf({ flags, pauses, mode: "locked_by" });
  const values = [identifiers, request.want, workerId, ...(flags ? [forbiddenFlags] : [])];
  const jobs = await query<QuickRow>(database, statement, values);
  const rows = jobs.map(({ job }) => FetchedRows.ofOne(job));
  return { rows, queuesAreFree: false, nowSeconds: 0, lost: [] };
}

const takeStatementOf = builtPerForm(takeStatement);
const quickStatementOf = builtPerForm(quickStatement);
