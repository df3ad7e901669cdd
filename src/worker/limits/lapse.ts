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
   * Returns until when the tokens may be used: normally for `lapseMs` from the request on, so at most `lapseMs` after
   * the database has taken them. If every answer arrived later than that, no job would ever start. So after
   * LATE_IN_A_ROW late answers, the tokens of further late answers may be used for `lapseMs`, at least MIN_USE_MS, from
   * the answer on. Jobs may then start faster than the rate permits.
   */
  untilMs(sentAtMs: number, lapseMs: number): number {
    const nowMs = this.#clock.monotonic();
    const untilMs = sentAtMs + lapseMs;
    this.#late = nowMs < untilMs ? 0 : this.#late + 1;
    return this.#late > LATE_IN_A_ROW ? nowMs + Math.max(lapseMs, MIN_USE_MS) : untilMs;
  }
}
