// Coordinates the connections of one worker during an outage of their server. The beginning and the end of the outage
// are logged once for all connections, which retry one after another. The first success ends the pauses of the others.
//
//   reachable ──the first is lost──▶ away: warning ──the last is back──▶ reachable: info
import { backgroundClock, type Clock, wait } from "./clock.ts";
import { messageOf } from "./errors.ts";
import type { Logger } from "./logger.ts";
import { backoffDelay, runWithRetries } from "./retry.ts";

export interface OutageRetryOptions {
  /** Ends the retries. */
  readonly signal: AbortSignal;
  readonly onError?: (error: unknown) => void;
  /** Waits between two attempts. Default: wait() of clock.ts. */
  readonly wait?: typeof wait;
}

/**
 * Longest pause between two attempts, however long the outage lasts: jobs must start within seconds once the server is
 * back.
 */
const MAX_PAUSE_MS = 2_000;
/**
 * Longest pause during the first minute. Most outages are restarts, and work should continue within a second of their
 * end.
 */
const MAX_FIRST_PAUSE_MS = 400;
const FIRST_PAUSES_FOR_MS = 60_000;
/**
 * A connection that is lost within this time after its return has relapsed: it was not really back. If it is away for
 * at least this time, its relapses are counted from 0 again.
 */
const STEADY_MS = 5_000;
/** The time until a lasting outage is logged again; it doubles each time. */
const FIRST_REMINDER_MS = 60_000;

interface Return {
  readonly atMs: number;
  readonly relapses: number;
}

export class Outage {
  readonly #logger: Logger;
  readonly #clock: Clock;
  /** The connections that are cut off, with the time of each loss. `#affected`: all connections of this outage. */
  readonly #away = new Map<string, number>();
  readonly #affected = new Set<string>();
  #sinceMs = 0;
  /** When the outage began, or when it began again after a short recovery. */
  #lostAtMs = 0;
  #remindMs = FIRST_REMINDER_MS;
  #isUnreachable = false;
  /** Whether the outage goes on. It also goes on when its last lost connection has closed instead of coming back. */
  #isOpen = false;
  /** How often in a row the outage began again less than STEADY_MS after a connection had come back. */
  #relapses = 0;
  #backAtMs = Number.NEGATIVE_INFINITY;
  /** Cancels the log line about the end of an outage with relapses, which is written only after STEADY_MS. */
  #cancelEnd = () => {};
  /** For each connection that is back: when it came back, and how often in a row it has relapsed. */
  readonly #returns = new Map<string, Return>();
  /** The time of the latest planned attempt of all connections. */
  #lastTurnMs = 0;
  #endOfPauses = new AbortController();

  constructor(logger: Logger, clock: Clock = backgroundClock) {
    this.#logger = logger;
    this.#clock = clock;
  }

