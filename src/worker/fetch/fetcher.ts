// The contract of everything that takes jobs from the database, runs them in the worker's slots and
// writes what became of them. The safe mode and the fast mode are two such fetchers; the dispatcher
// knows them only by this contract.
//
//   new ──start()──▶ fetching ──stop()──▶ ending (what runs ends and is written) ──▶ idle ──close()
//                        └─ abandon(): what still runs is not waited for any longer ─┘
import type { InFlight } from "../execute/in-flight.ts";
import type { JobExecutor } from "../execute/job-executor.ts";
import type { Slots } from "../execute/slots.ts";

export interface Fetcher<E = unknown> extends InFlight {
  /** What runs its jobs. */
  readonly executors: readonly JobExecutor<E>[];
  /** It has nothing to fetch that it knows of, nothing that runs and nothing unconfirmed. */
  readonly isIdle: boolean;
  /** It may have locked jobs without knowing it: a connection broke at the wrong moment. */
  readonly isInDoubt: boolean;
  /** It has been idle and waits for the answer to its first fetch: fetchers behind it let it go first. */
  readonly isFetchingFirst: boolean;
  /** Connects. Rejects when the database cannot be had; runs nothing then. */
  start(): Promise<void>;
  /**
   * Jobs may have become ready. `count`: how many, where they were announced just now, and some
   * job waits for it; 0 = perhaps some.
   */
  wake(count: number): void;
  /** Another fetcher has let go of jobs, or leaves some to this one. */
  wakeForOthers(): void;
  /** Something has changed: a slot is free, a job has ended. */
  advance(): void;
  /** Starts no more jobs and gives back what has not started. */
  stop(): void;
  /** Waits no longer for running jobs: they have been given up. */
  abandon(): void;
  /** Every connection answers within seconds, or is given up: one may be dead without knowing it. */
  prove(): void;
  /** Lets the connections go. What is unconfirmed then stays locked until the lease is recovered. */
  close(): Promise<void>;
}

/** What the dispatcher lends its fetchers. */
export interface FetcherLink {
  readonly slots: Slots;
  /** Whether this fetcher may take jobs now. */
  mayFetch(fetcher: Fetcher): boolean;
  /** Something has changed: everybody advances, once in this turn of the event loop. */
  changed(): void;
  /** Results are in the database. */
  written(): void;
  /** This fetcher leaves ready jobs to the others. */
  wakeOthers(fetcher: Fetcher): void;
  /** Nothing was ready at this moment of the database's clock, seconds since the epoch. */
  nothingReady(atSeconds: number): void;
  /** A connection was lost: others may be dead without knowing it. */
  connectionLost(): void;
  /** What the worker's id has locked, as far as the worker knows. */
  inFlight(): InFlight;
}
