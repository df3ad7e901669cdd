// Decides until when a session may use tokens that it has taken.
import type { Clock } from "../../base/clock.ts";

/** After this number of late answers in a row, late answers are used as well. */
const LATE_IN_A_ROW = 3;
const MIN_USE_MS = 20;

export class Lapse {
  readonly #clock: Pick<Clock, "monotonic">;
  #late = 0;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /**
   * Returns until when the tokens may be used. The time counts from the request, which is before the moment at which the
   * database has taken them. If the answers always took longer than that, no job would ever start: then the time counts
   * from the answer, and the rate is exceeded by what it allows during the delay.
   */
  untilMs(sentAtMs: number, lapseMs: number): number {
    const nowMs = this.#clock.monotonic();
    const untilMs = sentAtMs + lapseMs;
    this.#late = nowMs < untilMs ? 0 : this.#late + 1;
    return this.#late > LATE_IN_A_ROW ? nowMs + Math.max(lapseMs, MIN_USE_MS) : untilMs;
  }
}