  /** Reports that `connection` is cut off or refused. */
  reportLost(connection: string, error: unknown): void {
    const nowMs = this.#clock.monotonic();
    const isFirst = this.#away.size === 0;
    if (isFirst) {
      this.#cancelEnd();
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
    if (!this.#away.has(connection)) this.#countRelapse(connection, nowMs);
    this.#away.set(connection, this.#away.get(connection) ?? nowMs);
    this.#affected.add(connection);
    this.#isOpen = true;
    const fields = { connection, error: messageOf(error) };
    if (isFirst && this.#relapses <= 1)
      this.#logger.warn(
        fields,
        "the database is unreachable; running jobs continue and their results are kept",
      );
    else this.#logStillAway(fields);
  }

  #countRelapse(connection: string, nowMs: number): void {
    const last = this.#returns.get(connection);
    if (last === undefined) return;
    const isRelapse = nowMs - last.atMs < STEADY_MS;
    this.#returns.set(connection, { ...last, relapses: isRelapse ? last.relapses + 1 : 0 });
  }

  #logStillAway(fields: object): void {
    const awayMs = Math.round(this.#awayMs());
    const isReminder = awayMs >= this.#remindMs;
    if (isReminder) this.#remindMs = 2 * awayMs;
    const log = isReminder ? this.#logger.warn : this.#logger.debug;
    const all = { ...fields, connections: [...this.#away.keys()], away_ms: awayMs };
    log.call(this.#logger, all, "the database is still unreachable");
  }

  /**
   * Reports that `connection` works again. If it was not lost, this has an effect only when all lost connections have
   * closed: it then ends the outage.
   */
  reportBack(connection: string): void {
    const hasClosed = this.#isOpen && this.#away.size === 0;
    const lostAtMs = this.#away.get(connection) ?? (hasClosed ? this.#lostAtMs : undefined);
    if (lostAtMs === undefined) return;
    this.#away.delete(connection);
    this.#endPauses();
    this.#backAtMs = this.#clock.monotonic();
    const wasOutage = this.#backAtMs - lostAtMs >= STEADY_MS;
    const relapses = wasOutage ? 0 : (this.#returns.get(connection)?.relapses ?? 0);
    this.#returns.set(connection, { atMs: this.#backAtMs, relapses });
    if (this.#away.size > 0) return;
    this.#isOpen = false;
    const fields = { connections: [...this.#affected], away_ms: Math.round(this.#awayMs()) };
    const logEnd = () => this.#logger.info(fields, "the database is reachable again");
    if (this.#relapses === 0) logEnd();
    else this.#cancelEnd = this.#clock.after(STEADY_MS, logEnd);
  }

  /** Runs `connect`. After a failed call, the next successful one ends the pauses of all connections. */
  async tryConnect(connect: () => Promise<void>): Promise<void> {
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
   * Runs `work` until it does not throw, as runWithRetries() of retry.ts does. When `work` throws, `connection` counts
   * as lost until `work` calls `succeeded`. Resolves to false if `signal` ended the retries; never rejects.
   */
  async runWithRetries(
    connection: string,
    work: (succeeded: () => void) => Promise<void>,
    { signal, onError, wait: waitFor = wait }: OutageRetryOptions,
  ): Promise<boolean> {
    await this.#pauseAfterRelapses(connection, signal, waitFor);
    const isDone = await runWithRetries(
      (succeeded) =>
        work(() => {
          succeeded();
          this.reportBack(connection);
        }),
      {
        signal,
        onError: (error) => {
          if (!signal.aborted) this.reportLost(connection, error);
          onError?.(error);
        },
        longestMs: () => this.#longestPauseMs,
        pause: async (ms) => {
          await this.#pauseAfterRelapses(connection, signal, waitFor);
          await this.pause(ms, signal, waitFor);
        },
      },
    );
    // A connection that is closed while it is cut off is no longer part of the outage.
    this.#away.delete(connection);
    return isDone;
  }

  /**
   * Plans an attempt for `ms` after the last planned attempt of all connections, or for `ms` from now if that is past.
   * Waits until then, or until any connection succeeds or `signal` aborts.
   */
  async pause(ms: number, signal: AbortSignal, waitFor = wait): Promise<void> {
    const nowMs = this.#clock.monotonic();
    this.#lastTurnMs = Math.max(nowMs, this.#lastTurnMs) + ms;
    const early = this.#endOfPauses.signal;
    await waitFor(this.#lastTurnMs - nowMs, AbortSignal.any([signal, early]));
  }

  /**
   * Waits after a relapse. A success of another connection does not end this pause: connections that keep failing would
   * wake each other again and again.
   */
  async #pauseAfterRelapses(
    connection: string,
    signal: AbortSignal,
    waitFor: typeof wait,
  ): Promise<void> {
    const { relapses = 0 } = this.#returns.get(connection) ?? {};
    if (relapses === 0) return;
    await waitFor(backoffDelay(relapses - 1, { longestMs: MAX_PAUSE_MS }), signal);
  }

  get #longestPauseMs(): number {
    const isFresh = this.#clock.monotonic() - this.#lostAtMs < FIRST_PAUSES_FOR_MS;
    return isFresh ? MAX_FIRST_PAUSE_MS : MAX_PAUSE_MS;
  }

  #awayMs(): number {
    return this.#clock.monotonic() - this.#sinceMs;
  }

  #endPauses(): void {
    this.#lastTurnMs = 0;
    this.#endOfPauses.abort();
    this.#endOfPauses = new AbortController();
  }
}
