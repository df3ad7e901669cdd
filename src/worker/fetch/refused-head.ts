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
  /** If not null, jobs of managed queues are fetched, and no others. */
  readonly managed: ManagedFetch | null;
}

/** The maximum number of jobs of one named queue in a fetch. If equal shares for its queues are larger, they apply. */
const QUEUE_RUN_JOBS = 50;

/** Returns the form of the statement of a fetch, and its values. `done`: completed jobs to delete as well. */
export function formOf(
  workerId: string,
  { request, tasks, excluded }: Fetch,
  done: readonly string[],
): { readonly form: ReadyForm; readonly values: unknown[] } {
  const { want, queues, free, start } = request;
  const form: ReadyForm = {
    queues,
    // If queues have limits, a free queue is searched only on request: managed queues are always locked, so the search
    // may read all of them in vain.
    findsFreeQueue: request.findsFreeQueue || tasks.limitedQueues === null,
    flags: tasks.forbiddenFlags !== null,
    pauses: tasks.pauses,
    limits: queues && tasks.limitedQueues !== null,
    excluded: excluded.length > 0,
    free,
  };
  const values: unknown[] = [tasks.identifiers, want, workerId, `{${done.join(",")}}`];
  values.push(start.priority, start.runAtSeconds);
  // PostgreSQL requires every parameter to be used, so these values are added only for the forms that use them.
  if (queues) values.push(QUEUE_RUN_JOBS, tasks.runShares);
  if (form.flags) values.push(tasks.forbiddenFlags);
  if (form.limits) values.push(tasks.limitedQueues);
  if (form.excluded) values.push(idArray(excluded));
  return { form, values };
}

/**
 * Finds the job, or its queue, that makes PostgreSQL refuse a fetch of one job, or of one run of a managed queue. The
 * jobs' rows are locked before the updates are tested, so that no other job is blamed. Resolves to the job's id, or to
 * the queue's id as a negative number; to null if neither is found, for example because another worker has locked the
 * job by now; to undefined if the fetch requests more than one job or run. Never rejects.
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

// Without this, a trigger that is deferred to the commit would not fire before the rollback.
const checkedAtOnce = () => "set constraints all immediate";

/** Locks the rows of the jobs that the fetch would take, and returns their ids and those of their queues. */
async function headsOf(db: Database, workerId: string, fetch: Fetch): Promise<FetchHead[]> {
  if (fetch.managed !== null) return fetch.managed.pick(db, workerId, fetch);
  const { form, values } = formOf(workerId, fetch, []);
  return query<FetchHead>(db, headStatementOf(form), values);
}

const headStatementOf = builtPerForm(headStatement);
