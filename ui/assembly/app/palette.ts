/**
 * Finds the entries of the palette for the typed text: actions, pages, incidents, limits, saved views, and the job with
 * a typed id. After a pause in typing, adds the tasks, queues, workers and job keys that the server finds.
 */

import { parseQuery } from "../../../src/domain/portable/query/parser";
import { CLOCK, CODE, CPU, FILTER, LAYERS, LINK, LIST } from "../controls/icon";
import { exactValue } from "../controls/value";
import { CONDITIONS, countsOfTask } from "../generated/conditions";
import { ListedTask, readJobList, readSuggestions, readTaskList } from "../generated/records";
import { after } from "../host";
import { cancelVerb, verbArg } from "../kit/verb";
import { JsonReader } from "../lib/json-reader";
import { lower } from "../lib/letters";
import { parseWhole } from "../lib/number";
import { encode } from "../lib/percent";
import { quote, unquote } from "../lib/quoting";
import { parseAddress } from "../model/address";
import { jobPath, queryPath, queuePath, taskPath, workerPath } from "../model/links";
import { Model } from "../model/model";
import { Pending } from "../model/requests";
import { Shortcut } from "../model/shortcut";
import { setShortcut } from "../operations/limiting";
import { isPaused, pauseShortcut } from "../operations/pausing";
import { taskVerbs } from "../operations/task-verbs";
import { actionsElsewhere, incidentActions, jobsIn, limitActions, limitPages } from "./actions";
import { DIALOGS, shortcuts } from "./keys";

/** The maximum length of each of the two parts of the list: actions and links. */
const MAX_ACTIONS = 16;
/** The maximum number of tasks, or of jobs, in an answer. */
const MAX_NAMES = 4;
const TYPING_PAUSE_MS = 150;
const MAX_LENGTH = 200;
/** The topics of the palette's requests begin with `app.` and this text. */
export const FINDS = "find-";
const GO = "Go to";
/** Words that may precede a name, as in `pause queue mail`. */
const ACTIONS = " pause resume retry cancel limit queue task job ";

/** Lists the entries for a newly typed text, and requests names after a pause in typing. */
export function searchFor(m: Model, typed: string): void {
  const p = m.palette;
  p.text = typed;
  p.named = [];
  p.serial++;
  find(m);
  const wanted = nameIn(wantedBy(typed));
  if (wanted.length > 1 && wanted.length <= MAX_LENGTH) {
    after(TYPING_PAUSE_MS, "app.palette-ask", p.serial.toString());
  }
}

/** Requests names from the server, unless the text has changed or the palette was closed. */
export function requestNames(m: Model, serial: string): void {
  const p = m.palette;
  m.isNew = false;
  if (m.layer !== "palette" || serial !== p.serial.toString()) return;
  const wanted = nameIn(wantedBy(p.text));
  read(m, "tasks", `api/tasks?limit=${MAX_NAMES}&search=${encode(wanted)}`);
  if (p.text.trimStart().startsWith(">")) return;
  read(m, "names", `api/suggest?q=${encode(wanted)}`);
  read(m, "workers", `api/suggest?q=${encode("worker:" + wanted)}`);
  const key = encode(`key:${quote(wanted)}*`);
  read(m, "keys", `api/jobs?limit=${MAX_NAMES}&fields=row&count=none&sort=-id&q=${key}`);
}

/** Returns the text without the `>` that limits the search to actions. */
function wantedBy(typed: string): string {
  const text = typed.trim();
  return text.startsWith(">") ? text.substring(1).trimStart() : text;
}

/** Returns the text without the words in ACTIONS at its start: `mail` for `pause queue mail`. */
function nameIn(wanted: string): string {
  let from = 0;
  for (;;) {
    const space = wanted.indexOf(" ", from);
    if (space < 0 || !ACTIONS.includes(` ${lower(wanted.substring(from, space))} `)) break;
    from = space + 1;
  }
  return wanted.substring(from).trimStart();
}

function read(m: Model, what: string, path: string): void {
  m.requests.read(m.access, `app.${FINDS}${what}-${m.palette.serial}`, path);
}

