/** What is done on the list of jobs: filters, pages, selection, keys. */
import { after, focus, navigate } from "../../host";
import { parseWhole } from "../../lib/number";
import { jobPath } from "../../model/links";
import { Model } from "../../model/model";
import { jobsPath } from "./filter";
import { JobListModel } from "./model";
import { askJobs, LIST } from "./refresh";

const TYPING_MS = 350;

export function updateJobs(
  m: Model,
  list: JobListModel,
  action: string,
  arg: string,
  value: string,
): void {
  if (action === "key") pressed(list, arg, value);
  else if (action === "select") select(list, arg, value === "shift");
  else if (action === "select-all") selectAll(list);
  else if (action === "select-none") list.selected.clear();
  else if (action === "pause") list.paused = !list.paused;
  else if (action === "refresh") askJobs(m, list, LIST);
  else if (action === "show") showWaiting(list);
  else if (action === "search") typed(list, "search", value);
  else if (action === "identifier") typed(list, "identifier", value);
  else if (action === "queue") typed(list, "queue", value);
  else if (action === "typed") settle(m, list, arg === list.draftSerial.toString());
  else if (action === "filter") settle(m, list, true);
  else if (action === "clear") clearFilter(list);
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
function settle(m: Model, list: JobListModel, last: bool): void {
  if (!last || m.page.name !== "jobs") return;
  const filter = list.filter.copy();
  filter.search = list.searchDraft.trim();
  filter.identifier = list.identifierDraft.trim();
  filter.queue = list.queueDraft.trim();
  if (filter.query("") !== list.filter.query("")) navigate(jobsPath(filter, ""), true);
}

function clearFilter(list: JobListModel): void {
  const filter = list.filter.copy();
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

function pressed(list: JobListModel, arg: string, name: string): void {
  const last = list.jobs.length - 1;
  const index = list.indexOf(parseWhole(arg).value);
  if (index < 0) return;
  let next = index;
  if (name === "ArrowDown") next = min(last, index + 1);
  else if (name === "ArrowUp") next = max(0, index - 1);
  else if (name === "Home") next = 0;
  else if (name === "End") next = last;
  else {
    if (name === "Space") select(list, arg, false);
    else if (name === "Enter") navigate(jobPath(list.jobs[index].id), false);
    else if (name === "Escape") list.selected.clear();
    return;
  }
  list.current = next;
  focus("job-" + list.jobs[next].id.toString());
}
