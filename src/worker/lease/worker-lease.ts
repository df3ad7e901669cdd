// The worker's lease on the jobs that it locks, for everything that takes or starts jobs.
//
//   none: no heartbeats ──hold()──▶ good ──no beat for too long──▶ not good ──a beat──▶ good
import { monotonic } from "../../base/clock.ts";

/** How long `isGood` is believed, for it is read before each job. Much shorter than any lease. */
const GAP_MS = 50;

/** What keeps a lease: its heartbeats. */
export interface LeaseKeeper {
  /** Since the last heartbeat that went through. */
  readonly heartbeatAgeMs: number;
  /** The last heartbeat is recent enough. The clock decides, also after the process was frozen. */
  readonly isInTime: boolean;
  /** Reports at once what is fetched and not started. */
  reportFetched(): void;
}

export class WorkerLease {
  #keeper: LeaseKeeper | null = null;
  #goodAtMs = Number.NEGATIVE_INFINITY;
  /** Jobs that the heartbeat row lists as fetched and not started. */
  listed: ReadonlySet<string> = new Set();

  /** From now on heartbeats keep what is taken; null: there are none. */
  hold(keeper: LeaseKeeper | null): void {
    this.#keeper = keeper;
  }

  /** Heartbeats keep what is taken. */
  get isHeld(): boolean {
    return this.#keeper !== null;
  }

  /** Since the last heartbeat that went through; null where there are none. */
  get heartbeatAgeMs(): number | null {
    return this.#keeper?.heartbeatAgeMs ?? null;
  }

  /** Whether jobs may be taken and started. */
  get isGood(): boolean {
    if (this.#keeper === null) return true;
    const nowMs = monotonic();
    if (nowMs - this.#goodAtMs < GAP_MS) return true;
    const isGood = this.#keeper.isInTime;
    if (isGood) this.#goodAtMs = nowMs;
    return isGood;
  }

  /** A job starts: it must not be listed as fetched for longer than a round trip. */
  starting(id: string): void {
    if (this.listed.has(id)) this.#keeper?.reportFetched();
  }
}
