// The options of a worker, their check, and the frozen configuration of the running worker.
import type { Pool } from "pg";
import * as v from "valibot";
import { InputError } from "../../base/errors.ts";
import { isLogger, type Logger, loggerProblem, silentLogger } from "../../base/logger.ts";
import { safeLogger } from "../../base/safe-logger.ts";
import { stderrLogger } from "../../base/stderr-logger.ts";
import {
  checkAll,
  count,
  duration,
  durationOrNone,
  strict,
  validate,
} from "../../base/validate.ts";
import { serverSettings } from "../../database/connection/server/server-settings.ts";
import { type SchemaName, schemaName } from "../../database/schema-name.ts";
import { boundedText } from "../../domain/job-spec.ts";
import { type LimitDefinition, type LimitOptions, limitList } from "../../domain/limits/limit.ts";
import type { Plugin } from "../task/hooks.ts";
import { type RetryPolicies, type RetryPolicy, retryPolicy } from "../task/retry.ts";
import type { Task } from "../task/task.ts";
import { type CronConfig, type CronOptions, resolveCronOptions } from "./cron-options.ts";
import { type FastLaneConfig, fastLaneOption, resolveFastLane } from "./fast-lane-options.ts";
import { graphileNames } from "./graphile-names.ts";
import {
  type LocalQueueConfig,
  type LocalQueueOptions,
  localQueueOptions,
  resolveLocalQueue,
} from "./local-queue-options.ts";
import { type RecoveryConfig, type RecoveryOptions, resolveRecovery } from "./recovery-options.ts";

/**
 * What the start of a worker does about the schema. `if-missing`: creates a missing or empty schema. `always`: also
 * adds what an existing schema lacks. `never`: changes nothing, and rejects if the schema is missing.
 */
export type MigrateOption = "if-missing" | "always" | "never";

/** The options of a worker. Invalid options are reported together, by one InputError. */
export interface WorkerOptions<Extensions = unknown> {
  /** The tasks that this worker runs, at least one. */
  // biome-ignore lint/suspicious/noExplicitAny: tasks of different payloads share one list
  readonly tasks: readonly Task<any, Extensions>[];
  /**
   * The database's URL, `postgres://user:password@host:port/database`. Exactly one of `connectionString` and `pool` is
   * required.
   */
  readonly connectionString?: string | undefined;
  /** Your own pool, which the worker never ends. The worker's own connections copy the pool's settings. */
  readonly pool?: Pool | undefined;
  /** The size of the pool that the worker creates for tasks. The worker's own `connections` are extra. Default 10. */
  readonly maxConnections?: number | undefined;
  /** The schema of the queue. Graphile Worker's tables are usually in `graphile_worker`. Default `worker`. */
  readonly schema?: string | undefined;
  /** Whether the start may create or change the schema; see MigrateOption. Default `if-missing`. */
  readonly migrate?: MigrateOption | undefined;
  /** The largest number of jobs that run at once, at most 10,000; `setConcurrency()` changes it. Default 10. */
  readonly concurrency?: number | undefined;
  /** The time after which an idle worker fetches again, in milliseconds. Default 2,000. */
  readonly pollIntervalMs?: number | undefined;
  /**
   * Whether the worker is notified of new jobs by LISTEN. Must be false behind a transaction pooler such as pgbouncer.
   * Default true.
   */
  readonly notify?: boolean | undefined;
  /**
   * Whether the worker prepares statements and changes settings of its database sessions. Must be false behind a
   * transaction pooler. Default true.
   */
  readonly preparedStatements?: boolean | undefined;
  /** Jobs with one of these flags are left to other workers. Default: none. */
  readonly forbiddenFlags?: readonly string[] | undefined;
  /** The time limit of an attempt, in milliseconds; a task's own `timeoutMs` has precedence. Default: none. */
  readonly timeoutMs?: number | undefined;
  /** The retry policy of tasks that have none of their own. Default: exp(attempt) seconds, up to about 6 hours. */
  readonly retry?: RetryPolicy | undefined;
  /** Retry policies for jobs that are added with `retry: NAME`. Names have 1–100 characters. */
  readonly retryPolicies?: RetryPolicies | undefined;
  /** How many jobs are fetched before a slot is free for them. Default: see LocalQueueOptions. */
  readonly localQueue?: LocalQueueOptions | undefined;
  /**
   * The number of connections on which the worker fetches jobs and writes results, 1–16. The fast lane has the same
   * number of connections of its own. Default 2.
   */
  readonly connections?: number | undefined;
  /**
   * Whether jobs that have no key, no named queue and no limit run in the fast lane, which locks jobs by row locks on
   * connections of its own. The throughput of short jobs is about twice as high. When a worker is killed, other workers
   * can fetch its jobs of the fast lane immediately. A job that still runs `limitMs` after its fetch (default 100, at
   * most 5,000) is then locked by `locked_by`. When a connection of the fast lane is lost, a job may run again before
   * its first run has ended. If a handler blocks the event loop for more than 5 minutes (10 seconds if heartbeats are
   * off, or behind a transaction pooler), another worker may run the same job at the same time. Behind a pooler, each
   * connection of the fast lane occupies a server connection while jobs run. Default false.
   */
  readonly fastLane?: boolean | { readonly limitMs?: number } | undefined;
  /**
   * The time limit of a stop by stop(), SIGTERM or SIGINT, in milliseconds. After this time the stop continues as
   * abort(). 0: no limit. Default 25,000: with the default `abortGraceMs`, 30 s in total, the usual limit of
   * container platforms.
   */
  readonly stopTimeoutMs?: number | undefined;
  /**
   * How long the worker waits for running jobs after an abort, and for a cancelled job after its cancel, in
   * milliseconds. A job that still runs after this time is unlocked, and its attempt counts as failed. Default 5,000.
   */
  readonly abortGraceMs?: number | undefined;
  /** Heartbeats and the recovery of stale workers' jobs; false turns both off. Default: see RecoveryOptions. */
  readonly recovery?: false | RecoveryOptions | undefined;
  /** Plugins, whose observers and interceptors are called in this order. Default: none. */
  readonly plugins?: readonly Plugin[] | undefined;
  /**
   * Cron entries whose jobs this worker adds. If several workers of a schema have the same entry, the job of each tick
   * is added only once. Default: none.
   */
  readonly cron?: CronOptions | undefined;
  /** Whether this worker adds the jobs of schedules. Default true. */
  readonly schedules?: boolean | undefined;
  /**
   * Limits of tasks and queues, which all workers of this library apply. The start creates limits that do not exist. If
   * an existing limit differs, the start logs a warning and does not change the limit. If the tables of
   * `worker migrate --with limits` are missing, the start rejects with `extension_missing`. Default: none.
   */
  readonly limits?: readonly LimitOptions[] | undefined;
  /** The logger. `silent` turns it off. Default: warnings and errors as text on stderr. */
  readonly logger?: Logger | "silent" | undefined;
  /** A value that every task receives as `context.extensions`. Default undefined. */
  readonly extensions?: Extensions | undefined;
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
  readonly retry: RetryPolicy | undefined;
  readonly retryPolicies: RetryPolicies;
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
  readonly schedules: boolean;
  readonly limits: readonly LimitDefinition[];
  readonly logger: Logger;
  readonly extensions: Extensions;
}

