/** The rarer options of a new job, in a collapsible section: retry policy, deadline, uniqueness, debounce, throttle. */
import { fieldControl } from "../forms/command-form";
import { Draft } from "../forms/draft";
import { typedTime } from "../forms/local-time";
import { option, options } from "../forms/shell-line";
import { Command } from "../generated/commands";
import { box, cls, el, flag, Node, text } from "../lib/node";
import { isoTime } from "../lib/time";

const DEADLINE = "deadline";
const UNIQUE = "unique_by";
const WHILE = "unique_while";
const DEBOUNCE = "debounce_secs";
const THROTTLE = "throttle_secs";
/**
 * The names of the fields, row by row. All fields of the first row are always shown. Of each later row, only the first
 * field is shown until this field is filled in.
 */
const ROWS: string[][] = [
  ["retry", DEADLINE],
  [UNIQUE, WHILE, "unique_period_secs"],
  [DEBOUNCE, "debounce_max_secs"],
  [THROTTLE, "throttle_by"],
];

export class MoreOptions {
  /** Whether the section is open without a click: true once one of its shown fields has had a value or a fault. */
  private isOpen: bool = false;

  begin(): void {
    this.isOpen = false;
  }

  view(command: Command, draft: Draft, now: f64): Node {
    const rows: Node[] = [];
    for (let i = 0; i < ROWS.length; i++) {
      const fields: Node[] = [];
      const names = i === 0 || isGiven(draft, ROWS[i][0]) ? ROWS[i] : ROWS[i].slice(0, 1);
      for (let k = 0; k < names.length; k++) {
        const isUsed = isGiven(draft, names[k]) || draft.fault(names[k]).length > 0;
        this.isOpen = this.isOpen || isUsed;
        fields.push(fieldControl(command.field(names[k]), draft, now));
      }
      rows.push(box("div", fields.length > 2 ? "field-row three" : "field-row", fields));
    }
    return el(
      "details",
      [cls("fold"), flag("open", this.isOpen)],
      [
        el("summary", [], [text("Retries, deadline, unique, debounce, throttle")]),
        box("div", "form", rows),
      ],
    );
  }
}

/**
 * If `unique_by` is filled in and `unique_while` is not, sets `unique_while` to `unfinished`. Clears the fields that
 * are not shown (see ROWS).
 */
export function completeOptions(draft: Draft): void {
  if (isGiven(draft, UNIQUE) && !isGiven(draft, WHILE)) draft.set(WHILE, "unfinished");
  for (let i = 1; i < ROWS.length; i++) {
    if (isGiven(draft, ROWS[i][0])) continue;
    for (let k = 1; k < ROWS[i].length; k++) draft.set(ROWS[i][k], "");
  }
}

/** Returns the options as words of a command line. */
export function optionWords(draft: Draft, now: f64): string {
  const at = typedTime(draft.value(DEADLINE), now);
  return (
    option("retry", draft.value("retry")) +
    (isNaN(at) ? "" : " --deadline " + isoTime(at)) +
    options("unique", draft.value(UNIQUE)) +
    option("unique-while", draft.value(WHILE)) +
    option("unique-period", draft.value("unique_period_secs")) +
    option("debounce", draft.value(DEBOUNCE)) +
    option("debounce-max", draft.value("debounce_max_secs")) +
    option("throttle", draft.value(THROTTLE)) +
    options("throttle-by", draft.value("throttle_by"))
  );
}

function isGiven(draft: Draft, name: string): bool {
  return draft.value(name).trim().length > 0;
}
