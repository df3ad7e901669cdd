/** The list of jobs: filters, pages, selection, keys, and quiet refreshes. */
import { JobListModel } from "../app/job-list";
import { Model } from "../app/model";
import { Topic } from "../app/requests";
import { jobPath, jobsPath, Page } from "../app/route";
import { readJobList } from "../generated/records";
import { after, focus, navigate } from "../host";
import { JsonReader } from "../lib/json-reader";
import { parseWhole } from "../lib/number";

export const PAGE_SIZE = 100;
const TYPING_MS = 350;
const REFRESH_EVERY_MS: f64 = 4000;
/** After this long without a touch nobody is thought to read, and the list may change its rows. */
const READING_MS: f64 = 20000;

export function askJobs(m: Model, topic: Topic): void {
  const list = m.jobs;
  if (topic === Topic.Jobs) {
    list.loading = true;
    m.requests.forget(Topic.JobsQuietly);
  }
  list.fetchedAt = m.now;
  const query = list.filter.query(list.cursor);
  const path = `api/jobs?limit=${PAGE_SIZE}` + (query.length > 0 ? "&" + query : "");
  m.requests.read(m.access, topic, path);
}

export function refreshJobs(m: Model): void {
  const list = m.jobs;
  if (list.paused || !list.loaded || m.now - list.fetchedAt < REFRESH_EVERY_MS) return;
  if (m.requests.waitsFor(Topic.Jobs) || m.requests.waitsFor(Topic.JobsQuietly)) return;
  askJobs(m, Topic.JobsQuietly);
}

export function takeJobs(m: Model, quietly: bool, body: string): void {
  const list = m.jobs;
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

export function updateJobs(m: Model, action: string, arg: string, value: string): void {
  const list = m.jobs;
  if (action === "key") pressed(m, arg, value);
  else if (action === "select") select(list, arg, value === "shift");
  else if (action === "select-all") selectAll(list);
  else if (action === "select-none") list.selected.clear();
  else if (action === "pause") list.paused = !list.paused;
  else if (action === "refresh") askJobs(m, Topic.Jobs);
  else if (action === "show") showWaiting(list);
  else if (action === "search") typed(list, "search", value);
  else if (action === "identifier") typed(list, "identifier", value);
  else if (action === "queue") typed(list, "queue", value);
  else if (action === "typed") settle(m, arg === list.draftSerial.toString());
  else if (action === "filter") settle(m, true);
  else if (action === "clear") clearFilter(m);
  else if (action === "next") navigate(jobsPath(list.filter, list.nextCursor), false);
  else if (action === "previous") navigate(jobsPath(list.filter, list.previousCursor), false);
}

function showWaiting(list: JobListModel): void {
  const page = list.waiting;
  if (page !== null) list.show(page);
}

function typed(list: JobListModel, field: string, value: string): void {
  if (field === "search") list.searchDraft = value;
  else if (field === "identifier") list.identifierDraft = value;
  else list.queueDraft = value;
  list.draftSerial++;
  after(TYPING_MS, "jobs.typed", list.draftSerial.toString());
}

/** Puts what was typed into the address, once the typing has stopped. */
function settle(m: Model, last: bool): void {
  const list = m.jobs;
  if (!last || m.route.page !== Page.Jobs) return;
  const filter = list.filter.copy();
  filter.search = list.searchDraft.trim();
  filter.identifier = list.identifierDraft.trim();
  filter.queue = list.queueDraft.trim();
  if (filter.query("") !== list.filter.query("")) navigate(jobsPath(filter, ""), true);
}

function clearFilter(m: Model): void {
  const filter = m.jobs.filter.copy();
  filter.search = "";
  filter.identifier = "";
  filter.queue = "";
  navigate(jobsPath(filter, ""), false);
}

function select(list: JobListModel, arg: string, through: bool): void {
  const index = list.indexOf(parseWhole(arg).value);
  if (index < 0) return;
  const on = !list.selected.has(list.jobs[index].id);
  const from = through ? min(list.anchor, index) : index;
  const to = through ? max(min(list.anchor, list.jobs.length - 1), index) : index;
  for (let i = from; i <= to; i++) {
    const id = list.jobs[i].id;
    if (!on) list.selected.delete(id);
    else if (!list.gone.has(id)) list.selected.add(id);
  }
  list.anchor = index;
  list.current = index;
}

function selectAll(list: JobListModel): void {
  const all = list.selected.size >= list.jobs.length - list.gone.size;
  list.selected.clear();
  for (let i = 0; i < list.jobs.length && !all; i++) {
    if (!list.gone.has(list.jobs[i].id)) list.selected.add(list.jobs[i].id);
  }
}

function pressed(m: Model, arg: string, name: string): void {
  const list = m.jobs;
  const last = list.jobs.length - 1;
  const index = list.indexOf(parseWhole(arg).value);
  if (index < 0) return;
  let next = index;
  if (name === "ArrowDown") next = min(last, index + 1);
  else if (name === "ArrowUp") next = max(0, index - 1);
  else if (name === "Home") next = 0;
  else if (name === "End") next = last;
  else {
    if (name === " ") select(list, arg, false);
    else if (name === "Enter") navigate(jobPath(list.jobs[index].id), false);
    else if (name === "Escape") list.selected.clear();
    return;
  }
  list.current = next;
  focus("job-" + list.jobs[next].id.toString());
}
