// The library's way in for applications: all operations of one queue as methods of one object, on a
// pool of its own or on what it is lent. Whatever was lent is never ended.
import type pg from "pg";
import * as v from "valibot";
import { WorkerError } from "../base/errors.ts";
import { isLogger, type Logger, loggerProblem, silentLogger } from "../base/logger.ts";
import { strict, validate } from "../base/validate.ts";
import type { RemovedJob } from "../commands/jobs/remove-job.ts";
import type { JobChanges } from "../commands/jobs/reschedule-jobs.ts";
import type {
  CleanupOptions,
  CleanupResult,
  CleanupTask,
} from "../commands/maintenance/cleanup.ts";
import type { UnlockedCounts } from "../commands/maintenance/force-unlock-workers.ts";
import type { SweepOptions, SweepResult } from "../commands/maintenance/sweep-stale-workers.ts";
import { createPool } from "../database/connection/pool.ts";
import type { Database, Queryable, StatementClient } from "../database/database.ts";
import { exactClient } from "../database/exact-client.ts";
import { migrate } from "../database/schema/migrate.ts";
import { schemaName } from "../database/schema-name.ts";
import type { Job } from "../domain/job.ts";
import type { AddJob, AddJobs, CopyJobs } from "../domain/typed-job.ts";
import type { JobFilter } from "../insight/pages/job-filter.ts";
import type { JobPage } from "../insight/pages/list-jobs.ts";
import type { QueueSummary } from "../insight/read/list-queues.ts";
import type { JobCounts } from "../queue/read/count-jobs.ts";
import type { ActiveWorker } from "../queue/workers/list-active-workers.ts";
import type { LockedWorker } from "../queue/workers/list-locked-workers.ts";
import { type BeforeAdd, boundOperations } from "./bound-operations.ts";

/** Either `pool` or `connectionString` is needed. */
export interface WorkerUtilsOptions {
  /** A pool of the application's; it stays the application's. */
  readonly pool?: pg.Pool | undefined;
  /** `postgres://user:password@host:port/database`, for a pool that `end()` ends. */
  readonly connectionString?: string | undefined;
  /** Default `worker`; an existing Graphile Worker installation is `graphile_worker`. */
  readonly schema?: string | undefined;
  /** Of the pool of its own, 1–1,000. Default 5. */
  readonly maxConnections?: number | undefined;
  /** Off behind a transaction pooler such as pgbouncer. Default true. */
  readonly preparedStatements?: boolean | undefined;
  /** Default: silent. */
  readonly logger?: Logger | undefined;
}

/**
 * The operations of one queue on one pool, or on one client (`with`). `Added` is what addJob gives:
 * a job, or on a worker's own utils also null, where an interceptor skipped it.
 *
 * Every method rejects with WorkerError, whose `code` says what is wrong: `bad_input` (InputError: all
 * problems at once, and nothing was changed), `schema_missing`, `schema_unsupported`,
 * `database_unreachable`, `database_timeout`, `database_busy`, `database_error`; what adds also with
 * `outcome_unknown`: the connection was lost before the answer, and the jobs may have been added. With a
 * `jobKey` it can be tried again: that gives one job.
 */
