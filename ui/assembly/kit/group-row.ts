/** What a row of a list shows of an error group: its name and its trend. */
import { badge } from "../controls/button";
import { middle } from "../controls/middle";
import { sparkline } from "../controls/spark";
import { Group } from "../generated/records";
import { attr, box, cls, el, leaf, Node, nothing } from "../lib/node";

/** Shows a label such as `GatewayError: HTTP 503 from …`. The class is in bold, without the colon that follows it. */
export function errorLabel(label: string): Node {
  const end = classEnd(label);
  const name = end > 0 ? leaf("b", "", label.substring(0, end)) : nothing;
  const message = end > 0 ? label.substring(end + 1) : label;
  return el("code", [cls("err mid"), attr("title", label)], middle(name, message, true));
}

/** Returns the group's label, with a badge if the group is new. */
export function groupName(group: Group): Node {
  return box("span", "row", [errorLabel(group.label), group.isNew ? badge("new", "red") : nothing]);
}

export function groupTrend(group: Group): Node {
  if (group.trend.length === 0) return nothing;
  return sparkline(group.trend, "failed", "failures, last 3 h", 76, 16);
}

/**
 * Returns the index of the colon after the class of the error (`TypeError`, `PG::Error`, `app.errors.Gone`) with which
 * the label begins; 0 if the label does not begin with a class and a colon.
 */
export function classEnd(label: string): i32 {
  for (let i = 0; i < min(label.length, 60); i++) {
    const c = label.charCodeAt(i);
    const isLetter =
      (c >= 0x41 && c <= 0x5a) || (c >= 0x61 && c <= 0x7a) || (c >= 0x30 && c <= 0x39);
    const isInside =
      isLetter || c === 0x5f || c === 0x2e || (c === 0x3a && label.charCodeAt(i + 1) === 0x3a);
    if (isInside || (c === 0x3a && i > 0 && label.charCodeAt(i - 1) === 0x3a)) continue;
    return c === 0x3a && i > 0 ? i : 0;
  }
  return 0;
}
