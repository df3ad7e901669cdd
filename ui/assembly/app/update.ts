/** Passes each action to a part of the application, for example `jobs.select` to the page `jobs`. */
import { after, attended, back, copy, focus, navigate, reload as reloadPage, theme } from "../host";
import { parseWhole } from "../lib/number";
import { Model } from "../model/model";
import { Shortcut } from "../model/shortcut";
import { ask, updateDialog } from "./dialog";
import { reconnect, tick, togglePause } from "./freshness";
import { search, shortcutFor } from "./keys";
import { renew } from "./navigate";
import { paletteKey, requestNames, searchFor, shortcutAt } from "./palette";
import { countDown, requestSession, signIn, signOut } from "./session";

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
  else if (verb === "session") {
    if (arg.length > 0) m.access.isRetrying = false;
    requestSession(m);
  } else if (verb === "countdown") countDown(m);
  else if (verb === "dismiss") m.notices.dismiss(<i32>parseWhole(arg).value);
  else if (verb === "skip") focus("page-title");
  else if (verb === "retry") renew(m);
  else if (verb === "theme") {
    m.theme = arg;
    theme(arg);
  } else if (verb === "copy") copy(arg);
  else if (verb === "copied") copied(m, arg, value);
  else if (verb === "not-saved") m.notices.bad(`${arg} could not be downloaded.`);
  else updateShell(m, verb, arg, value);
}

function updateShell(m: Model, verb: string, arg: string, value: string): void {
  // The page is drawn after this action, so `draw` has nothing to do.
  if (verb === "draw") return;
  if (verb === "key" && m.dialog === null) key(m, arg, value);
  else if (verb === "go") navigate(arg, false);
  else if (verb === "search") search(m);
  else if (verb === "hold") togglePause(m);
  else if (verb === "layer") {
    m.layer = m.layer === arg ? "" : arg;
    if (m.layer === "palette") searchFor(m, "");
  } else if (verb === "palette") searchFor(m, value);
  else if (verb === "palette-ask") requestNames(m, arg);
  else if (verb === "palette-key") perform(m, paletteKey(m, value));
  else if (verb === "palette-do") perform(m, shortcutAt(m, <i32>parseWhole(arg).value));
  else if (verb === "escape") escape(m);
  else if (verb === "back") back();
  else if (verb === "nav") walkNavigation(m, arg, value);
  else if (verb === "renew") reloadPage();
  else if (verb === "fade") {
    // While the pointer or the focus is on the notices, no notice disappears by itself.
    if (attended("toast")) after(4000, "app.fade", arg);
    else m.notices.dismiss(<i32>parseWhole(arg).value);
  }
}

function key(m: Model, arg: string, stroke: string): void {
  const shortcut = shortcutFor(m, stroke);
  if (shortcut === null) return;
  update(m, shortcut.action, shortcut.arg.length > 0 ? shortcut.arg : arg, stroke);
}

function perform(m: Model, shortcut: Shortcut | null): void {
  if (shortcut === null) return;
  m.layer = "";
  update(m, shortcut.action, shortcut.arg, "");
}

function copied(m: Model, text: string, done: string): void {
  const short = text.length > 40 ? text.substring(0, 40) + "…" : text;
  if (done === "yes") m.notices.good(`Copied ${short}`);
  else m.notices.bad("The browser did not allow copying.");
}

/**
 * Closes the layer over the page. Without a layer, leaves a page that is below another page, as a job's page is below
 * the list of jobs.
 */
function escape(m: Model): void {
  if (m.layer.length > 0) {
    m.layer = "";
    return;
  }
  if (m.page.under === m.page.name) return;
  const above = m.pageNamed(m.page.under);
  // The previous entry of the history may be another site, for example if the user has pasted the current address.
  if (m.places.at(m.entry - 1) !== null) back();
  else if (above !== null) navigate(above.path, false);
}

/** Moves the focus in the navigation: the pages, then the saved views. */
function walkNavigation(m: Model, from: string, stroke: string): void {
  const stops: string[] = [];
  const entries = m.entries;
  for (let i = 0; i < entries.length; i++) stops.push(entries[i].name);
  for (let i = m.views.firstBeside; i < m.views.own.length; i++) stops.push(`view-${i}`);
  const last = stops.length - 1;
  let to = stops.indexOf(from) + (stroke === "ArrowDown" ? 1 : -1);
  if (stroke === "Home") to = 0;
  if (stroke === "End") to = last;
  focus("nav-" + stops[to > last ? 0 : to < 0 ? last : to]);
}

function updateAccess(m: Model, verb: string, value: string): void {
  if (verb === "token") m.access.draft = value;
  else if (verb === "sign-in") signIn(m);
  else if (verb === "sign-out") signOut(m);
}
