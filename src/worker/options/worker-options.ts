// What an application may say about a worker, checked all at once, and the frozen configuration
// that the runtime reads. Durations are milliseconds and say so in their names.
import type { Pool } from "pg";
import * as v from "valibot";
import { InputError } from "../../base/errors.ts";
import { isLogger, type Logger, loggerProblem, silentLogger } from "../../base/logger.ts";
import {
  count,
  duration,
  durationOrNone,
  strict,
  together,
  validate,
} from "../../base/validate.ts";
import { serverSettings } from "../../database/connection/server/server-settings.ts";
import { type SchemaName, schemaName } from "../../database/schema-name.ts";
import type { Plugin } from "../task/hooks.ts";
import type { Task } from "../task/task.ts";
import { type CronConfig, type CronOptions, resolveCronOptions } from "./cron-options.ts";
import { stderrLogger } from "./default-logger.ts";
import { graphileNames } from "./graphile-names.ts";
import {
  type LocalQueueConfig,
  type LocalQueueOptions,
  localQueueOptions,
  resolveLocalQueue,
} from "./local-queue-options.ts";
import { type RecoveryConfig, type RecoveryOptions, resolveRecovery } from "./recovery-options.ts";

/**
 * What a worker's start does about its schema: makes it where there is none, or an empty one
 * (`if-missing`); also adds to one that is there what it lacks (`always`); or neither, and rejects where
 * there is none (`never`).
 */
export type MigrateOption = "if-missing" | "always" | "never";

/**
 * The options of a worker. All that is wrong is reported at once, by InputError. Durations are
 * milliseconds.
 */
export interface WorkerOptions<Extensions = unknown> {
  /** What this worker can do. At least one. */
  // biome-ignore lint/suspicious/noExplicitAny: tasks of different payloads share one list
  readonly tasks: readonly Task<any, Extensions>[];
  /** `postgres://…`; the worker makes a pool of its own and ends it. Or give `pool`. */
  readonly connectionString?: string | undefined;
  /** A pool that is lent: never ended. The worker's own connections copy its settings. */
  readonly pool?: Pool | undefined;
  /** Most connections of the worker's own pool, for tasks. Default 10. */
  readonly maxConnections?: number | undefined;
  /** Default `worker`; an existing Graphile Worker installation is `graphile_worker`. */
  readonly schema?: string | undefined;
  /** Whether the start may make or change the schema. Default `if-missing`. */
  readonly migrate?: MigrateOption | undefined;
  /** Jobs that run at once. Default 10. */
  readonly concurrency?: number | undefined;
  /** How long an idle worker waits before it fetches again, milliseconds. Default 2,000. */
  readonly pollIntervalMs?: number | undefined;
  /** Wake up by LISTEN. Off behind a transaction pooler such as pgbouncer. Default true. */
  readonly notify?: boolean | undefined;
  /** Off behind a transaction pooler, where no session setting is made then either. Default true. */
  readonly preparedStatements?: boolean | undefined;
  /** Jobs with one of these flags are left to other workers. */
  readonly forbiddenFlags?: readonly string[] | undefined;
  /** Fails any attempt that takes longer, milliseconds; a task's own timeoutMs goes first. */
  readonly timeoutMs?: number | undefined;
  /** How many jobs it takes ahead. */
  readonly localQueue?: LocalQueueOptions | undefined;
  /** Connections that finish and fetch jobs side by side. Default 2. */
  readonly connections?: number | undefined;
  /**
   * Take short jobs that have no key by row locks: several times the throughput, and a killed
   * worker's jobs are free at once. A job that runs longer than `limitMs` (default 100, at most
   * 5,000) gets the ordinary lock then; jobs of named queues always have it. When a connection is cut, a
   * job may run again before the cut-off run has ended. A handler that blocks the event loop for more than 5 minutes, or without
   * heartbeats (`recovery: false`, a transaction pooler) for more than 10 seconds, runs a second time
   * beside itself. Behind a transaction pooler each lane keeps one of its server connections while
   * jobs run. Default false.
   */
  readonly fastLane?: boolean | { readonly limitMs?: number } | undefined;
  /**
   * How long stop(), SIGTERM and SIGINT wait for running jobs, milliseconds; then it goes on as
   * abort(). 0: for ever. Default 25,000, so that with the grace a stop takes at most 30 s: what
   * container hosts wait for.
   */
  readonly stopTimeoutMs?: number | undefined;
  /**
   * After abort(): how long running jobs have to end by themselves, milliseconds. What still runs then
   * goes back to the queue with its attempt counted. Default 5,000.
   */
  readonly abortGraceMs?: number | undefined;
  /** Heartbeats, and the recovery of stale workers' jobs. Default: on. */
  readonly recovery?: false | RecoveryOptions | undefined;
  /** Observers and interceptors, in this order. */
  readonly plugins?: readonly Plugin[] | undefined;
  /** Jobs that this worker adds by the clock, shared with all workers of the schema. UTC. */
  readonly cron?: CronOptions | undefined;
  /** Default: warnings and errors as text on stderr. `"silent"`: none. */
  readonly logger?: Logger | "silent" | undefined;
  /** Given to every task as `context.extensions`. */
  readonly extensions?: Extensions | undefined;
}

