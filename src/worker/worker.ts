// A worker: everything that lives between start and stop, put together. What moves the jobs is
// dispatcher.ts, what runs them job-executor.ts.
//
//   new ──start()──▶ running ──stop()──▶ stopping (running jobs end, outcomes are written) ──▶ stopped
//                                 └abort()▶ signals abort; after a grace the jobs count as failed ┘
import { randomBytes } from "node:crypto";
import type pg from "pg";
import { wait } from "../base/clock.ts";
import type { Service } from "../base/service.ts";
import { Listener } from "../database/listener.ts";
import { createPool } from "../database/pool.ts";
import { assertUsableSchema } from "../database/schema-state.ts";
import type { JobSpec, JobToAdd } from "../domain/job-spec.ts";
import { addJobs } from "../queue/add-jobs.ts";
import { coalescedAdd } from "./add-coalescer.ts";
import { Cron } from "./cron.ts";
import { Dispatcher } from "./dispatcher.ts";
import { FastLanes } from "./fast-lanes.ts";
import { Hooks } from "./hooks.ts";
import { JobExecutor } from "./job-executor.ts";
import { Lane } from "./lane.ts";
import { logEvents } from "./log-listener.ts";
import { Outcomes } from "./outcomes.ts";
import { intercepted, interceptedAll } from "./schedule-interceptors.ts";
import type { ContextSource } from "./task-context.ts";
import { resolveWorkerOptions, type WorkerConfig, type WorkerOptions } from "./worker-options.ts";

export class Worker<Extensions = unknown> implements Service {
  /** What `locked_by` holds for this worker's jobs. */
  readonly id = `worker-${randomBytes(9).toString("hex")}`;
  readonly hooks: Hooks;
  readonly #config: WorkerConfig<Extensions>;
  readonly #pool: pg.Pool;
  readonly #executor: JobExecutor<Extensions>;
  readonly #dispatcher: Dispatcher<Extensions>;
  readonly #listener: Listener | null;
  readonly #cron: Cron | null;
  readonly #ended = Promise.withResolvers<void>();
  #started: Promise<void> | null = null;
  #stopped: Promise<void> | null = null;

  /** Throws InputError with everything that is wrong with the options. */
  constructor(options: WorkerOptions<Extensions>) {
    const config = resolveWorkerOptions(options);
    this.#config = config;
    this.hooks = new Hooks(config.logger, config.plugins);
    logEvents(this.hooks, config.logger);
    this.#pool = config.pool ?? ownPool(config);
    const outcomes = new Outcomes();
    const source = contextSource(config, this.#pool, this.hooks);
    this.#executor = new JobExecutor(config.tasks, source, outcomes, this.hooks, config.timeout_ms);
    const connection = connectionOf(config, this.#pool);
    this.#dispatcher = new Dispatcher(config, this.id, {
      executor: this.#executor,
      outcomes,
      hooks: this.hooks,
      lanes: this.#lanes(connection),
      fastLanes: config.fastLane
        ? (link) => {
            // A fast lane looks after its own connection.
            const lanes = this.#lanes(connection, () => {});
            const { id: workerId, hooks } = this;
            return new FastLanes(config, { workerId, hooks, source, lanes }, link);
          }
        : null,
    });
    this.#listener = config.notify ? this.#listen(connection) : null;
    this.#cron = cronOf(config, this.#pool, this.hooks);
    this.hooks.emit("worker:init", {
      workerId: this.id,
      concurrency: config.concurrency,
      taskIdentifiers: [...config.tasks.keys()],
    });
  }

  start(): Promise<void> {
    this.#started ??= this.#start();
    return this.#started;
  }

  /** Starts no more jobs, waits for the running ones and writes all outcomes. */
  stop(reason = "stop"): Promise<void> {
    this.#stopped ??= this.#stop(reason);
    return this.#stopped;
  }

  /** Resolves when the worker has stopped, whoever asked for it. */
  get stopped(): Promise<void> {
    return this.#ended.promise;
  }

