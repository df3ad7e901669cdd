/** The overview, and the jobs that failed last. */
import { Model } from "../app/model";
import { Topic } from "../app/requests";
import { JobList, ListedJob, readJobList, readOverview } from "../generated/records";
import { JsonReader } from "../lib/json-reader";

/** The list of failed jobs is asked for at most this often. */
const FAILING_EVERY_MS: f64 = 10000;
/** The API lists by ascending id, so the newest failures are at the end; beyond this it costs too much. */
const LAST_OFFSET: i64 = 20000;
const SAMPLE = 50;
const SHOWN = 8;
/** Two clocks that differ by less are taken for the same. */
const CLOCKS_AGREE_MS: f64 = 2000;

export function askOverview(m: Model): void {
  m.live.askedAt = m.now;
  m.requests.read(m.access, Topic.Overview, "api/overview");
}

export function askFailing(m: Model): void {
  m.failingAskedAt = m.now;
  const failed = m.overview.stats.failed;
  let path = `api/jobs?state=failed&limit=${SAMPLE}`;
  if (failed > SAMPLE && failed <= LAST_OFFSET) path += `&offset=${failed - SAMPLE}`;
  m.requests.read(m.access, Topic.Failing, path);
}

export function refreshFailing(m: Model): void {
  if (m.requests.waitsFor(Topic.Failing) || m.now - m.failingAskedAt < FAILING_EVERY_MS) return;
  askFailing(m);
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

export function takeFailing(m: Model, body: string): void {
  const r = new JsonReader(body);
  const page: JobList = readJobList(r);
  r.end();
  if (r.failed) {
    m.notices.bad(`The list of failed jobs can't be read: ${r.error}`);
    return;
  }
  page.jobs.sort(newestFirst);
  m.failing = page.jobs.slice(0, SHOWN);
  m.failingLoaded = true;
}

function newestFirst(a: ListedJob, b: ListedJob): i32 {
  return a.updatedAt > b.updatedAt ? -1 : a.updatedAt < b.updatedAt ? 1 : 0;
}
