// The state of the worker's lease, for the parts of the worker that fetch or start jobs.
//
//   no keeper: always good ──setKeeper()──▶ good ──no heartbeat for too long──▶ not good ──a heartbeat──▶ good
import { Stopwatch } from "../../base/clock.ts";

/**
 * `isGood` is read before each job, so a true value is cached for this time. The lease does not expire in this time:
 * `isInTime` becomes false one heartbeat interval before the lease expires, and the interval is at least 50 ms.
 */
const GAP_MS = 50;

/** The heartbeats that renew the lease (recovery.ts). */
export interface LeaseKeeper {
  /** The time since the last successful heartbeat was sent, including time in which the process was frozen. */
  readonly heartbeatAgeMs: number;
  /** Whether `heartbeatAgeMs` is low enough to fetch and start jobs. */
  readonly isInTime: boolean;
  /** How far this machine's clock is ahead of the database's clock. */
  readonly aheadMs: number;
  /** Writes the worker's report into its heartbeat row at once, with an empty list of fetched jobs. */
  reportFetched(): void;
}

export class WorkerLease {
  #keeper: LeaseKeeper | null = null;
  /** Started when `isGood` was last computed as true. */
  #sinceGood: Stopwatch | null = null;
  /** The ids of jobs that the heartbeat row lists as fetched and not started. */
  listed: ReadonlySet<string> = new Set();

  /** Sets the heartbeats that renew the lease; null: none. */
  setKeeper(keeper: LeaseKeeper | null): void {
    this.#keeper = keeper;
  }

  /** Whether heartbeats renew the lease. */
  get hasHeartbeats(): boolean {
    return this.#keeper !== null;
  }

  /** The time since the last successful heartbeat was sent; null without heartbeats. */
  get heartbeatAgeMs(): number | null {
    return this.#keeper?.heartbeatAgeMs ?? null;
  }

  /** How far this machine's clock is ahead of the database's clock; 0 if unknown, because there are no heartbeats. */
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

  /** Called when a job starts. If the heartbeat row lists the job as fetched, a new report is written at once. */
  jobStarts(id: string): void {
    if (this.listed.has(id)) this.#keeper?.reportFetched();
  }
}
