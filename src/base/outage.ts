// What several connections to one server have in common when it goes away: it is told once, one after
// another they try again, and the first that gets through ends the pauses of all.
//
//   all is well ──the first is lost──▶ away: warned ──the last is back──▶ all is well: informed
//                                       ▲   ▲                                  │
//                 seldom, not warned ───┘   └── again within seconds: warned ──┘
//                    back again: informed only when it lasts
//
// A database that answers and refuses in turn, as one on a full disk does, is one outage, and is asked
// with pauses that grow.
// So an outage is two lines of log however many connections a worker has, and a server that starts is
// asked by each worker every 0.4 s, after a minute every 2 s, not by each of its connections.
import { backgroundClock, type Clock, wait } from "./clock.ts";
import { messageOf } from "./errors.ts";
import type { Logger } from "./logger.ts";
import { backoffDelay, retrying } from "./retry.ts";

export interface OutageTrials {
  /** Ends the tries. */
  readonly signal: AbortSignal;
  readonly onError?: (error: unknown) => void;
  /** The clock's, or a test's. */
  readonly wait?: typeof wait;
}

/** Between two tries, however long it lasts: jobs must start within seconds once the server is back. */
const LONGEST_PAUSE_MS = 2_000;
/** At first: most outages are a restart, and work goes on within a second of its end. */
const LONGEST_FIRST_PAUSE_MS = 400;
const FIRST_PAUSES_FOR_MS = 60_000;
/** Who is lost again sooner was not really back. Who was away for as long had an outage of its own. */
const STEADY_MS = 5_000;
/** An outage that lasts is told again, each time after twice as long. */
const FIRST_REMINDER_MS = 60_000;

interface Return {
  readonly atMs: number;
  readonly relapses: number;
}

export class Outage {
  readonly #logger: Logger;
  readonly #clock: Clock;
  /** Who is cut off now and since when, and who was since all was well. */
  readonly #away = new Map<string, number>();
  readonly #affected = new Set<string>();
  #sinceMs = 0;
  /** The same, but of the last time only where it came back for a moment. */
  #lostAtMs = 0;
  #remindMs = FIRST_REMINDER_MS;
  #isUnreachable = false;
  /** How often all was well for a moment only, since it was for longer. */
  #relapses = 0;
  #backAtMs = Number.NEGATIVE_INFINITY;
  /** Keeps the end of the outage from being told, which waits until it has lasted. */
  #keepEnd = () => {};
  /** Of each who has come back: when, and how often in a row it was lost again within seconds. */
  readonly #returns = new Map<string, Return>();
  /** When the last of those who pause may try. */
  #lastTurnMs = 0;
  #through = new AbortController();

  constructor(logger: Logger, clock: Clock = backgroundClock) {
    this.#logger = logger;
    this.#clock = clock;
  }

  /** `who` is cut off, or is refused. */
  lost(who: string, error: unknown): void {
    const nowMs = this.#clock.monotonic();
    const isFirst = this.#away.size === 0;
    if (isFirst) {
      this.#keepEnd();
      this.#lostAtMs = nowMs;
    }
    const isRelapse = nowMs - this.#backAtMs < STEADY_MS;
    if (isFirst && !isRelapse) {
      this.#sinceMs = nowMs;
      this.#remindMs = FIRST_REMINDER_MS;
      this.#relapses = 0;
      this.#affected.clear();
    }
    if (isFirst && isRelapse) this.#relapses++;
    if (!this.#away.has(who)) this.#countRelapse(who, nowMs);
    this.#away.set(who, this.#away.get(who) ?? nowMs);
    this.#affected.add(who);
    const fields = { connection: who, error: messageOf(error) };
    if (isFirst && this.#relapses <= 1)
      this.#logger.warn(
        fields,
        "the database is away or refuses; running jobs go on, their results wait",
      );
    else this.#goesOn(fields);
  }

  #countRelapse(who: string, nowMs: number): void {
    const last = this.#returns.get(who);
    if (last === undefined) return;
    const isRelapse = nowMs - last.atMs < STEADY_MS;
    this.#returns.set(who, { ...last, relapses: isRelapse ? last.relapses + 1 : 0 });
  }