/** Adds the entries for the names in an answer, unless the text has changed since the request. */
export function takeNames(m: Model, request: Pending, body: string): void {
  const p = m.palette;
  const wanted = nameIn(wantedBy(p.text));
  if (!request.what.endsWith(`-${p.serial}`)) return;
  const r = new JsonReader(body);
  // If the text begins with a word in ACTIONS, as in `pause mail`, and the first entry is current, find() decides anew
  // which entry is current, because the answer may add the action that the user wants.
  const isAction = p.current === 0 && wanted !== wantedBy(p.text);
  const isAlone = p.found.length === 1 && !isAction;
  const before = p.current < p.found.length && !isAction ? p.found[p.current] : null;
  if (request.what.includes("keys")) {
    const list = readJobList(r).jobs;
    for (let i = 0; i < list.length; i++) {
      const key = list[i].key;
      const about = list[i].condition;
      if (key !== null) add(m, `Job with key ${key}`, jobPath(list[i].id), LINK, about);
    }
  } else if (request.what.includes("tasks")) {
    const list = readTaskList(r).tasks;
    for (let i = 0; i < list.length; i++) {
      const name = list[i].identifier;
      add(m, `Task ${name}`, taskPath(name), CODE, jobsOf(list[i]));
      if (m.access.canWrite) p.named = p.named.concat(taskVerbs(list[i]));
    }
  } else {
    const list = readSuggestions(r).suggestions;
    let count = 0;
    for (let i = 0; i < list.length && count < MAX_NAMES * 2; i++) {
      const kind = list[i].kind;
      const term = list[i].text;
      const name = unquote(term.substring(term.indexOf(":") + 1));
      if (kind === "queue") {
        const queue = "queue " + name;
        add(m, `Queue ${name}`, queuePath(name), LAYERS, "");
        if (m.access.canWrite) {
          p.named.push(pauseShortcut(queue, isPaused(m, queue), "", "Actions"));
          p.named.push(setShortcut(queue, "", "Actions"));
        }
      } else if (kind === "worker") add(m, `Worker ${name}`, workerPath(name), CPU, "");
      else continue;
      count++;
    }
  }
  find(m);
  // Makes the same entry current again. If it was the only entry, makes the first link current instead.
  for (let i = p.found.length - 1; i >= 0 && before !== null; i--) {
    const one = p.found[i];
    const isSame = one.label === before.label && one.arg === before.arg;
    if (isAlone ? one.group === GO : isSame) p.current = i;
  }
}

function add(m: Model, label: string, path: string, drawing: string, note: string): void {
  m.palette.named.push(new Shortcut("", label, "app.go", path, GO, drawing, note));
}

/** Returns the number of the task's jobs, such as `8,412 jobs`. */
function jobsOf(task: ListedTask): string {
  const parts = countsOfTask(task);
  const all = exactValue(0);
  for (let i = 0; i < parts.length; i++) {
    all.value += parts[i].value;
    if (parts[i].value > 0 && parts[i].precision !== "exact") all.precision = parts[i].precision;
  }
  return jobsIn(all);
}

