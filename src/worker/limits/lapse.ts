// Decides until when a session may use the tokens that it has taken from the database.
import type { Clock } from "../../base/clock.ts";

/** After more than this many late answers in a row, the tokens of late answers are used, too. See untilMs(). */
const LATE_IN_A_ROW = 3;
const MIN_USE_MS = 20;

export class Lapse {
  readonly #clock: Pick<Clock, "monotonic">;
  #late = 0;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /**
   * Called when an answer with tokens arrives. Returns the time at which these tokens lapse, by the monotonic clock.
   * `sentAtMs`: when the tokens were requested. Normally the tokens lapse `lapseMs` after the request. An answer that
   * arrives later than that is late, and its tokens cannot be used. If every answer were late, no job would ever start.
   * So after LATE_IN_A_ROW late answers in a row, the tokens of each further late answer lapse `lapseMs`, or MIN_USE_MS
   * if that is longer, after the answer has arrived. Jobs may then start faster than the rate permits.
   */
  untilMs(sentAtMs: number, lapseMs: number): number {
    const nowMs = this.#clock.monotonic();
    const untilMs = sentAtMs + lapseMs;
    this.#late = nowMs < untilMs ? 0 : this.#late + 1;
    return this.#late > LATE_IN_A_ROW ? nowMs + Math.max(lapseMs, MIN_USE_MS) : untilMs;
  }
}
