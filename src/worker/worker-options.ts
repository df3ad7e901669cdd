// What an application may say about a worker, checked all at once, and the frozen configuration
// that the runtime reads. Durations are milliseconds and say so in their names.
import type { Pool } from "pg";
import * as v from "valibot";
import { InputError } from "../base/errors.ts";
import { type Logger, silentLogger } from "../base/logger.ts";
import { count, duration, strict, together, validate } from "../base/validate.ts";
import { checkedUrl } from "../database/pool.ts";
import { type SchemaName, schemaName } from "../database/schema-name.ts";
import { type CronConfig, type CronOptions, resolveCronOptions } from "./cron-options.ts";
import type { Plugin } from "./hooks.ts";
import { type RecoveryConfig, type RecoveryOptions, resolveRecovery } from "./recovery-options.ts";
import type { Task } from "./task.ts";

export interface WorkerOptions<Extensions = unknown> {
  /** What this worker can do. At least one. */
  // biome-ignore lint/suspicious/noExplicitAny: tasks of different payloads share one list
  readonly tasks: readonly Task<any, Extensions>[];
  /** `postgres://…`; the worker makes a pool of its own and ends it. Or give `pool`. */
  readonly connectionString?: string;
  /** A pool that is lent: never ended. The worker's own connections copy its settings. */
  readonly pool?: Pool;
  /** Most connections of the worker's own pool, for tasks. Default 10. */
  readonly maxConnections?: number;
  /** Default `worker`. */
  readonly schema?: string;
  /** Jobs that run at once. Default 10. */
  readonly concurrency?: number;
  /** How long an idle worker waits before it looks again, milliseconds. Default 2,000. */
  readonly pollInterval_ms?: number;
  /** Wake up by LISTEN. Off behind a transaction pooler such as pgbouncer. Default true. */
  readonly notify?: boolean;
  /** Off behind a transaction pooler, where no session setting is made then either. Default true. */
  readonly preparedStatements?: boolean;
  /** Jobs with one of these flags are left to other workers. */
  readonly forbiddenFlags?: readonly string[];
  /** Fails any attempt that takes longer, milliseconds; a task's own timeout_ms goes first. */
  readonly timeout_ms?: number;
  readonly localQueue?: LocalQueueOptions;
  /** Connections that finish and fetch jobs side by side. Default 2. */
  readonly lanes?: number;
  /**
   * Take short jobs that have no key by row locks: several times the throughput, and a killed
   * worker's jobs are free at once. A job that runs longer than `limit_ms` (default 100, at most
   * 5,000) gets the ordinary lock then. `queues` (default false): take jobs of named queues so, too;
   * when a connection is cut, a job's next run and the rest of its queue may begin before the cut-off
   * run has ended. Behind a transaction pooler each lane keeps one of its server connections while
   * jobs run. Default false.
   */
  readonly fastLane?: boolean | { readonly limit_ms?: number; readonly queues?: boolean };
  /** After `abort()`: how long running jobs have to end by themselves. Default 5,000. */
  readonly abortGrace_ms?: number;
  /** Heartbeats, and the recovery of dead workers' jobs. Default: on. */
  readonly recovery?: false | RecoveryOptions;
  readonly plugins?: readonly Plugin[];
  /** Jobs that this worker adds by the clock, shared with all workers of the schema. UTC. */
  readonly cron?: CronOptions;
  /** Default: silent. */
  readonly logger?: Logger;
  /** Given to every task as `context.extensions`. */
  readonly extensions?: Extensions;
}

export interface LocalQueueOptions {
  /** Most jobs that are fetched ahead of the running ones. Default 2,000. */
  readonly size?: number;
  /**
   * Fetch ahead only what the recent speed will use up within 25 ms, so that slow jobs are left to
   * other workers. Default true; false fills the local queue to its size.
   */
  readonly adaptive?: boolean;
  /** A job that waited this long unstarted goes back to the database. Default 300,000. */
  readonly ttl_ms?: number;
  /** After a fetch that found few jobs, wait before the next: spares the database. Default: off. */
  readonly refetchDelay?: {
    /** At most `pollInterval_ms`. */
    readonly duration_ms: number;
    /** A fetch of fewer jobs than this starts the delay. Default: size. */
    readonly threshold?: number;
    /** A random number up to this of announced jobs ends the delay early. Default: 5 × size. */
    readonly maxAbortThreshold?: number;
  };
}

export interface FastLaneConfig {
  readonly limit_ms: number;
  readonly queues: boolean;
}

export interface WorkerConfig<Extensions> {
  readonly tasks: ReadonlyMap<string, Task<unknown, Extensions>>;
  readonly connectionString: string | undefined;
  readonly pool: Pool | undefined;
  readonly maxConnections: number;
  readonly schema: SchemaName;
  readonly concurrency: number;
  readonly pollInterval_ms: number;
  readonly notify: boolean;
  readonly preparedStatements: boolean;
  readonly forbiddenFlags: readonly string[];
  readonly timeout_ms: number | undefined;
  readonly localQueue: LocalQueueConfig;
  readonly lanes: number;
  readonly fastLane: FastLaneConfig | null;
  readonly abortGrace_ms: number;
  readonly recovery: RecoveryConfig | null;
  readonly resetLocksInterval_ms: number;
  readonly plugins: readonly Plugin[];
  readonly cron: CronConfig | null;
  readonly logger: Logger;
  readonly extensions: Extensions;
}

