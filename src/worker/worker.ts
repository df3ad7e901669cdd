// A worker: everything that lives between start and stop, put together. What moves the jobs is
// dispatcher.ts, what runs them job-executor.ts.
//
//   new ──start()──▶ running ──stop()──▶ stopping (running jobs end, outcomes are written) ──▶ stopped
//                                 └abort()▶ signals abort; after a grace the jobs count as failed ┘
import { once } from "node:events";
import type pg from "pg";
import { wait } from "../base/clock.ts";
import { codeOf, messageOf, WorkerError } from "../base/errors.ts";
import type { Service } from "../base/service.ts";
import type { Database } from "../database/database.ts";
import { Listener } from "../database/listener.ts";
import { createPool, endPool } from "../database/pool.ts";
import { assertUsableSchema } from "../database/schema-state.ts";
import type { JobSpec, JobToAdd } from "../domain/job-spec.ts";
import { addJobs } from "../queue/add-jobs.ts";
import { coalescedAdd } from "../queue/coalesced-add.ts";
import { Announcements, NEW_JOBS } from "./announcements.ts";
import { connectionOf } from "./connection.ts";
import { Cron } from "./cron.ts";
import { Hooks } from "./hooks.ts";
import { Incarnation } from "./incarnation.ts";
import { Incarnations } from "./incarnations.ts";
import { logEvents } from "./log-listener.ts";
import { intercepted, interceptedAll } from "./schedule-interceptors.ts";
import type { ContextSource } from "./task-context.ts";
import { Upkeep } from "./upkeep.ts";
import { resolveWorkerOptions, type WorkerConfig, type WorkerOptions } from "./worker-options.ts";

export class Worker<Extensions = unknown> implements Service {
  readonly hooks: Hooks;
  readonly #config: WorkerConfig<Extensions>;
  readonly #pool: pg.Pool;
  readonly #incarnations: Incarnations<Extensions>;
  readonly #upkeep: Upkeep<Extensions>;
  readonly #listener: Listener | null;
  readonly #announcements = new Announcements();
  readonly #cron: Cron | null;
  /** Ids under which nothing is locked any more. */
  #freeIds: readonly string[] = [];
  /** Aborts when even an abort takes too long, because the database is away. */
  readonly #givenUp = new AbortController();
  readonly #ended = Promise.withResolvers<void>();
  #started: Promise<void> | null = null;
  #stopped: Promise<void> | null = null;
  #released: Promise<void> | null = null;