export interface WorkerUtils<Added = Job> extends AsyncDisposable {
  /** The plain name of the queue's schema. */
  readonly schema: string;
  /** Where the operations run; for adminServerConfig(pool, utils). */
  readonly database: Database;
  /**
   * Adds a job: of a task, whose type the payload must have, or of an identifier, with any payload.
   * `undefined` is stored as `{}`, a bigint as an exact integer, rawJson() byte for byte. With
   * `jobKey` the waiting job of that key is replaced, as `jobKeyMode` says; with `unsafe_dedupe` the
   * job that was there is what comes back.
   *
   * Once it resolves the job is committed, or on `with(client)` part of that transaction. Calls
   * without a key that are made at about the same time share one insert. Rejects with InputError for
   * what the schema cannot hold or JSON has no word for.
   */
  readonly addJob: AddJob<Added>;
  /**
   * Adds up to 10,000 jobs, `{ task, payload, spec }` or `{ identifier, payload, spec }`: all of them
   * or none, in one round trip where none has a key. Gives one job for each, in the same order. A
   * problem names the job by its index: `jobs[3].spec.priority`. A batch in which a key occurs twice takes
   * several statements: on `with(client)` only a transaction of yours makes them one.
   * Rejects with InputError for more, and as addJob does.
   */
  readonly addJobs: AddJobs<Job>;
  /**
   * Adds any number of jobs by COPY, from a list or any (async) iterable, in the memory of a part of
   * them: all or none, and workers are notified once. Gives their number. No job keys here: use addJobs.
   * Rejects with InputError as addJobs does, and with what the iterable throws.
   */
  readonly copyJobs: CopyJobs;
  /**
   * Deletes jobs as if they had succeeded, 1–10,000 ids. Gives those that were deleted, ascending by
   * id: unknown ones, and those locked less than 4 hours ago, are left alone. Rejects with InputError
   * for another number of ids, or what is none.
   */
  completeJobs(ids: readonly string[]): Promise<Job[]>;
  /**
   * Sets `attempts` to `max_attempts` and `last_error` to the reason (at most 65,536 characters;
   * default "Manually marked as failed"). 1–10,000 ids; gives those that were changed, and rejects, as
   * completeJobs does. Waits up to a second for jobs that a worker has fetched and not started.
   */
  permanentlyFailJobs(ids: readonly string[], reason?: string | null): Promise<Job[]>;
  /**
   * Changes run_at (`"now"`: by the database's clock), priority, attempts or max_attempts of
   * 1–10,000 jobs; at least one of them. What is not given stays. A job whose attempts are used up
   * runs again only with `attempts` below its max_attempts. Gives those that were changed, and
   * rejects, as completeJobs does; with InputError also where nothing is to be changed. Waits
   * as permanentlyFailJobs does.
   */
  rescheduleJobs(ids: readonly string[], changes: JobChanges): Promise<Job[]>;
  /**
   * Takes back the job with this key (1–512 characters). Waits up to a second for one that a worker has
   * fetched and not started. One that runs goes on, but loses its key and is not tried again. Rejects with InputError for a key that is none.
   */
  removeJob(key: string): Promise<RemovedJob>;
  /**
   * The job, or null when there is none: one that has succeeded is gone. Rejects with InputError for
   * what is no id.
   */
  getJob(id: string): Promise<Job | null>;
  /**
   * A page of jobs, ascending by id: 100 by default, at most 500, and fewer where they are large.
   * `nextCursor` leads to the next one; null at the end. Rejects with InputError for a filter that is
   * none.
   */
  listJobs(filter?: JobFilter): Promise<JobPage>;
  /** Exact numbers by state. Reads all jobs: about 0.25 s for each million. */
  countJobs(): Promise<JobCounts>;
  /**
   * The named queues, locked ones first; 1,000 by default, 0 to 10,000 (InputError otherwise). Reads
   * all jobs.
   */
  listQueues(limit?: number): Promise<QueueSummary[]>;
  /** Ids that hold locks, with a heartbeat or not, at most 1,000. Reads all jobs. */
  listLockedWorkers(): Promise<LockedWorker[]>;
  /**
   * Workers that send heartbeats, at most 1,000; none in a schema without our additions.
   * `staleAfterMs`: without a heartbeat for so long `isStale` is true; up to a year (InputError
   * otherwise); by default for as long as each says of itself, and 300,000 where it says nothing.
   */
  listActiveWorkers(options?: { readonly staleAfterMs?: number }): Promise<ActiveWorker[]>;
  /**
   * Deletes failed jobs, and task identifiers and queues without jobs; the tasks named, by default
   * all three, an empty list none. "gc-task-identifiers" keeps the tasks of running workers that send
   * heartbeats, and those in `taskIdentifiersToKeep`. Names are deleted in steps; each step waits up to 10 s
   * for the transactions that are open then, and puts back the names that a job of theirs refers to.
   * Rejects with InputError for an unknown cleanup task, and with `configuration` where names are to be
   * deleted on `with(client)` inside a transaction.
   */
  cleanup(tasks?: readonly CleanupTask[], options?: CleanupOptions): Promise<CleanupResult>;
  /**
   * Takes all locks of these workers (1–1,000 ids) away. What a living one still runs will run a
   * second time: only name workers that are gone. Rejects with InputError for another number of ids.
   */
  forceUnlockWorkers(workerIds: readonly string[]): Promise<UnlockedCounts>;
  /**
   * Frees the jobs of workers without a heartbeat for `sweepThresholdMs` (default 300,000), to run
   * again after `recoveryDelayMs` (default 30,000). Attempts stay as they are. `dryRun`: only says
   * what it would do. Workers do this by themselves for each other (option `recovery`).
   * Rejects with InputError for a duration that is negative or longer than a year.
   */
  sweepStaleWorkers(options?: SweepOptions): Promise<SweepResult>;
  /**
   * Builds the schema, or adds to an existing one what it lacks; safe with many starters at once.
   * Rejects with `configuration` on `with(client)`: it needs a pool.
   */
  migrate(): Promise<void>;
  /**
   * The same on another pool or client, such as one inside a transaction: then a rollback takes
   * back what was done. Ending the result ends nothing. Another driver than pg fits, too, through an
   * object whose `query({ text, values })` resolves to `{ rows }`; before its first statement it is asked
   * one, and rejected with `configuration` where it does not answer texts as they are.
   */
  with(client: StatementClient): WorkerUtils<Added>;
  /** Ends the pool of its own, after the statements under way; never one that was lent. Idempotent. */
  end(): Promise<void>;
}

