/**
 * The state of the event stream, and the age of the data on the page. In this file, *news* is an event `pulse` or
 * `counts`, or a successful answer to any request except the request for the session.
 */
export enum Stream {
  Closed,
  Opening,
  Open,
}

/** If no news has arrived for this long, the page shows a warning, and clock times instead of ages. */
export const AMBER_MS: f64 = 12000;
/** If events do not arrive, the page requests their data instead, at most once in this time. */
export const ASK_MS: f64 = 5000;
/**
 * If no news has arrived for this long, a banner is shown. A stream that does not open within this time, or brings no
 * news for this long, is closed and opened again.
 */
export const RED_MS: f64 = 30000;
/** The time without input after which rows may change their places. */
const READING_MS: f64 = 20000;

export class Live {
  stream: Stream = Stream.Closed;
  /** How often the stream has failed to open, or was closed, since it last opened. At most 10. */
  failures: i32 = 0;
  /** When the timer opens the stream again. */
  retryAt: f64 = 0;
  /** Whether the tab is visible. In a hidden tab, the stream is closed. */
  visible: bool = true;
  ticking: bool = false;
  /** Whether the pointer or the focus is on rows. */
  pinsRows: bool = false;
  /** Whether the user has paused live updates. During the pause, only new events of operations are shown. */
  isPaused: bool = false;
  /** When the user last did something on the page. */
  touchedAt: f64 = 0;
  /** When the last news arrived; NaN: none yet. */
  newsAt: f64 = NaN;
  /** When the page last requested data that the stream normally sends. */
  requestedAt: f64 = 0;
  /** By how many milliseconds PostgreSQL's clock is ahead of this machine's; 0 if the clocks differ by at most 2 s. */
  ahead: f64 = 0;
  /** The largest lead of PostgreSQL's clock, in milliseconds, since the stream was last requested; NaN: none yet. */
  aheadMost: f64 = NaN;
  /** When the stream opened; before that, when it was requested. */
  openedAt: f64 = 0;
  /** Whether the stream has been open in this session. */
  wasOpen: bool = false;
  /** The error because of which no fresh data arrive; empty if no outage is known. */
  outage: string = "";
  /** The code of the error in `outage`. */
  outageCode: string = "";
  /** When the last outage began. */
  outageAt: f64 = 0;

  /** When the last news arrived, by PostgreSQL's clock. */
  get newsTime(): f64 {
    return this.newsAt + this.ahead;
  }

  /** The earliest time of the next regular request for the data of events. */
  get nextAskAt(): f64 {
    return this.requestedAt + ASK_MS;
  }

  /** Returns how long no news has arrived; 0 before the first news. */
  silence(now: f64): f64 {
    return isNaN(this.newsAt) ? 0 : max(0, now - this.newsAt);
  }

  /** Whether the user may be reading the rows. */
  isRead(now: f64): bool {
    return this.pinsRows || now - this.touchedAt < READING_MS;
  }

  isStale(now: f64): bool {
    return this.outage.length > 0 || this.silence(now) >= AMBER_MS;
  }
}
