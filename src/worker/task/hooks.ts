// What a plugin can observe and intercept. Observers learn that something happened; interceptors
// decide. An observer that throws is logged and harms nothing; an interceptor that throws fails the
// job that it was called for.
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { JobToAdd } from "../../domain/job-spec.ts";
import type { TaskContext } from "./task-context.ts";
import type { TaskJob } from "./task-job.ts";

/**
 * Whether jobs are fetched ahead: `starting`, not yet; `polling`, the queue is empty and is asked for jobs; `waiting`,
 * fetched jobs wait for slots; `ttl_expired`, they were given back; `released`, the worker stops.
 */
export type LocalQueueMode = "starting" | "polling" | "waiting" | "ttl_expired" | "released";

/**
 * How a job's row looks once its result is written: gone (`completed`; `skipped`: by an interceptor,
 * without a run), put back with an error (`failed`), or put back untouched, because it never started
 * (`returned`). `unknown`: the connection was lost with the answer, and the job is no longer locked for
 * this worker: the result had been written then, or another worker has the job.
 */
export type SettledResult = "completed" | "skipped" | "failed" | "returned" | "unknown";

/** Why a worker goes on under a new id. */
export type LeaseLoss = WorkerEvents["worker:leaseLost"]["reason"];

/**
 * Event name → what its observers get. Durations are milliseconds; `workerId` is what `locked_by` holds.
 *
 * A job that runs has one `job:start`, then one of `job:complete`, `job:fail` and
 * `job:permanentlyFail`, all three *before* the database has the result: at that moment a connection
 * may still be lost, and the job run again. `job:settled` comes once the result is committed, whatever
 * it is: count jobs, or announce them to others, by that. Where
 * `job:interrupted` with `lease_lost` comes instead, others had taken the job over: the result was not
 * written.
 *
 * Graphile Worker's names, for who comes from there (an event is not the same only because its name
 * is; `job:complete` least of all):
 *
 * | Graphile Worker | here |
 * |---|---|
 * | `job:start` | `job:start` |
 * | `job:success` | `job:complete` |
 * | `job:error` | `job:fail`; `job:permanentlyFail` when no attempt is left |
 * | `job:failed` | `job:permanentlyFail`, instead of `job:fail` and not after it |
 * | `job:complete` (either way) | `job:settled` |
 * | `worker:create`, `pool:create` | `worker:init` |
 * | `worker:getJob:start`, `:empty` | `job:fetch`, with the number of jobs |
 * | `gracefulShutdown`, `pool:gracefulShutdown`, `worker:release` | `worker:shutdown` |
 * | `stop`, `pool:release`, `worker:stop` | the promise `worker.stopped` |
 * | `pool:listen:error`, `worker:getJob:error`, `worker:fatalError` | `worker:disconnected`, `worker:reconnected` |
 * | `cron:schedule` | `cron:tick`, after the write |
 * | `cron:scheduled` | `cron:scheduled`, one for each job |
 * | `localQueue:getJobs:complete` | `localQueue:jobsFetched` |
 * | `localQueue:returnJobs` | `localQueue:jobsReturned` |
 * | `localQueue:refetchDelay:start`, `:abort`, `:expired` | `localQueue:refetchDelayStart`, `…Abort`, `…Expired` |
 */
export interface WorkerEvents {
  /** The worker was made; it has not started. */
  "worker:init": { workerId: string; concurrency: number; taskIdentifiers: readonly string[] };
  /** It takes jobs from now on. */
  "worker:start": { workerId: string };
  /** It takes no more jobs; running ones go on. */
  "worker:shutdown": { workerId: string; reason: string };
  /** This worker recovered the jobs of stale workers. */
  "worker:recovered": { workerId: string; deadWorkerIds: readonly string[]; jobs: number };
  /**
   * This worker goes on under a new id. `recovered`: it was frozen or cut off, and others recovered its jobs;
   * `removed`: its heartbeat is gone; `restored`: the database is as it was before its last heartbeat, as after
   * a restore, or a failover to a standby that lagged behind.
   */
  "worker:leaseLost": {
    workerId: string;
    newWorkerId: string;
    reason: "recovered" | "removed" | "restored";
  };
  /** The database went away (once) and is back (once). */
  "worker:disconnected": { workerId: string; error: Error };
  "worker:reconnected": { workerId: string };
  /** A fetch is answered, also by no jobs. */
  "job:fetch": { workerId: string; count: number; durationMs: number };
  /** Its handler is about to be called. Its attempt is committed, but in the fast lane. */
  "job:start": { workerId: string; job: TaskJob };
  /** An interceptor skipped it before its start. Not written yet. */
  "job:skip": { workerId: string; job: TaskJob };
  /** Its handler has succeeded. Not written yet. */
  "job:complete": { workerId: string; job: TaskJob; durationMs: number };
  /** The attempt failed and another one will follow. Not written yet. */
  "job:fail": { workerId: string; job: TaskJob; error: Error; durationMs: number };
  /** The attempt failed and was the last one. Not written yet. */
  "job:permanentlyFail": { workerId: string; job: TaskJob; error: Error; durationMs: number };
  /** The result is committed. `error`: what `last_error` now holds, null unless it failed. */
  "job:settled": { workerId: string; job: TaskJob; result: SettledResult; error: string | null };
  /**
   * `shutdown`: it still ran when the worker gave up on it; the attempt then counts as
   * failed, and that event comes, too. `lease_lost`: others had taken the job over, and its result was not written.
   */
  "job:interrupted": {
    workerId: string;
    jobId: string;
    job: TaskJob | null;
    reason: "shutdown" | "lease_lost";
  };
  /** Entries of this worker fell due; whichever worker scheduled them, it is written. */
  "cron:tick": { workerId: string; timestamp: Date; taskIdentifiers: readonly string[] };
  /** This worker scheduled a job: it is written. `identifier` is the entry's. */
  "cron:scheduled": {
    workerId: string;
    timestamp: Date;
    identifier: string;
    taskIdentifier: string;
    jobId: string;
    backfilled: boolean;
  };
  "localQueue:init": { workerId: string };
  "localQueue:setMode": { workerId: string; oldMode: LocalQueueMode; newMode: LocalQueueMode };
  /** Jobs came from the database. */
  "localQueue:jobsFetched": { workerId: string; count: number };
  /** Jobs that waited too long, or when the worker stopped, go back. Not written yet. */
  "localQueue:jobsReturned": { workerId: string; count: number };
  "localQueue:refetchDelayStart": { workerId: string; durationMs: number };
  /** `count` jobs were announced meanwhile: enough to end the delay. */
  "localQueue:refetchDelayAbort": { workerId: string; count: number };
  "localQueue:refetchDelayExpired": { workerId: string };
}

