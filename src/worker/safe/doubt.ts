// Whether jobs may be locked for us without our knowing: by a fetch whose connection broke, or which has no
// answer. They are given back once the database answers; who ends waits for that, but not for long.
//
//   end ──a moment──▶ fetches are cancelled ──another──▶ left to the lease, and to those who recover it
import type { Clock } from "../../base/clock.ts";
import type { PendingFetches } from "../fetch/pending-fetches.ts";

/** A fetch that takes longer is a long one, or has nobody who answers. */
const CANCEL_MS = 150;
const LEAVE_MS = 400;

export interface DoubtParts {
  readonly clock: Clock;
  readonly pending: PendingFetches;
  /** Others free what stays locked. */
  isLeased(): boolean;
  /** Stops statements that are under way. */
  cancel(): void;
  /** Nothing is waited for any longer but results. */
  onLeft(): void;
}

export class Doubt {
  readonly #parts: DoubtParts;
  #hasBroken = false;
  #isLeft = false;
  #timers: readonly (() => void)[] = [];

  constructor(parts: DoubtParts) {
    this.#parts = parts;
  }

  get isRaised(): boolean {
    return this.#hasBroken || (this.#isLeft && !this.#parts.pending.isNone);
  }

  /** Who ends has to wait: for that, or for results that are being written. */
  get isWaitedFor(): boolean {
    const { pending } = this.#parts;
    return this.#isLeft ? pending.hasResults : this.#hasBroken || !pending.isNone;
  }

  /** A fetch broke. */
  raise(): void {
    this.#hasBroken = true;
  }

  /** The database has answered. */
  settle(): void {
    this.#hasBroken = false;
  }

  /** Nothing is fetched any more. Idempotent. */
  end(): void {
    if (this.#timers.length > 0) return;
    const { clock, pending, cancel, isLeased, onLeft } = this.#parts;
    const stop = () => {
      if (!pending.isNone && !pending.hasResults) cancel();
    };
    const leave = () => {
      this.#isLeft = isLeased();
      onLeft();
    };
    this.#timers = [clock.after(CANCEL_MS, stop), clock.after(LEAVE_MS, leave)];
  }

  /** It has ended: a timer would keep the process alive. */
  close(): void {
    for (const cancel of this.#timers) cancel();
  }
}
