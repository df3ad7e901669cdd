/**
 * Keeps the page up to date: by events while the event stream is open, and by regular requests while it is not. A page
 * in a background tab is not updated.
 */
import { ApiError } from "../generated/records";
import { after, subscribe, unsubscribe } from "../host";
import { Gate } from "../model/access";
import { ASK_MS, RED_MS, Stream } from "../model/live";
import { Model } from "../model/model";
import { errorOf } from "./api-error";
import { EVENTS, requestCounts, requestFacts, takeFact } from "./feed";
import { refresh, reload, renew } from "./navigate";

/** The interval at which the page updates the ages that it shows. */
const TICK_MS = 1000;
/** After this time without news (model/live.ts) on an open stream, the page requests the counts. */
const QUIET_MS: f64 = 10000;
const BLINK_MS: f64 = 2000;
const FIRST_RETRY_MS: f64 = 1000;
const LAST_RETRY_MS: f64 = 30000;
/** The pause before the next request for the stream if the server has no event stream. */
const NO_STREAM_RETRY_MS: f64 = 60000;

export function connect(m: Model): void {
  const live = m.live;
  if (!live.visible || m.access.gate !== Gate.Open || live.stream !== Stream.Closed) return;
  live.stream = Stream.Opening;
  live.aheadMost = NaN;
  live.openedAt = m.now;
  subscribe(EVENTS, m.access.headers());
}

export function disconnect(m: Model): void {
  m.live.stream = Stream.Closed;
  unsubscribe();
}

/** Records that the stream is open. Returns whether the stream was open before in this session. */
export function streamOpened(m: Model): bool {
  const live = m.live;
  const again = live.wasOpen;
  live.stream = Stream.Open;
  live.openedAt = m.now;
  live.failures = 0;
  live.wasOpen = true;
  return again;
}

/**
 * Records that the stream is closed, and sets a timer to open it again. `status`: the HTTP status if the server refused
 * the stream, 501 if the response was not an event stream, 0 in all other cases.
 */
export function streamClosed(m: Model, status: i32): void {
  const live = m.live;
  live.stream = Stream.Closed;
  const absent = status === 404 || status === 405 || status === 501;
  const backoff = FIRST_RETRY_MS * <f64>(1 << min(live.failures, 5));
  // When a server stops, its pages must not all reconnect at the same moment. `openedAt` differs from page to page.
  const spread = <f64>(<i64>live.openedAt % 1000);
  live.failures = min(live.failures + 1, 10);
  live.retryAt = m.now + (absent ? NO_STREAM_RETRY_MS : min(LAST_RETRY_MS, backoff)) + spread;
  after(<i32>(live.retryAt - m.now), "app.connect", "");
  // The result of this request shows at once whether the server can be reached.
  if (status === 0 && m.access.gate === Gate.Open) requestCounts(m);
}

export function reconnect(m: Model): void {
  if (m.now + 50 >= m.live.retryAt) connect(m);
}

/** Takes an event of the stream. Only the pulse and the counts prove that the database has just answered. */
export function takeEvent(m: Model, event: string, data: string): void {
  if (event === "problem") {
    outage(m, errorOf(data, 503));
    return;
  }
  const isRead = takeFact(m, event, data);
  if (!isRead || (event !== "pulse" && event !== "counts")) return;
  m.live.newsAt = m.now;
  endOutage(m);
}

export function startTicking(m: Model): void {
  if (m.live.ticking) return;
  m.live.ticking = true;
  after(TICK_MS, "app.tick", "");
}

/** Called every second while the tab is visible. */
export function tick(m: Model): void {
  m.live.ticking = false;
  bringUpToDate(m);
}

/**
 * If the stream does not open within RED_MS, or brings no news (model/live.ts) for RED_MS, closes the stream. Requests
 * data if the last news is too old.
 */
function bringUpToDate(m: Model): void {
  const live = m.live;
  if (!live.visible) return;
  startTicking(m);
  if (m.access.gate !== Gate.Open) return;
  const isOpen = live.stream === Stream.Open;
  // Until the stream is open, only answers to requests set `newsAt`. Such an answer does not show that the stream will
  // open.
  const since = isOpen && live.newsAt > live.openedAt ? live.newsAt : live.openedAt;
  if (live.stream !== Stream.Closed && m.now - since >= RED_MS) {
    disconnect(m);
    streamClosed(m, 0);
  }
  const patience = isOpen && live.outage.length === 0 ? QUIET_MS : ASK_MS;
  const isQuiet = isNaN(live.newsAt) || m.now - live.newsAt >= patience;
  if (isQuiet && m.now - live.requestedAt >= ASK_MS) {
    if (isOpen) requestCounts(m);
    else requestFacts(m);
  }
  if (!live.isPaused) refresh(m);
}

export function setVisible(m: Model, visible: bool): void {
  const live = m.live;
  if (live.visible === visible) return;
  live.visible = visible;
  live.failures = 0;
  if (!visible) disconnect(m);
  else if (m.access.gate !== Gate.Open) startTicking(m);
  else {
    connect(m);
    bringUpToDate(m);
  }
}

/** Pauses or resumes live updates. */
export function togglePause(m: Model): void {
  const live = m.live;
  live.isPaused = !live.isPaused;
  if (live.isPaused) return;
  m.facts.follow();
  reload(m);
}

export function outage(m: Model, error: ApiError): void {
  if (m.live.outage.length === 0) m.live.outageAt = m.now;
  m.live.outage = error.error;
  m.live.outageCode = error.code;
}

/** Called when news (model/live.ts) arrives. Ends an outage, and requests again what the page needs. */
export function endOutage(m: Model): void {
  const live = m.live;
  if (live.outage.length === 0) return;
  live.outage = "";
  live.outageCode = "";
  // If the banner was visible only for a moment, its end needs no message.
  if (m.now - live.outageAt >= BLINK_MS) m.notices.good("Connected again: the page is up to date.");
  renew(m);
  live.failures = 0;
  connect(m);
}
