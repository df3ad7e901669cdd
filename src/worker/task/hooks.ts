// What plugins can observe and intercept. Observers are notified of events, and their errors are only logged.
// Interceptors make decisions: an error in an interceptor fails the attempt or the add, or postpones the recovery.
import { types } from "node:util";
import { InputError, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { didYouMean } from "../../base/validate.ts";
import type { JobToAdd } from "../../domain/job-spec.ts";
import { events, interceptors } from "./hook-names.ts";
import type { TaskContext } from "./task-context.ts";
import type { TaskJob } from "./task-job.ts";

/**
 * The state of a worker's local queue, as in Graphile Worker. `starting`: nothing has been fetched yet; `polling`: the
 * queue is empty and jobs are being fetched; `waiting`: fetched jobs wait for a free slot; `ttl_expired`: fetched jobs
 * were returned to the database because they were not started in time; `released`: the worker is stopping.
 */
export type LocalQueueMode = "starting" | "polling" | "waiting" | "ttl_expired" | "released";

/**
 * What was written for a job. `completed`: it succeeded and its row is deleted. `skipped`: an interceptor skipped it
 * and its row is deleted. `failed`: the attempt failed and its error is in `last_error`. `snoozed`: the job runs again
 * later, and the attempt does not count. `returned`: it was unlocked without having started. `unknown`: the connection
 * was lost before the answer, and this worker no longer holds the job's lock: the result was written, or another worker
 * has the job.
 */
export type JobResult = "completed" | "skipped" | "failed" | "snoozed" | "returned" | "unknown";

/** The reason why a worker continues under a new id. */
export type LeaseLoss = WorkerEvents["worker:leaseLost"]["reason"];

/**
 * The events of a worker: name → what observers receive. Durations are in milliseconds; `workerId` is the value of
 * `locked_by`. Events of jobs have Graphile Worker's names and meanings.
 *
 * A job that runs emits `job:start`, then `job:success`, `job:error` or `job:snooze`, and after its last attempt's
 * `job:error` also `job:failed`. These events are emitted *before* the result is written: if the connection is lost in
 * between, the job can run again. `job:complete` is emitted for each result once it is committed: use this event to
 * count jobs or to notify other systems. When another worker has taken the job over, the result is not written, and
 * `job:interrupted` with `lease_lost` is emitted instead of `job:complete`.
 *
 * Graphile Worker's events and their counterparts here:
 *
 * | Graphile Worker | here |
 * |---|---|
 * | `job:start`, `job:success`, `job:error`, `job:failed` | the same, with `durationMs` when the handler has ended |
 * | `job:complete` | the same; `result` is also set for jobs that were skipped or returned; `error` is a text |
 * | `worker:create`, `pool:create` | `worker:create`, once for each `Worker` |
 * | `worker:getJob:start`, `worker:getJob:empty` | `job:fetch`, with the number of jobs |
 * | `gracefulShutdown`, `pool:gracefulShutdown`, `worker:release` | `worker:shutdown` |
 * | `stop`, `pool:release`, `worker:stop` | the promise `worker.stopped` |
 * | `pool:listen:error`, `worker:getJob:error`, `worker:fatalError` | `worker:disconnected`, `worker:reconnected` |
 * | `cron:schedule` | `cron:tick`, after the write |
 * | `cron:scheduled` | the same, once for each job |
 * | `localQueue:init`, `localQueue:setMode`, `localQueue:getJobs:complete`, `localQueue:returnJobs` | the same, with the number of jobs |
 * | `localQueue:refetchDelay:start`, `:abort`, `:expired` | the same |
 */
export interface WorkerEvents {
  /** A worker was created. It has not started. */
  "worker:create": { workerId: string; concurrency: number; taskIdentifiers: readonly string[] };
  /** The worker has started and fetches jobs. */
  "worker:start": { workerId: string };
  /** The worker fetches no more jobs; running ones continue. `reason`: the one given to stop(), or a signal's name. */
  "worker:shutdown": { workerId: string; reason: string };
  /** This worker recovered `jobs` jobs of stale workers. */
  "worker:recovered": { workerId: string; staleWorkerIds: readonly string[]; jobs: number };
  /**
   * The worker's lease was lost, and it continues under a new id. `recovered`: it was frozen or cut off, and another
   * worker recovered its jobs; `removed`: its heartbeat row is missing; `restored`: the database is in a state from
   * before the worker's last heartbeat, as after a restore, or a failover to a standby that lagged behind.
   */
  "worker:leaseLost": {
    workerId: string;
    newWorkerId: string;
    reason: "recovered" | "removed" | "restored";
  };
  /** The connection to the database was lost. Emitted once for each outage. */
  "worker:disconnected": { workerId: string; error: Error };
  /** The database can be reached again. Emitted once for each outage. */
  "worker:reconnected": { workerId: string };
  /** A fetch was answered with `count` jobs, 0 included, after `durationMs`. Not emitted for a fast lane's fetches. */
  "job:fetch": { workerId: string; count: number; durationMs: number };
  /** The job's handler is about to be called. Its attempt is committed, except in the fast lane. */
  "job:start": { workerId: string; job: TaskJob };
  /** An interceptor skipped the job before its start. Not written yet. */
  "job:skip": { workerId: string; job: TaskJob };
  /** The job's handler succeeded after `durationMs`. Not written yet. */
  "job:success": { workerId: string; job: TaskJob; durationMs: number };
  /** An attempt failed after `durationMs`. `willRetry`: another one follows. Not written yet. */
  "job:error": {
    workerId: string;
    job: TaskJob;
    error: Error;
    durationMs: number;
    willRetry: boolean;
  };
  /** The job will not be retried: its last attempt failed, or one failed for good. Not written yet. */
  "job:failed": { workerId: string; job: TaskJob; error: Error; durationMs: number };
  /** The job snoozed: it runs again after `delayMs`, and its attempt does not count. Not written yet. */
  "job:snooze": { workerId: string; job: TaskJob; delayMs: number };
  /** The job's result is committed. `error`: the new `last_error`; null unless the attempt failed. */
  "job:complete": { workerId: string; job: TaskJob; result: JobResult; error: string | null };
  /**
   * A job was interrupted. `shutdown`: it still ran when the stop's time was over; the attempt counts as failed, and
   * `job:error` is emitted, too. `lease_lost`: another worker has taken the job over, and the result was not written;
   * `job` is null when only its id is available.
   */
  "job:interrupted": {
    workerId: string;
    jobId: string;
    job: TaskJob | null;
    reason: "shutdown" | "lease_lost";
  };
  /** Cron entries or schedules were due at `timestamp` and are scheduled, by this worker or by another. */
  "cron:tick": { workerId: string; timestamp: Date; taskIdentifiers: readonly string[] };
  /** This worker has scheduled a job of the cron entry or schedule `identifier`. The job is committed. */
  "cron:scheduled": {
    workerId: string;
    timestamp: Date;
    identifier: string;
    taskIdentifier: string;
    jobId: string;
    backfilled: boolean;
  };
  /** The local queue was created. */
  "localQueue:init": { workerId: string };
  /** The local queue's mode has changed. */
  "localQueue:setMode": { workerId: string; oldMode: LocalQueueMode; newMode: LocalQueueMode };
  /** `count` jobs were fetched. */
  "localQueue:getJobs:complete": { workerId: string; count: number };
  /** `count` unstarted jobs are returned, for example after `ttlMs` or when the worker stops. Not written yet. */
  "localQueue:returnJobs": { workerId: string; count: number };
  /** A fetch found few jobs: the next one waits `durationMs`. */
  "localQueue:refetchDelay:start": { workerId: string; durationMs: number };
  /** The delay ended early, because `count` jobs were announced meanwhile. */
  "localQueue:refetchDelay:abort": { workerId: string; count: number };
  /** The delay ended. */
  "localQueue:refetchDelay:expired": { workerId: string };
}

/**
 * An interceptor's decision before a job runs or is added. `continue`: run or add it. `skip`: the job counts as
 * completed without running, or it is not added. `fail`: the attempt fails with `message`, or the add rejects with it.
 */
export type Verdict =
  | { readonly action: "continue" }
  | { readonly action: "skip" }
  | { readonly action: "fail"; readonly message: string };

/** What an interceptor returns: a decision, or nothing, which means `continue`. */
export type InterceptorResult<Decision> =
  | Decision
  | undefined
  | void
  // biome-ignore lint/suspicious/noConfusingVoidType: a function without a return statement is an interceptor, too
  | Promise<Decision | undefined | void>;

/** The interceptors of a worker: name → function. Returning nothing means `continue`. */
export interface WorkerInterceptors {
  /**
   * Called before a job's handler. `payloadText` is the payload's exact JSON text. May skip or fail the job. A throw
   * fails the attempt.
   */
  beforeJobRun(input: {
    job: TaskJob;
    payloadText: string;
    context: TaskContext;
  }): InterceptorResult<Verdict>;
  /**
   * Called at the end of an attempt, before its result is written, also if `beforeJobRun` or the job's deadline ended
   * it without a call of the handler. `error` is null on success or a skip. May change the result: an `error` with a
   * text fails the attempt, `error: null` completes the job. A throw fails the attempt.
   */
  afterJobRun(input: {
    job: TaskJob;
    error: Error | null;
    durationMs: number;
  }): InterceptorResult<{ readonly error: string | null }>;
  /**
   * Called for each job that this worker adds: by a task's context and utils, by `worker.utils`, by cron entries and by
   * schedules. May change, skip or fail it. Not called for jobs added elsewhere.
   */
  beforeJobSchedule(input: JobToAdd): InterceptorResult<ScheduleVerdict>;
  /**
   * Called before the jobs of a stale worker are recovered. `skip` leaves them locked, until their locks are 4 hours
   * old (`staleLockThresholdMs`). `fail` recovers them, too, with `message` as their error.
   */
  jobRecovery(input: { staleWorkerId: string }): InterceptorResult<Verdict>;
}

/** An interceptor's decision about a job that is to be added: a Verdict, or `change` with the job to add instead. */
export type ScheduleVerdict = Verdict | { readonly action: "change"; readonly job: JobToAdd };

/** A named set of observers and interceptors, for the option `plugins`. */
export interface Plugin {
  /** The plugin's name, for people. */
  readonly name: string;
  /** Called once, when the worker is created: registers observers and interceptors. */
  register(hooks: Hooks): void;
}

/** A function that receives an event. It is not awaited; what it throws or rejects with is logged. */
export type Observer<E extends keyof WorkerEvents> = (event: WorkerEvents[E]) => unknown;

const eventNames = Object.keys(events satisfies Record<keyof WorkerEvents, true>);
const interceptorNames = Object.keys(interceptors satisfies Record<keyof WorkerInterceptors, true>);
const NONE: readonly never[] = [];

/** The observers and interceptors of a worker. Plugins register theirs here; applications may use `worker.hooks`. */
export class Hooks {
  readonly #observers = new Map<string, Observer<never>[]>();
  readonly #interceptors = new Map<string, unknown[]>();
  readonly #logger: Logger;

  /** Calls `register()` of each plugin. `logger` receives the errors of observers. */
  constructor(logger: Logger, plugins: readonly Plugin[] = []) {
    this.#logger = logger;
    for (const plugin of plugins) plugin.register(this);
  }

  /** Registers an observer of the event `name`. Throws InputError for an event that does not exist. */
  on<E extends keyof WorkerEvents>(name: E, observer: Observer<E>): void {
    assertHook("event", name, eventNames, observer);
    listOf(this.#observers, name).push(observer as Observer<never>);
  }

  /**
   * Registers an interceptor. Interceptors of one name run in the order of their registration. Throws InputError for a
   * name that does not exist.
   */
  intercept<I extends keyof WorkerInterceptors>(name: I, interceptor: WorkerInterceptors[I]): void {
    assertHook("interceptor", name, interceptorNames, interceptor);
    listOf(this.#interceptors, name).push(interceptor);
  }

  /** Whether the event has an observer. Without one, building the event can be skipped. */
  hasObservers(name: keyof WorkerEvents): boolean {
    return this.#observers.has(name);
  }

  /** Returns the interceptors of this name, in the order of their registration. */
  interceptors<I extends keyof WorkerInterceptors>(name: I): readonly WorkerInterceptors[I][] {
    return (this.#interceptors.get(name) as WorkerInterceptors[I][] | undefined) ?? NONE;
  }

  /** Calls the observers of the event `name`. Does not throw, and does not wait for them. */
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
    this.#logger.error({ hook: name, error: messageOf(error) }, "an observer threw");
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
