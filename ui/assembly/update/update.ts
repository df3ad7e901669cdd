/** Takes each action of the page to the part that it names: `jobs.select` goes to the jobs. */
import { localField } from "../app/local-time";
import { Model } from "../app/model";
import { Page } from "../app/route";
import { copy, focus, navigate, theme } from "../host";
import { parseWhole } from "../lib/number";
import { updateAsk } from "./ask-first";
import { updateJob } from "./job";
import { updateJobs } from "./jobs";
import { reconnect, tick } from "./live";
import { updateMaintenance } from "./maintenance";
import { reload } from "./navigate";
import { askSession, countDown, signIn, signOut } from "./session";
import { submit } from "./submit";
import { updateWorkers } from "./workers";

export function update(m: Model, action: string, arg: string, value: string): void {
  const dot = action.indexOf(".");
  const part = action.substring(0, max(dot, 0));
  const verb = action.substring(dot + 1);
  if (part === "app") updateApp(m, verb, arg, value);
  else if (part === "jobs") updateJobs(m, verb, arg, value);
  else if (part === "job") updateJob(m, verb);
  else if (part === "workers") updateWorkers(m, verb, arg);
  else if (part === "maintenance") updateMaintenance(m, verb, arg, value);
  else if (part === "access") updateAccess(m, verb, value);
  else if (part === "ask") updateAsk(m, verb, arg);
  else if (part === "dialog") updateDialog(m, verb, arg, value);
}

function updateApp(m: Model, verb: string, arg: string, value: string): void {
  if (verb === "tick") tick(m);
  else if (verb === "connect") reconnect(m);
  else if (verb === "session") askSession(m);
  else if (verb === "countdown") countDown(m);
  else if (verb === "dismiss") m.notices.dismiss(<i32>parseWhole(arg).value);
  else if (verb === "skip") focus("page-title");
  else if (verb === "retry") reload(m);
  else if (verb === "theme") {
    m.theme = arg;
    theme(arg);
  } else if (verb === "copy") copy(arg);
  else if (verb === "copied") told(m, arg, value);
  else if (verb === "key" && m.dialog === null) shortcut(m, value);
}

function told(m: Model, text: string, done: string): void {
  const short = text.length > 40 ? text.substring(0, 40) + "…" : text;
  if (done === "yes") m.notices.good(`Copied ${short}`);
  else m.notices.bad("The browser did not allow copying.");
}

function shortcut(m: Model, name: string): void {
  if (name !== "/") return;
  if (m.route.page === Page.Jobs) focus("filter-search");
  else {
    m.focusNext = "filter-search";
    navigate("/jobs", false);
  }
}

function updateAccess(m: Model, verb: string, value: string): void {
  if (verb === "token") m.access.draft = value;
  else if (verb === "sign-in") signIn(m);
  else if (verb === "sign-out") signOut(m);
}

function updateDialog(m: Model, verb: string, arg: string, value: string): void {
  const dialog = m.dialog;
  if (dialog === null) return;
  if (verb === "close") m.dialog = null;
  else if (verb === "input") dialog.draft.set(arg, value);
  else if (verb === "later") {
    const minutes = <f64>parseWhole(arg).value;
    dialog.draft.set("run_at", localField(m.serverNow + minutes * 60000));
  } else if (verb === "submit") submit(m);
}
