/** What the palette finds for a text, and what is done with it. */
import { lower } from "../lib/letters";
import { parseWhole } from "../lib/number";
import { jobPath, queryPath } from "../model/links";
import { Model } from "../model/model";
import { Shortcut } from "../model/shortcut";
import { shortcuts } from "./keys";

const MOST = 12;

/** Finds anew what fits the text. */
export function look(m: Model, typed: string): void {
  const p = m.palette;
  p.text = typed;
  p.current = 0;
  p.found = [];
  const wanted = lower(typed.trim());
  const id = parseWhole(wanted.startsWith("#") ? wanted.substring(1) : wanted);
  if (id.valid)
    p.found.push(new Shortcut("", `Job #${id.value}`, "app.go", jobPath(id.value), "Go to"));
  const all = shortcuts(m);
  for (let i = 0; i < all.length && p.found.length < MOST; i++) {
    if (all[i].action === "app.layer" && all[i].arg === "palette") continue;
    if (lower(all[i].label).includes(wanted)) p.found.push(all[i]);
  }
  if (wanted.length > 0 && !id.valid) {
    const query = typed.trim();
    p.found.push(
      new Shortcut("", `All jobs that match “${query}”`, "app.go", queryPath(query), "Search"),
    );
  }
}

/** A key in its field; what is to be done, or null. */
export function paletteKey(m: Model, stroke: string): Shortcut | null {
  const p = m.palette;
  const last = p.found.length - 1;
  if (stroke === "ArrowDown") p.current = p.current >= last ? 0 : p.current + 1;
  else if (stroke === "ArrowUp") p.current = p.current <= 0 ? max(last, 0) : p.current - 1;
  else if (stroke === "Escape") m.layer = "";
  else if (stroke === "Enter") return chosen(m, p.current);
  return null;
}

export function chosen(m: Model, index: i32): Shortcut | null {
  const found = m.palette.found;
  return index >= 0 && index < found.length ? found[index] : null;
}
