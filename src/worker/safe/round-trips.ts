// Records the round trips of the safe mode that are under way. A round trip fetches jobs of one stream (stream.ts),
// writes results, or does both. Also decides when results are written without a fetch.
//
//   sent ──20 ms──▶ slow: another fetch may be sent ──answer, or the connection is lost──▶ over
import { type Clock, monotonic, settlesWithin } from "../../base/clock.ts";
import type { Results } from "../execute/results.ts";
import type { Slots } from "../execute/slots.ts";
import type { FetchRequest } from "../fetch/fetch-plan.ts";

/** After this time without an answer, a fetch no longer delays the next fetch of its stream. */
const SLOW_MS = 20;
/** While jobs run and no result is urgent, a write without a fetch begins at least this long after the last write. */
const WRITE_EVERY_MS = 25;
const LATE_MS = 1_000;

type FetchSize = Pick<FetchRequest, "want" | "isPatient">;

export interface RoundTrip {
  /** The stream whose jobs the round trip requests, if `want` is not 0. */
  readonly stream: object | null;
  /** The number of requested jobs; 0: the round trip fetches nothing. */
  readonly want: number;
  /** Whether the round trip may take up to a minute. */
  readonly isPatient: boolean;
  readonly hasResults: boolean;
  readonly cancelTimer: () => void;
  readonly over: PromiseWithResolvers<void>;
  isSlow: boolean;
}

export class RoundTrips {
  #underWay: readonly RoundTrip[] = [];
  readonly #clock: Clock;
  readonly #changed: () => void;
  #wroteAtMs = Number.NEGATIVE_INFINITY;
  #cancelWait: (() => void) | null = null;

  /** `changed` is called when a round trip has become slow, and when a write is due. */
  constructor(clock: Clock, changed: () => void) {
    this.#clock = clock;
    this.#changed = changed;
  }

  ofStream(stream: object): RoundTripsOf {
    return new RoundTripsOf(() => this.#underWay, stream);
  }

  get hasResults(): boolean {
    return this.#underWay.some(({ hasResults }) => hasResults);
  }

  get isNone(): boolean {
    return this.#underWay.length === 0;
  }

  /**
   * Whether results must be written now, without a fetch. If the write is due later, `changed` is called at that time.
   * Results that are not urgent are collected, because a statement for each result can cost more than the job itself.
   */
  mustWrite(
    { isEmpty, isUrgent }: Pick<Results, "isEmpty" | "isUrgent">,
    { isIdle }: Pick<Slots, "isIdle">,
  ): boolean {
    if (isEmpty || isUrgent || isIdle) return !isEmpty;
    const waitMs = this.#wroteAtMs + WRITE_EVERY_MS - this.#clock.monotonic();
    if (waitMs <= 0) return true;
    this.#cancelWait ??= this.#clock.after(waitMs, () => {
      this.#cancelWait = null;
      this.#changed();
    });
    return false;
  }

  /**
   * Resolves when no round trip is under way. Calls `onLate` after each second in which the round trips have not ended,
   * with the milliseconds waited so far.
   */
  async waitForAll(onLate: (waitedMs: number) => void): Promise<void> {
    const sinceMs = monotonic();
    while (!this.isNone) {
      if (!(await settlesWithin(this.waitForCurrent(), LATE_MS))) onLate(monotonic() - sinceMs);
    }
  }

  /** Resolves when all round trips that are under way at the call have ended. */
  async waitForCurrent(): Promise<void> {
    await Promise.all(this.#underWay.map(({ over }) => over.promise));
  }

  /** Records the beginning of a round trip. `fetch`: null if the round trip fetches nothing. */
  begin(stream: object | null, fetch: FetchSize | null, hasResults = false): RoundTrip {
    const cancelTimer = this.#clock.after(SLOW_MS, () => {
      sent.isSlow = true;
      this.#changed();
    });
    if (hasResults) this.#wroteAtMs = this.#clock.monotonic();
    const over = Promise.withResolvers<void>();
    const { want, isPatient } = fetch ?? { want: 0, isPatient: false };
    const sent = { stream, want, isPatient, hasResults, cancelTimer, over, isSlow: false };
    this.#underWay = [...this.#underWay, sent];
    return sent;
  }

  end(trip: RoundTrip): void {
    trip.cancelTimer();
    this.#underWay = this.#underWay.filter((one) => one !== trip);
    trip.over.resolve();
  }
}

export class RoundTripsOf {
  readonly #underWay: () => readonly RoundTrip[];
  readonly #stream: object;

  constructor(underWay: () => readonly RoundTrip[], stream: object) {
    this.#underWay = underWay;
    this.#stream = stream;
  }

  /** The number of jobs that the stream's fetches under way request, including slow fetches. */
  get requested(): number {
    let requested = 0;
    for (const { stream, want } of this.#underWay()) {
      if (stream === this.#stream) requested += want;
    }
    return requested;
  }

  /** Whether a fetch under way, of any stream, may take up to a minute. */
  get hasPatient(): boolean {
    return this.#underWay().some(({ isPatient }) => isPatient);
  }

  /** Whether a fetch of the stream is under way and not slow. */
  get hasPrompt(): boolean {
    for (const { stream, want, isSlow } of this.#underWay()) {
      if (stream === this.#stream && want > 0 && !isSlow) return true;
    }
    return false;
  }
}
