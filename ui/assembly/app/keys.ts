/** The keyboard shortcuts. */
import { PLUS } from "../controls/icon";
import { focus, navigate } from "../host";
import { Model, Page } from "../model/model";
import { Shortcut } from "../model/shortcut";

/** The longest time between the two keys of a shortcut. */
const CHORD_MS: f64 = 1500;

/** The heading of the shortcuts that work only in a dialog. */
export const DIALOGS = "In a dialog";

const EVERYWHERE = "Everywhere";

/** Returns the shortcuts of all pages, then those of the current page. Only the palette has shortcuts without a key. */
export function shortcuts(m: Model): Shortcut[] {
  const list: Shortcut[] = [];
  add(list, "Mod+k", "Search or run an action", "app.layer", "palette");
  add(list, "/", "Search", "app.search", "");
  if (m.access.canWrite) {
    list.push(new Shortcut("a", "Add a job…", "ask.add", "", EVERYWHERE, PLUS));
    add(list, "", "Remove by key…", "ask.remove", "");
  }
  add(list, "l", "Pause or resume live updates", "app.hold", "");
  add(list, "?", "Help: keyboard shortcuts", "app.layer", "keys");
  add(list, "Escape", "Back", "app.escape", "");
  if (m.access.canWrite) {
    list.push(new Shortcut("Mod+Enter", "Confirm dialog", "dialog.submit", "", DIALOGS));
  }
  const entries = m.entries;
  for (let i = 0; i < entries.length; i++) {
    const page = entries[i];
    const keys = page.letter.length > 0 ? "g " + page.letter : "";
    list.push(new Shortcut(keys, page.label, "app.go", page.path, "Go to", page.drawing));
  }
  return list.concat(m.page.shortcuts(m));
}

function add(list: Shortcut[], keys: string, label: string, action: string, arg: string): void {
  list.push(new Shortcut(keys, label, action, arg, EVERYWHERE));
}

/**
 * Returns the keystrokes that the page handles now, separated by spaces. After the first key of a two-key shortcut,
 * these are the possible second keys. Otherwise, these are the first keys of all shortcuts.
 */
export function strokes(m: Model): string {
  const names: string[] = [];
  const list = shortcuts(m);
  const chord = pending(m);
  for (let i = 0; i < list.length; i++) {
    const keys = list[i].keys.split(",");
    for (let k = 0; k < keys.length; k++) {
      const space = keys[k].indexOf(" ");
      if (chord.length === 0) names.push(space > 0 ? keys[k].substring(0, space) : keys[k]);
      else if (space > 0 && keys[k].substring(0, space) === chord) {
        names.push(keys[k].substring(space + 1));
      }
    }
  }
  return names.join(" ");
}

/**
 * Returns the shortcut that the pressed key completes; null if there is none. A key that only begins a two-key shortcut
 * is stored in `m.chord`.
 */
export function shortcutFor(m: Model, stroke: string): Shortcut | null {
  const chord = pending(m);
  m.chord = "";
  const list = shortcuts(m);
  const whole = chord.length > 0 ? chord + " " + stroke : stroke;
  for (let i = list.length - 1; i >= 0; i--) if (list[i].takes(whole)) return list[i];
  for (let i = 0; i < list.length; i++) {
    if (!list[i].keys.startsWith(stroke + " ")) continue;
    m.chord = stroke;
    m.chordAt = m.now;
    return null;
  }
  return null;
}

function pending(m: Model): string {
  return m.now - m.chordAt < CHORD_MS ? m.chord : "";
}

/** Focuses the search field of the current page. If the page has none, opens a page with a search field. */
export function search(m: Model): void {
  if (m.page.searchField.length > 0) {
    focus(m.page.searchField);
    return;
  }
  const page = pageWithSearch(m);
  if (page === null) return;
  m.focusNext = page.searchField;
  navigate(page.path, false);
}

function pageWithSearch(m: Model): Page | null {
  for (let i = 0; i < m.pages.length; i++) {
    if (m.pages[i].searchField.length > 0) return m.pages[i];
  }
  return null;
}
