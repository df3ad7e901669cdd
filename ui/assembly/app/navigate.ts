/** Opens the page of an address, and requests the page's data. */
import { focus, focused, scroll, scrolled } from "../host";
import { Gate } from "../model/access";
import { Address, parseAddress } from "../model/address";
import { queryPath } from "../model/links";
import { Model, Page } from "../model/model";
import { Place } from "../model/place";

/** Opens the page of the address with which the application starts. */
export function begin(m: Model, address: string, entry: i32): void {
  m.address = parseAddress(address);
  m.page = pageAt(m, m.address);
  m.entry = entry;
  m.page.turn(m, m.address);
  if (m.access.gate === Gate.Open) load(m);
}

/**
 * Opens the page of a new address. `entry`: the number of the address's entry in the browser's history, which stays the
 * same if the address was replaced.
 */
export function go(m: Model, address: string, entry: i32): void {
  const from = m.address.path;
  const before = m.page;
  const isReplaced = entry === m.entry;
  if (!isReplaced) m.places.keep(new Place(m.entry, scrolled(), focused(), before.saveState()));
  m.entry = entry;
  m.address = parseAddress(address);
  m.page = pageAt(m, m.address);
  const turned = before !== m.page || from !== m.address.path;
  m.dialog = null;
  m.layer = "";
  if (turned) before.leave(m);
  else if (m.page.shift(m, m.address)) return;
  m.page.turn(m, m.address);
  const query = m.address.value("q");
  if (query.length > 0 && m.address.path === "/jobs") m.shared.visit(queryPath(query));
  else if (m.page.name === "job") m.shared.visit(m.address.path);
  const place = m.places.at(entry);
  if (place !== null && !isReplaced) comeBack(m, place);
  else if (turned) {
    scroll(0);
    focus(m.focusNext.length > 0 ? m.focusNext : "page-title");
  }
  m.focusNext = "";
  if (m.access.gate === Gate.Open) load(m);
}

function comeBack(m: Model, place: Place): void {
  const kept = place.state;
  if (kept !== null) m.page.restoreState(m, kept);
  scroll(place.scroll);
  // Back does not return the focus to the navigation, which is the same on every page.
  const isOnPage = place.focus.length > 0 && !place.focus.startsWith("nav-");
  focus(isOnPage ? place.focus : "page-title");
}

/** Requests the page's data for a new address, or after the sign-in. */
export function load(m: Model): void {
  m.page.load(m);
}

/** Requests the page's data again, because the data may have changed. */
export function reload(m: Model): void {
  m.page.reload(m);
}

/** If a dialog is open, repeats the dialog's failed requests. Otherwise requests the page's data again. */
export function renew(m: Model): void {
  const dialog = m.dialog;
  if (dialog === null) reload(m);
  else {
    dialog.unread = "";
    m.requests.repeat(m.access, dialog);
  }
}

/** Requests the page's data again because time has passed. Does nothing while a dialog is open. */
export function refresh(m: Model): void {
  if (m.dialog === null) m.page.refresh(m);
}

function pageAt(m: Model, address: Address): Page {
  const last = m.pages.length - 1;
  for (let i = 0; i < last; i++) if (m.pages[i].matches(address)) return m.pages[i];
  return m.pages[last];
}
