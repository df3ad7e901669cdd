/**
 * How fresh the page is. News is data from the database: an event of the stream or an answer.
 * A request is not news.
 */
export enum Stream {
  Closed,
  Opening,
  Open,
}

/** Without news for so long the page shows it, and its ages become clock times. */
export const AMBER_MS: f64 = 12000;
/** How often the page sends requests while no events arrive. */
export const ASK_MS: f64 = 5000;
export const RED_MS: f64 = 30000;
/** After so long without input, rows may change their places. */
const READING_MS: f64 = 20000;

export class Live {
  stream: Stream = Stream.Closed;
  /** Tries to open the stream that failed since the last success. */
  failures: i32 = 0;
  /** When the stream may be tried again. */
  retryAt: f64 = 0;
  /** False in a background tab, where nothing runs. */
  visible: bool = true;
  ticking: bool = false;
  /** The pointer or the focus is on something that must not move. */
  held: bool = false;
  /** Someone has stopped the page: what comes waits until it is followed again. */
  onHold: bool = false;
  /** When the user last did something here. */
  touchedAt: f64 = 0;
  /** When the last news came; NaN: none yet. */
  newsAt: f64 = NaN;
  /** When the page last requested what the stream should bring. */
  askedAt: f64 = 0;
  /** How far the server's clock is ahead of this machine's; 0 where they agree. */
  ahead: f64 = 0;
  /** The most that any news was ahead, since the stream was opened. */
  aheadMost: f64 = NaN;
  /** When the stream was opened last, and whether it ever was. */
  openedAt: f64 = 0;
  wasOpen: bool = false;
  /** Why there is no fresh data; the empty string: there is. */
  outage: string = "";
  /** The code of the error behind the outage, and since when it is one. */
  outageCode: string = "";
  outageAt: f64 = 0;

  /** When the last news came, by the server's clock as all times that are shown. */
  get newsTime(): f64 {
    return this.newsAt + this.ahead;
  }

  /** When it sends the next request, while no events arrive. */
  get nextAskAt(): f64 {
    return this.askedAt + ASK_MS;
  }

  /** How long there has been no news; before the first, none. */
  silence(now: f64): f64 {
    return isNaN(this.newsAt) ? 0 : max(0, now - this.newsAt);
  }

  /** Someone reads here: rows stay where they are. */
  isRead(now: f64): bool {
    return this.held || now - this.touchedAt < READING_MS;
  }

  isStale(now: f64): bool {
    return this.outage.length > 0 || this.silence(now) >= AMBER_MS;
  }
}
