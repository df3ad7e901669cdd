// All that works under one id in `locked_by`: the fetchers with their connections, and what runs their
// jobs. When its lease is lost, the worker goes on with another session (sessions.ts).
import { randomBytes } from "node:crypto";
import type pg from "pg";
import { systemClock, wait } from "../base/clock.ts";
import type { Outage } from "../base/outage.ts";
import { exactClient } from "../database/exact-client.ts";
import { nextRunAt } from "../queue/fetch/next-run-at.ts";
import { completeInTransaction } from "../queue/settle/complete-in.ts";
import { endLeases } from "../queue/workers/lease.ts";
import { named } from "./connection/connection-config.ts";
import { WorkerConnection, type WorkerConnectionSettings } from "./connection/worker-connection.ts";
import type { FetchedJob } from "./execute/fetched-job.ts";
import { JobExecutor, type RunningJob } from "./execute/job-executor.ts";
import { Refusals, type Unsettled } from "./execute/refusals.ts";
import { idOf, Results } from "./execute/results.ts";
import type { TalliedTasks } from "./execute/task-tally.ts";
import { FastFetcher } from "./fast/fast-fetcher.ts";
import { NEW_JOBS } from "./fetch/announcements.ts";
import { Dispatcher } from "./fetch/dispatcher.ts";
import type { Fetcher, FetcherLink } from "./fetch/fetcher.ts";
import { type TaskParameters, taskParameters } from "./fetch/task-parameters.ts";
import { Wakeups } from "./fetch/wakeups.ts";
import type { WorkerLease } from "./lease/worker-lease.ts";
import type { WorkerConfig } from "./options/worker-options.ts";
import { SafeFetcher } from "./safe/safe-fetcher.ts";
import type { Hooks } from "./task/hooks.ts";
import { RetryRules } from "./task/next-attempt.ts";
import type { ContextSource, SharedContext } from "./task/task-context.ts";

/** For the lease's end over a connection that may be dead. */
const LEASE_END_MS = 300;

export interface SessionParts<E> {
  readonly config: WorkerConfig<E>;
  readonly tasks: TalliedTasks<E>;
  readonly connection: pg.ClientConfig;
  readonly source: SharedContext<E>;
  readonly hooks: Hooks;
  readonly lease: WorkerLease;
  readonly outage: Outage;
  /** A connection was lost: all others must answer within seconds, or are given up. */
  prove(): void;
  /** New jobs were announced: what the database has said. */
  announced(payload: string): void;
}

export class Session<E> {
  /**
   * What `locked_by` holds. Short: it is written with every lock. Of 10,000 workers two have the same
   * once in five million times.
   */
  readonly id = `w${randomBytes(6).toString("base64url")}`;
  readonly dispatcher: Dispatcher<E>;
  readonly #parts: SessionParts<E>;
  readonly #source: ContextSource<E>;
  readonly #results = new Results();
  readonly #refusals: Refusals;
  readonly #tasks: TaskParameters;
  readonly #wakeups: Wakeups;
  #safe: SafeFetcher<E> | undefined;
  #lanes: readonly WorkerConnection[] = [];
  #hasEndedLease = false;

