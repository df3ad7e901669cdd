// One round trip of the safe mode: it flushes the results of jobs to the database and fetches new jobs.

import {
  builtOnce,
  type Database,
  parseIdArray,
  query,
  type Statement,
} from "../../database/database.ts";
import { isRefusedResult } from "../../database/errors/database-errors.ts";
import type { ReadyForm } from "../../queue/fetch/fetch-form.ts";
import { FetchedRows } from "../../queue/fetch/fetched-rows.ts";
import { type QuickRow, quickStatement } from "../../queue/fetch/quick-fetch.ts";
import { type TakeAnswer, takeStatement } from "../../queue/fetch/take-jobs.ts";
import { failJobs } from "../../queue/settle/fail.ts";
import { finishJobs } from "../../queue/settle/finish.ts";
import { returnJobs } from "../../queue/settle/give-back.ts";
import type { WorkerConnection } from "../connection/worker-connection.ts";
import { batchOf, idOf, type ResultBatch, toFailure } from "../execute/results.ts";
import { type Apart, joined, settleApart } from "../execute/settle-apart.ts";
import type { FetchRequest } from "../fetch/fetch-plan.ts";
import type { TaskParameters } from "../fetch/task-parameters.ts";

/** A fetch that goes with the flush. A quick one goes without results. */
export interface Fetch {
  readonly request: FetchRequest;
  readonly tasks: TaskParameters;
}

/** What a fetch has locked. */
interface Taken {
  readonly rows: readonly FetchedRows[];
  /** Some named queue is free. */
  readonly queuesAreFree: boolean;
  readonly nowSeconds: number;
  /** Finished jobs that were no longer ours. */
  readonly lost: string[];
}

export interface FlushAnswer {
  /** null: nothing was fetched, or it failed. */
  readonly rows: readonly FetchedRows[] | null;
  /** Some named queue is free: the next fetch should look at queued jobs, too. */
  readonly queuesAreFree: boolean;
  /** The fetch's moment by the database's clock, seconds since the epoch. */
  readonly nowSeconds: number;
  readonly written: ResultBatch;
  /** Jobs among them that were no longer ours. */
  readonly lost: readonly string[];
  /** What failed, or, when the connection was lost, may have failed. */
  readonly unconfirmed: ResultBatch;
  /** Why some result was not written, or nothing fetched; what came is to be kept all the same. */
  readonly failure: unknown;
  /** What was settled apart, because PostgreSQL refuses a part of it; nothing was fetched with that. */
  readonly apart: Apart | null;
}

/**
 * Jobs of one named queue that are taken at once. They run one after another, so more would only
 * keep them from other workers for longer.
 */
const QUEUE_RUN_JOBS = 50;

/** A statement on its way, and the results that it writes. */
interface Write {
  readonly part: Partial<ResultBatch>;
  /** Jobs that were no longer ours. */
  readonly lost: Promise<string[]>;
}

/** Writes results and takes new jobs, all in one round trip. */
export async function flushAndFetch(
  connection: WorkerConnection,
  workerId: string,
  batch: ResultBatch,
  fetch: Fetch | null,
): Promise<FlushAnswer> {
  const { done, freedQueues, isRepeated } = batch;
  // Freeing a queue and taking queued jobs in one statement deadlocks with another worker that
  // does the same, so then the deletes go ahead of the fetch. Nor do they wait for one that may take long.
  const isApart = fetch === null || fetch.request.isPatient || freedQueues.length > 0;
  const writes = writesOf(connection.database, workerId, isApart ? batch : { ...batch, done: [] });
  let answer: Taken | null = null;
  if (fetch !== null) {
    const taking = fetch.request.isQuick
      ? takeQuickly(connection, workerId, fetch)
      : take(connection, workerId, fetch, isApart ? [] : done.map(idOf));
    const lost = taking.then((taken) => {
      answer = taken;
      return taken.lost;
    });
    writes.push({ part: isApart ? {} : { done }, lost });
  }
  // Each statement is a transaction of its own: when one fails, the others stand, and the jobs of
  // a fetch that went through are ours.
  const outcomes = await Promise.allSettled(writes.map(({ lost }) => lost));
  const together = (is: (outcome: PromiseSettledResult<string[]>, write: Write) => boolean) =>
    batchOf(
      isRepeated,
      writes.filter((one, index) => is(outcomes[index] as never, one)).map(({ part }) => part),
    );
  const isWritten = ({ status }: PromiseSettledResult<string[]>) => status === "fulfilled";
  const isRefused = (one: PromiseSettledResult<string[]>, { part }: Write) =>
    one.status === "rejected" && hasJobs(part) && isRefusedResult(one.reason);
  const refused = together(isRefused);
  const apart = hasJobs(refused)
    ? await settleApart(connection.database, workerId, refused, "locked_by")
    : null;
  const taken = answer as Taken | null;
  const written = together(isWritten);
  const unconfirmed = together((one, write) => !isWritten(one) && !isRefused(one, write));
  const lost = outcomes.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
  const broken = outcomes.find((one, index) => {
    return one.status === "rejected" && !isRefused(one, writes[index] as Write);
  }) as PromiseRejectedResult | undefined;
  return {
    rows: taken?.rows ?? null,
    queuesAreFree: taken?.queuesAreFree ?? false,
    nowSeconds: taken?.nowSeconds ?? 0,
    written: apart === null ? written : joined(written, apart.written),
    lost: apart === null ? lost : [...lost, ...apart.lost],
    unconfirmed: apart === null ? unconfirmed : joined(unconfirmed, apart.unconfirmed),
    failure: broken?.reason ?? apart?.failure ?? null,
    apart,
  };
}