/** What an interceptor says before a job runs or is scheduled. */
export type Verdict =
  | { readonly action: "continue" }
  /** The job counts as done, its task is not called; or nothing is scheduled. */
  | { readonly action: "skip" }
  /** The attempt fails with this message; or adding throws with it. */
  | { readonly action: "fail"; readonly message: string };

/** Interceptor name → its function. `undefined` means continue. */
export interface WorkerInterceptors {
  /** Called before a job's handler is called. Sees the payload's exact JSON text. */
  beforeJobRun(input: {
    job: TaskJob;
    payloadText: string;
    context: TaskContext;
  }): Verdict | undefined | Promise<Verdict | undefined>;
  /** Called before the result is written. Sees it and may turn it: a message fails the attempt, null completes the job. */
  afterJobRun(input: {
    job: TaskJob;
    error: Error | null;
    durationMs: number;
  }): { readonly error: string | null } | undefined | Promise<{ error: string | null } | undefined>;
  /**
   * Called for each job that this worker adds: by the context and the utils of a task, worker.utils and
   * the timetable. May change it. Not about jobs that others add.
   */
  beforeJobSchedule(
    input: JobToAdd,
  ): ScheduleVerdict | undefined | Promise<ScheduleVerdict | undefined>;
  /** Called before a stale worker's jobs are recovered; `skip` leaves them to the 4-hour rule. */
  jobRecovery(input: { deadWorkerId: string }): Verdict | undefined | Promise<Verdict | undefined>;
}

/** What an interceptor says about a job that is about to be added. */
export type ScheduleVerdict = Verdict | { readonly action: "change"; readonly job: JobToAdd };

/** A set of observers and interceptors, for the option `plugins`. */
export interface Plugin {
  /** For people. */
  readonly name: string;
  /** Called once, when the worker is made. */
  register(hooks: Hooks): void;
}

/** Gets an event. What it throws or rejects with is logged; it is never waited for. */
export type Observer<E extends keyof WorkerEvents> = (event: WorkerEvents[E]) => unknown;

const NONE: readonly never[] = [];

/** Events and interceptors of a worker. Its plugins register here; so may others, on `worker.hooks`. */
export class Hooks {
  readonly #observers = new Map<string, Observer<never>[]>();
  readonly #interceptors = new Map<string, unknown[]>();
  readonly #logger: Logger;

  constructor(logger: Logger, plugins: readonly Plugin[] = []) {
    this.#logger = logger;
    for (const plugin of plugins) plugin.register(this);
  }

  /** Registers an observer. */
  on<E extends keyof WorkerEvents>(name: E, observer: Observer<E>): void {
    listOf(this.#observers, name).push(observer as Observer<never>);
  }

  /** Registers an interceptor; they run in the order of registration. */
  intercept<I extends keyof WorkerInterceptors>(name: I, interceptor: WorkerInterceptors[I]): void {
    listOf(this.#interceptors, name).push(interceptor);
  }

  /** Whether anybody observes it: lets the hot path skip building the event. */
  observed(name: keyof WorkerEvents): boolean {
    return this.#observers.has(name);
  }

  /** In the order of their registration. */
  interceptors<I extends keyof WorkerInterceptors>(name: I): readonly WorkerInterceptors[I][] {
    return (this.#interceptors.get(name) as WorkerInterceptors[I][] | undefined) ?? NONE;
  }

  /** Calls the observers. Never throws and never waits for them. */
  emit<E extends keyof WorkerEvents>(name: E, event: WorkerEvents[E]): void {
    for (const observer of this.#observers.get(name) ?? []) {
      try {
        const result = (observer as Observer<E>)(event);
        if (result instanceof Promise) result.catch((error) => this.#report(name, error));
      } catch (error) {
        this.#report(name, error);
      }
    }
  }

  #report(name: string, error: unknown): void {
    this.#logger.error({ hook: name, error: messageOf(error) }, "an observer threw");
  }
}

function listOf<T>(map: Map<string, T[]>, key: string): T[] {
  let list = map.get(key);
  if (list === undefined) {
    list = [];
    map.set(key, list);
  }
  return list;
}
