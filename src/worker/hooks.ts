// What a plugin can observe and intercept. Observers learn that something happened; interceptors
// decide. An observer that throws is logged and harms nothing; an interceptor that throws fails the
// job it was asked about.
import { messageOf } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import type { JobToAdd } from "../domain/job-spec.ts";
import type { TaskJob } from "./claimed-job.ts";
import type { TaskContext } from "./task-context.ts";

/** See local-queue.ts for what they mean. */
export type LocalQueueMode = "starting" | "polling" | "waiting" | "ttl_expired" | "released";

/** Observer name → what it is told. Durations are milliseconds. */
export interface WorkerEvents {
  "worker:init": { workerId: string; concurrency: number; taskIdentifiers: readonly string[] };
  "worker:start": { workerId: string };
  "worker:shutdown": { workerId: string; reason: string };
  /** Locks of dead workers were freed by this worker's sweep. */
  "worker:recovered": { workerId: string; deadWorkerIds: readonly string[]; jobs: number };
  /** This worker's lease was swept: it was frozen or cut off. It goes on under a new id. */
  "worker:leaseLost": { workerId: string; newWorkerId: string };
  /** The database went away (once) and is back (once). */
  "worker:disconnected": { workerId: string; error: Error };
  "worker:reconnected": { workerId: string };
  "job:fetch": { workerId: string; count: number; duration_ms: number };
  "job:start": { job: TaskJob };
  "job:complete": { job: TaskJob; duration_ms: number };
  /** Will be tried again. */
  "job:fail": { job: TaskJob; error: Error; duration_ms: number };
  "job:permanentlyFail": { job: TaskJob; error: Error; duration_ms: number };
  /** Was running when the worker stopped by force, or lost its lease meanwhile. */
  "job:interrupted": { jobId: string; job: TaskJob | null; reason: "shutdown" | "lease_lost" };
  /** Entries of this worker fell due; whichever worker scheduled them, it is done. */
  "cron:tick": { timestamp: Date; taskIdentifiers: readonly string[] };
  /** This worker scheduled a job. `identifier` is the entry's. */
  "cron:scheduled": {
    timestamp: Date;
    identifier: string;
    taskIdentifier: string;
    jobId: string;
    backfilled: boolean;
  };
  "localQueue:init": { workerId: string };
  "localQueue:setMode": { workerId: string; oldMode: LocalQueueMode; newMode: LocalQueueMode };
  "localQueue:jobsFetched": { workerId: string; count: number };
  "localQueue:jobsReturned": { workerId: string; count: number };
  "localQueue:refetchDelayStart": { workerId: string; duration_ms: number };
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
  /** Sees the payload's exact JSON text. */
  beforeJobRun(input: {
    job: TaskJob;
    payloadText: string;
    context: TaskContext;
  }): Verdict | undefined | Promise<Verdict | undefined>;
  /** Sees the outcome and may turn it: a message fails the attempt, null completes the job. */
  afterJobRun(input: {
    job: TaskJob;
    error: Error | null;
    duration_ms: number;
  }): { readonly error: string | null } | undefined | Promise<{ error: string | null } | undefined>;
  /** May change the job that is about to be added. */
  beforeJobSchedule(
    input: JobToAdd,
  ): ScheduleVerdict | undefined | Promise<ScheduleVerdict | undefined>;
  /** Asked before a dead worker's jobs are freed; `skip` leaves them to the 4-hour rule. */
  jobRecovery(input: { deadWorkerId: string }): Verdict | undefined | Promise<Verdict | undefined>;
}

export type ScheduleVerdict = Verdict | { readonly action: "change"; readonly job: JobToAdd };

export interface Plugin {
  readonly name: string;
  register(hooks: Hooks): void;
}

type Observer<E extends keyof WorkerEvents> = (event: WorkerEvents[E]) => unknown;

const NONE: readonly never[] = [];

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

  /** Whether anybody listens: lets the hot path skip building the event. */
  observed(name: keyof WorkerEvents): boolean {
    return this.#observers.has(name);
  }

  interceptors<I extends keyof WorkerInterceptors>(name: I): readonly WorkerInterceptors[I][] {
    return (this.#interceptors.get(name) as WorkerInterceptors[I][] | undefined) ?? NONE;
  }

  /** Tells the observers. Never throws and never waits for them. */
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
