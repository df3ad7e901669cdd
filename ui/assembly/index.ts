/** The functions that the host (ui/host) calls. */

// This import comes first: it unpacks the texts that the other modules use during their initialization.
import "./literals";

import {
  streamClosed as closed,
  streamOpened as opened,
  setVisible,
  takeEvent,
} from "./app/freshness";
import { shortcuts, strokes } from "./app/keys";
import { begin, go } from "./app/navigate";
import { takeReply } from "./app/reply";
import { requestSession, restore } from "./app/session";
import { update } from "./app/update";
import { dialogs } from "./dialogs/index";
import { draw, mark, now, title } from "./host";
import { numberText } from "./lib/number";
import { View } from "./lib/view";
import { Gate } from "./model/access";
import { Model } from "./model/model";
import { pages } from "./pages/index";
import { shell } from "./shell/shell";

const model = new Model(pages, dialogs);
const view = new View();

export function init(address: string, entry: i32, theme: string): void {
  model.now = now();
  model.theme = theme;
  // Unlike go(), begin() leaves the focus where the browser puts it.
  begin(model, address, entry);
  restore(model);
}

/** Called when the address has changed. `entry`: the number of its entry in the browser's history. */
export function onAddress(address: string, entry: i32): void {
  model.now = now();
  model.live.touchedAt = model.now;
  go(model, address, entry);
}

/** Performs an action. `value`: for example a field's text, a pressed key or a click's modifier. */
export function dispatch(action: string, arg: string, value: string): void {
  model.now = now();
  model.live.touchedAt = model.now;
  update(model, action, arg, value);
}

/** Called when a timer has ended. Returns whether there is something new to draw. */
export function onTimer(action: string, arg: string): bool {
  model.now = now();
  model.isNew = true;
  update(model, action, arg, "");
  return model.isNew;
}

/** Called when a request has ended. `status`: 0 if no answer came. */
export function onAnswer(id: i32, status: i32, retryAfter: string, body: string, bytes: i32): void {
  model.now = now();
  takeReply(model, id, status, retryAfter, body, bytes);
}

export function onStreamOpen(): void {
  model.now = now();
  if (opened(model)) requestSession(model);
}

export function onStreamClose(status: i32): void {
  model.now = now();
  closed(model, status);
  if (status === 401) requestSession(model);
}

export function onEvent(event: string, data: string): void {
  model.now = now();
  takeEvent(model, event, data);
}

/** Called when the tab has become visible or hidden. */
export function onVisible(visible: bool): void {
  model.now = now();
  setVisible(model, visible);
}

/** Called when `on` has changed. `on`: the pointer or the focus is on rows, so rows must not move. */
export function onHold(on: bool): void {
  model.live.pinsRows = on;
}

/** Draws the whole page. */
export function render(): void {
  model.now = now();
  announce();
  view.clear();
  model.shortcuts = shortcuts(model);
  shell(model, strokes(model)).write(view);
  draw(view.opsAt, view.opsLength, view.unitsAt, view.unitsLength);
}

let shownTitle = "";
let shownMark = "";

/** Shows the page's title and the number of failed jobs in the tab. */
function announce(): void {
  const failed = model.access.gate === Gate.Open ? model.facts.failed : 0;
  const before = failed > 0 ? `(${numberText(failed)}) ` : "";
  const text = `${before}${model.page.title()} · worker`;
  if (text !== shownTitle) title(text);
  shownTitle = text;
  const short = failed > 99 ? "99+" : failed > 0 ? failed.toString() : "";
  if (short !== shownMark) mark(short);
  shownMark = short;
}