const any = v.any();

const having = <T>(names: readonly (keyof T & string)[], message: string) =>
  v.custom<T>((one) => {
    const methods = one as Record<string, unknown> | null | undefined;
    return names.every((name) => typeof methods?.[name] === "function");
  }, message);

const task = v.custom<Task<unknown, never>>((one) => {
  const { identifier, handle } = (one ?? {}) as Partial<Task>;
  return typeof identifier === "string" && typeof handle === "function";
}, "must be made by defineTask() or defineBatchTask()");

const concurrency = count(10_000);

/** Returns a value of the option `concurrency`. Throws InputError if the value is invalid. */
export function checkedConcurrency(value: number): number {
  return validate(v.object({ concurrency }), { concurrency: value }).concurrency;
}

const optionsSchema = strict(
  {
    tasks: v.pipe(
      v.array(task, "must be a list of tasks made by defineTask() or defineBatchTask()"),
      v.minLength(1, "needs at least one task"),
      v.check(
        (tasks) => repeatedName(tasks) === undefined,
        ({ input }) => `"${repeatedName(input)}" is listed twice`,
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
    concurrency: v.optional(concurrency, 10),
    pollIntervalMs: v.optional(duration, 2_000),
    notify: v.optional(v.boolean("must be true or false"), true),
    preparedStatements: v.optional(v.boolean("must be true or false"), true),
    forbiddenFlags: v.optional(v.array(v.string("must be a string")), []),
    timeoutMs: v.optional(duration),
    retry: v.optional(retryPolicy),
    retryPolicies: v.optional(v.record(boundedText(1, 100), retryPolicy, "must be an object"), {}),
    localQueue: localQueueOptions,
    connections: v.optional(count(16), 2),
    fastLane: fastLaneOption,
    stopTimeoutMs: v.optional(durationOrNone, 25_000),
    abortGraceMs: v.optional(duration, 5_000),
    recovery: v.optional(any),
    plugins: v.optional(
      v.array(having<Plugin>(["register"], "must have a method register(hooks)"), "must be a list"),
      [],
    ),
    cron: v.optional(any),
    schedules: v.optional(v.boolean("must be true or false"), true),
    limits: v.optional(limitList, []),
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

/** Returns the checked options with their defaults. Throws InputError with all problems. */
export function resolveWorkerOptions<E>(options: WorkerOptions<E>): WorkerConfig<E> {
  if (typeof options !== "object" || options === null) {
    throw new InputError("the options of a worker must be an object");
  }
  const [checked, schema, cron, recovery] = checkAll(
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
    fastLane: resolveFastLane(checked.fastLane),
    timeoutMs: checked.timeoutMs,
    retry: checked.retry,
    tasks: new Map(options.tasks.map((task) => [task.identifier, task as Task<unknown, E>])),
    cron,
    ...recovery,
    schema,
    logger: options.logger === "silent" ? silentLogger : safeLogger(options.logger ?? stderrLogger),
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
    throw new InputError(
      "needs either connectionString or pool, and not both; if connectionString comes from an environment variable, check that it is set",
    );
  }
  if (typeof connectionString === "string") serverSettings(connectionString);
}

function repeatedName(tasks: readonly { readonly identifier: string }[]): string | undefined {
  const names = tasks.map(({ identifier }) => identifier);
  return names.find((name, index) => names.indexOf(name) < index);
}
