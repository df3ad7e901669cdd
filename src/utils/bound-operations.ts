// The operations on a job queue, such as addJob() and countJobs(), as functions that are bound to a database.
import { WorkerError } from "../base/errors.ts";
import { checkEach } from "../base/validate.ts";
import { completeJobs } from "../commands/jobs/complete-jobs.ts";
import { permanentlyFailJobs } from "../commands/jobs/permanently-fail-jobs.ts";
import { removeJob } from "../commands/jobs/remove-job.ts";
import { type JobChanges, rescheduleJobs } from "../commands/jobs/reschedule-jobs.ts";
import type { Database } from "../database/database.ts";
import {
  identifierOf,
  type JobByTask,
  type JobSpec,
  type JobToAdd,
  jobForInterceptors,
  SKIPPED,
  withIdentifier,
} from "../domain/job-spec.ts";
import { getJob } from "../insight/pages/get-job.ts";
import { countJobs } from "../insight/read/count-jobs.ts";
import { addJob } from "../queue/add/add-job.ts";
import { addJobs } from "../queue/add/add-jobs.ts";
import { coalescedAdd } from "../queue/add/coalesced-add.ts";
import type { OperatorOperations } from "./operator-operations.ts";
import { warnOfSkipped } from "./task-scope.ts";

/** Interceptors that run before a job is added. */
export interface BeforeAdd {
  /** Whether there are interceptors. If not, addJob() and addJobs() serialise payloads before they return. */
  isActive(): boolean;
  /** Resolves to the job to add; null: an interceptor skips the job. Rejects if an interceptor refuses the job. */
  intercept(job: JobToAdd): Promise<JobToAdd | null>;
}

type GivenJob = JobToAdd | JobByTask;
type GivenJobs = Iterable<GivenJob> | AsyncIterable<GivenJob>;

/** Returns the operations on `db`. `isShared`: whether concurrent calls of addJob() may share an insert. */
export function boundOperations(db: Database, isShared: boolean, before: BeforeAdd | null) {
  const add = addOperations(db, isShared, before);
  return tracedToCaller({
    ...add,
    ...onFirstUse(db, (job) => add.addJob(job.identifier, job.payload, job.spec)),
    completeJobs: async (ids: readonly string[]) =>
      warnOfSkipped(db, "completeJobs", ids, (await completeJobs(db, ids)).jobs),
    permanentlyFailJobs: async (ids: readonly string[], reason: string | null = null) =>
      warnOfSkipped(
        db,
        "permanentlyFailJobs",
        ids,
        (await permanentlyFailJobs(db, ids, reason)).jobs,
      ),
    rescheduleJobs: async (ids: readonly string[], changes: JobChanges) =>
      warnOfSkipped(db, "rescheduleJobs", ids, (await rescheduleJobs(db, ids, changes)).jobs),
    removeJob: (key: string) => removeJob(db, key),
    getJob: (id: string) => getJob(db, id),
    countJobs: () => countJobs(db),
  });
}

const OPERATOR_NAMES: Readonly<Record<keyof OperatorOperations, true>> = {
  addSchedule: true,
  changeSchedule: true,
  pauseSchedule: true,
  resumeSchedule: true,
  runSchedule: true,
  removeSchedule: true,
  getSchedule: true,
  listSchedules: true,
  cancelJobs: true,
  waitForCancelledJobs: true,
  listJobs: true,
  listQueues: true,
  listLockedWorkers: true,
  listActiveWorkers: true,
  cleanup: true,
  forceUnlockWorkers: true,
  pauseQueue: true,
  pauseTask: true,
  pauseAll: true,
  resumeQueue: true,
  resumeTask: true,
  resumeAll: true,
  listPauses: true,
  setLimit: true,
  removeLimit: true,
  endBackOff: true,
  getLimit: true,
  listLimits: true,
  sweepStaleWorkers: true,
};

/** Loads operator-operations.ts when one of its operations is first called. */
function onFirstUse(db: Database, add: (job: JobToAdd) => Promise<unknown>): OperatorOperations {
  const call = async (name: string, args: never[]) => {
    const { operatorOperations } = await import("./operator-operations.ts");
    return (operatorOperations(db, add) as Operations)[name]?.(...args);
  };
  const entries = Object.keys(OPERATOR_NAMES).map((name) => [
    name,
    (...args: never[]) => call(name, args),
  ]);
  return Object.fromEntries(entries) as OperatorOperations;
}

type Operations = Readonly<Record<string, (...args: never[]) => Promise<unknown>>>;

/**
 * Makes the stacks of WorkerErrors begin at the operation. V8 stores only ten frames of a stack, which could otherwise
 * all be frames of the library.
 */
function tracedToCaller<T extends Operations>(operations: T): T {
  const traced = Object.entries(operations).map(([name, call]) => [
    name,
    async (...args: never[]) => {
      try {
        return await call(...args);
      } catch (error) {
        if (error instanceof WorkerError) Error.captureStackTrace(error);
        throw error;
      }
    },
  ]);
  return Object.fromEntries(traced) as T;
}

function addOperations(db: Database, isShared: boolean, before: BeforeAdd | null) {
  // If `isShared` is false, each call sends its own statement, so that the order of the calls is kept.
  const add = isShared ? coalescedAdd(db) : (job: JobToAdd) => addJob(db, job);
  const active = (): BeforeAdd | null => (before?.isActive() === true ? before : null);
  return {
    addJob: async (task: string | JobByTask["task"], payload?: unknown, spec?: JobSpec) => {
      const givenJob = { identifier: identifierOf(task), payload, spec };
      const hook = active();
      const job = hook === null ? givenJob : await hook.intercept(jobForInterceptors(givenJob));
      return job === null ? null : add(job);
    },
    addJobs: async (jobs: readonly GivenJob[]) => {
      const hook = active();
      // addJobs() rejects anything but a list.
      if (hook === null || !Array.isArray(jobs)) return addJobs(db, jobs);
      const intercepted: JobToAdd[] = [];
      for (const job of checkedJobs(jobs)) intercepted.push((await hook.intercept(job)) ?? SKIPPED);
      return addJobs(db, intercepted);
    },
    copyJobs: async (jobs: GivenJobs) => {
      const hook = active();
      // Imported by the first call, because most processes never copy jobs.
      const { copyJobs, isIterable } = await import("../queue/add/copy-jobs.ts");
      return copyJobs(db, hook === null || !isIterable(jobs) ? jobs : interceptedJobs(hook, jobs));
    },
  };
}

async function* interceptedJobs(hook: BeforeAdd, jobs: GivenJobs): AsyncGenerator<JobToAdd> {
  let index = 0;
  for await (const given of jobs) {
    for (const job of checkedJobs([given], index++)) yield (await hook.intercept(job)) ?? SKIPPED;
  }
}

/** Errors name a job by its index, which begins at `from`. */
function checkedJobs(jobs: readonly GivenJob[], from = 0): JobToAdd[] {
  const checked: JobToAdd[] = [];
  checkEach("jobs", jobs, from, (job) => {
    checked.push(jobForInterceptors(withIdentifier(job)));
  });
  return checked;
}
