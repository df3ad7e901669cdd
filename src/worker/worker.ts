// Creates the parts of a worker, and controls their start and stop.
//
//   new ──start()──▶ running ──stop()──▶ stopping: running jobs end, results are written ──▶ stopped
//                       └─────abort()─────▶ the same, but the jobs' signals abort at once (stop-limit.ts)
import type pg from "pg";
import { settlesWithin, unlessAborted } from "../base/clock.ts";
import { WorkerError } from "../base/errors.ts";
import { Outage } from "../base/outage.ts";
import type { Service } from "../base/service.ts";
import { Listener } from "../database/connection/listener.ts";
import { endPool } from "../database/connection/pool.ts";
import type { Database } from "../database/database.ts";
import type { Job } from "../domain/job.ts";
import type { WorkerUtils } from "../utils/worker-utils.ts";
import { connectionOf, withApplicationName, withBounds } from "./connection/connection-config.ts";
import { Timetable } from "./cron/timetable.ts";
import { ignoringSignal, type JobIgnoringSignal } from "./execute/job-context.ts";
import { withTallies } from "./execute/task-tally.ts";
import { WorkerLease } from "./lease/worker-lease.ts";
import {
  checkedConcurrency,
  resolveWorkerOptions,
  type WorkerConfig,
  type WorkerOptions,
} from "./options/worker-options.ts";
import { Session } from "./session.ts";
import { Sessions } from "./sessions.ts";
import { StopLimit } from "./stop-limit.ts";
import { Hooks } from "./task/hooks.ts";
import { logEvents } from "./task/log-listener.ts";
import type { AbortedAttempt } from "./task/task-context.ts";
import { Upkeep } from "./upkeep.ts";
import { WorkerMetrics } from "./worker-metrics.ts";
import { ownPool, utilsOf } from "./worker-pool.ts";
import { isBreaking, schemaAtStart, schemaCheck } from "./worker-schema.ts";

/**
 * Fetches and runs jobs between start() and stop(). run() creates and starts a worker. Use the constructor to register
 * observers on `hooks` before the start.
 */
export class Worker<Extensions = unknown> implements Service {
  /** The worker's observers and interceptors. */
  readonly hooks: Hooks;
  /**
   * All operations of the queue, on the worker's pool and with the worker's `beforeJobSchedule` interceptors. addJob()
   * resolves to null if an interceptor skips the job. After the stop, only operations on a pool of your own still work.
   */
  readonly utils: WorkerUtils<Job | null>;
  readonly #config: WorkerConfig<Extensions>;
  readonly #concurrency: { value: number };
  readonly #pool: pg.Pool;
  readonly #sessions: Sessions<Extensions>;
  readonly #upkeep: Upkeep<Extensions>;
  readonly #listener: Listener | null;
  readonly #timetable: Timetable;
  readonly #metrics: WorkerMetrics;
  readonly #aborted = new Set<AbortedAttempt>();
  /** The ids under which nothing is locked. #closeAll() ends their leases. */
  #freeIds: readonly string[] = [];
  readonly #stopping = new AbortController();
  readonly #limit: StopLimit;
  readonly #ended = Promise.withResolvers<void>();
  #started: Promise<void> | null = null;
  #stopped: Promise<void> | null = null;
  #closed: Promise<void> | null = null;

