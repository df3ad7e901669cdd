/** The overview, which the stream brings and every page may show. */
import { readOverview } from "../generated/records";
import { JsonReader } from "../lib/json-reader";
import { Model } from "../model/model";

export const OVERVIEW = "app.overview";

/** Two clocks that differ by less are taken for the same. */
const CLOCKS_AGREE_MS: f64 = 2000;

export function askOverview(m: Model): void {
  m.live.askedAt = m.now;
  m.requests.read(m.access, OVERVIEW, "api/overview");
}

/**
 * Takes in the answer to a question, which also tells the server's time. An event of the stream
 * does not: it may have waited to be sent.
 */
export function takeAnsweredOverview(m: Model, body: string): bool {
  if (!takeOverview(m, body)) return false;
  const roundTrip = m.now - m.live.askedAt;
  const ahead = m.overview.asOf - (m.live.askedAt + roundTrip / 2);
  const differs = Math.abs(ahead) > roundTrip / 2 + CLOCKS_AGREE_MS;
  m.live.ahead = differs ? ahead : 0;
  return true;
}

/** Takes in an overview from either the stream or an answer; says whether it could be read. */
export function takeOverview(m: Model, body: string): bool {
  const r = new JsonReader(body);
  const overview = readOverview(r);
  r.end();
  if (r.failed) {
    m.notices.bad(`The server's overview can't be read: ${r.error}`);
    return false;
  }
  m.overview = overview;
  m.overviewLoaded = true;
  m.live.freshAt = m.now;
  return true;
}
