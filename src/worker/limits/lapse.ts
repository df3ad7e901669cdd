// When what was taken of a rate lapses, if no job has started with it.
import type { Clock } from "../../base/clock.ts";

/** After so many answers in a row that came too late, the next ones are used all the same. */
const LATE_IN_A_ROW = 3;
const MIN_USE_MS = 20;

export class Lapse {
  readonly #clock: Pick<Clock, "monotonic">;
  #late = 0;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /**
   * Returns until when it may be used. It counts from the request, because the database counts from an earlier moment.
   * If the answers always took longer than that, no job would ever start: then it counts from the answer, and the rate
   * of a period is exact up to this delay.
   */
  untilMs(sentAtMs: number, lapseMs: number): number {
    const nowMs = this.#clock.monotonic();
    const untilMs = sentAtMs + lapseMs;
    this.#late = nowMs < untilMs ? 0 : this.#late + 1;
    return this.#late > LATE_IN_A_ROW ? nowMs + Math.max(lapseMs, MIN_USE_MS) : untilMs;
  }
}