  /** Creates a worker that has not started. Throws InputError with all invalid options. */
  constructor(options: WorkerOptions<Extensions>) {
    const config = resolveWorkerOptions(options);
    this.#config = config;
    this.#concurrency = { value: config.concurrency };
    this.hooks = new Hooks(config.logger, config.plugins);
    logEvents(this.hooks, config.logger);
    const outage = new Outage(config.logger);
    this.#pool = config.pool ?? ownPool(config);
    const [hooks, concurrency] = [this.hooks, this.#concurrency];
    this.utils = utilsOf(config, this.#pool, hooks);
    const own = { extensions: config.extensions as Extensions, aborted: this.#aborted };
    const source = { pool: this.#pool, logger: config.logger, utils: this.utils, ...own };
    const connection = connectionOf(this.#pool);
    const sessions = () => this.#sessions;
    this.#limit = new StopLimit(config, () => this.#sessions.all);
    const tasks = withTallies(config.tasks);
    const lease = new WorkerLease();
    const prove = () => this.#prove();
    const shared = { connection, hooks, tasks, concurrency, outage, lease, prove };
    const cron = () => this.#timetable.ticks;
    this.#upkeep = new Upkeep(config, { ...shared, sessions, cron });
    const { controls, limits } = this.#upkeep;
    const parts = { config, source, ...shared, controls, limits };
    const ending = { hooks, outage, givenUp: this.#limit.givenUp };
    this.#sessions = new Sessions(() => new Session(parts), ending);
    const taskIdentifiers = [...config.tasks.keys()];
    this.#timetable = new Timetable(config, {
      ...{ workerId: () => this.id, db: this.#database, hooks, logger: config.logger, outage },
      taskIdentifiers: new Set(taskIdentifiers),
    });
    this.#listener = config.notify ? this.#listen(connection, outage) : null;
    this.#metrics = new WorkerMetrics({
      ...{ tasks, concurrency, sessions },
      heartbeatAgeMs: () => lease.heartbeatAgeMs,
      ignoringSignal: () => this.jobsIgnoringSignal.length,
    });
    const created = { workerId: this.id, concurrency: concurrency.value, taskIdentifiers };
    this.hooks.emit("worker:create", created);
  }

  /** The id that the worker writes into `locked_by`. The id changes when the worker's lease is lost. */
  get id(): string {
    return this.#sessions.current.id;
  }

  /**
   * Creates or migrates the schema if the option `migrate` requires it, and starts the worker. Resolves when the worker
   * begins to fetch jobs. If the start fails, nothing keeps running. Rejects for example with WorkerError `aborted` (by
   * stop()), `schema_missing`, `database_unreachable`, `schema_unsupported`, `extension_missing` (option `limits`) or
   * `configuration` (bad crontab).
   */
  start(): Promise<void> {
    if (this.#stopped === null) this.#started ??= this.#start();
    // After a failed start, every later call rejects with the same error.
    return (this.#started ?? Promise.resolve()).then(() => {
      if (this.#stopped === null) return;
      throw new WorkerError("aborted", "the worker has been stopped; create a new one");
    });
  }

  /**
   * Stops the worker: fetches no more jobs, waits for running jobs and writes all results. If the stop takes longer
   * than `stopTimeoutMs` (default 25,000; 0: no limit), the stop continues as abort(). `reason` is for logs and events.
   * Idempotent; never rejects.
   */
  stop(reason = "stop"): Promise<void> {
    this.#stopped ??= this.#stop(reason);
    return this.#stopped;
  }

  /** A promise that resolves when the worker has stopped, for any reason, or has failed to start. */
  get stopped(): Promise<void> {
    return this.#ended.promise;
  }

  /**
   * True when the stop did not wait for all jobs and results: a job still ran after `abortGraceMs`, or the database was
   * unreachable. A job that was not waited for may still run in this process, and may also run in another worker.
   */
  get hasAbandonedJobs(): boolean {
    return this.#limit.hasGivenUp;
  }

  /**
   * Stops the worker as stop() does, but aborts the signals of running jobs at once. If jobs still run after
   * `abortGraceMs` (default 5,000), their attempts fail, and the jobs are unlocked. If the database is unreachable, the
   * stop ends at most a second later: unwritten results are lost, and their jobs stay locked until recovery.
   */
  async abort(reason = "abort"): Promise<void> {
    const stopped = this.stop(reason);
    this.#limit.abort(reason);
    await stopped;
  }

  /**
   * Starts the worker if necessary, and rejects if the start fails. Resolves when no job is ready or running and all
   * results are written, when `signal` aborts, or when the worker has stopped. Ignores jobs that are due later.
   */
  async drain(signal: AbortSignal = new AbortController().signal): Promise<void> {
    const over = new AbortController();
    void this.stopped.then(() => over.abort());
    const ended = AbortSignal.any([signal, over.signal]);
    const done = (this.#started ?? this.start()).then(() => this.#sessions.waitUntilDrained(ended));
    await unlessAborted(done, signal);
  }

  /** The largest number of jobs that run at the same time. */
  get concurrency(): number {
    return this.#concurrency.value;
  }

  /**
   * Changes the largest number of jobs that run at once, 1–10,000. If the number shrinks, running jobs continue, and
   * unstarted jobs are given back. No effect after the stop. Throws InputError for an invalid number.
   */
  setConcurrency(concurrency: number): void {
    const before = this.#concurrency.value;
    this.#concurrency.value = checkedConcurrency(concurrency);
    this.#sessions.slotsChanged(this.#concurrency.value - before);
  }

  /**
   * For health checks: the jobs whose code still runs at least `abortGraceMs` (default 5,000) after their signal
   * aborted. The earliest aborted job comes first.
   */
  get jobsIgnoringSignal(): readonly JobIgnoringSignal[] {
    return ignoringSignal(this.#aborted, this.#config.abortGraceMs);
  }

  /**
   * Resolves to the worker's metrics as Prometheus text: jobs by task and result, slots, running jobs, fetched jobs
   * that wait, jobs that ignore a signal, and the age of the last heartbeat. Also two histograms, which begin with the
   * first call of metrics(): the durations of jobs, and the times that due jobs waited for their fetch.
   */
  metrics(): Promise<string> {
    return this.#metrics.text();
  }

  /** Stops the worker, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop("dispose");
  }

  async #start(): Promise<void> {
    try {
      const schema = await schemaAtStart(this.#pool, this.#config, this.#stopping.signal);
      await this.#listener?.start();
      // The timetable starts before jobs are fetched, so that no job runs yet if the crontab file cannot be read.
      await this.#timetable.start(schema.objects.has("_private_schedules"));
      await this.#upkeep.start(this.#database, schema, this.id);
      await this.#sessions.current.dispatcher.start();
      this.hooks.emit("worker:start", { workerId: this.id });
    } catch (error) {
      this.#freeIds = [this.id];
      await this.#close();
      throw error;
    }
  }

  async #stop(reason: string): Promise<void> {
    // These two calls are synchronous, so that no job starts after the call of stop().
    this.#stopping.abort();
    this.#sessions.stopTaking();
    await this.#limit.waitFor(this.#end(reason), reason);
    this.#ended.resolve();
  }

  async #end(reason: string): Promise<void> {
    await this.#started?.catch(() => {});
    this.hooks.emit("worker:shutdown", { workerId: this.id, reason });
    const sessions = this.#started === null ? [] : this.#sessions.stop();
    const others = [this.#timetable.stop(), this.#listener?.stop()];
    [this.#freeIds] = await Promise.all([sessions, ...others]);
    const closed = this.#close();
    // The database perhaps does not answer.
    if (!(await settlesWithin(closed, MAX_CLOSE_MS))) this.#upkeep.cut();
  }

  /** Called by stop() and after a failed start. Both may happen. */
  #close(): Promise<void> {
    this.#closed ??= this.#closeAll();
    return this.#closed;
  }

  async #closeAll(): Promise<void> {
    await this.#timetable.stop();
    await this.#listener?.stop();
    await this.#sessions.close();
    const { pool, abortGraceMs } = this.#config;
    // A connection of the worker's own pool that a task still uses is closed after abortGraceMs.
    const ownPool = pool === undefined ? endPool(this.#pool, abortGraceMs) : undefined;
    await Promise.all([this.#upkeep.stop(this.#freeIds), ownPool]);
    this.#ended.resolve();
  }

  get #database(): Database {
    return withBounds(this.#pool, this.#config.schema);
  }

  /** If a heartbeat fails or a connection is lost, other connections may be lost, too. */
  #prove(): void {
    for (const { dispatcher } of this.#sessions.all) dispatcher.prove();
    void this.#listener?.prove();
  }

  #listen(connection: pg.ClientConfig, outage: Outage): Listener {
    const checkSchema = schemaCheck({
      ...{ db: this.#database, outage, signal: this.#stopping.signal },
      tooNew: (reason) => void this.stop(reason),
    });
    return new Listener({
      ...{ connection: withApplicationName(connection, "worker listen"), outage },
      channels: {
        ...this.#sessions.channels,
        ...this.#upkeep.channels,
        ...this.#timetable.channels,
        // All schemas of the database share this channel.
        "worker:migrate": (payload) => {
          if (isBreaking(payload)) checkSchema();
        },
      },
      onReconnect: () => {
        this.#prove();
        this.#sessions.current.dispatcher.wake();
        this.#upkeep.controls.readNow();
        checkSchema();
      },
    });
  }
}

const MAX_CLOSE_MS = 700;
