// The interface through which the dispatcher uses fetchers. The safe mode and the fast mode each have a fetcher.
//
//   new ──start()──▶ fetching ──stop()──▶ ending (running jobs end, results are written) ──▶ idle ──close()
//                        └─ abandon(): running jobs are not waited for ──────────────────────┘

import type { WorkerConnection } from "../connection/worker-connection.ts";
import type { InFlight } from "../execute/in-flight.ts";
import type { JobExecutor } from "../execute/job-executor.ts";
import type { Slots } from "../execute/slots.ts";

export interface Fetcher<E = unknown> extends InFlight {
  readonly executors: readonly JobExecutor<E>[];
  /**
   * Whether the fetcher has nothing to fetch, no unstarted job and no unconfirmed result. In the safe mode, jobs may
   * still run.
   */
  readonly isIdle: boolean;
  /** Whether jobs may be locked by `locked_by` because a fetch, or the write of a result, has no answer. */
  readonly isUncertain: boolean;
  /** Whether the first fetch after an announcement of jobs has no answer yet. True only for a moment. */
  readonly isFetchingFirst: boolean;
  /** Starts fetching. If start() rejects, the fetcher runs no jobs. */
  start(): Promise<void>;
  /** Called when jobs may have become ready. `count`: the number of jobs that were just announced; 0: unknown. */
  wake(count: number): void;
  /** Called when another fetcher leaves jobs to this one. */
  wakeForOthers(): void;
  /** Called after a change, such as the end of a job. */
  advance(): void;
  /**
   * Gives unstarted jobs back and continues to fetch. None of these jobs starts after this call. In the safe mode,
   * resolves when the fetches under way have ended and no job that was given back is unconfirmed. In the fast mode,
   * resolves at once.
   */
  returnUnstarted(): Promise<void>;
  /** Ends fetching, and gives unstarted jobs back. */
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
  mayFetch(fetcher: Fetcher): boolean;
  /** Advances all fetchers, once for all calls in one turn of the event loop. */
  changed(): void;
  /** Called with the payload of an announcement of new jobs. */
  jobsAnnounced(payload: string): void;
  /** Called when results are committed. */
  resultsWritten(): void;
  /** Wakes the other fetchers for jobs that `fetcher` leaves to them. */
  wakeOthers(fetcher: Fetcher): void;
  /** Called when no job was ready at `atSeconds`, a time of the database's clock in seconds since the epoch. */
  nothingReady(atSeconds: number, connection: PromptConnection): void;
  /** Called when a connection was lost. The worker's other connections may be lost, too. */
  connectionLost(): void;
  /** Returns the jobs and queues in flight of this worker. */
  inFlight(): InFlight;
}
