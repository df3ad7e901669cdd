// A session: the fetchers, the executors of jobs and the other parts of a worker that work under one id in `locked_by`.
import { randomBytes } from "node:crypto";
import type pg from "pg";
import { settlesWithin, systemClock } from "../base/clock.ts";
import type { Outage } from "../base/outage.ts";
import type { Database } from "../database/database.ts";
import { exactClient } from "../database/exact-client.ts";
import { completeJobIn } from "../queue/settle/complete-in.ts";
import { returnUnknownJobs } from "../queue/settle/give-back.ts";
import { endLeases } from "../queue/workers/lease.ts";
import { SHORT_BOUNDS, withApplicationName, withBounds } from "./connection/connection-config.ts";
import { WorkerConnection, type WorkerConnectionSettings } from "./connection/worker-connection.ts";
import type { FetchedJob } from "./execute/fetched-job.ts";
import { JobExecutor, type RunningJob } from "./execute/job-executor.ts";
import { Refusals, type RefusedChange } from "./execute/refusals.ts";
import { idOf, Results } from "./execute/results.ts";
import type { SlotCount } from "./execute/slots.ts";
import type { TalliedTasks } from "./execute/task-tally.ts";
import { FastFetcher } from "./fast/fast-fetcher.ts";
import { Dispatcher } from "./fetch/dispatcher.ts";
import type { Fetcher, FetcherLink } from "./fetch/fetcher.ts";
import { type Controls, type TaskParameters, taskParameters } from "./fetch/task-parameters.ts";
import type { WorkerLease } from "./lease/worker-lease.ts";
import { BackOffs } from "./limits/back-offs.ts";
import type { LimitWatch } from "./limits/limit-watch.ts";
import { SessionLimits } from "./limits/session-limits.ts";
import type { WorkerConfig } from "./options/worker-options.ts";
import { SafeFetcher } from "./safe/safe-fetcher.ts";
import type { Hooks } from "./task/hooks.ts";
import type { ContextSource, SharedContext } from "./task/task-context.ts";

/** The longest waits of Session.stop(). */
const WAIT_MS = { permits: 300, unknown: 1_500, lease: 300 };

export interface SessionParts<E> {
  readonly config: WorkerConfig<E>;
  readonly tasks: TalliedTasks<E>;
  readonly concurrency: SlotCount;
  readonly connection: pg.ClientConfig;
  readonly source: SharedContext<E>;
  readonly hooks: Hooks;
  readonly lease: WorkerLease;
  readonly controls: Controls;
  readonly limits: LimitWatch;
  readonly outage: Outage;
  /** Tests the connections of the fetchers and of the listener. */
  prove(): void;
}

export class Session<E> {
  /** The value of `locked_by`. The id is short, because it is written with every lock. */
  readonly id = `w${randomBytes(6).toString("base64url")}`;
  readonly dispatcher: Dispatcher<E>;
  readonly #parts: SessionParts<E>;
  readonly #source: ContextSource<E>;
  readonly #results = new Results();
  readonly #backOffs: BackOffs;
  readonly #refusals: Refusals;
  readonly #tasks: TaskParameters;
  readonly #limits: SessionLimits;
  #safe: SafeFetcher<E> | undefined;
  #safeConnections: readonly WorkerConnection[] = [];
  #hasEndedLease = false;
  /** Whether unknown jobs may be locked: jobs of a fetch that a pooler executed after the loss of the connection. */
  #mayHaveUnknownJobs = false;

