/** The first page. Beside the overview it asks for the jobs that failed last. */
import { JobList, ListedJob, readJobList } from "../../generated/records";
import { JsonReader } from "../../lib/json-reader";
import { Node } from "../../lib/node";
import { Model, Page } from "../../model/model";
import { Pending } from "../../model/requests";
import { overviewView } from "./view";

const FAILING = "overview.failing";
/** The list of failed jobs is asked for at most this often. */
const FAILING_EVERY_MS: f64 = 10000;
/** The API lists by ascending id, so the newest failures are at the end; beyond this it costs too much. */
const LAST_OFFSET: i64 = 20000;
const SAMPLE = 50;
const SHOWN = 8;

export class OverviewPage extends Page {
  private failing: ListedJob[] = [];
  private loaded: bool = false;
  private askedAt: f64 = 0;

  constructor() {
    super("overview", "/");
    this.label = "Overview";
  }

  override title(): string {
    return "Overview";
  }

  override view(m: Model): Node {
    return overviewView(m, this.failing, this.loaded);
  }

  override load(m: Model): void {
    // Which of them are the last is known once the overview is.
    if (m.overviewLoaded) this.ask(m);
  }

  override reload(m: Model): void {
    this.ask(m);
  }

  override refresh(m: Model): void {
    if (!m.requests.waitsFor(FAILING) && m.now - this.askedAt >= FAILING_EVERY_MS) this.ask(m);
  }

  override forget(_m: Model): void {
    this.failing = [];
    this.loaded = false;
  }

  override take(m: Model, _request: Pending, body: string): void {
    const r = new JsonReader(body);
    const page: JobList = readJobList(r);
    r.end();
    if (r.failed) {
      m.notices.bad(`The list of failed jobs can't be read: ${r.error}`);
      return;
    }
    page.jobs.sort(newestFirst);
    this.failing = page.jobs.slice(0, SHOWN);
    this.loaded = true;
    m.known.failing = this.failing;
  }

  private ask(m: Model): void {
    this.askedAt = m.now;
    const failed = m.overview.stats.failed;
    let path = `api/jobs?state=failed&limit=${SAMPLE}`;
    if (failed > SAMPLE && failed <= LAST_OFFSET) path += `&offset=${failed - SAMPLE}`;
    m.requests.read(m.access, FAILING, path);
  }
}

function newestFirst(a: ListedJob, b: ListedJob): i32 {
  return a.updatedAt > b.updatedAt ? -1 : a.updatedAt < b.updatedAt ? 1 : 0;
}
