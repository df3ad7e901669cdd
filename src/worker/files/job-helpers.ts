// The second argument of a task in a file: Graphile Worker's helpers and this library's context in one object.

import { InputError } from "../../base/errors.ts";
import type { Database } from "../../database/database.ts";
import type { SchemaName } from "../../database/schema-name.ts";
import type { JobSpec, JobToAdd } from "../../domain/job-spec.ts";
import { queueNameOf } from "../../queue/sql/queue-name.ts";
import type { TaskContext } from "../task/task-context.ts";
import { type AddedJob, addedJob, type FileJob, runningJob } from "./graphile-job.ts";
import { type FileLogger, fileLogger } from "./graphile-logger.ts";

/** Graphile Worker's helpers of a job, and the members of TaskContext except `completeIn`. */
export interface JobHelpers
  extends Pick<
    TaskContext,
    "workerId" | "signal" | "pool" | "extensions" | "query" | "withPgClient" | "utils"
  > {
  /** The job, with Graphile Worker's names and this library's. */
  readonly job: FileJob;
  /** The logger. Its lines have the job's id and task identifier. */
  readonly logger: FileLogger;
  /** The same signal as `signal`, under Graphile Worker's name. */
  readonly abortSignal: AbortSignal;
  /** A promise that rejects when the signal aborts. */
  readonly abortPromise: Promise<void>;
  /** Adds a job. Resolves to null if an interceptor skipped the job. Rejects as `utils.addJob()` does. */
  addJob(identifier: string, payload?: unknown, spec?: JobSpec): Promise<AddedJob | null>;
  /**
   * Adds jobs, all or none, apart from those that an interceptor skips. The options of a job may be in `spec`, or
   * beside its payload as in Graphile Worker. `jobKeyPreserveRunAt`: whether each job that has a key is added with the
   * `jobKeyMode` `preserve_run_at`. Default false.
   */
  addJobs(
    jobs: readonly (JobToAdd | (Omit<JobToAdd, "spec"> & Omit<JobSpec, "jobKeyMode">))[],
    jobKeyPreserveRunAt?: boolean,
  ): Promise<readonly AddedJob[]>;
  /**
   * Resolves to the name of the named queue with the id `queueId`, by default of this job's queue; null if there is
   * none.
   */
  getQueueName(queueId?: number | null): Promise<string | null>;
}

type FlatJob = Parameters<JobHelpers["addJobs"]>[0][number];

/** Returns the helpers of a job. */
export function jobHelpers(context: TaskContext, schema: SchemaName): JobHelpers {
  // The proxy presents the members as own properties, so that a copy such as `{ ...helpers }` has them. Creating own
  // getters for each job would be slow.
  return new Proxy(new Helpers(context, schema), AS_OWN);
}

class Helpers implements JobHelpers {
  readonly #context: TaskContext;
  readonly #schema: SchemaName;
  #job: FileJob | undefined;
  #logger: FileLogger | undefined;
  #abortPromise: Promise<void> | undefined;

  constructor(context: TaskContext, schema: SchemaName) {
    this.#context = context;
    this.#schema = schema;
  }

  get job(): FileJob {
    this.#job ??= runningJob(this.#context.job, this.#context.workerId);
    return this.#job;
  }
  get logger(): FileLogger {
    this.#logger ??= fileLogger(this.#context.logger);
    return this.#logger;
  }
  get abortSignal(): AbortSignal {
    return this.#context.signal;
  }
  get signal(): AbortSignal {
    return this.#context.signal;
  }
  get abortPromise(): Promise<void> {
    this.#abortPromise ??= rejectedBy(this.#context.signal);
    return this.#abortPromise;
  }
  get workerId(): string {
    return this.#context.workerId;
  }
  get pool(): JobHelpers["pool"] {
    return this.#context.pool;
  }
  get extensions(): unknown {
    return this.#context.extensions;
  }
  get utils(): JobHelpers["utils"] {
    return this.#context.utils;
  }
  get query(): JobHelpers["query"] {
    return this.#context.query;
  }
  get withPgClient(): JobHelpers["withPgClient"] {
    return this.#context.withPgClient;
  }
  get addJob(): JobHelpers["addJob"] {
    const context = this.#context;
    return (identifier, payload, spec) => addOne(context, identifier, payload, spec);
  }
  get addJobs(): JobHelpers["addJobs"] {
    const context = this.#context;
    return (jobs, keepsRunAt) => addMany(context, jobs, keepsRunAt === true);
  }
  get getQueueName(): JobHelpers["getQueueName"] {
    const context = this.#context;
    const db = { client: context.pool, schema: this.#schema };
    return (queueId) => nameOfQueue(context, db, queueId);
  }
}

const NAMES = Object.entries(Object.getOwnPropertyDescriptors(Helpers.prototype))
  .filter(([, { get }]) => get !== undefined)
  .map(([name]) => name);

const AS_OWN: ProxyHandler<Helpers> = {
  // The getters read private fields, which the proxy does not have.
  get: (helpers, name) => Reflect.get(helpers, name, helpers),
  ownKeys: () => NAMES,
  getOwnPropertyDescriptor(helpers, name) {
    if (!NAMES.includes(String(name))) return undefined;
    const value: unknown = Reflect.get(helpers, name, helpers);
    return { value, writable: true, enumerable: true, configurable: true };
  },
};

// As in Graphile Worker, the payload null is stored as {}, and members of the spec that are null are ignored.
async function addOne(
  { addJob }: TaskContext,
  identifier: string,
  payload: unknown,
  spec: JobSpec | undefined,
): Promise<AddedJob | null> {
  const job = await addJob(identifier, payload ?? {}, withoutNulls(spec ?? {}));
  return job === null ? null : toAddedJob(job);
}

async function addMany(
  { addJobs }: TaskContext,
  jobs: readonly FlatJob[],
  keepsRunAt: boolean,
): Promise<readonly AddedJob[]> {
  if (!Array.isArray(jobs)) throw new InputError([{ path: "jobs", message: "must be a list" }]);
  return (await addJobs(jobs.map((job) => toJobToAdd(job, keepsRunAt)))).map(toAddedJob);
}

/**
 * Returns a ThrottledAdd unchanged. The types of this file exclude the option `throttle`, but code without types can
 * pass it.
 */
const toAddedJob = (job: Parameters<typeof addedJob>[0]): AddedJob =>
  "isThrottled" in job ? (job as unknown as AddedJob) : addedJob(job);

function toJobToAdd(job: FlatJob, keepsRunAt: boolean): JobToAdd {
  const { identifier, payload, spec, ...flat } = job as JobToAdd & JobSpec;
  const whole: JobSpec = withoutNulls({ ...flat, ...spec });
  const isKept = keepsRunAt && whole.jobKey !== undefined;
  return {
    identifier,
    payload: payload ?? {},
    spec: isKept ? { ...whole, jobKeyMode: "preserve_run_at" } : whole,
  };
}

function withoutNulls(spec: JobSpec): JobSpec {
  return Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== null));
}

async function nameOfQueue(
  { job }: TaskContext,
  db: Database,
  queueId: number | null | undefined,
): Promise<string | null> {
  return queueId === undefined ? job.queueName : queueId === null ? null : queueNameOf(db, queueId);
}

function rejectedBy(signal: AbortSignal): Promise<void> {
  const { promise, reject } = Promise.withResolvers<void>();
  if (signal.aborted) reject(signal.reason);
  else signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  promise.catch(() => {}); // If the task does not use the promise, its rejection must not count as unhandled.
  return promise;
}
