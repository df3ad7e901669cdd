// Logs a warning if a task calls completeJobs() or a similar method for a job that runs on the task's worker. The call
// skips such a job, because the job is locked. The result of makeWorkerUtils() has no worker, so the task's worker is
// found through an asynchronous context.
import { AsyncLocalStorage, AsyncResource } from "node:async_hooks";
import type { Logger } from "../base/logger.ts";
import type { Database } from "../database/database.ts";
import type { Job } from "../domain/job.ts";
import { getJob } from "../insight/pages/get-job.ts";

interface TaskScope {
  readonly worker: { readonly workerId: string; readonly logger: Logger };
  /** Whether the worker runs a job with this id. A call on another schema may name a different job with this id. */
  readonly isRunning: (id: string) => boolean;
  /** The methods for which the warning was logged. */
  readonly warned: Set<string>;
}

const scopes = new AsyncLocalStorage<TaskScope>();

/**
 * Returns the asynchronous context in which a worker runs all its jobs. To run a job in an AsyncResource costs a tenth
 * of the time that the function of AsyncLocalStorage.snapshot() takes.
 */
export function taskContext(
  worker: TaskScope["worker"],
  isRunning: TaskScope["isRunning"],
): AsyncResource {
  const scope = { worker, isRunning, warned: new Set<string>() };
  return scopes.run(scope, () => new AsyncResource("pg-job-worker"));
}

/**
 * Logs the warning, at most once for each method in one context. `call`: the method's name. `ids`: the jobs in the
 * call. Returns `changed`, the jobs that the call changed.
 */
export async function warnOfSkipped(
  db: Database,
  call: string,
  ids: readonly string[],
  changed: Job[],
): Promise<Job[]> {
  const scope = scopes.getStore();
  if (scope === undefined || changed.length === ids.length || scope.warned.has(call))
    return changed;
  const id = ids.find((one) => scope.isRunning(one) && !changed.some((job) => job.id === one));
  const job = id === undefined ? null : await getJob(db, id).catch(() => null);
  if (job?.lockedBy !== scope.worker.workerId || scope.warned.has(call)) return changed;
  scope.warned.add(call);
  scope.worker.logger.warn({ job_id: id, call }, RUNS_HERE);
  return changed;
}

const RUNS_HERE =
  "a task's call skipped a job that runs on the task's worker, because a running job is locked: a task completes its own job by returning, and retries it by throwing";