  constructor(parts: SessionParts<E>) {
    const { config, lease } = parts;
    this.#parts = parts;
    this.#source = {
      ...parts.source,
      workerId: this.id,
      aheadMs: () => lease.aheadMs,
      completeIn: ({ id }, client) => {
        const db = { client: exactClient(client), schema: config.schema };
        return completeJobIn(db, this.id, id);
      },
    };
    const database = withBounds(parts.source.pool, config.schema, SHORT_BOUNDS);
    this.#backOffs = new BackOffs(config, database);
    this.#limits = new SessionLimits({
      ...{ clock: systemClock, logger: config.logger, workerId: this.id, lease, database },
      watch: parts.limits,
      tasks: new Map([...config.tasks].map(([name, task]) => [name, task.concurrency ?? null])),
    });
    this.#tasks = this.#parameters(parts.tasks, "unlimited");
    this.#refusals = new Refusals({
      ...{ clock: systemClock, logger: config.logger, results: this.#results },
      onChange: () => this.dispatcher.wake(0),
    });
    this.dispatcher = new Dispatcher({
      concurrency: parts.concurrency,
      clock: systemClock,
      pollIntervalMs: config.pollIntervalMs,
      lease,
      connectionLost: () => parts.prove(),
      fetchers: (link) => {
        const safe = this.#safeFetcher(link);
        this.#safeConnections = safe.connections;
        this.#safe = safe.fetcher;
        return [...this.#fastFetchers(link), safe.fetcher];
      },
    });
  }

  /** `isOther`: whether a task or queue may now have other limits than before. */
  limitsChanged(isOther: boolean): void {
    this.dispatcher.settle();
    if (isOther) this.#safe?.limitsChanged();
    // Other limits may now apply to fetched jobs.
    if (isOther) void this.dispatcher.returnUnstarted();
  }

  /** The database, on an open connection of the safe mode that can answer soon; null if there is none. */
  get database(): Database | null {
    const prompt = this.#safeConnections.filter(({ isPrompt }) => isPrompt);
    return (prompt.find(({ isBusy }) => !isBusy) ?? prompt[0])?.database ?? null;
  }

  get running(): RunningJob[] {
    return this.dispatcher.executors.flatMap((one) => one.running);
  }

  /** The fetched jobs of the safe mode that have not started. */
  get unstarted(): readonly FetchedJob[] {
    const started = [...this.#results.ended, ...this.#refusals.kept.keys()].map(idOf);
    const others = new Set([...this.runningIds, ...started]);
    const locked = [...(this.#safe?.jobs ?? []), ...this.#results.unstarted];
    return locked.filter(({ id }) => !others.has(id));
  }

  get runningIds(): string[] {
    return this.running.map(({ job }) => job.id);
  }

  /** The number of jobs in the local queues of the safe mode. */
  get waiting(): number {
    return this.#safe?.waiting ?? 0;
  }

  /** The jobs whose results PostgreSQL refuses to write, and the jobs and queues that PostgreSQL refuses to lock. */
  get unsettled(): readonly RefusedChange[] {
    return this.#refusals.unsettled;
  }

  /** True if certainly no job is locked under the session's id, and stop() has not ended the lease. */
  get leavesLease(): boolean {
    return this.dispatcher.holdsNothing && !this.#mayHaveUnknownJobs && !this.#hasEndedLease;
  }

  get cancellable(): readonly FetchedJob[] {
    return [...this.running.map(({ job }) => job), ...this.unstarted];
  }

  /** Aborts the signal of a cancelled job. Returns whether the job runs in this session. */
  cancel(job: FetchedJob): boolean {
    const { abortGraceMs } = this.#parts.config;
    const { dispatcher } = this;
    const onOverdue = () => dispatcher.settle();
    return dispatcher.executors.some((one) => one.cancel(job, abortGraceMs, onOverdue));
  }

  abortJobs(reason: Error, ids: ReadonlySet<string>): void {
    for (const executor of this.dispatcher.executors) executor.abort(reason, ids);
  }

  /** Aborts the signals of all running jobs, and of jobs that start later. */
  abort(reason: Error): void {
    for (const executor of this.dispatcher.executors) executor.abortForGood(reason);
  }

  /** Stops waiting for running jobs. Their attempts fail with the error `reason`. */
  abandon(reason: string): void {
    for (const executor of this.dispatcher.executors) executor.abandon(reason);
    this.dispatcher.abandon();
  }

  /**
   * Ends fetching. Waits until running jobs have ended and results and back-offs are written, or `signal` aborts. If no
   * job is then locked, ends the lease.
   */
  async stop(signal: AbortSignal): Promise<void> {
    this.dispatcher.stop();
    await this.dispatcher.waitUntilDrained(signal);
    await this.#backOffs.waitUntilWritten(signal);
    // Permits are given back first, because the end of the lease would not announce free permits to other workers.
    if (!signal.aborted) await settlesWithin(this.#limits.close(), WAIT_MS.permits);
    if (this.#mayHaveUnknownJobs) await settlesWithin(this.#returnUnknownJobs(), WAIT_MS.unknown);
    await this.#endLease();
  }

  async #returnUnknownJobs(): Promise<void> {
    if (!this.dispatcher.holdsNothing || this.database === null) return;
    const { refused } = await returnUnknownJobs(this.database, this.id, [], []);
    this.#mayHaveUnknownJobs = refused.length > 0;
  }

  /** Opens no connection: if many workers stop at once, connecting may take so long that the lease expires. */
  async #endLease(): Promise<void> {
    const connection = this.#safeConnections.find(({ isConnected }) => isConnected);
    if (connection === undefined || !this.leavesLease || !this.#parts.lease.hasHeartbeats) return;
    // If this fails, Upkeep.stop() or Leases.release() ends the lease later.
    const ended = endLeases(connection.database, [this.id]).then(() => {
      this.#hasEndedLease = true;
    });
    await settlesWithin(ended, WAIT_MS.lease);
  }

  #parameters(tasks: SessionParts<E>["tasks"], fetched: "all" | "unlimited"): TaskParameters {
    const { config, controls } = this.#parts;
    return taskParameters(tasks, config.forbiddenFlags, controls, this.#limits, fetched);
  }

  #safeFetcher(link: FetcherLink) {
    const { config, connection, hooks, tasks, outage } = this.#parts;
    const source = this.#source;
    const results = this.#results;
    const { retry } = this.#backOffs;
    const executor = new JobExecutor(tasks, source, results, hooks, config.timeoutMs, retry);
    let fetcher: SafeFetcher<E> | undefined;
    const onLoss = (error: Error) => {
      this.#mayHaveUnknownJobs = !config.preparedStatements;
      fetcher?.connectionLost(error);
    };
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
        parametersOf: (names) => {
          const some = new Map([...tasks].filter(([name]) => names.includes(name)));
          return this.#parameters(some, "all");
        },
        limits: this.#limits,
        hooks,
        outage,
        // The jobs without a named queue that the safe mode fetches: all, or all except the jobs for the fast mode.
        free: config.fastLane === null ? "all" : "safe",
        lease: this.#parts.lease,
      },
      link,
    );
    return { fetcher, connections };
  }

  #fastFetchers(link: FetcherLink): Fetcher<E>[] {
    const { config, hooks, outage, tasks: tallied } = this.#parts;
    const source = this.#source;
    const { fastLane } = config;
    if (fastLane === null) return [];
    const isLeased = () => this.#parts.lease.hasHeartbeats;
    const connection = withApplicationName(this.#parts.connection, "worker fast lane");
    // `onLoss` does nothing, because a fast lane itself detects the loss of a connection.
    const connections = this.#connections({ connection, onLoss: () => {}, isLeased });
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
    const shared = {
      lockedResults: this.#results,
      refusals: this.#refusals,
      tasks: this.#tasks,
    };
    return [new FastFetcher({ ...own, ...shared, hooks, retry: this.#backOffs.retry }, link)];
  }

  #connections(
    own: Pick<WorkerConnectionSettings, "connection" | "isLeased" | "onLoss">,
  ): WorkerConnection[] {
    const { schema, preparedStatements, connections } = this.#parts.config;
    const settings = { schema, preparedStatements, sessionId: this.id, ...own };
    return Array.from({ length: connections }, () => new WorkerConnection(settings));
  }
}