function hasJobs({ done = [], failures = [], returned = [] }: Partial<ResultBatch>): boolean {
  return done.length + failures.length + returned.length > 0;
}

function writesOf(
  db: Database,
  workerId: string,
  { failures, done, returned, freedQueues }: ResultBatch,
): Write[] {
  const writes: Write[] = [];
  if (failures.length > 0) {
    const lost = failJobs(db, workerId, failures.map(toFailure), "locked_by");
    writes.push({ part: { failures }, lost });
  }
  const freedWithDone = returned.length > 0 ? [] : freedQueues;
  if (done.length + freedWithDone.length > 0) {
    const lost = finishJobs(db, workerId, done.map(idOf), "locked_by", freedWithDone);
    writes.push({ part: { done, freedQueues: freedWithDone }, lost });
  }
  if (returned.length > 0) {
    const keyed = returned.filter(({ key }) => key !== null).map(idOf);
    const lost = returnJobs(db, workerId, returned.map(idOf), freedQueues, keyed);
    writes.push({ part: { returned, freedQueues }, lost });
  }
  return writes;
}

async function take(
  connection: WorkerConnection,
  workerId: string,
  { request, tasks }: Fetch,
  done: readonly string[],
): Promise<Taken> {
  const { want, isPatient, queues, free, start } = request;
  const form: ReadyForm = { queues, flags: tasks.forbiddenFlags !== null, free };
  const values: unknown[] = [tasks.identifiers, want, workerId, `{${done.join(",")}}`];
  values.push(start.priority, start.runAtSeconds);
  // PostgreSQL wants each parameter to be used: these exist only in the forms that have them.
  if (queues) values.push(QUEUE_RUN_JOBS, tasks.runShares);
  if (form.flags) values.push(tasks.forbiddenFlags);
  const statement = statementOf(JSON.stringify(form), () => takeStatement(form));
  const work = (db: Database) => query<TakeAnswer>(db, statement, values);
  const [row] = isPatient
    ? await connection.patiently(work)
    : await connection.within(() => work(connection.database));
  const { now_s, queues: queuesAreFree, lost } = row as TakeAnswer;
  return {
    rows: [new FetchedRows(row as TakeAnswer)],
    ...{ queuesAreFree, nowSeconds: now_s, lost: parseIdArray(lost) },
  };
}

async function takeQuickly(
  { database }: WorkerConnection,
  workerId: string,
  { request, tasks: { identifiers, forbiddenFlags } }: Fetch,
): Promise<Taken> {
  const flags = forbiddenFlags !== null;
  const statement = statementOf(`quick ${flags}`, () => {
    return quickStatement({ flags, mode: "locked_by" });
  });
  const values = [identifiers, request.want, workerId, ...(flags ? [forbiddenFlags] : [])];
  const jobs = await query<QuickRow>(database, statement, values);
  const rows = jobs.map(({ job }) => FetchedRows.ofOne(job));
  return { rows, queuesAreFree: false, nowSeconds: 0, lost: [] };
}

const statements = new Map<string, Statement>();

function statementOf(key: string, make: () => Statement): Statement {
  let statement = statements.get(key);
  if (statement === undefined) {
    statement = builtOnce(make());
    statements.set(key, statement);
  }
  return statement;
}