  #goesOn(fields: object): void {
    const awayMs = Math.round(this.#awayMs());
    const isReminder = awayMs >= this.#remindMs;
    if (isReminder) this.#remindMs = 2 * awayMs;
    const say = isReminder ? this.#logger.warn : this.#logger.debug;
    const all = { ...fields, connections: [...this.#away.keys()], away_ms: awayMs };
    say.call(this.#logger, all, "the database is still away");
  }

  /** `who` works again. Nothing where it was not lost. */
  back(who: string): void {
    const lostAtMs = this.#away.get(who);
    if (lostAtMs === undefined) return;
    this.#away.delete(who);
    this.#endPauses();
    this.#backAtMs = this.#clock.monotonic();
    const wasOutage = this.#backAtMs - lostAtMs >= STEADY_MS;
    const relapses = wasOutage ? 0 : (this.#returns.get(who)?.relapses ?? 0);
    this.#returns.set(who, { atMs: this.#backAtMs, relapses });
    if (this.#away.size > 0) return;
    const fields = { connections: [...this.#affected], away_ms: Math.round(this.#awayMs()) };
    const tell = () => this.#logger.info(fields, "the database is back");
    if (this.#relapses === 0) tell();
    else this.#keepEnd = this.#clock.after(STEADY_MS, tell);
  }

  /** Connects: the first time that it works again the others try at once. */
  async reaching(connect: () => Promise<void>): Promise<void> {
    try {
      await connect();
    } catch (error) {
      this.#isUnreachable = true;
      throw error;
    }
    if (!this.#isUnreachable) return;
    this.#isUnreachable = false;
    this.#endPauses();
  }

  /**
   * Does `work` until it does not throw, as retrying() does; `who` is lost while it throws, and back when
   * it has `succeeded`. False when `signal` ended it. Never rejects.
   */
  async retrying(
    who: string,
    work: (succeeded: () => void) => Promise<void>,
    { signal, onError, wait: waits = wait }: OutageTrials,
  ): Promise<boolean> {
    await this.#pauseAfterRelapses(who, signal, waits);
    const isDone = await retrying(
      (succeeded) =>
        work(() => {
          succeeded();
          this.back(who);
        }),
      {
        signal,
        onError: (error) => {
          if (!signal.aborted) this.lost(who, error);
          onError?.(error);
        },
        longestMs: () => this.#longestPauseMs,
        pause: async (ms) => {
          await this.#pauseAfterRelapses(who, signal, waits);
          await this.pause(ms, signal, waits);
        },
      },
    );
    // Who ends while it is cut off is not waited for, and not called back.
    this.#away.delete(who);
    return isDone;
  }

  /** At least `ms` after whoever else pauses, or until somebody has got through. */
  async pause(ms: number, signal: AbortSignal, waits = wait): Promise<void> {
    const nowMs = this.#clock.monotonic();
    this.#lastTurnMs = Math.max(nowMs, this.#lastTurnMs) + ms;
    const early = this.#through.signal;
    await waits(this.#lastTurnMs - nowMs, AbortSignal.any([signal, early]));
  }

  /** Nobody ends it: those who are back for a moment only would wake each other again and again. */
  async #pauseAfterRelapses(who: string, signal: AbortSignal, waits: typeof wait): Promise<void> {
    const { relapses = 0 } = this.#returns.get(who) ?? {};
    if (relapses === 0) return;
    await waits(backoffDelay(relapses - 1, { longestMs: LONGEST_PAUSE_MS }), signal);
  }

  get #longestPauseMs(): number {
    const isFresh = this.#clock.monotonic() - this.#lostAtMs < FIRST_PAUSES_FOR_MS;
    return isFresh ? LONGEST_FIRST_PAUSE_MS : LONGEST_PAUSE_MS;
  }

  #awayMs(): number {
    return this.#clock.monotonic() - this.#sinceMs;
  }

  #endPauses(): void {
    this.#lastTurnMs = 0;
    this.#through.abort();
    this.#through = new AbortController();
  }
}
