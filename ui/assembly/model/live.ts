/**
 * How fresh the page is. In this file, news is an event `pulse` or `counts`, or a successful answer to any request
 * except the one for the session.
 */
export enum Stream {
  Closed,
  Opening,
  Open,
}

/** The time without news after which the page shows a warning, and its ages become clock times. */
export const AMBER_MS: f64 = 12000;
/** The interval of requests while no events arrive. */
export const ASK_MS: f64 = 5000;
/** The time without news after which a banner is shown, and the stream, open or opening, is closed and opened again. */
export const RED_MS: f64 = 30000;
/** The time without input after which rows may change their places. */
const READING_MS: f64 = 20000;

export class Live {
  stream: Stream = Stream.Closed;
  /**
   * The number of times that the stream could not be opened or was closed since it last opened, at most 10. It is also
   * reset after an outage, and when the tab is hidden or shown.
   */
  failures: i32 = 0;
  /** When the next attempt to open the stream may begin. */
  retryAt: f64 = 0;
  /** Whether the tab is visible. In a background tab the stream is closed, and no data are requested regularly. */
  visible: bool = true;
  ticking: bool = false;
  /** Whether the pointer or the focus is on rows, which must not move then. */
  pinsRows: bool = false;
  /** Whether the user has paused live updates. The feed's data are then stored and not shown, except operations. */
  isPaused: bool = false;
  /** When the user last did something on the page. */
  touchedAt: f64 = 0;
  /** When the last news arrived; NaN: none yet. */
  newsAt: f64 = NaN;
  /** When the page last requested data that the stream normally sends. */
  requestedAt: f64 = 0;
  /** By how much the server's clock is ahead of this machine's; 0 if they differ by at most 2 s. */
  ahead: f64 = 0;
  /** The largest lead of the server's clock in a pulse or counts since the stream was requested; NaN: none yet. */
  aheadMost: f64 = NaN;
  /** When the stream opened; before that, when it was requested. */
  openedAt: f64 = 0;
  /** Whether the stream has been open in this session. */
  wasOpen: bool = false;
  /** The error because of which there are no fresh data; empty: no outage is known. */
  outage: string = "";
  /** The code of the last error that was stored in `outage`. */
  outageCode: string = "";
  /** When the last outage began. */
  outageAt: f64 = 0;

  /** When the last news arrived, by the server's clock, like all times on the page. */
  get newsTime(): f64 {
    return this.newsAt + this.ahead;
  }

  /** When the page sends its next request, while no events arrive. */
  get nextAskAt(): f64 {
    return this.requestedAt + ASK_MS;
  }

  /** Returns how long there has been no news; 0 before the first. */
  silence(now: f64): f64 {
    return isNaN(this.newsAt) ? 0 : max(0, now - this.newsAt);
  }

  /** Whether the user is reading here, so that rows must stay in their places. */
  isRead(now: f64): bool {
    return this.pinsRows || now - this.touchedAt < READING_MS;
  }

  isStale(now: f64): bool {
    return this.outage.length > 0 || this.silence(now) >= AMBER_MS;
  }
}