  /** Throws InputError with everything that is wrong with the options. */
  constructor(options: WorkerOptions<Extensions>) {
    const config = resolveWorkerOptions(options);
    this.#config = config;
    this.hooks = new Hooks(config.logger, config.plugins);
    logEvents(this.hooks, config.logger);
    this.#pool = config.pool ?? ownPool(config);
    const { hooks } = this;
    const source = contextSource(config, this.#pool, hooks);
    const connection = connectionOf(config, this.#pool);
    const incarnations = () => this.#incarnations;
    this.#upkeep = new Upkeep(config, { connection, hooks, incarnations });
    const mayTake = () => this.#upkeep.mayTake();
    const announced = (payload: string) => this.#announced(payload);
    this.#incarnations = new Incarnations(
      () => new Incarnation({ config, connection, source, hooks, mayTake, announced }),
      { hooks, logger: config.logger, givenUp: this.#givenUp.signal },
    );
    this.#listener = config.notify ? this.#listen(connection) : null;
    this.#cron = cronOf(config, this.#pool, this.hooks);
    this.hooks.emit("worker:init", {
      workerId: this.id,
      concurrency: config.concurrency,
      taskIdentifiers: [...config.tasks.keys()],
    });
  }

  /** What `locked_by` holds for the jobs it takes: another one after a lease was lost. */
  get id(): string {
    return this.#incarnations.current.id;
  }

  start(): Promise<void> {
    if (this.#started === null && this.#stopped !== null) {
      return Promise.reject(
        new WorkerError("aborted", "the worker has been stopped; make a new one"),
      );
    }
    this.#started ??= this.#start();
    return this.#started;
  }

  /**
   * Starts no more jobs, waits for the running ones and writes all outcomes. Connections of its own
   * pool that jobs then keep, because their time was up and they did not care, are cut after a grace.
   */
  stop(reason = "stop"): Promise<void> {
    this.#stopped ??= this.#stop(reason);
    return this.#stopped;
  }

  /** Resolves when the worker has stopped, whoever asked for it. */
  get stopped(): Promise<void> {
    return this.#ended.promise;
  }

  /**
   * As stop(), but running jobs are told to end now; what ignores that counts as failed. Takes at most
   * twice the grace: what cannot be written by then stays locked until this worker's lease is swept.
   */
  async abort(reason = "abort"): Promise<void> {
    const stopped = this.stop(reason);
    const error = new Error(`the worker was stopped: ${reason}`);
    for (const one of this.#incarnations.all) one.abort(error);
    const grace = new AbortController();
    const ended = stopped.finally(() => grace.abort());
    if (await wait(this.#config.abortGrace_ms, grace.signal)) {
      const interrupted = `interrupted: the worker was stopped (${reason})`;
      for (const one of this.#incarnations.all) one.abandon(interrupted);
      if (await wait(this.#config.abortGrace_ms, grace.signal)) this.#givenUp.abort();
    }
    await ended;
  }

  /** Resolves once no job is ready, running or unwritten. */
  async drained(signal: AbortSignal = new AbortController().signal): Promise<void> {
    await this.start();
    await this.#incarnations.drained(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop("dispose");
  }

  async #start(): Promise<void> {
    try {
      const schema = await assertUsableSchema(this.#database);
      await this.#listener?.start();
      // Before any job is taken: a crontab file that cannot be read leaves nothing running.
      await this.#cron?.start();
      await this.#upkeep.start(this.#database, schema, this.id);
      await this.#incarnations.current.dispatcher.start();
      this.hooks.emit("worker:start", { workerId: this.id });
    } catch (error) {
      this.#freeIds = [this.id];
      await this.#release();
      throw error;
    }
  }

  async #stop(reason: string): Promise<void> {
    // Before anything is waited for: whoever asks for a stop counts on it that nothing more begins.
    this.#incarnations.stopTaking();
    const ended = this.#letEnd(reason);
    await Promise.race([ended, aborted(this.#givenUp.signal)]);
    this.#ended.resolve();
  }

  async #letEnd(reason: string): Promise<void> {
    await this.#started?.catch(() => {});
    this.hooks.emit("worker:shutdown", { workerId: this.id, reason });
    await this.#cron?.stop();
    await this.#listener?.stop();
    if (this.#started !== null) this.#freeIds = await this.#incarnations.end();
    await this.#release();
  }

  /** Also after a start that failed, and then again by stop(). */
  #release(): Promise<void> {
    this.#released ??= this.#letGo();
    return this.#released;
  }

  async #letGo(): Promise<void> {
    await this.#cron?.stop();
    await this.#listener?.stop();
    await this.#incarnations.close();
    await this.#upkeep.stop(this.#freeIds);
    const { pool, abortGrace_ms } = this.#config;
    if (pool === undefined) await endPool(this.#pool, abortGrace_ms);
    this.#ended.resolve();
  }

  get #database(): Database {
    return { client: this.#pool, schema: this.#config.schema };
  }

  #announced(payload: string): void {
    const count = this.#announcements.heard(payload);
    if (count !== null) this.#incarnations.current.dispatcher.pulse(count);
  }

  #listen(connection: pg.ClientConfig): Listener {
    return new Listener({
      connection,
      channels: {
        [NEW_JOBS]: (payload) => this.#announced(payload),
        // The channel belongs to the whole database: this may be about another schema.
        "worker:migrate": (payload) => {
          if (isBreaking(payload)) void this.#checkSchema();
        },
      },
      onReconnect: () => {
        this.#incarnations.current.dispatcher.pulse();
        void this.#checkSchema();
      },
      logger: this.#config.logger,
    });
  }

  /** Somebody has migrated: goes on only where the schema is still one that we know. */
  async #checkSchema(): Promise<void> {
    try {
      await assertUsableSchema(this.#database);
    } catch (error) {
      const code = codeOf(error);
      const isOver = code === "schema_unsupported" || code === "schema_missing";
      if (isOver) await this.stop(messageOf(error));
      else this.#config.logger.warn({ error: messageOf(error) }, "cannot look at the schema");
    }
  }
}

/** Graphile Worker's `{"migrationNumber":21,"breaking":true}`. */
function isBreaking(payload: string): boolean {
  return /"breaking"\s*:\s*true\b/.test(payload);
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}

function ownPool<E>(config: WorkerConfig<E>): pg.Pool {
  return createPool({
    connectionString: config.connectionString ?? "",
    maxConnections: config.maxConnections,
    applicationName: "worker",
    logger: config.logger,
  });
}

function cronOf<E>(config: WorkerConfig<E>, pool: pg.Pool, hooks: Hooks): Cron | null {
  const { cron, logger, schema, tasks } = config;
  if (cron === null) return null;
  const db = { client: pool, schema };
  return new Cron(cron, { db, hooks, logger, taskIdentifiers: new Set(tasks.keys()) });
}

function contextSource<E>(config: WorkerConfig<E>, pool: pg.Pool, hooks: Hooks): ContextSource<E> {
  const { schema, preparedStatements } = config;
  const database = { client: pool, schema, preparedStatements };
  const add = coalescedAdd(database);
  // Without interceptors nothing is waited for: payloads are taken as they are at the call.
  const isIntercepted = () => hooks.interceptors("beforeJobSchedule").length > 0;
  return {
    pool,
    database,
    logger: config.logger,
    extensions: config.extensions,
    addJob: async (identifier: string, payload?: unknown, spec?: JobSpec) => {
      const given = { identifier, payload, spec };
      const job = isIntercepted() ? await intercepted(hooks, given) : given;
      return job === null ? null : add(job);
    },
    addJobs: async (jobs: readonly JobToAdd[]) =>
      addJobs(database, isIntercepted() ? await interceptedAll(hooks, jobs) : jobs),
  };
}
