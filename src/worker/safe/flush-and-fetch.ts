// A round trip of the safe mode: writes results and fetches new jobs.
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
  readonly queuesAreFree: boolean | null;
  readonly nowSeconds: number;
  /** The ids of completed jobs whose lock was lost. */
  readonly lost: string[];
}

export interface FlushAnswer {
  /** null: no fetch was requested, or it failed. */
  readonly rows: readonly FetchedRows[] | null;
  /**
   * Whether some named queue is unlocked, so that the next fetch should read jobs of named queues, too; null: unknown.
   * Without meaning after a quick fetch, and after a fetch from queues under a limit.
   */
  readonly queuesAreFree: boolean | null;
  /** The time of the fetch by the database's clock, in seconds since the epoch; 0: unknown. */
  readonly nowSeconds: number;
  readonly written: ResultBatch;
  /** The ids of the jobs in `written` whose lock was lost. */
  readonly lost: readonly string[];
  /** Results whose write has failed or may have failed, without those of `refused`. */
  readonly unconfirmed: ResultBatch;
  /** The error of a failed statement whose results are not in `refused`; null: there is no such statement. */
  readonly failure: unknown;
  /** The results for settleRefused(): their statements have failed, perhaps because of a single row. */
  readonly refused: { readonly batch: ResultBatch; readonly error: unknown } | null;
  /** What settleRefused() did with the results of `refused`; null: nothing. */
  readonly separate: SeparateResults | null;
  /**
   * The id of the job, or the negated id of the named queue, because of which PostgreSQL refuses the fetch. null: not
   * found. undefined: no fetch was refused, or the refused fetch requested several jobs or runs of queues.
   */
  readonly refusedId: string | null | undefined;
}

/** Whether `failure` shows that the failed statement has changed nothing. */
export const isRefused = ({ failure }: FlushAnswer): boolean =>
  failure !== null && isRefusedOrBusy(failure);

type ResultPart = Partial<Omit<ResultBatch, "isRepeated">>;

interface PendingWrite {
  readonly part: ResultPart;
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
  // If false, the statement of the fetch also deletes the completed jobs. A patient fetch, which may take up to a
  // minute, would delay the deletion. A statement that both unlocks queues and fetches their jobs can deadlock with
  // such a statement of another worker. A quick fetch deletes no jobs, but is sent only if there are no results.
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
  // Each statement is a transaction of its own. If one statement fails, the others may have been committed.
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
  // A fetch that exceeds a short time limit in a trigger does not count as refused: the next fetch may take a minute.
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
