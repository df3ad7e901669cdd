/**
 * JSON as a tree that opens and closes, with numbers and escapes exactly as the server wrote them.
 * It is bounded: what is too long or too deep is told, and can be seen raw.
 */

import { JsonReader, Kind } from "../lib/json-reader";
import { box, cls, el, flag, key, leaf, Node, nothing, text } from "../lib/node";
import { counted } from "../lib/number";

const MOST_VALUES = 2000;
const MOST_DEPTH = 40;
const OPEN_DEPTH = 3;
const LONG_LIST = 100;

let left = 0;

export function jsonTree(json: string): Node {
  left = MOST_VALUES;
  const r = new JsonReader(json);
  const tree = value(r, nothing, 0);
  return box("div", "json", left <= 0 ? [tree, cut()] : [tree]);
}

function cut(): Node {
  return leaf("p", "hint", "The rest is too long for a tree. The raw view shows all of it.");
}

/** A value behind its label, which is `nothing` for the outermost. */
function value(r: JsonReader, label: Node, depth: i32): Node {
  left--;
  const kind = r.peek();
  const inner = kind === Kind.Object || kind === Kind.Array;
  if (!inner || depth >= MOST_DEPTH) {
    return box("div", "leaf", [label, leaf("code", valueClass(kind), r.raw())]);
  }
  const isObject = kind === Kind.Object;
  const children: Node[] = [];
  let count = 0;
  if (isObject) r.beginObject();
  else r.beginArray();
  while (isObject ? r.nextKey() : r.nextItem()) {
    const name = isObject ? labelOf("name", r.key()) : labelOf("index", count.toString());
    if (left > 0) {
      children.push(el("li", [key(count.toString())], [value(r, name, depth + 1)]));
    } else r.skip();
    count++;
  }
  if (count === 0) {
    return box("div", "leaf", [label, leaf("code", "brace", isObject ? "{}" : "[]")]);
  }
  const size = isObject ? counted(count, "field", "fields") : counted(count, "item", "items");
  return el(
    "details",
    [flag("open", depth < OPEN_DEPTH && count <= LONG_LIST)],
    [
      el(
        "summary",
        [],
        [label, leaf("code", "brace", isObject ? "{ }" : "[ ]"), leaf("span", "size", size)],
      ),
      el("ul", [], children),
    ],
  );
}

function labelOf(kind: string, name: string): Node {
  return el("span", [cls(kind), flag("translate", false)], [text(name)]);
}

function valueClass(kind: Kind): string {
  if (kind === Kind.String) return "s";
  if (kind === Kind.Number) return "n";
  return kind === Kind.Null ? "z" : "v";
}