const optionsSchema = v.pipe(
  strict({
    pool: v.optional(v.custom<pg.Pool>(isQueryable, "must be a pg Pool")),
    connectionString: v.optional(v.string("must be a string")),
    schema: v.optional(v.string("must be a string")),
    maxConnections: v.optional(
      v.pipe(
        v.number("must be a number"),
        v.check(
          (value) => Number.isInteger(value) && value >= 1 && value <= 1_000,
          "must be 1–1000",
        ),
      ),
    ),
    preparedStatements: v.optional(v.boolean("must be true or false"), true),
    logger: v.optional(v.custom<Logger>(isLogger, ({ input }) => loggerProblem(input))),
  }),
  v.check(
    ({ pool, connectionString }) => (pool === undefined) !== (connectionString === undefined),
    "either pool or connectionString is needed",
  ),
);

function isQueryable(value: unknown): boolean {
  return typeof (value as Partial<Queryable> | null)?.query === "function";
}

/**
 * Utilities for one queue. Connects at first use, so a wrong address shows at the first call.
 * Throws InputError for an unknown option, one out of range, or a URL that is none.
 */
export async function makeWorkerUtils(options: WorkerUtilsOptions): Promise<WorkerUtils> {
  const { pool, connectionString, maxConnections, logger, ...checked } = validate(
    optionsSchema,
    options,
  );
  const { preparedStatements } = checked;
  const schema = schemaName(checked.schema);
  const log = logger ?? silentLogger;
  if (pool !== undefined) {
    const lent = { client: pool, schema, preparedStatements };
    return bindUtils(lent, { pool, logger: log, before: null, end: async () => {} });
  }
  const own = createPool({
    connectionString: connectionString ?? "",
    logger: log,
    ...(maxConnections === undefined ? {} : { maxConnections }),
  });
  let ended: Promise<void> | undefined;
  const end = () => {
    ended ??= own.end();
    return ended;
  };
  const database = { client: own, schema, preparedStatements };
  return bindUtils(database, { pool: own, logger: log, before: null, end });
}

/** What utilities are made of. */
export interface UtilsOwner {
  /** null: there is only a client. */
  readonly pool: pg.Pool | null;
  readonly logger: Logger;
  /** Called before a job is added; null: nothing is. */
  readonly before: BeforeAdd | null;
  end(): Promise<void>;
}

/** The operations on `db`. With a `before`, addJob may give null. */
export function bindUtils<Added = Job>(db: Database, owner: UtilsOwner): WorkerUtils<Added> {
  const { addJob, addJobs, copyJobs, ...rest } = boundOperations(
    db,
    owner.pool !== null,
    owner.before,
  );
  return Object.freeze({
    ...rest,
    schema: db.schema.name,
    database: db,
    addJob: addJob as AddJob<Added>,
    addJobs: addJobs as AddJobs<Job>,
    copyJobs: copyJobs as CopyJobs,
    migrate: () => migrateOn(db, owner),
    with: (client: StatementClient) =>
      bindUtils<Added>(
        { ...db, client: exactClient(client) },
        { ...owner, pool: null, end: async () => {} },
      ),
    end: () => owner.end(),
    [Symbol.asyncDispose]: () => owner.end(),
  });
}

async function migrateOn(db: Database, { pool, logger }: UtilsOwner): Promise<void> {
  if (pool === null) {
    throw new WorkerError(
      "configuration",
      "migrate() needs a pool: call it on what makeWorkerUtils returned, not on with(client)",
    );
  }
  await migrate(pool, db.schema, { logger });
}
