/**
 * Keeps the page fresh: the event stream when there is one, polling when there is none, and
 * nothing at all in a background tab.
 */
import { ApiError } from "../generated/records";
import { after, subscribe, unsubscribe } from "../host";
import { Gate } from "../model/access";
import { Stream } from "../model/live";
import { Model } from "../model/model";
import { errorOf } from "./api-error";
import { refresh, reload } from "./navigate";
import { askOverview, OVERVIEW, takeOverview } from "./overview";

const TICK_MS = 5000;
/** An open stream may be quiet for this long before the page asks for itself. */
const QUIET_MS: f64 = 60000;
const FIRST_RETRY_MS: f64 = 1000;
const LAST_RETRY_MS: f64 = 30000;
/** A server without the stream is asked again this seldom. */
const NO_STREAM_RETRY_MS: f64 = 60000;

export function connect(m: Model): void {
  const live = m.live;
  if (!live.visible || m.access.gate !== Gate.Open || live.stream !== Stream.Closed) return;
  live.stream = Stream.Opening;
  subscribe("api/events", m.access.headers());
}

export function disconnect(m: Model): void {
  m.live.stream = Stream.Closed;
  unsubscribe();
}

export function streamOpened(m: Model): void {
  m.live.stream = Stream.Open;
  m.live.failures = 0;
}

/** The status is that of the refusal, or 0 when the stream broke. */
export function streamClosed(m: Model, status: i32): void {
  const live = m.live;
  live.stream = Stream.Closed;
  const absent = status === 404 || status === 405 || status === 501;
  const backoff = FIRST_RETRY_MS * <f64>(1 << min(live.failures, 5));
  // A thousand pages that lost the same server should not come back in the same instant.
  const spread = m.now % 1000;
  live.failures = min(live.failures + 1, 10);
  live.retryAt = m.now + (absent ? NO_STREAM_RETRY_MS : min(LAST_RETRY_MS, backoff)) + spread;
  after(<i32>(live.retryAt - m.now), "app.connect", "");
}

export function reconnect(m: Model): void {
  if (m.now + 50 >= m.live.retryAt) connect(m);
}

/** An event of the stream. */
export function pushed(m: Model, event: string, data: string): void {
  if (event === "overview") {
    if (takeOverview(m, data)) recovered(m);
    refresh(m);
  } else if (event === "problem") outage(m, errorOf(data, 503));
}

export function startTicking(m: Model): void {
  if (m.live.ticking) return;
  m.live.ticking = true;
  after(TICK_MS, "app.tick", "");
}

/** Comes every five seconds while the tab is seen. The clock on the page moves with it. */
export function tick(m: Model): void {
  const live = m.live;
  live.ticking = false;
  if (!live.visible) return;
  startTicking(m);
  if (m.access.gate !== Gate.Open) return;
  const patience = live.stream === Stream.Open && live.outage.length === 0 ? QUIET_MS : 0;
  const stale = isNaN(live.freshAt) || m.now - live.freshAt >= patience;
  if (stale && !m.requests.waitsFor(OVERVIEW)) askOverview(m);
  refresh(m);
}

export function showed(m: Model, visible: bool): void {
  const live = m.live;
  if (live.visible === visible) return;
  live.visible = visible;
  live.failures = 0;
  if (!visible) disconnect(m);
  else if (m.access.gate !== Gate.Open) startTicking(m);
  else {
    connect(m);
    tick(m);
  }
}

export function outage(m: Model, error: ApiError): void {
  m.live.outage = error.error;
  m.live.outageCode = error.code;
}

/** The server has answered: after an outage, everything is asked for again. */
export function recovered(m: Model): void {
  if (m.live.outage.length === 0) return;
  m.live.outage = "";
  if (m.dialog === null) reload(m);
  m.live.failures = 0;
  connect(m);
}
