/** A field for JSON. Its lines are numbered, and while the user types, the field shows a fault of the JSON. */
import { button } from "../controls/button";
import { attr, box, cls, el, leaf, multiline, Node } from "../lib/node";
import { Field } from "./field";
import { faultOf } from "./json-fault";

/** The maximum number of lines that are numbered. */
const MAX_NUMBERED = 1000;
const MIN_LINES = 5;

/** Returns the field. A blank text shows no fault. */
export function jsonField(field: Field): Node {
  const typed = field.draft.value(field.name);
  const fault = typed.trim().length > 0 ? faultOf(typed) : null;
  field.placeholder = "";
  let lines = 1;
  for (let i = 0; i < typed.length; i++) if (typed.charCodeAt(i) === 0x0a) lines++;
  const shown = max(MIN_LINES, min(lines, MAX_NUMBERED));
  field.gutter = gutter(shown, fault === null ? 0 : fault.line);
  field.hint = "JSON, sent exactly as typed: key order and long integers are kept.";
  if (fault !== null && field.draft.fault(field.name).length === 0) {
    field.hint = fault.sentence + " ";
    if (fault.offer.length > 0) {
      field.beside = button(
        fault.offer,
        "dialog.fill",
        `${field.name} ${fault.corrected}`,
        "as-link",
      );
    }
  }
  return box("div", fault !== null ? "payload bad" : "payload", [field.area(shown)]);
}

/** The numbers of the lines. `marked`: the number of the line with the fault; 0: none. */
function gutter(lines: i32, marked: i32): Node {
  const numbers: Node[] = [];
  let plain = "";
  for (let i = 1; i <= lines; i++) {
    if (i !== marked) plain += `${i}\n`;
    else {
      numbers.push(multiline(plain));
      numbers.push(leaf("b", "", i.toString()));
      plain = "";
    }
  }
  numbers.push(multiline(plain));
  return el("pre", [cls("gutter"), attr("aria-hidden", "true")], numbers);
}
