// Whether jobs may be locked for us without our knowing: by a fetch whose connection broke, or which has no
// answer. They are given back once the database answers; who ends waits for that, but not for long.
//
//   end ──a moment──▶ fetches are cancelled ──another──▶ left to the lease, and to those who recover it
//                                               └ the server has spoken: a moment more, at most five in all
import type { Clock } from "../../base/clock.ts";
import { codeOf } from "../../base/errors.ts";
import type { WorkerConnections } from "../connection/connections.ts";
import type { WorkerLease } from "../lease/worker-lease.ts";
import type { RoundTrips } from "./round-trips.ts";

/** A fetch that takes longer is a long one, or has nobody who answers. */
const CANCEL_MS = 150;
const LEAVE_MS = 400;
/** As long again while somebody answers: all of it takes 1.5 s where a round trip takes 200 ms. */
const MOST_MOMENTS = 5;

export interface UncertainLocksParts {
  readonly clock: Clock;
  readonly trips: Pick<RoundTrips, "isNone" | "hasResults">;
  /** Where it is held, others free what stays locked. */
  readonly lease: Pick<WorkerLease, "isHeld">;
  readonly connections: Pick<WorkerConnections, "cancel" | "heard">;
  /** Nothing is waited for any longer but results. */
  onLeft(): void;
}

export class UncertainLocks {
  readonly #parts: UncertainLocksParts;
  #hasBroken = false;
  #isLeft = false;
  #cancelTimers: (() => void)[] = [];

  constructor(parts: UncertainLocksParts) {
    this.#parts = parts;
  }

  get isRaised(): boolean {
    return this.#hasBroken || (this.#isLeft && !this.#parts.trips.isNone);
  }

  /** Who ends has to wait: for that, or for results that are being written. */
  get isWaitedFor(): boolean {
    const { trips } = this.#parts;
    return this.#isLeft ? trips.hasResults : this.#hasBroken || !trips.isNone;
  }

  /** A fetch broke. */
  raise(): void {
    this.#hasBroken = true;
  }

  /** Once `work` has given back what is in doubt. A table that is gone holds no locks to wait for. */
  async settling(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#hasBroken = false;
    } catch (error) {
      if (codeOf(error) === "schema_missing" && this.#cancelTimers.length > 0) {
        this.#hasBroken = false;
        this.#parts.onLeft();
      }
      throw error;
    }
  }

  /** Nothing is fetched any more. Idempotent. */
  end(): void {
    if (this.#cancelTimers.length > 0) return;
    const { trips, connections } = this.#parts;
    this.#after(CANCEL_MS, () => {
      if (!trips.isNone && !trips.hasResults) connections.cancel();
    });
    this.#leaveIn(MOST_MOMENTS);
  }

  /** It has ended: a timer would keep the process alive. */
  close(): void {
    for (const cancel of this.#cancelTimers) cancel();
  }

  #leaveIn(moments: number): void {
    const { connections, lease, onLeft } = this.#parts;
    const heardBefore = connections.heard;
    this.#after(LEAVE_MS, () => {
      if (moments > 1 && connections.heard !== heardBefore) return this.#leaveIn(moments - 1);
      this.#isLeft = lease.isHeld;
      onLeft();
    });
  }

  #after(ms: number, then: () => void): void {
    this.#cancelTimers.push(this.#parts.clock.after(ms, then));
  }
}
