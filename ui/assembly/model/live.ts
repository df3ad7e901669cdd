/** How fresh the page is: the event stream, the polling in its place, and outages. */
export enum Stream {
  Closed,
  Opening,
  Open,
}

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
  /** When someone last did something here. */
  touchedAt: f64 = 0;
  /** When the last overview came. */
  freshAt: f64 = NaN;
  /** When the last overview was asked for. */
  askedAt: f64 = 0;
  /** How far the server's clock is ahead of this machine's; 0 where they agree. */
  ahead: f64 = 0;
  /** Why there is no fresh data; the empty string: there is. */
  outage: string = "";
  /** The code of the error behind the outage. */
  outageCode: string = "";
}