export interface FastLaneConfig {
  readonly limitMs: number;
}

export interface WorkerConfig<Extensions> {
  readonly tasks: ReadonlyMap<string, Task<unknown, Extensions>>;
  readonly connectionString: string | undefined;
  readonly pool: Pool | undefined;
  readonly maxConnections: number;
  readonly schema: SchemaName;
  readonly migrate: MigrateOption;
  readonly concurrency: number;
  readonly pollIntervalMs: number;
  readonly notify: boolean;
  readonly preparedStatements: boolean;
  readonly forbiddenFlags: readonly string[];
  readonly timeoutMs: number | undefined;
  readonly localQueue: LocalQueueConfig;
  readonly connections: number;
  readonly fastLane: FastLaneConfig | null;
  readonly stopTimeoutMs: number;
  readonly abortGraceMs: number;
  readonly recovery: RecoveryConfig | null;
  readonly resetLocksIntervalMs: number;
  readonly staleLockThresholdMs: number;
  readonly plugins: readonly Plugin[];
  readonly cron: CronConfig | null;
  readonly logger: Logger;
  readonly extensions: Extensions;
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

const removedQueues = v.pipe(
  v.unknown(),
  v.check(() => false, "was removed: named queues always use the ordinary lock; leave it out"),
);

const optionsSchema = strict(
  {
    tasks: v.pipe(
      v.array(task, "must be a list of tasks made by defineTask()"),
      v.minLength(1, "needs at least one task"),
      v.check(
        (tasks) => repeated(tasks) === undefined,
        ({ input }) => `"${repeated(input)}" is listed twice`,
      ),
    ),
    connectionString: v.optional(v.string("must be a string")),
    pool: v.optional(having<Pool>(["connect", "query"], "must be a Pool of pg")),
    maxConnections: v.optional(count(1_000), 10),
    schema: v.optional(v.string("must be a string"), "worker"),
    migrate: v.optional(
      v.picklist(["if-missing", "always", "never"], "must be if-missing, always or never"),
      "if-missing",
    ),
    concurrency: v.optional(count(10_000), 10),
    pollIntervalMs: v.optional(duration, 2_000),
    notify: v.optional(v.boolean("must be true or false"), true),
    preparedStatements: v.optional(v.boolean("must be true or false"), true),
    forbiddenFlags: v.optional(v.array(v.string("must be a string")), []),
    timeoutMs: v.optional(duration),
    localQueue: localQueueOptions,
    connections: v.optional(count(16), 2),
    fastLane: v.optional(
      v.union(
        [
          v.boolean(),
          strict({ limitMs: v.optional(fastLimit, 100), queues: v.optional(removedQueues) }),
        ],
        "must be true, false or { limitMs }",
      ),
      false,
    ),
    stopTimeoutMs: v.optional(durationOrNone, 25_000),
    abortGraceMs: v.optional(duration, 5_000),
    recovery: v.optional(any),
    plugins: v.optional(
      v.array(having<Plugin>(["register"], "must have a method register(hooks)"), "must be a list"),
      [],
    ),
    cron: v.optional(any),
    logger: v.optional(
      v.custom<Logger | "silent">(
        (value) => value === "silent" || isLogger(value),
        ({ input }) => loggerProblem(input),
      ),
    ),
    extensions: v.optional(any),
  },
  graphileNames,
);

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
  return Object.freeze({
    ...checked,
    connectionString: checked.connectionString,
    pool: options.pool,
    fastLane: checked.fastLane === true ? { limitMs: 100 } : checked.fastLane || null,
    timeoutMs: checked.timeoutMs,
    tasks: new Map(options.tasks.map((task) => [task.identifier, task as Task<unknown, E>])),
    cron,
    ...recovery,
    schema,
    logger: options.logger === "silent" ? silentLogger : (options.logger ?? stderrLogger),
    extensions: options.extensions as E,
    localQueue: resolveLocalQueue(checked.localQueue),
  });
}

function checkedOptions<E>(options: WorkerOptions<E>) {
  const checked = validate(optionsSchema, options);
  const { durationMs = 0 } = checked.localQueue.refetchDelay ?? {};
  if (durationMs > checked.pollIntervalMs) {
    const path = "localQueue.refetchDelay.durationMs";
    throw new InputError([{ path, message: "must not exceed pollIntervalMs" }]);
  }
  return checked;
}

function assertOneDatabase<E>({ connectionString, pool }: WorkerOptions<E>): void {
  if ((connectionString === undefined) === (pool === undefined)) {
    throw new InputError("give either connectionString or pool");
  }
  if (typeof connectionString === "string") serverSettings(connectionString);
}

function repeated(tasks: readonly { readonly identifier: string }[]): string | undefined {
  const names = tasks.map(({ identifier }) => identifier);
  return names.find((name, index) => names.indexOf(name) < index);
}
