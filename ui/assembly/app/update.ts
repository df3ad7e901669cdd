/** Takes each action of the page to the part that it names: `jobs.select` goes to the jobs. */
import { copy, focus, navigate, theme } from "../host";
import { parseWhole } from "../lib/number";
import { Model } from "../model/model";
import { ask, updateDialog } from "./dialog";
import { reconnect, tick } from "./freshness";
import { reload } from "./navigate";
import { askSession, countDown, signIn, signOut } from "./session";

export function update(m: Model, action: string, arg: string, value: string): void {
  const dot = action.indexOf(".");
  const part = action.substring(0, max(dot, 0));
  const verb = action.substring(dot + 1);
  if (part === "app") updateApp(m, verb, arg, value);
  else if (part === "access") updateAccess(m, verb, value);
  else if (part === "ask") ask(m, verb, arg);
  else if (part === "dialog") updateDialog(m, verb, arg, value);
  else {
    const page = m.pageNamed(part);
    if (page !== null) page.act(m, verb, arg, value);
  }
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
  else if (verb === "copied") copied(m, arg, value);
  else if (verb === "key" && m.dialog === null) shortcut(m, value);
}

function copied(m: Model, text: string, done: string): void {
  const short = text.length > 40 ? text.substring(0, 40) + "…" : text;
  if (done === "yes") m.notices.good(`Copied ${short}`);
  else m.notices.bad("The browser did not allow copying.");
}

/** The key / goes to the search of the page at hand, or to the page that has one. */
function shortcut(m: Model, name: string): void {
  if (name !== "/") return;
  if (m.page.searchField.length > 0) {
    focus(m.page.searchField);
    return;
  }
  for (let i = 0; i < m.pages.length; i++) {
    if (m.pages[i].searchField.length === 0) continue;
    m.focusNext = m.pages[i].searchField;
    navigate(m.pages[i].path, false);
    return;
  }
}

function updateAccess(m: Model, verb: string, value: string): void {
  if (verb === "token") m.access.draft = value;
  else if (verb === "sign-in") signIn(m);
  else if (verb === "sign-out") signOut(m);
}
