/**
 * Shows a payload as a tree. Objects and arrays are *containers*. A value is identified by its place: the index in the
 * text where the value begins. The drawn lines are kept until the user changes the tree, so that a large payload is not
 * parsed at each drawing.
 */

import { ownButton } from "../controls/button";
import { JsonReader, Kind } from "../lib/json-reader";
import { Attr, attr, cls, el, flag, key, leaf, Node, nothing, text } from "../lib/node";
import { bytesOf, countText, numberText } from "../lib/number";
import { find } from "./find";

/** The number of children that a container shows at first, and that each step adds. */
const STEP = 100;
/** The maximum number of characters shown of a value at first. */
const LONG_STRING = 500;
/** An inner container with more characters than this shows its size. */
const LARGE = 10240;
/** The maximum number of characters shown of a value that the user has expanded. */
const MAX_STRING = 20000;
const MAX_NAME = 200;
/** After this number of lines, further containers are closed at first. */
const OPENED = 150;
/** After this number of lines, no further values are shown. */
const MAX_LINES = 5000;
const MAX_DEPTH = 40;
const LAST_INDENT = 12;

export class JsonTree {
  /** The text to search for; empty: the tree is shown. */
  query: string = "";
  /** By place: 1 if the user has opened the container, 0 if the user has closed it. */
  private toggled: Map<string, i32> = new Map<string, i32>();
  /** By place: how many steps of children (STEP) the container shows. */
  private steps: Map<string, i32> = new Map<string, i32>();
  /** The places of long values that the user has expanded. */
  private whole: Set<string> = new Set<string>();
  private drawn: Node | null = null;
  private lines: i32 = 0;

  constructor(readonly json: string) {}

  act(verb: string, arg: string, value: string): void {
    if (verb === "tree-open") this.toggled.set(arg, 1);
    else if (verb === "tree-close") this.toggled.set(arg, 0);
    else if (verb === "tree-more") this.steps.set(arg, this.stepsOf(arg) + 1);
    else if (verb === "tree-whole") this.whole.add(arg);
    else if (verb === "tree-find") this.query = value;
    else return;
    this.drawn = null;
  }

  view(): Node {
    const before = this.drawn;
    if (before !== null) return before;
    const lines: Node[] = [];
    if (this.query.length > 0) find(this.json, this.query, lines);
    else {
      this.lines = 0;
      this.value(new JsonReader(this.json), "", 0, lines);
    }
    const tree = el("ul", [cls("tree"), attr("aria-label", "Payload")], lines);
    this.drawn = tree;
    return tree;
  }

  private stepsOf(place: string): i32 {
    return this.steps.has(place) ? this.steps.get(place) : 1;
  }

  private value(r: JsonReader, name: string, depth: i32, lines: Node[]): void {
    const at = r.offset;
    const kind = r.peek();
    if ((kind === Kind.Object || kind === Kind.Array) && depth < MAX_DEPTH) {
      this.container(r, name, depth, at, kind === Kind.Object, lines);
      return;
    }
    const raw = r.raw();
    this.lines++;
    lines.push(
      line(
        name,
        depth,
        at,
        [scalar(raw, kind, this.whole.has(at.toString()), at)],
        remarkOf(raw, kind),
      ),
    );
  }

  private container(
    r: JsonReader,
    name: string,
    depth: i32,
    at: i32,
    isObject: bool,
    lines: Node[],
  ): void {
    const place = at.toString();
    const open = this.toggled.has(place)
      ? this.toggled.get(place) === 1
      : depth === 0 || (depth < 3 && this.lines < OPENED);
    const head = lines.length;
    // Replaced below by the container's own line, for which the children must have been counted.
    if (depth > 0) lines.push(nothing);
    this.lines++;
    const most = this.stepsOf(place) * STEP;
    const inner = depth === 0 ? 0 : depth;
    let count = 0;
    let shown = 0;
    if (isObject) r.beginObject();
    else r.beginArray();
    while (isObject ? r.nextKey() : r.nextItem()) {
      if (open && count < most && this.lines < MAX_LINES) {
        const label = isObject ? r.key() : numberText(count);
        this.value(r, label.length > 0 ? label : "(empty)", inner + 1, lines);
        shown++;
      } else r.skip();
      count++;
    }
    const one = isObject ? "field" : "item";
    const rest = count - shown;
    if (open && rest > 0) {
      const words = countText(rest, "more " + one, `more ${one}s`);
      const more =
        this.lines < MAX_LINES
          ? opener(`Show ${min(rest, STEP)} of ${words}`, "job.tree-more", at, "")
          : leaf("span", "faint", `… ${words} in the download`);
      lines.push(line("", inner + 1, -at - 1, [more], ""));
    }
    const what = countText(count, one, one + "s");
    const remark = r.offset - at > LARGE ? bytesOf(this.json, at, r.offset) : "";
    if (depth === 0 && count > 0) return;
    const val =
      count === 0
        ? leaf("span", "faint", isObject ? "{}" : "[]")
        : opener(
            (open ? "▾ " : "▸ ") + what,
            open ? "job.tree-close" : "job.tree-open",
            at,
            open ? "true" : "false",
          );
    const own = line(name, depth, at, [val], remark);
    if (depth > 0) lines[head] = own;
    else lines.push(own);
  }
}

/** A line with a name, a value, and a remark. */
export function line(name: string, depth: i32, at: i32, val: Node[], remark: string): Node {
  const cut = name.length > MAX_NAME ? name.substring(0, MAX_NAME) + "…" : name;
  return el(
    "li",
    [key(at.toString()), cls("in" + min(max(depth, 1) - 1, LAST_INDENT).toString())],
    [
      depth > 0 ? el("span", [cls("key"), flag("translate", false)], [text(cut)]) : nothing,
      el("span", [cls("val")], val),
      remark.length > 0 ? leaf("span", "rem", remark) : nothing,
    ],
  );
}

function opener(words: string, action: string, at: i32, expanded: string): Node {
  const more: Attr[] = [];
  if (expanded.length > 0) more.push(attr("aria-expanded", expanded));
  return ownButton("twist", action, at.toString(), more, [text(words)]);
}

/** The text of a value exactly as it was written. A long text is cut. */
export function scalar(raw: string, kind: Kind, whole: bool, at: i32): Node {
  const most = whole ? MAX_STRING : LONG_STRING;
  const isCut = raw.length > most;
  const shown = isCut ? raw.substring(0, most) : raw;
  const code = el("code", [cls(classOf(kind))], [text(shown)]);
  if (!isCut) return code;
  const size = bytesOf(raw, 0, raw.length);
  if (whole)
    return el(
      "span",
      [],
      [code, leaf("span", "faint", `… the rest of ${size} is in the download`)],
    );
  return el(
    "span",
    [],
    [
      code,
      text("… "),
      opener(
        raw.length > MAX_STRING ? `show more of ${size}` : `show all ${size}`,
        "job.tree-whole",
        at,
        "",
      ),
    ],
  );
}

function classOf(kind: Kind): string {
  if (kind === Kind.String) return "s";
  if (kind === Kind.Number) return "n";
  return kind === Kind.Null ? "z" : "v";
}

/** Returns `exact` for an integer so long that other tools may round it. */
function remarkOf(raw: string, kind: Kind): string {
  return kind === Kind.Number && raw.length > 16 && !raw.includes(".") ? "exact" : "";
}
