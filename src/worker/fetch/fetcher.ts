// The interface of fetchers, which fetch jobs, run them in the worker's slots and write their results. The safe
// mode and the fast mode are fetchers; the dispatcher uses both by this interface.
//
//   new ──start()──▶ fetching ──stop()──▶ ending (running jobs end, results are written) ──▶ idle ──close()
//                        └─ abandon(): running jobs are not waited for ──────────────────────┘

import type { WorkerConnection } from "../connection/worker-connection.ts";
import type { InFlight } from "../execute/in-flight.ts";
import type { JobExecutor } from "../execute/job-executor.ts";
import type { Slots } from "../execute/slots.ts";

export interface Fetcher<E = unknown> extends InFlight {
  /** The executors of its jobs. */
  readonly executors: readonly JobExecutor<E>[];
  /** Whether it has nothing to fetch, no waiting job and no unconfirmed result. In the safe mode, slots may be busy. */
  readonly isIdle: boolean;
  /** Whether a fetch or a write without an answer may have left jobs locked by `locked_by`. */
  readonly isUncertain: boolean;
  /** Whether its first fetch for announced jobs has no answer yet. Later fetchers wait a moment for this answer. */
  readonly isFetchingFirst: boolean;
  /** Starts fetching. May reject, for example when the database cannot be reached; then it runs nothing. */
  start(): Promise<void>;
  /** Called when jobs may have become ready. `count`: the number of jobs that were just announced; 0: unknown. */
  wake(count: number): void;
  /** Called when another fetcher leaves jobs to this one. */
  wakeForOthers(): void;
  /** Continues after a change, for example when a slot has become free or a job has ended. */
  advance(): void;
  /**
   * Returns unstarted jobs, for example because some of them may be paused, and continues. None of them starts after
   * this call. In the safe mode, resolves when fetches under way have ended and no returned job is unconfirmed.
   */
  returnUnstarted(): Promise<void>;
  /** Starts no more jobs and returns unstarted ones. */
  stop(): void;
  /** Stops waiting for running jobs. */
  abandon(): void;
  /** Closes every connection that does not answer within seconds. */
  prove(): void;
  /** Closes the connections. Jobs that are still locked by `locked_by` stay locked until they are recovered. */
  close(): Promise<void>;
}

export type PromptConnection = Pick<WorkerConnection, "database" | "isPrompt">;

/** The services of the dispatcher for its fetchers. */
export interface FetcherLink {
  readonly slots: Slots;
  /** Whether this fetcher may fetch jobs now. */
  mayFetch(fetcher: Fetcher): boolean;
  /** Advances all fetchers, once in this turn of the event loop. */
  changed(): void;
  /** Called with the payload of an announcement of new jobs. */
  jobsAnnounced(payload: string): void;
  /** Called when results are committed. */
  resultsWritten(): void;
  /** Wakes the other fetchers for jobs that `fetcher` leaves to them. */
  wakeOthers(fetcher: Fetcher): void;
  /**
   * Called when nothing was ready at `atSeconds`, a time of the database's clock in seconds since the epoch.
   * `connection`: a connection on which the time of the next job can be read.
   */
  nothingReady(atSeconds: number, connection: PromptConnection): void;
  /** Called when a connection was lost. Other connections of the worker may be lost, too. */
  connectionLost(): void;
  /** Returns the jobs and queues that are locked for this worker, according to all answers that it has received. */
  inFlight(): InFlight;
}
