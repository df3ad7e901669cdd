// The fast mode (option `fastLane`) is for short jobs that have no key, no named queue and no limit. Jobs are locked by
// the row locks of an open transaction instead of an update. The commit of this transaction deletes completed jobs.
// Each connection has a lane (fast-lane.ts), which repeats these steps:
//
//  1. `begin; select … for update skip locked` fetches a batch: one job for each free slot, and as many more as will
//     probably end within 25 ms. The fetch leaves out jobs whose rows were locked before: PostgreSQL keeps a mark in
//     `xmax`. The safe mode runs these jobs, because it counts each attempt before the job runs. In the fast mode, a
//     job that kills its process would run again and again.
//  2. The slots run the jobs (fast-batch.ts). The rows do not show which worker runs the jobs, so the heartbeat of the
//     worker lists its running jobs.
//  3. When all jobs have ended, one packet deletes the completed jobs, updates the failed jobs, commits, and starts the
//     next batch with step 1.
//
// Exceptions:
//  - If some jobs still run after `limitMs` (default 100), or have not started after 200 ms, the results of the ended
//    jobs are written, and the transaction is committed. Running jobs are locked by `locked_by`, and the safe mode
//    writes their results (kept-jobs.ts). Unstarted jobs are unlocked.
//  - If the connection is lost, the running jobs of the transaction are aborted. PostgreSQL unlocks the rows when it
//    detects the loss. The result of each ended job is written on a new connection, unless the safe mode of a worker
//    has locked the job by then.
//  - If PostgreSQL refuses a result, the transaction is rolled back, and the results are written again, in parts. If a
//    success is refused, a failure is written instead. If a failure is refused, the safe mode runs the job again.
import type { Clock } from "../../base/clock.ts";
import type { Outage } from "../../base/outage.ts";
import { NEW_JOBS } from "../../queue/sql/notify.ts";
import type { WorkerConnection } from "../connection/worker-connection.ts";
import type { FetchedJob } from "../execute/fetched-job.ts";
import { JobExecutor } from "../execute/job-executor.ts";
import type { Refusals } from "../execute/refusals.ts";
import { Results } from "../execute/results.ts";
import type { TalliedTasks } from "../execute/task-tally.ts";
import type { Fetcher, FetcherLink } from "../fetch/fetcher.ts";
import type { TaskParameters } from "../fetch/task-parameters.ts";
import type { FastLaneConfig } from "../options/fast-lane-options.ts";
import type { WorkerConfig } from "../options/worker-options.ts";
import type { Hooks } from "../task/hooks.ts";
import type { RetryRules } from "../task/next-attempt.ts";
import type { ContextSource } from "../task/task-context.ts";
import { FastLane } from "./fast-lane.ts";

export interface FastFetcherParts<E> {
  readonly config: WorkerConfig<E>;
  readonly tallied: TalliedTasks<E>;
  readonly fastLane: FastLaneConfig;
  readonly workerId: string;
  readonly clock: Clock;
  readonly connections: readonly WorkerConnection[];
  readonly source: ContextSource<E>;
  /** The results that the safe mode writes. */
  readonly lockedResults: Results;
  readonly refusals: Refusals;
  readonly tasks: TaskParameters;
  readonly retry: RetryRules;
  readonly hooks: Hooks;
  readonly outage: Outage;
}

export class FastFetcher<E> implements Fetcher<E> {
  readonly isUncertain = false;
  /** Always empty: jobs of named queues belong to the safe mode. */
  readonly queueIds = [];
  readonly executors: readonly JobExecutor<E>[];
  readonly #lanes: readonly FastLane<E>[];
  readonly #connections: readonly WorkerConnection[];
  #isStopped = false;

  constructor(parts: FastFetcherParts<E>, link: FetcherLink) {
    this.#connections = parts.connections;
    const { notify, preparedStatements } = parts.config;
    // The first lane also listens, because a server process that has just sent an announcement to this lane is still
    // awake when the lane's fetch arrives. Behind a transaction pooler (`preparedStatements: false`), LISTEN would stay
    // on a connection that may serve another client afterwards.
    if (notify && preparedStatements) {
      this.#connections[0]?.listen(NEW_JOBS, (payload) => link.jobsAnnounced(payload));
    }
    const lanes = parts.connections.map((_, index) => this.#lane(parts, link, index));
    this.#lanes = lanes.map(({ lane }) => lane);
    this.executors = lanes.map(({ executor }) => executor);
  }

  #lane(parts: FastFetcherParts<E>, link: FetcherLink, index: number) {
    const { config, tallied, fastLane, workerId, clock, source, hooks, tasks, outage, retry } =
      parts;
    const connection = parts.connections[index] as WorkerConnection;
    const results = new Results();
    const { completeIn } = source;
    const fastSource: ContextSource<E> = {
      ...source,
      // The delete on `client` would wait for the row lock of this lane's transaction. So the lane first ends the
      // transaction, which makes the job a kept job.
      completeIn: async (job, client) => {
        await lane.lockOrdinarily(job);
        await completeIn(job, client);
      },
    };
    const executor = new JobExecutor(tallied, fastSource, results, hooks, config.timeoutMs, retry);
    const lane: FastLane<E> = new FastLane({
      name: `fast lane ${index + 1}`,
      outage,
      clock,
      connection,
      executor,
      results,
      refusals: parts.refusals,
      logger: config.logger,
      lockedResults: parts.lockedResults,
      lockedJobs: () => link.inFlight().jobs,
      slots: link.slots,
      tasks,
      hooks,
      workerId,
      limitMs: fastLane.limitMs,
      mayFetch: () => link.mayFetch(this),
      onChange: () => link.changed(),
      onWritten: () => link.resultsWritten(),
      onLeft: () => link.wakeOthers(this),
      onFull: () => this.#lanes.find(({ isWaiting }) => isWaiting)?.wake(false),
      onError: () => link.connectionLost(),
    });
    return { executor, lane };
  }

  /** The kept jobs. */
  get jobs(): readonly FetchedJob[] {
    return this.#lanes.flatMap((lane) => [...lane.keptJobs]);
  }

  get isFetchingFirst(): boolean {
    return this.#lanes.some((lane) => lane.isFetchingFirst);
  }

  get isIdle(): boolean {
    return this.#lanes.every((lane) => lane.isIdle);
  }

  async start(): Promise<void> {
    if (this.#isStopped) return;
    for (const lane of this.#lanes) lane.start();
  }

  /**
   * Wakes only one idle lane, because several lanes would compete for the same rows. If this lane fetches as many jobs
   * as it can take, onFull() wakes another idle lane.
   */
  wake(count: number): void {
    const isNews = count > 0;
    for (const lane of this.#lanes) lane.resetPlan();
    const idle = this.#lanes.find(({ isWaiting }) => isWaiting);
    if (idle !== undefined) idle.wake(isNews);
    else for (const lane of this.#lanes) lane.wake(isNews);
  }

  /** Does nothing, because the safe mode leaves no jobs to the fast mode. */
  wakeForOthers(): void {}

  async returnUnstarted(): Promise<void> {
    for (const lane of this.#lanes) lane.returnUnstarted();
  }

  advance(): void {
    for (const lane of this.#lanes) lane.slotFreed();
  }

  stop(): void {
    this.#isStopped = true;
    for (const lane of this.#lanes) lane.stop();
  }

  abandon(): void {
    for (const lane of this.#lanes) lane.abandon();
  }

  prove(): void {
    for (const connection of this.#connections) void connection.prove();
  }

  async close(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#lanes.map((lane) => lane.close()));
  }
}
