// What plugins can observe and intercept. Observers are notified of events; interceptors make decisions.
import { types } from "node:util";
import { InputError, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { didYouMean } from "../../base/validate.ts";
import type { JobToAdd } from "../../domain/job-spec.ts";
import { events, interceptors } from "./hook-names.ts";
import type { TaskContext } from "./task-context.ts";
import type { TaskJob } from "./task-job.ts";

/**
 * The state of a local queue, as in Graphile Worker. `starting`: nothing has been fetched yet; `polling`: no fetched
 * job waits, and the worker may fetch; `waiting`: fetched jobs wait for a free slot; `ttl_expired`: fetched jobs were
 * given back to the database because they were not started in time; `released`: the local queue accepts no more jobs.
 */
export type LocalQueueMode = "starting" | "polling" | "waiting" | "ttl_expired" | "released";

/**
 * What was written for a job. `completed`: the job succeeded and its row is deleted. `skipped`: an interceptor skipped
 * the job and its row is deleted. `failed`: the attempt failed and its error is in `last_error`. `snoozed`: the job
 * runs again later, and the attempt does not count. `returned`: the job was unlocked without having started.
 * `unknown`: the connection was lost before the answer to the write, and the job is no longer locked by this worker.
 * The lost write may have succeeded, or another process may have taken the lock.
 */
export type JobResult = "completed" | "skipped" | "failed" | "snoozed" | "returned" | "unknown";

/** The reason why a worker continues under a new id. */
export type LeaseLoss = WorkerEvents["worker:leaseLost"]["reason"];

/**
 * The events of a worker: name → what observers receive. Durations are in milliseconds. `workerId` is the id that the
 * worker writes into `locked_by`.
 *
 * A job that runs emits `job:start`, then `job:success`, `job:error` or `job:snooze`, and after a `job:error` without
 * a retry also `job:failed`. These events, and `job:skip`, are emitted *before* the result is written: if the
 * connection is lost before the write, the job can run again. `job:complete` is emitted once the result is committed:
 * use this event to count jobs or to notify other systems.
 *
 * Graphile Worker's events and their counterparts here:
 *
 * | Graphile Worker | here |
 * |---|---|
 * | `job:start`, `job:success`, `job:error`, `job:failed` | the same; all but `job:start` have `durationMs` |
 * | `job:complete` | the same, also for skipped and returned jobs, with a `result`; `error` is a text |
 * | `worker:create`, `pool:create` | `worker:create`, once for each `Worker` |
 * | `worker:getJob:start`, `worker:getJob:empty` | `job:fetch`, with the number of jobs |
 * | `gracefulShutdown`, `pool:gracefulShutdown`, `worker:release` | `worker:shutdown` |
 * | `stop`, `pool:release`, `worker:stop` | the promise `worker.stopped` |
 * | `pool:listen:error`, `worker:getJob:error`, `worker:fatalError` | `worker:disconnected`, `worker:reconnected` |
 * | `cron:schedule` | `cron:tick`, after the write |
 * | `cron:scheduled` | the same, once for each job |
 * | `localQueue:init`, `localQueue:setMode` | the same |
 * | `localQueue:getJobs:complete`, `localQueue:returnJobs` | the same, with the number of jobs |
 * | `localQueue:refetchDelay:start`, `:abort`, `:expired` | the same |
 */
export interface WorkerEvents {
  /** A worker was created. */
  "worker:create": { workerId: string; concurrency: number; taskIdentifiers: readonly string[] };
  /** The worker has started and fetches jobs. */
  "worker:start": { workerId: string };
  /** The worker fetches no more jobs. `reason`: the argument of stop() or abort(), such as a signal's name. */
  "worker:shutdown": { workerId: string; reason: string };
  /** This worker recovered `jobs` jobs of stale workers. */
  "worker:recovered": { workerId: string; staleWorkerIds: readonly string[]; jobs: number };
  /**
   * The worker's lease was lost, and the worker continues under a new id. `recovered`: the worker was frozen or cut
   * off, and its jobs were recovered; `removed`: the worker's heartbeat row is missing; `restored`: the database is in
   * a state from before the worker's last heartbeat, for example after a failover or the restore of a backup.
   */
  "worker:leaseLost": {
    workerId: string;
    newWorkerId: string;
    reason: "recovered" | "removed" | "restored";
  };
  /** The safe mode has lost a connection, or cannot continue after an error. Emitted once for each outage. */
  "worker:disconnected": { workerId: string; error: Error };
  /** The safe mode continues after an outage. */
  "worker:reconnected": { workerId: string };
  /** A fetch returned `count` jobs, possibly 0, after `durationMs`. Not emitted for a fast lane's fetches. */
  "job:fetch": { workerId: string; count: number; durationMs: number };
  /** The job's handler is about to be called. In the safe mode, the database has already counted the attempt. */
  "job:start": { workerId: string; job: TaskJob };
  /** An interceptor skipped the job before its start. */
  "job:skip": { workerId: string; job: TaskJob };
  /** An attempt succeeded after `durationMs`. */
  "job:success": { workerId: string; job: TaskJob; durationMs: number };
  /** An attempt failed after `durationMs`. `willRetry`: another attempt follows. */
  "job:error": {
    workerId: string;
    job: TaskJob;
    error: Error;
    durationMs: number;
    willRetry: boolean;
  };
  /** The last attempt failed, or an attempt failed for good: no retry follows. */
  "job:failed": { workerId: string; job: TaskJob; error: Error; durationMs: number };
  /** The job snoozed or requested a back-off. It can run again after `delayMs`, and the attempt does not count. */
  "job:snooze": { workerId: string; job: TaskJob; delayMs: number };
  /** The job's result is committed, or `unknown`. `error`: the new `last_error` if `result` is `failed`, else null. */
  "job:complete": { workerId: string; job: TaskJob; result: JobResult; error: string | null };
  /**
   * A job was interrupted. `shutdown`: the job still ran when the time for the stop was over; the attempt failed, and
   * `job:error` is emitted, too. `lease_lost`: the job's lock was lost, for example because another worker recovered
   * the job; the result is not written, and `job:complete` is not emitted. `job` is null if the worker has only the
   * job's id.
   */
  "job:interrupted": {
    workerId: string;
    jobId: string;
    job: TaskJob | null;
    reason: "shutdown" | "lease_lost";
  };
  /** Cron entries or schedules were due at `timestamp`, and this or another worker has added or skipped their jobs. */
  "cron:tick": { workerId: string; timestamp: Date; taskIdentifiers: readonly string[] };
  /** This worker has added a job of the cron entry or schedule `identifier`. `backfilled`: see CronStamp. */
  "cron:scheduled": {
    workerId: string;
    timestamp: Date;
    identifier: string;
    taskIdentifier: string;
    jobId: string;
    backfilled: boolean;
  };
  /**
   * A local queue was created. A worker with limits has several local queues, and the events `localQueue:…` do not name
   * their local queue.
   */
  "localQueue:init": { workerId: string };
  /** The mode of a local queue has changed. */
  "localQueue:setMode": { workerId: string; oldMode: LocalQueueMode; newMode: LocalQueueMode };
  /** `count` jobs were fetched. */
  "localQueue:getJobs:complete": { workerId: string; count: number };
  /** `count` unstarted jobs are returned, for example after `ttlMs` or at a stop. The return is not written yet. */
  "localQueue:returnJobs": { workerId: string; count: number };
  /** A fetch found few jobs. The next fetch is delayed by at most `durationMs`. */
  "localQueue:refetchDelay:start": { workerId: string; durationMs: number };
  /** The delay ended early, because jobs may have become ready. `count`: the approximate number of announced jobs. */
  "localQueue:refetchDelay:abort": { workerId: string; count: number };
  /** The delay ended after its full duration. */
  "localQueue:refetchDelay:expired": { workerId: string };
}

/**
 * An interceptor's decision before a job runs or is added; for recoveries see `jobRecovery` of WorkerInterceptors.
 * `continue`: run or add the job. `skip`: complete the job without running it, or do not add it. `fail`: fail the
 * attempt, or reject the add, with `message`.
 */
export type Verdict =
  | { readonly action: "continue" }
  | { readonly action: "skip" }
  | { readonly action: "fail"; readonly message: string };

/** What an interceptor returns: a decision, or nothing. Nothing means `continue`, or in `afterJobRun` no change. */
export type InterceptorResult<Decision> =
  | Decision
  | undefined
  | void
  // biome-ignore lint/suspicious/noConfusingVoidType: a function without a return statement is an interceptor, too
  | Promise<Decision | undefined | void>;

/** The interceptors of a worker: name → function. */
export interface WorkerInterceptors {
  /**
   * Called before a job's handler. May skip the job or fail the attempt. A throw fails the attempt. `payloadText` is
   * the payload's exact JSON text.
   */
  beforeJobRun(input: {
    job: TaskJob;
    payloadText: string;
    context: TaskContext;
  }): InterceptorResult<Verdict>;
  /**
   * Called at the end of an attempt, before its result is written, even if `beforeJobRun` skipped the job. `error` is
   * null if the job succeeded or was skipped. A returned `error` with a text fails the attempt, a returned
   * `error: null` completes the job, and a throw fails the attempt. A stop or a cancel aborts the job's signal. If the
   * job still runs `abortGraceMs` later, the attempt fails, and `afterJobRun` cannot change this result.
   */
  afterJobRun(input: {
    job: TaskJob;
    error: Error | null;
    durationMs: number;
  }): InterceptorResult<{ readonly error: string | null }>;
  /**
   * Called for each job that this worker adds: by a task's context and utils, by `worker.utils`, by cron entries and by
   * schedules. May change or skip the job, or fail the add. A throw fails the add.
   */
  beforeJobSchedule(input: JobToAdd): InterceptorResult<ScheduleVerdict>;
  /**
   * Called before this worker recovers the jobs of a stale worker. `skip` leaves these jobs locked until another worker
   * recovers them, or until their locks are older than `staleLockThresholdMs` (default 4 hours). `fail` recovers the
   * jobs with `message` as their error. A throw postpones the recovery.
   */
  jobRecovery(input: { staleWorkerId: string }): InterceptorResult<Verdict>;
}

/** An interceptor's decision about a job that is to be added: a Verdict, or `change` with the job to add instead. */
export type ScheduleVerdict = Verdict | { readonly action: "change"; readonly job: JobToAdd };

/** A named set of observers and interceptors, for the option `plugins`. */
export interface Plugin {
  /** The plugin's name. The worker does not use it. */
  readonly name: string;
  /** Called once, when the worker is created: registers observers and interceptors. */
  register(hooks: Hooks): void;
}

/** A function that receives an event. The worker does not wait for the function, and only logs its errors. */
export type Observer<E extends keyof WorkerEvents> = (event: WorkerEvents[E]) => unknown;

const eventNames = Object.keys(events satisfies Record<keyof WorkerEvents, true>);
const interceptorNames = Object.keys(interceptors satisfies Record<keyof WorkerInterceptors, true>);
const NONE: readonly never[] = [];

/** The observers and interceptors of a worker. Plugins register functions here; applications can use `worker.hooks`. */
export class Hooks {
  readonly #observers = new Map<string, Observer<never>[]>();
  readonly #interceptors = new Map<string, unknown[]>();
  readonly #logger: Logger;

  /** Calls `register()` of each plugin. `logger` receives the errors of observers. */
  constructor(logger: Logger, plugins: readonly Plugin[] = []) {
    this.#logger = logger;
    for (const plugin of plugins) plugin.register(this);
  }

  /** Registers an observer of the event `name`. Throws InputError if no event has this name. */
  on<E extends keyof WorkerEvents>(name: E, observer: Observer<E>): void {
    assertHook("event", name, eventNames, observer);
    listOf(this.#observers, name).push(observer as Observer<never>);
  }

  /**
   * Registers an interceptor. Interceptors of one name run in the order of their registration. Throws InputError if no
   * interceptor has this name.
   */
  intercept<I extends keyof WorkerInterceptors>(name: I, interceptor: WorkerInterceptors[I]): void {
    assertHook("interceptor", name, interceptorNames, interceptor);
    listOf(this.#interceptors, name).push(interceptor);
  }

  /** Whether the event has an observer. */
  hasObservers(name: keyof WorkerEvents): boolean {
    return this.#observers.has(name);
  }

  /** Returns the interceptors of this name, in order. */
  interceptors<I extends keyof WorkerInterceptors>(name: I): readonly WorkerInterceptors[I][] {
    return (this.#interceptors.get(name) as WorkerInterceptors[I][] | undefined) ?? NONE;
  }

  /** Calls the observers of the event. Does not throw, and does not wait for promises. */
  emit<E extends keyof WorkerEvents>(name: E, event: WorkerEvents[E]): void {
    for (const observer of this.#observers.get(name) ?? []) {
      try {
        const result = (observer as Observer<E>)(event);
        if (types.isPromise(result)) result.catch((error) => this.#report(name, error));
      } catch (error) {
        this.#report(name, error);
      }
    }
  }

  #report(name: string, error: unknown): void {
    this.#logger.error({ hook: name, error: messageOf(error) }, "an observer failed");
  }
}

function assertHook(kind: string, name: string, names: readonly string[], hook: unknown): void {
  if (!names.includes(name)) {
    const hint = didYouMean(name, names) || `; expected one of ${names.join(", ")}`;
    throw new InputError(`there is no ${kind} "${name}"${hint}`);
  }
  if (typeof hook !== "function") throw new InputError(`${name}: must be a function`);
}

function listOf<T>(map: Map<string, T[]>, key: string): T[] {
  let list = map.get(key);
  if (list === undefined) {
    list = [];
    map.set(key, list);
  }
  return list;
}