  constructor(parts: SessionParts<E>) {
    const { config, lease } = parts;
    this.#parts = parts;
    this.#source = {
      ...parts.source,
      workerId: this.id,
      completeIn: ({ id }, client) => {
        const db = { client: exactClient(client), schema: config.schema };
        return completeInTransaction(db, this.id, id);
      },
    };
    this.#tasks = taskParameters(parts.tasks, config.forbiddenFlags);
    this.#refusals = new Refusals({
      clock: systemClock,
      logger: config.logger,
      results: this.#results,
      onChange: () => this.dispatcher.wake(0),
    });
    this.#wakeups = new Wakeups({
      clock: systemClock,
      pollIntervalMs: config.pollIntervalMs,
      wake: () => this.dispatcher.wake(0),
      nextRunAt: async (sinceSeconds) => {
        const [asking] = this.#lanes;
        return asking?.isConnected ? nextRunAt(asking.database, sinceSeconds) : null;
      },
    });
    this.dispatcher = new Dispatcher({
      concurrency: config.concurrency,
      wakeups: this.#wakeups,
      lease,
      connectionLost: () => parts.prove(),
      fetchers: (link) => {
        const safe = this.#safeFetcher(link);
        this.#lanes = safe.connections;
        this.#safe = safe.fetcher;
        return [...this.#fastFetchers(link), safe.fetcher];
      },
    });
  }

  /** Of all modes. */
  get running(): RunningJob[] {
    return this.dispatcher.executors.flatMap((one) => one.running);
  }

  /** Jobs that were fetched and have not started, as long as they are locked. */
  get unstarted(): readonly FetchedJob[] {
    const started = [...this.#results.ended, ...this.#refusals.jobs].map(idOf);
    const others = new Set([...this.runningIds, ...started]);
    const locked = [...(this.#safe?.jobs ?? []), ...this.#results.unstarted];
    return locked.filter(({ id }) => !others.has(id));
  }

  get runningIds(): string[] {
    return this.running.map(({ job }) => job.id);
  }

  /** Jobs in the local queue. */
  get waiting(): number {
    return this.#safe?.waiting ?? 0;
  }

  /** Jobs that stay locked, because PostgreSQL refuses their results. */
  get unsettled(): readonly Unsettled[] {
    return this.#refusals.unsettled;
  }

  /** Nothing is locked under its id, and its lease is still to be ended. */
  get leavesLease(): boolean {
    return this.dispatcher.holdsNothing && !this.#hasEndedLease;
  }

  /** Tells running jobs with these ids to end. */
  abortJobs(reason: Error, ids: ReadonlySet<string>): void {
    for (const one of this.dispatcher.executors) one.abort(reason, ids);
  }

  /** Tells all jobs to end. */
  abort(reason: Error): void {
    for (const one of this.dispatcher.executors) one.abortForGood(reason);
  }

  /** Gives up on what still runs. */
  abandon(reason: string): void {
    for (const one of this.dispatcher.executors) one.abandon(reason);
    this.dispatcher.abandon();
  }

  /**
   * Takes no more jobs, lets the running ones end and writes all results, until `signal` aborts; then it
   * ends its lease, where that is possible at once.
   */
  async stop(signal: AbortSignal): Promise<void> {
    this.dispatcher.stop();
    await this.dispatcher.drained(signal);
    await this.#endLease(signal);
  }

  /**
   * Over a connection that there is: on a busy machine, or where a whole fleet stops at once, a new one
   * may take longer than anybody waits for a stop, and the worker would be taken for dead.
   */
  async #endLease(signal: AbortSignal): Promise<void> {
    const lane = this.#lanes.find(({ isConnected }) => isConnected);
    if (lane === undefined || !this.leavesLease || !this.#parts.lease.isHeld) return;
    const answered = new AbortController();
    const ended = endLeases(lane.database, [this.id]).then(
      () => {
        this.#hasEndedLease = true;
      },
      () => {}, // Whoever closes the worker tries once more.
    );
    void ended.then(() => answered.abort());
    await wait(LEASE_END_MS, AbortSignal.any([signal, answered.signal]));
  }

  #safeFetcher(link: FetcherLink) {
    const { config, hooks, tasks, outage } = this.#parts;
    const source = this.#source;
    const results = this.#results;
    const retry = new RetryRules(config.retry, config.retryPolicies, config.logger);
    const executor = new JobExecutor(tasks, source, results, hooks, config.timeoutMs, retry);
    let fetcher: SafeFetcher<E> | undefined;
    const { connection } = this.#parts;
    const onLoss = (error: Error) => fetcher?.connectionLost(error);
    const connections = this.#connections({ connection, onLoss, isLeased: () => false });
    fetcher = new SafeFetcher(
      {
        config,
        workerId: this.id,
        clock: systemClock,
        connections,
        executor,
        results,
        refusals: this.#refusals,
        tasks: this.#tasks,
        hooks,
        outage,
        // What the fast mode, where there is one, leaves to the safe mode.
        free: config.fastLane === null ? "all" : "safe",
        lease: this.#parts.lease,
      },
      link,
    );
    return { fetcher, connections };
  }

  /** None, or one. */
  #fastFetchers(link: FetcherLink): Fetcher<E>[] {
    const { config, hooks, announced, outage, tasks: tallied } = this.#parts;
    const source = this.#source;
    const { fastLane, notify, preparedStatements } = config;
    if (fastLane === null) return [];
    // Each looks after its own connection.
    const isLeased = () => this.#parts.lease.isHeld;
    const connection = named(this.#parts.connection, "worker fast lane");
    const connections = this.#connections({ connection, onLoss: () => {}, isLeased });
    // A server process that has just announced a job is awake when it is asked for it. Not behind a
    // pooler, where the channel would stay with somebody else's connection.
    if (notify && preparedStatements) connections[0]?.listen(NEW_JOBS, announced);
    const own = {
      config,
      tallied,
      fastLane,
      workerId: this.id,
      clock: systemClock,
      connections,
      source,
      outage,
    };
    const shared = { lockedResults: this.#results, tasks: this.#tasks };
    return [new FastFetcher({ ...own, ...shared, hooks }, link)];
  }

  #connections(
    own: Pick<WorkerConnectionSettings, "connection" | "isLeased" | "onLoss">,
  ): WorkerConnection[] {
    const { schema, preparedStatements, connections } = this.#parts.config;
    const settings = { schema, preparedStatements, sessionId: this.id, ...own };
    return Array.from({ length: connections }, () => new WorkerConnection(settings));
  }
}
