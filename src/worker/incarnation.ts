// What works under one id: its lanes, its dispatcher, its running jobs. A worker that lost its lease
// goes on under a new id (incarnations.ts): what `locked_by` says then decides without doubt which
// attempt a lock belongs to, also where the worker has taken one of its former jobs anew.
import { randomBytes } from "node:crypto";
import type pg from "pg";
import { NEW_JOBS } from "./announcements.ts";
import { Dispatcher } from "./dispatcher.ts";
import { FastLanes } from "./fast-lanes.ts";
import type { Hooks } from "./hooks.ts";
import { JobExecutor } from "./job-executor.ts";
import { Lane } from "./lane.ts";
import { Outcomes } from "./outcomes.ts";
import type { ContextSource } from "./task-context.ts";
import type { WorkerConfig } from "./worker-options.ts";

export interface IncarnationParts<E> {
  readonly config: WorkerConfig<E>;
  readonly connection: pg.ClientConfig;
  readonly source: ContextSource<E>;
  readonly hooks: Hooks;
  /** Whether jobs may be taken: the lease is good. */
  mayTake(): boolean;
  /** New jobs were announced: what the database has said. */
  announced(payload: string): void;
}

export class Incarnation<E> {
  /**
   * What `locked_by` holds. Short: it is written with every lock. Of 10,000 workers two have the same
   * once in five million times.
   */
  readonly id = `w${randomBytes(6).toString("base64url")}`;
  readonly dispatcher: Dispatcher<E>;
  readonly #executor: JobExecutor<E>;

  constructor(parts: IncarnationParts<E>) {
    const { config, connection, source, hooks, mayTake } = parts;
    const outcomes = new Outcomes();
    this.#executor = new JobExecutor(config.tasks, source, outcomes, hooks, config.timeout_ms);
    const { schema, preparedStatements } = config;
    const lanes = (onLoss: (error: Error) => void): Lane[] => {
      const settings = { connection, schema, preparedStatements, onLoss };
      return Array.from({ length: config.lanes }, () => new Lane(settings));
    };
    this.dispatcher = new Dispatcher(config, this.id, {
      executor: this.#executor,
      outcomes,
      hooks,
      lanes: lanes((error) => this.dispatcher.connectionLost(error)),
      fastLanes:
        config.fastLane !== null
          ? (link) => {
              // A fast lane looks after its own connection.
              const own = lanes(() => {});
              // A server process that has just told of a job is awake when it is asked for it. Not
              // behind a pooler, where the channel would stay with somebody else's connection.
              if (config.notify && preparedStatements) own[0]?.listen(NEW_JOBS, parts.announced);
              return new FastLanes(config, { workerId: this.id, hooks, source, lanes: own }, link);
            }
          : null,
      mayTake,
    });
  }

  get runningIds(): string[] {
    return this.#executors.flatMap((one) => one.running.map(({ id }) => id));
  }

  /** Tells running jobs with these ids to end. */
  abortJobs(reason: Error, ids: ReadonlySet<string>): void {
    for (const one of this.#executors) one.abort(reason, ids);
  }

  /** Tells all jobs to end. */
  abort(reason: Error): void {
    for (const one of this.#executors) one.abortForGood(reason);
  }

  /** Gives up on what still runs. */
  abandon(reason: string): void {
    for (const one of this.#executors) one.abandon(reason);
    this.dispatcher.abandon();
  }

  /** Takes no more jobs, lets the running ones end and writes all outcomes, until `signal` aborts. */
  async end(signal: AbortSignal): Promise<void> {
    this.dispatcher.stopClaiming();
    await this.dispatcher.drained(signal);
  }

  get #executors(): JobExecutor<E>[] {
    return [this.#executor, ...this.dispatcher.fastExecutors];
  }
}
