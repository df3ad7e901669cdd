/** Asks for the list of jobs and takes it in: at once, or quietly under someone's eyes. */
import { readJobList } from "../../generated/records";
import { focus } from "../../host";
import { JsonReader } from "../../lib/json-reader";
import { Model } from "../../model/model";
import { JobListModel } from "./model";

export const LIST = "jobs.list";
/** A refresh that nobody asked for. */
export const QUIETLY = "jobs.quietly";

const PAGE_SIZE = 100;
const REFRESH_EVERY_MS: f64 = 4000;
/** After this long without a touch nobody is thought to read, and the list may change its rows. */
const READING_MS: f64 = 20000;

export function askJobs(m: Model, list: JobListModel, topic: string): void {
  if (topic === LIST) {
    list.loading = true;
    m.requests.forget(QUIETLY);
  }
  list.fetchedAt = m.now;
  const query = list.filter.query(list.cursor);
  const path = `api/jobs?limit=${PAGE_SIZE}` + (query.length > 0 ? "&" + query : "");
  m.requests.read(m.access, topic, path);
}

export function refreshJobs(m: Model, list: JobListModel): void {
  if (list.paused || !list.loaded || m.now - list.fetchedAt < REFRESH_EVERY_MS) return;
  if (m.requests.waitsFor(LIST) || m.requests.waitsFor(QUIETLY)) return;
  askJobs(m, list, QUIETLY);
}

export function takeJobs(m: Model, list: JobListModel, quietly: bool, body: string): void {
  const r = new JsonReader(body);
  const page = readJobList(r);
  r.end();
  list.loading = false;
  if (r.failed) {
    list.error = `The server's list can't be read: ${r.error}`;
    return;
  }
  const read = m.live.held || list.selected.size > 0 || m.now - m.live.touchedAt < READING_MS;
  if (quietly && read) list.merge(page);
  else list.show(page);
  if (!list.refocus || quietly) return;
  list.refocus = false;
  const rows = list.jobs;
  focus(rows.length > 0 ? "job-" + rows[list.current].id.toString() : "page-title");
}
