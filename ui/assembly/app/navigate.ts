/** Turns to a page, and asks for what the page at hand shows: loudly once, quietly ever after. */
import { focus, title } from "../host";
import { Gate } from "../model/access";
import { Address, parseAddress } from "../model/address";
import { Model, Page } from "../model/model";
import { askOverview } from "./overview";

/** The first page, at the address of the start: nothing was there before, so nothing is left. */
export function begin(m: Model, address: string): void {
  m.address = parseAddress(address);
  m.page = pageAt(m, m.address);
  go(m, address);
}

export function go(m: Model, address: string): void {
  const from = m.address.path;
  const before = m.page;
  m.address = parseAddress(address);
  m.page = pageAt(m, m.address);
  const turned = before !== m.page || from !== m.address.path;
  m.dialog = null;
  if (turned) before.leave();
  m.page.turn(m, m.address);
  if (turned) focus(m.focusNext.length > 0 ? m.focusNext : "page-title");
  m.focusNext = "";
  title(`${m.page.title()} · worker`);
  if (m.access.gate === Gate.Open) load(m);
}

/** Asks for all that the page shows. */
export function load(m: Model): void {
  m.page.load(m);
  if (!m.overviewLoaded || m.page.asksOverview) askOverview(m);
}

/** Asks again after a write. */
export function reload(m: Model): void {
  m.page.reload(m);
  askOverview(m);
}

/** Asks again because time has passed; does nothing while someone works in a dialog. */
export function refresh(m: Model): void {
  if (m.dialog === null) m.page.refresh(m);
}

function pageAt(m: Model, address: Address): Page {
  const last = m.pages.length - 1;
  for (let i = 0; i < last; i++) if (m.pages[i].matches(address)) return m.pages[i];
  return m.pages[last];
}
