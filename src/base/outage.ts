// Coordinates the connections of one worker during an outage of their server. A connection is a name here, such as
// `jobs` or `heartbeat`; several connections to the database can share one name. The beginning and the end of an outage
// are logged once for all connections. The lost connections retry one after another. When one of them works again, the
// others retry at once, except those that have just relapsed.
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

/**
 * The longest pause between two attempts, without jitter. In a long outage the pauses do not grow beyond it, because
 * jobs must start within seconds once the server is back.
 */
const MAX_PAUSE_MS = 2_000;
/**
 * The longest pause during the first minute of an outage. Most outages are restarts of the server, and work should
 * continue within a second after the restart.
 */
const MAX_FIRST_PAUSE_MS = 400;
const FIRST_PAUSES_FOR_MS = 60_000;
/**
 * If a connection is lost within this time after its return, the loss is a relapse: the connection was not really back.
 * If a connection works or is lost for at least this time, its relapses are counted from 0 again.
 */
const STEADY_MS = 5_000;
/**
 * An outage that lasts this long is logged again. Each further reminder follows when the outage has lasted at least
 * twice as long as at the reminder before.
 */
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
  /** When the outage first began. Relapses do not change this time. */
  #sinceMs = 0;
  /** When the outage or its latest relapse began. */
  #lostAtMs = 0;
  #remindMs = FIRST_REMINDER_MS;
  #isUnreachable = false;
  /**
   * Whether the outage goes on. If its last lost connection closes instead of coming back, the outage goes on until
   * another connection works.
   */
  #isOpen = false;
  /** How often this outage has begun again less than STEADY_MS after a connection had come back. */
  #relapses = 0;
  #backAtMs = Number.NEGATIVE_INFINITY;
  /** Cancels the log line about the end of an outage with relapses. The line is written STEADY_MS after that end. */
  #cancelEnd = () => {};
  /** For each connection that has been back: when it last came back, and how often in a row it has relapsed. */
  readonly #returns = new Map<string, Return>();
  /** The time of the attempt that is planned last, among the attempts of all connections. */
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
   * Reports that `connection` works. If `connection` was not lost, the call has an effect only if the outage goes on
   * and no connection is lost any more, because the last one has closed. The call then ends the outage.
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

  /**
   * Runs `connect`, and rejects with its error. If this method has failed, its next success ends the waits of all
   * connections in pause().
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
   * Runs `work` again and again until it does not throw, as runWithRetries() of retry.ts does. After `work` has thrown,
   * `connection` counts as lost until `work` calls `succeeded` or the retries end. Resolves to true when `work` has
   * ended without an error, and to false if `signal` ended the retries. Never rejects.
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
    // A connection that is closed while it is lost is no longer part of the outage.
    this.#away.delete(connection);
    return isDone;
  }

  /**
   * Plans an attempt, and waits until its time. The time is `ms` after the attempt that is planned last, among those of
   * all connections, or `ms` from now if no planned attempt is in the future. The wait ends early if any connection
   * works again or `signal` aborts.
   */
  async pause(ms: number, signal: AbortSignal, waitFor = wait): Promise<void> {
    const nowMs = this.#clock.monotonic();
    this.#lastTurnMs = Math.max(nowMs, this.#lastTurnMs) + ms;
    const early = this.#endOfPauses.signal;
    await waitFor(this.#lastTurnMs - nowMs, AbortSignal.any([signal, early]));
  }

  /**
   * If `connection` has relapsed, waits, longer after each relapse in a row. Unlike the wait in pause(), this wait does
   * not end when another connection works again: connections that come back and fail again would end each other's waits
   * again and again.
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
