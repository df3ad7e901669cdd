// What several connections to one server have in common when it goes away: it is told once, one after
// another they try again, and the first that gets through ends the pauses of all.
//
//   all is well ──the first is lost──▶ away: warned ──the last is back──▶ all is well: informed
//
// So an outage is two lines of log however many connections a worker has, and a server that starts is
// asked by each worker every 2 s, not by each of its connections.
import { type Clock, systemClock, wait } from "./clock.ts";
import { messageOf } from "./errors.ts";
import type { Logger } from "./logger.ts";
import { retrying } from "./retry.ts";

export interface OutageTrials {
  /** Ends the tries. */
  readonly signal: AbortSignal;
  readonly onError?: (error: unknown) => void;
  /** The clock's, or a test's. */
  readonly wait?: typeof wait;
}

/** Between two tries, however long it lasts: jobs must start within seconds once the server is back. */
const LONGEST_PAUSE_MS = 2_000;
/** An outage that lasts is told again, each time after twice as long. */
const FIRST_REMINDER_MS = 60_000;

export class Outage {
  readonly #logger: Logger;
  readonly #monotonic: Clock["monotonic"];
  /** Who is cut off now, and who was since all was well. */
  readonly #away = new Set<string>();
  readonly #affected = new Set<string>();
  #sinceMs = 0;
  #remindMs = FIRST_REMINDER_MS;
  #isUnreachable = false;
  /** When the last of those who pause may try. */
  #lastTurnMs = 0;
  #through = new AbortController();

  constructor(logger: Logger, { monotonic }: Pick<Clock, "monotonic"> = systemClock) {
    this.#logger = logger;
    this.#monotonic = monotonic;
  }

  /** `who` is cut off, or is refused. */
  lost(who: string, error: unknown): void {
    const isFirst = this.#away.size === 0;
    if (isFirst) {
      this.#sinceMs = this.#monotonic();
      this.#remindMs = FIRST_REMINDER_MS;
      this.#affected.clear();
    }
    this.#away.add(who);
    this.#affected.add(who);
    const fields = { connection: who, error: messageOf(error) };
    if (isFirst)
      this.#logger.warn(
        fields,
        "the database is away or refuses; running jobs go on, their results wait",
      );
    else this.#goesOn(fields);
  }

  #goesOn(fields: object): void {
    const awayMs = Math.round(this.#monotonic() - this.#sinceMs);
    const isReminder = awayMs >= this.#remindMs;
    if (isReminder) this.#remindMs = 2 * awayMs;
    const say = isReminder ? this.#logger.warn : this.#logger.debug;
    const all = { ...fields, connections: [...this.#away], away_ms: awayMs };
    say.call(this.#logger, all, "the database is still away");
  }

  /** `who` works again. Nothing where it was not lost. */
  back(who: string): void {
    if (!this.#away.delete(who)) return;
    this.#endPauses();
    if (this.#away.size > 0) return;
    const fields = {
      connections: [...this.#affected],
      away_ms: Math.round(this.#monotonic() - this.#sinceMs),
    };
    this.#logger.info(fields, "the database is back");
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
        longestMs: LONGEST_PAUSE_MS,
        pause: (ms) => this.pause(ms, signal, waits),
      },
    );
    // Who ends while it is cut off is not waited for, and not called back.
    this.#away.delete(who);
    return isDone;
  }

  /** At least `ms` after whoever else pauses, or until somebody has got through. */
  async pause(ms: number, signal: AbortSignal, waits = wait): Promise<void> {
    const nowMs = this.#monotonic();
    this.#lastTurnMs = Math.max(nowMs, this.#lastTurnMs) + ms;
    const early = this.#through.signal;
    await waits(this.#lastTurnMs - nowMs, AbortSignal.any([signal, early]));
  }

  #endPauses(): void {
    this.#lastTurnMs = 0;
    this.#through.abort();
    this.#through = new AbortController();
  }
}
