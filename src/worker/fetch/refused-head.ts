// Chooses the form of a fetch's statement, and finds the job or queue that makes PostgreSQL refuse a fetch.
import { builtPerForm, type Database, idArray, query } from "../../database/database.ts";
import type { ReadyForm } from "../../queue/fetch/fetch-form.ts";
import { keepJobs, keepQueue } from "../../queue/fetch/lock-jobs.ts";
import { headStatement } from "../../queue/fetch/take-jobs.ts";
import type { WorkerConnection } from "../connection/worker-connection.ts";
import { isOfOneRow } from "../execute/settle-separately.ts";
import type { FetchHead, ManagedFetch, ManagedRequest } from "./managed-fetch.ts";

/** A fetch of the safe mode. */
export interface Fetch extends ManagedRequest {
  /** Not null: only jobs of managed queues (named queues under a limit) are fetched. */
  readonly managed: ManagedFetch | null;
}

/**
 * The maximum number of jobs in a run of a named queue. If `want`, divided by the number of queues that the fetch
 * locks, is higher, the quotient is the maximum.
 */
const QUEUE_RUN_JOBS = 50;

/**
 * Returns the form of a fetch's statement, and the values of its parameters. `done`: the ids of completed jobs that the
 * statement also deletes.
 */
export function formOf(
  workerId: string,
  { request, tasks, excluded }: Fetch,
  done: readonly string[],
): { readonly form: ReadyForm; readonly values: unknown[] } {
  const { want, queues, free, start } = request;
  const form: ReadyForm = {
    queues,
    // Managed queues are always locked, so a search for an unlocked queue may read all of them and find none.
    findsFreeQueue: request.findsFreeQueue || tasks.limitedQueues === null,
    flags: tasks.forbiddenFlags !== null,
    pauses: tasks.pauses,
    limits: queues && tasks.limitedQueues !== null,
    excluded: excluded.length > 0,
    free,
  };
  const values: unknown[] = [tasks.identifiers, want, workerId, `{${done.join(",")}}`];
  values.push(start.priority, start.runAtSeconds);
  // PostgreSQL requires a statement to use every parameter.
  if (queues) values.push(QUEUE_RUN_JOBS, tasks.runShares);
  if (form.flags) values.push(tasks.forbiddenFlags);
  if (form.limits) values.push(tasks.limitedQueues);
  if (form.excluded) values.push(idArray(excluded));
  return { form, values };
}

/**
 * Finds the job or queue that makes PostgreSQL refuse a fetch of one job, or of one run of a managed queue. Resolves to
 * the id of the job, or to the negated id of the queue. Null: neither was found. Undefined: the fetch requests more
 * than one job or run. Never rejects.
 */
export async function refusedHead(
  connection: WorkerConnection,
  workerId: string,
  fetch: Fetch,
): Promise<string | null | undefined> {
  if (fetch.request.want > 1) return undefined;
  const { database } = connection;
  const isManaged = fetch.managed !== null;
  let id: string | null = null;
  try {
    await connection.begin();
    await query(database, checkedAtOnce);
    for (const head of await headsOf(database, workerId, fetch)) {
      id = head.id;
      await keepJobs(database, workerId, [id]);
      id = head.queue;
      if (id !== null) await keepQueue(database, workerId, id, isManaged);
    }
    await connection.rollback();
    return null;
  } catch (error) {
    await connection.rollback().catch(() => {});
    return isOfOneRow(error) ? id : null;
  }
}

// Makes deferred triggers fire at once, because the transaction is never committed.
const checkedAtOnce = () => "set constraints all immediate";

/** Locks the rows of the jobs that the fetch would take, so that no other session changes the rows before the test. */
async function headsOf(db: Database, workerId: string, fetch: Fetch): Promise<FetchHead[]> {
  if (fetch.managed !== null) return fetch.managed.pick(db, workerId, fetch);
  const { form, values } = formOf(workerId, fetch, []);
  return query<FetchHead>(db, headStatementOf(form), values);
}

const headStatementOf = builtPerForm(headStatement);
