// The state of a worker's lease, for the parts that fetch or start jobs.
//
//   no keeper: always good ──setKeeper()──▶ good ──no heartbeat for too long──▶ not good ──a heartbeat──▶ good
import { Stopwatch } from "../../base/clock.ts";

/**
 * How long a true `isGood`, which is read before each job, is cached. The lease does not expire in this time, because
 * `isInTime` becomes false at least 50 ms earlier.
 */
const GAP_MS = 50;

/** The heartbeats that renew the lease. */
export interface LeaseKeeper {
  /** The time since the last successful heartbeat was sent, including time in which the process was frozen. */
  readonly heartbeatAgeMs: number;
  /** Whether `heartbeatAgeMs` is low enough to fetch and start jobs. */
  readonly isInTime: boolean;
  /** How far this machine's clock is ahead of the database's clock. */
  readonly aheadMs: number;
  /** Writes the worker's heartbeat row at once, with an empty list of fetched jobs. */
  reportFetched(): void;
}

export class WorkerLease {
  #keeper: LeaseKeeper | null = null;
  #sinceGood: Stopwatch | null = null;
  /** The ids of jobs that the heartbeat row lists as fetched. */
  listed: ReadonlySet<string> = new Set();

  /** null: no heartbeats renew the lease. */
  setKeeper(keeper: LeaseKeeper | null): void {
    this.#keeper = keeper;
  }

  get hasHeartbeats(): boolean {
    return this.#keeper !== null;
  }

  /** As in LeaseKeeper; null without heartbeats. */
  get heartbeatAgeMs(): number | null {
    return this.#keeper?.heartbeatAgeMs ?? null;
  }

  /** As in LeaseKeeper; 0 without heartbeats. */
  get aheadMs(): number {
    return this.#keeper?.aheadMs ?? 0;
  }

  /** Whether jobs may be fetched and started. */
  get isGood(): boolean {
    if (this.#keeper === null) return true;
    if (this.#sinceGood !== null && this.#sinceGood.ms < GAP_MS) return true;
    const isGood = this.#keeper.isInTime;
    if (isGood) this.#sinceGood = new Stopwatch();
    return isGood;
  }

  /** Called when a job starts, so that the heartbeat row no longer lists it as fetched. */
  jobStarts(id: string): void {
    if (this.listed.has(id)) this.#keeper?.reportFetched();
  }
}