/** Rebuilds the list of entries for the text. */
function find(m: Model): void {
  const p = m.palette;
  const typed = p.text.trim();
  const isVerbs = typed.startsWith(">");
  const query = wantedBy(typed);
  const wanted = lower(query);
  const name = nameIn(wanted);
  const id = parseWhole(name.startsWith("#") ? name.substring(1) : name);
  const does: Shortcut[] = [];
  const goes: Shortcut[] = [];
  if (id.valid && !isVerbs) {
    goes.push(new Shortcut("", `Job #${id.value}`, "app.go", jobPath(id.value), GO, LIST));
  }
  if (id.valid && wanted.startsWith("cancel") && m.access.canWrite) {
    const arg = verbArg(cancelVerb(id.value));
    does.push(new Shortcut("", `Cancel job #${id.value}…`, "ask.verb", arg, "Actions"));
  }
  addAll(does, incidentActions(m, false), wanted);
  if (typed.length === 0) {
    const recent = m.shared.recent;
    for (let i = 0; i < recent.length; i++) {
      const at = parseAddress(recent[i]);
      const query = at.value("q");
      const label = query.length > 0 ? query : "Job #" + at.path.substring(6);
      does.push(new Shortcut("", label, "app.go", recent[i], "Recent", CLOCK));
    }
  }
  const all = shortcuts(m);
  // The shortcuts of the page are last in `all`, and first in the palette.
  const first = all.length - m.page.shortcuts(m).length;
  for (let i = 0; i < all.length; i++) {
    const shortcut = all[(first + i) % all.length];
    if (
      shortcut.group === DIALOGS ||
      (shortcut.action === "app.layer" && shortcut.arg === "palette")
    )
      continue;
    if (!fits(shortcut, wanted)) continue;
    if (shortcut.group === GO) goes.push(shortcut);
    else does.push(shortcut);
  }
  if (wanted.length > 0) {
    addAll(does, actionsElsewhere(m), wanted);
    addAll(goes, incidentActions(m, true), wanted);
    addAll(does, limitActions(m), wanted);
    addAll(goes, limitPages(m), wanted);
  }
  const views = m.views.all;
  for (let i = 0; i < views.length && wanted.length > 0; i++) {
    if (!lower(views[i].name).includes(wanted)) continue;
    goes.push(new Shortcut("", `View ${views[i].name}`, "app.go", views[i].path, GO, FILTER));
  }
  for (let i = 0; i < p.named.length; i++) {
    if (p.named[i].group === GO) goes.push(p.named[i]);
    else does.push(p.named[i]);
  }
  p.found = does.slice(0, MAX_ACTIONS);
  p.current = 0;
  // For `pause cr`, the first entry may be `Resume queue crm…`. So the first entry that ends with ` cr…` becomes
  // current, or if there is none, the first entry that begins with `pause`.
  const verb = wanted.split(" ")[0];
  let isNamed = false;
  for (let i = p.found.length - 1; i >= 0 && ACTIONS.includes(` ${verb} `); i--) {
    const label = lower(p.found[i].label);
    const isExact = label.endsWith(` ${name}…`);
    if (isExact || (label.startsWith(verb) && !isNamed)) p.current = i;
    isNamed = isNamed || isExact;
  }
  if (isVerbs) return;
  p.found = p.found.concat(goes.slice(0, MAX_ACTIONS));
  if (query.length > 0 && !id.valid) {
    const label = `All jobs that match “${query}”`;
    // If an invalid query has a correction, the correction is used: for `import:7`, a search for this text.
    const fault = parseQuery(query, CONDITIONS).fault;
    const better = fault === null ? "" : fault.corrected(query);
    const path = queryPath(better.length > 0 ? better : query);
    p.found.push(new Shortcut("", label, "app.go", path, "Search", LIST));
  }
}

function addAll(to: Shortcut[], from: Shortcut[], wanted: string): void {
  for (let i = 0; i < from.length; i++) if (fits(from[i], wanted)) to.push(from[i]);
}

/** Whether the shortcut's label and group together contain each word of the text. */
function fits(one: Shortcut, wanted: string): bool {
  const words = wanted.split(" ");
  const label = lower(one.label + " " + one.group);
  for (let i = 0; i < words.length; i++) if (!label.includes(words[i])) return false;
  return true;
}

/** Handles a key in the palette's field. Returns the shortcut to perform, or null. */
export function paletteKey(m: Model, stroke: string): Shortcut | null {
  const p = m.palette;
  const last = p.found.length - 1;
  if (stroke === "ArrowDown") p.current = p.current >= last ? 0 : p.current + 1;
  else if (stroke === "ArrowUp") p.current = p.current <= 0 ? max(last, 0) : p.current - 1;
  else if (stroke === "Escape") m.layer = "";
  else if (stroke === "Enter") return shortcutAt(m, p.current);
  return null;
}

export function shortcutAt(m: Model, index: i32): Shortcut | null {
  const found = m.palette.found;
  return index >= 0 && index < found.length ? found[index] : null;
}
