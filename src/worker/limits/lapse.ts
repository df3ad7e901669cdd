// Decides until when a session may use tokens that it has taken.
import type { Clock } from "../../base/clock.ts";

/** After this number of late answers in a row, the tokens of further late answers are used, too. */
const LATE_IN_A_ROW = 3;
const MIN_USE_MS = 20;

export class Lapse {
  readonly #clock: Pick<Clock, "monotonic">;
  #late = 0;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /**
   * Returns until when the tokens may be used. The time counts from the request, so it ends at most `lapseMs` after the
   * database took them. If every answer came after it, no job would ever start. So after three such answers it counts
   * from the answer. Then the rate is exceeded by the tokens that become due during the delay.
   */
  untilMs(sentAtMs: number, lapseMs: number): number {
    const nowMs = this.#clock.monotonic();
    const untilMs = sentAtMs + lapseMs;
    this.#late = nowMs < untilMs ? 0 : this.#late + 1;
    return this.#late > LATE_IN_A_ROW ? nowMs + Math.max(lapseMs, MIN_USE_MS) : untilMs;
  }
}
