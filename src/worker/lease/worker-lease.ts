// The state of a worker's lease, for the parts of the worker that fetch or start jobs.
//
//   no keeper: always good ──setKeeper()──▶ good ──no heartbeat for too long──▶ not good ──a heartbeat──▶ good
import { Stopwatch } from "../../base/clock.ts";

/**
 * `isGood` is read before each job, so a true value is cached for this time. The lease does not expire in this time:
 * `isInTime` becomes false one heartbeat interval before the lease expires, and the interval is at least 50 ms.
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
  /** Writes a report into the worker's heartbeat row at once, with an empty list of fetched jobs. */
  reportFetched(): void;
}

export class WorkerLease {
  #keeper: LeaseKeeper | null = null;
  /** Started when `isGood` was last computed as true. */
  #sinceGood: Stopwatch | null = null;
  /** The ids of jobs that the heartbeat row lists as fetched and not started. */
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

  /** Called when a job starts, so that the heartbeat row does not continue to list the job as fetched. */
  jobStarts(id: string): void {
    if (this.listed.has(id)) this.#keeper?.reportFetched();
  }
}
