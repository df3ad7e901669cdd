/** Searches the names and values of a payload for a text, and lists the paths and values of the first matches. */
import { JsonReader, Kind } from "../lib/json-reader";
import { lower } from "../lib/letters";
import { attr, box, cls, el, key, leaf, Node, text } from "../lib/node";
import { numberText } from "../lib/number";

const MAX_FOUND = 100;
const MAX_DEPTH = 100;
/** The maximum number of characters shown of a value. */
const SHOWN = 200;
/** The maximum number of these characters that come before the match. */
const BEFORE = 40;

class Search {
  found: i32 = 0;
  constructor(
    readonly wanted: string,
    readonly lines: Node[],
  ) {}

  get isFull(): bool {
    return this.found >= MAX_FOUND;
  }
}

/**
 * Puts a line with the number of matches at the beginning of `lines`, and adds a line for each match at the end. Stops
 * after MAX_FOUND matches.
 */
export function find(json: string, query: string, lines: Node[]): void {
  const search = new Search(lower(query), lines);
  walk(new JsonReader(json), "", "", 0, search);
  const many = search.isFull
    ? `The first ${MAX_FOUND} matches`
    : `${numberText(search.found)} found`;
  lines.unshift(el("li", [key("found"), cls("found"), attr("role", "status")], [text(many)]));
}

function walk(r: JsonReader, path: string, name: string, depth: i32, search: Search): void {
  if (search.isFull) return;
  const at = r.offset;
  const kind = r.peek();
  const isInner = (kind === Kind.Object || kind === Kind.Array) && depth < MAX_DEPTH;
  if (!isInner) {
    const raw = r.raw();
    const where = lower(raw).indexOf(search.wanted);
    if (where >= 0 || isIn(name, search)) announce(search, path, raw, max(where, 0), at);
    return;
  }
  if (isIn(name, search)) announce(search, path, kind === Kind.Object ? "{ … }" : "[ … ]", 0, at);
  const isObject = kind === Kind.Object;
  let index = 0;
  if (isObject) r.beginObject();
  else r.beginArray();
  while (!search.isFull && (isObject ? r.nextKey() : r.nextItem())) {
    const label = isObject ? r.key() : "";
    const step = isObject ? (path.length > 0 ? "." + label : label) : `[${index}]`;
    walk(r, path + step, label, depth + 1, search);
    index++;
  }
}

function isIn(name: string, search: Search): bool {
  return name.length > 0 && lower(name).includes(search.wanted);
}

function announce(search: Search, path: string, value: string, where: i32, at: i32): void {
  search.found++;
  const from = max(0, where - BEFORE);
  const shown = (from > 0 ? "…" : "") + value.substring(from, from + SHOWN);
  const rest = from + SHOWN < value.length ? "…" : "";
  search.lines.push(
    el(
      "li",
      [key(at.toString())],
      [
        leaf("span", "key", path.length > 0 ? path : "(itself)"),
        box("span", "val", [leaf("code", "", shown + rest)]),
      ],
    ),
  );
}
