// Coordinates how one worker's connections reconnect during an outage of the database server. In this file a connection
// is a name, such as `jobs` or `heartbeat`, which several database connections can share. The lost connections retry
// one after another. When a connection works again, the others usually retry at once.
//
//   reachable ──first connection lost: warning──▶ unreachable ──last connection back: info──▶ reachable
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

/** The longest pause between two attempts, without jitter: jobs must start within seconds after a long outage. */
const MAX_PAUSE_MS = 2_000;
/**
 * The longest pause in the first minute of an outage, without jitter. Most outages are restarts of the server, and work
 * should continue within a second after a restart.
 */
const MAX_FIRST_PAUSE_MS = 400;
const FIRST_PAUSES_FOR_MS = 60_000;
/** If a connection is lost within this time after its return, the loss is a *relapse*. */
const STEADY_MS = 5_000;
/** An outage that lasts this long is logged again, and then each time its duration has doubled. */
const FIRST_REMINDER_MS = 60_000;

interface Return {
  readonly atMs: number;
  readonly relapses: number;
}

export class Outage {
  readonly #logger: Logger;
  readonly #clock: Clock;
  /** The connections that are lost now, with the time of each loss. */
  readonly #away = new Map<string, number>();
  /** All connections that were lost in this outage, including those that are back. */
  readonly #affected = new Set<string>();
  /** When the outage began for the first time. */
  #sinceMs = 0;
  /** When the outage began, or last began again (`#relapses`). */
  #lostAtMs = 0;
  #remindMs = FIRST_REMINDER_MS;
  #isUnreachable = false;
  /**
   * Whether there is an outage that has not ended. If the retries of the last lost connection end without success, the
   * outage ends when any connection works.
   */
  #isOpen = false;
  /** How often the outage has begun again soon after a connection had come back. */
  #relapses = 0;
  #backAtMs = Number.NEGATIVE_INFINITY;
  /** Cancels the log line about the end of an outage with relapses. The line is written STEADY_MS after the end. */
  #cancelEnd = () => {};
  /** For each connection that has come back: the time of its last return, and the number of its relapses in a row. */
  readonly #returns = new Map<string, Return>();
  /** The time of the last planned attempt of any connection. */
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

  /** Reports that `connection` works. */
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

  /**
   * Runs `connect`, and rejects with the error of `connect`. The first success after a failure of any connection ends
   * all waits in pause().
   */
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
   * Runs `work` again and again until `work` does not throw. After an error, `connection` counts as lost until `work`
   * calls `succeeded` or the retries end. Resolves to false if `signal` ended the retries. Never rejects.
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
    // A lost connection whose retries have ended is no longer part of the outage.
    this.#away.delete(connection);
    return isDone;
  }

  /**
   * Plans an attempt for `ms` after the last planned attempt of any connection, but at least `ms` from now. Waits until
   * then. The wait ends early if any connection works again or `signal` aborts.
   */
  async pause(ms: number, signal: AbortSignal, waitFor = wait): Promise<void> {
    const nowMs = this.#clock.monotonic();
    this.#lastTurnMs = Math.max(nowMs, this.#lastTurnMs) + ms;
    const early = this.#endOfPauses.signal;
    await waitFor(this.#lastTurnMs - nowMs, AbortSignal.any([signal, early]));
  }

  /**
   * Waits if the connection has had relapses. The wait is longer after more relapses in a row. Unlike the wait in
   * pause(), this wait does not end when another connection works again. Otherwise, connections that relapse would end
   * each other's waits again and again.
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