  /** As stop(), but running jobs are told to end now; what ignores that counts as failed. */
  async abort(reason = "abort"): Promise<void> {
    const stopped = this.stop(reason);
    const executors = [this.#executor, ...this.#dispatcher.fastExecutors];
    for (const one of executors) one.abort(new Error(`the worker was stopped: ${reason}`));
    const grace = new AbortController();
    const ended = stopped.finally(() => grace.abort());
    if (await wait(this.#config.abortGrace_ms, grace.signal)) {
      for (const one of executors) one.abandon(`interrupted: the worker was stopped (${reason})`);
    }
    await ended;
  }

  /** Resolves once no job is ready, running or unwritten. */
  async drained(signal: AbortSignal = new AbortController().signal): Promise<void> {
    await this.start();
    await this.#dispatcher.drained(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop("dispose");
  }

  async #start(): Promise<void> {
    try {
      await assertUsableSchema({ client: this.#pool, schema: this.#config.schema });
      await this.#listener?.start();
      // Before any job is taken: a crontab file that cannot be read leaves nothing running.
      await this.#cron?.start();
      await this.#dispatcher.start();
      this.hooks.emit("worker:start", { workerId: this.id });
    } catch (error) {
      await this.#release();
      throw error;
    }
  }

  async #stop(reason: string): Promise<void> {
    await this.#started?.catch(() => {});
    this.hooks.emit("worker:shutdown", { workerId: this.id, reason });
    await this.#cron?.stop();
    await this.#listener?.stop();
    this.#dispatcher.stopClaiming();
    if (this.#started !== null) await this.#dispatcher.drained(new AbortController().signal);
    await this.#release();
  }

  async #release(): Promise<void> {
    await this.#cron?.stop();
    await this.#listener?.stop();
    await this.#dispatcher.close();
    if (this.#config.pool === undefined) await this.#pool.end();
    this.#ended.resolve();
  }

  #lanes(
    connection: pg.ClientConfig,
    onLoss = (error: Error): void => this.#dispatcher.connectionLost(error),
  ): Lane[] {
    const { schema, preparedStatements, lanes } = this.#config;
    const settings = { connection, schema, workerId: this.id, preparedStatements, onLoss };
    return Array.from({ length: lanes }, () => new Lane(settings));
  }

  #listen(connection: pg.ClientConfig): Listener {
    const pulse = () => this.#dispatcher.pulse();
    return new Listener({
      connection,
      channels: {
        "jobs:insert": (payload) => this.#dispatcher.pulse(announcedCount(payload)),
        // A breaking migration is about to start: let go of the queue before it changes.
        "worker:migrate": () => void this.stop("a breaking migration is coming"),
      },
      onReconnect: pulse,
      logger: this.#config.logger,
    });
  }
}

/** `{"r":0.5,"count":3}`; anything else counts as one job. */
function announcedCount(payload: string): number {
  const found = /"count":(\d{1,9})\b/.exec(payload);
  return found?.[1] === undefined ? 1 : Number(found[1]);
}

function ownPool<E>(config: WorkerConfig<E>): pg.Pool {
  return createPool({
    connectionString: config.connectionString ?? "",
    maxConnections: config.maxConnections,
    applicationName: "worker",
    logger: config.logger,
  });
}

/** How the worker's own connections are made: as the pool makes its own. */
function connectionOf<E>(config: WorkerConfig<E>, pool: pg.Pool): pg.ClientConfig {
  const { connectionString } = config;
  if (connectionString !== undefined) return { connectionString, application_name: "worker lane" };
  const { max: _max, min: _min, idleTimeoutMillis: _idle, ...rest } = pool.options;
  return rest;
}

function cronOf<E>(config: WorkerConfig<E>, pool: pg.Pool, hooks: Hooks): Cron | null {
  const { cron, logger, schema, tasks } = config;
  if (cron === null) return null;
  const db = { client: pool, schema };
  return new Cron(cron, { db, hooks, logger, taskIdentifiers: new Set(tasks.keys()) });
}

function contextSource<E>(config: WorkerConfig<E>, pool: pg.Pool, hooks: Hooks): ContextSource<E> {
  const database = { client: pool, schema: config.schema };
  const add = coalescedAdd(database);
  return {
    pool,
    database,
    logger: config.logger,
    extensions: config.extensions,
    addJob: async (identifier: string, payload?: unknown, spec?: JobSpec) => {
      const job = await intercepted(hooks, { identifier, payload, spec });
      return job === null ? null : add(job);
    },
    addJobs: async (jobs: readonly JobToAdd[]) =>
      addJobs(database, await interceptedAll(hooks, jobs)),
  };
}
