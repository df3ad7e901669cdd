/**
 * Shows names. A name is marked if it is empty, or if it has spaces or invisible characters that could be overlooked.
 */
import { isHidden, pointAt } from "../../../src/domain/portable/shell-word";
import { link } from "../controls/button";
import { glyph } from "../controls/glyph";
import { middle } from "../controls/middle";
import { attr, cls, el, leaf, Node, nothing, text } from "../lib/node";
import { jobPath } from "../model/links";

/** A name. If it is marked, the reason is shown on hover. */
export function exactName(name: string, className: string): Node {
  const odd = oddness(name);
  if (odd.length === 0) return leaf("span", className, name);
  return el("span", [cls(className + " exact"), attr("title", odd)], [text(shown(name))]);
}

/**
 * A name for a narrow place: like exactName(), but a name that does not fit is cut. The whole name is shown on hover.
 */
export function cutName(name: string, className: string): Node {
  const odd = oddness(name);
  const isOdd = odd.length > 0;
  const classes = className + (isOdd ? " exact mid" : " mid");
  const title = attr("title", isOdd ? `${name}: ${odd}` : name);
  return el("span", [cls(classes), title], middle(nothing, shown(name)));
}

/**
 * The link to a job, in a row: the symbol of the job's condition, its task and its id. If `condition` is empty, there
 * is no symbol.
 */
export function jobInRow(condition: string, task: string | null, id: i64): Node {
  return link(jobPath(id), "row", [
    condition.length > 0 ? glyph(condition) : nothing,
    cutName(task === null ? "(no task)" : task, "name"),
    leaf("span", "id", `#${id}`),
  ]);
}

function shown(name: string): string {
  return name.length > 0 ? name : "(empty)";
}

function oddness(name: string): string {
  if (name.length === 0) return "An empty name";
  if (isSpace(name.charCodeAt(0)) || isSpace(name.charCodeAt(name.length - 1)))
    return "It begins or ends with a space";
  for (let i = 0; i < name.length; i++) {
    const c = name.charCodeAt(i);
    if (isSpace(c) && isSpace(name.charCodeAt(i + 1))) return "Several spaces in a row";
    if (isHidden(pointAt(name, i))) return "It has characters that can't be seen";
  }
  return "";
}

function isSpace(c: i32): bool {
  return c === 0x20 || (c >= 9 && c <= 13) || c === 0xa0 || (c >= 0x2000 && c <= 0x200a);
}