export interface LocalQueueConfig {
  readonly size: number;
  readonly adaptive: boolean;
  readonly ttl_ms: number;
  readonly refetchDelay: {
    readonly duration_ms: number;
    readonly threshold: number;
    readonly maxAbortThreshold: number;
  } | null;
}

const any = v.any();

/** An object in which these are functions. */
const having = <T>(names: readonly (keyof T & string)[], message: string) =>
  v.custom<T>((one) => {
    const methods = one as Record<string, unknown> | null | undefined;
    return names.every((name) => typeof methods?.[name] === "function");
  }, message);

const task = v.custom<Task<unknown, never>>((one) => {
  const { identifier, handle } = (one ?? {}) as Partial<Task>;
  return typeof identifier === "string" && typeof handle === "function";
}, "must be made by defineTask() or defineBatchTask()");

/** Longer ones come near the moment at which PostgreSQL ends the transaction of who is frozen. */
const LONGEST_FAST_MS = 5_000;
const fastLimit = v.pipe(duration, v.maxValue(LONGEST_FAST_MS, "must be at most 5,000"));

const optionsSchema = strict({
  tasks: v.pipe(
    v.array(task, "must be a list of tasks"),
    v.minLength(1, "needs at least one task"),
    v.check(
      (tasks) => repeated(tasks) === undefined,
      ({ input }) => `"${repeated(input)}" stands there twice`,
    ),
  ),
  connectionString: v.optional(v.string("must be a string")),
  pool: v.optional(having<Pool>(["connect", "query"], "must be a Pool of pg")),
  maxConnections: v.optional(count(1_000), 10),
  schema: v.optional(v.string("must be a string"), "worker"),
  concurrency: v.optional(count(10_000), 10),
  pollInterval_ms: v.optional(duration, 2_000),
  notify: v.optional(v.boolean("must be true or false"), true),
  preparedStatements: v.optional(v.boolean("must be true or false"), true),
  forbiddenFlags: v.optional(v.array(v.string("must be a string")), []),
  timeout_ms: v.optional(duration),
  localQueue: v.optional(
    strict({
      size: v.optional(count(100_000), 2_000),
      adaptive: v.optional(v.boolean("must be true or false"), true),
      ttl_ms: v.optional(duration, 300_000),
      refetchDelay: v.optional(
        strict({
          duration_ms: duration,
          threshold: v.optional(count(100_000)),
          maxAbortThreshold: v.optional(count(1_000_000)),
        }),
      ),
    }),
    {},
  ),
  lanes: v.optional(count(16), 2),
  fastLane: v.optional(
    v.union(
      [
        v.boolean(),
        strict({
          limit_ms: v.optional(fastLimit, 100),
          queues: v.optional(v.boolean("must be true or false"), false),
        }),
      ],
      "must be true, false or { limit_ms, queues }",
    ),
    false,
  ),
  abortGrace_ms: v.optional(duration, 5_000),
  recovery: v.optional(any),
  plugins: v.optional(
    v.array(having<Plugin>(["register"], "must have a method register(hooks)"), "must be a list"),
    [],
  ),
  cron: v.optional(any),
  logger: v.optional(
    having<Logger>(["debug", "info", "warn", "error"], "needs debug, info, warn and error"),
  ),
  extensions: v.optional(any),
});

/** Checks the options and fills in the defaults. Throws InputError with all problems. */
export function resolveWorkerOptions<E>(options: WorkerOptions<E>): WorkerConfig<E> {
  if (typeof options !== "object" || options === null) {
    throw new InputError("the options of a worker must be an object");
  }
  const [checked, schema, cron, recovery] = together(
    () => checkedOptions(options),
    () => schemaName(typeof options.schema === "string" ? options.schema : undefined),
    () => resolveCronOptions(options.cron),
    () => resolveRecovery(options.recovery),
    () => assertOneDatabase(options),
  );
  const { size, refetchDelay } = checked.localQueue;
  return Object.freeze({
    ...checked,
    connectionString: checked.connectionString,
    pool: options.pool,
    fastLane:
      checked.fastLane === true ? { limit_ms: 100, queues: false } : checked.fastLane || null,
    timeout_ms: checked.timeout_ms,
    tasks: new Map(options.tasks.map((task) => [task.identifier, task as Task<unknown, E>])),
    cron,
    ...recovery,
    schema,
    logger: options.logger ?? silentLogger,
    extensions: options.extensions as E,
    localQueue: {
      ...checked.localQueue,
      refetchDelay:
        refetchDelay === undefined
          ? null
          : {
              duration_ms: refetchDelay.duration_ms,
              threshold: Math.min(refetchDelay.threshold ?? size, size),
              maxAbortThreshold: refetchDelay.maxAbortThreshold ?? 5 * size,
            },
    },
  });
}

function checkedOptions<E>(options: WorkerOptions<E>) {
  const checked = validate(optionsSchema, options);
  const { duration_ms = 0 } = checked.localQueue.refetchDelay ?? {};
  if (duration_ms > checked.pollInterval_ms) {
    const path = "localQueue.refetchDelay.duration_ms";
    throw new InputError([{ path, message: "must not exceed pollInterval_ms" }]);
  }
  return checked;
}

function assertOneDatabase<E>({ connectionString, pool }: WorkerOptions<E>): void {
  if ((connectionString === undefined) === (pool === undefined)) {
    throw new InputError("give either connectionString or pool");
  }
  if (typeof connectionString === "string") checkedUrl(connectionString);
}

function repeated(tasks: readonly { readonly identifier: string }[]): string | undefined {
  const names = tasks.map(({ identifier }) => identifier);
  return names.find((name, place) => names.indexOf(name) < place);
}
