/**
 * The state of data that a page requests. The page itself stores the data.
 *
 *   request() ──▶ waiting ──arrived()──▶ ready ──request()──▶ ready, and requested again
 *                    └──failedWith()──▶ error or missing
 */
import { button } from "../controls/button";
import { emptyWith, problem, skeleton } from "../controls/empty";
import { after } from "../host";
import { JsonReader } from "../lib/json-reader";
import { leaf, Node } from "../lib/node";
import { Model } from "../model/model";
import { cancel, isAway } from "../model/requests";

/** If the first data have not arrived this long after the request, the page shows a skeleton. */
export const SKELETON_MS: f64 = 200;
/** The shortest intervals at which requestSince() requests data that have not changed. */
const SOMETIMES_MS: f64 = 15000;
const SELDOM_MS: f64 = 120000;

export class ServerData {
  /** Whether data have arrived. */
  ready: bool = false;
  /** Whether the server has answered 404, and sent no data since. */
  missing: bool = false;
  error: string = "";
  /** When the data were last requested, and when data last arrived. NaN: never. */
  requestedAt: f64 = NaN;
  answeredAt: f64 = NaN;

  /**
   * `topic`: `<page>.<what>`. The page gets the answers. Cancels an unanswered request of an older object with the same
   * topic.
   */
  constructor(readonly topic: string) {
    cancel(topic);
  }

  /** Requests the data, and cancels an earlier unanswered request. `isQuiet`: see Pending. */
  request(m: Model, path: string, isQuiet: bool = false): void {
    this.requestedAt = m.now;
    if (!this.ready) after(<i32>SKELETON_MS, "app.draw", "");
    m.requests.read(m.access, this.topic, path, isQuiet);
  }

  /**
   * Requests the data again if isDue(). The interval is `soonMs`, or at least two minutes if Facts.changedAt is before
   * the last request.
   */
  requestEvery(m: Model, path: string, soonMs: f64): void {
    this.requestSince(m, path, soonMs, m.facts.changedAt);
  }

  /**
   * Like requestEvery(), for data that last changed at `changedAt`. If Facts.changedAt is after the last request, but
   * `changedAt` is not, the interval is at least 15 s.
   */
  requestSince(m: Model, path: string, soonMs: f64, changedAt: f64): void {
    const rest =
      changedAt >= this.requestedAt
        ? soonMs
        : m.facts.changedAt >= this.requestedAt
          ? SOMETIMES_MS
          : SELDOM_MS;
    if (this.isDue(m, max(soonMs, rest))) this.request(m, path, true);
  }

  /**
   * Whether `everyMs` have passed since the last request, no request is unanswered, and the budget of quiet requests
   * (model/requests.ts) allows another one. False before the first request.
   */
  isDue(m: Model, everyMs: f64): bool {
    return m.now - this.requestedAt >= everyMs && !this.isPending(m) && m.requests.mayRepeat(m.now);
  }

  isPending(m: Model): bool {
    return m.requests.waitsFor(this.topic);
  }

  arrived(m: Model): void {
    this.ready = true;
    this.missing = false;
    this.error = "";
    this.answeredAt = m.now;
  }

  /** Stores why a request failed. In an outage (status 0 or 503) nothing is stored: the banner shows the reason. */
  failedWith(status: i32, reason: string): void {
    if (status === 404) this.missing = true;
    else if (!isAway(status)) this.error = reason;
  }

  unreadable(reason: string): void {
    this.error = `The server's answer can't be read: ${reason}`;
  }

  /** Ends the reading of an answer, and returns whether the answer could be read. */
  finish(m: Model, r: JsonReader): bool {
    r.end();
    if (r.failed) this.unreadable(r.error);
    else this.arrived(m);
    return !r.failed;
  }

  /** Restores the state before the first request, and cancels an unanswered request. */
  reset(): void {
    cancel(this.topic);
    this.ready = false;
    this.missing = false;
    this.error = "";
    this.requestedAt = NaN;
    this.answeredAt = NaN;
  }

  /** Whether the last request was sent at least SKELETON_MS ago, and there is no error and no outage. */
  isLate(m: Model): bool {
    const isHindered = this.error.length > 0 || m.live.outage.length > 0;
    return !isHindered && m.now - this.requestedAt >= SKELETON_MS;
  }

  /** Returns the node that is shown until data arrive. `lines`: the number of rows of a skeleton. */
  placeholder(m: Model, lines: i32): Node {
    if (this.error.length > 0) return problem(this.error);
    if (m.live.outage.length > 0) {
      const again = button("Try again", "app.retry", "", "");
      return emptyWith("Waiting for data", "", [again]);
    }
    return this.isLate(m) ? skeleton(lines) : leaf("span", "waiting", "");
  }
}
