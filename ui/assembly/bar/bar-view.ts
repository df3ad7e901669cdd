/** Draws the query bar: chips, a field with completions, a note about a fault in the query, and example queries. */
import { QueryFault } from "../../../src/domain/portable/query/tree";
import { iconButton, keyCap, link, ownButton } from "../controls/button";
import { ALERT, CLOSE, icon, SEARCH } from "../controls/icon";
import { menu } from "../controls/menu";
import { Attr, attr, box, cls, el, flag, key, leaf, Node, nothing, text } from "../lib/node";
import { queryPath } from "../model/links";
import { Bar } from "./bar";
import { Chip } from "./terms";

export const FIELD = "jobs-query";
const LIST = "jobs-completions";
const EXAMPLES = "task, queue, key, error, payload.field, attempts>5, failed<2h …";

const QUERIES: string[] = [
  "is:failed failed<2h",
  "failed in the last 2 h",
  "task:send_email",
  "jobs of a task",
  "queue:billing is:blocked",
  "blocked in a queue",
  "attempts>5",
  "more than 5 attempts",
  "payload.customer:4711",
  "by a field of the payload",
  "error:timeout",
  "by a word of the last error",
  "due:now..+1h",
  "due within an hour",
  "-task:report or key:none",
  "without a task, or without a key",
];

export function queryBar(bar: Bar): Node {
  const chips: Node[] = [];
  for (let i = 0; i < bar.terms.chips.length; i++) chips.push(chip(bar.terms.chips[i], i));
  const fault = bar.fault;
  return box("div", "qwrap", [
    el(
      "form",
      [
        cls(fault === null ? "qbar" : "qbar bad"),
        attr("role", "search"),
        attr("data-submit", "jobs.find"),
      ],
      [
        icon(SEARCH),
        box("span", "chips", chips),
        box("span", "qin", [underlined(bar, fault), field(bar, fault)]),
        keyCap("/"),
        menu("Examples of queries", [text("?")], examples()),
      ],
    ),
    bar.isOpen ? completions(bar) : nothing,
    fault === null ? nothing : faultNote(bar, fault),
  ]);
}

/** Returns links to example queries. After a click, the query can be changed in the bar. */
function examples(): Node[] {
  const list: Node[] = [];
  for (let i = 0; i < QUERIES.length; i += 2) {
    const words = [leaf("code", "", QUERIES[i]), leaf("span", "faint", QUERIES[i + 1])];
    list.push(link(queryPath(QUERIES[i]), "btn q", words));
  }
  return list;
}

function chip(one: Chip, index: i32): Node {
  const number = index.toString();
  return el(
    "span",
    [cls("chip"), key(number + one.text)],
    [
      ownButton(
        "",
        "jobs.edit",
        number,
        [attr("title", "Change " + one.text)],
        [one.field.length > 0 ? leaf("span", "k", one.field) : nothing, text(one.value)],
      ),
      iconButton(CLOSE, "Remove " + one.text, "jobs.drop", number),
    ],
  );
}

function field(bar: Bar, fault: QueryFault | null): Node {
  const keys = bar.isOpen ? "ArrowDown ArrowUp Tab Escape" : "ArrowDown Escape";
  const attrs: Attr[] = [
    attr("id", FIELD),
    attr("type", "text"),
    attr("role", "combobox"),
    attr("aria-label", "Search jobs"),
    attr("aria-autocomplete", "list"),
    attr("aria-expanded", bar.isOpen ? "true" : "false"),
    attr("aria-controls", LIST),
    attr("aria-invalid", fault === null ? "false" : "true"),
    attr("autocomplete", "off"),
    attr("autocapitalize", "off"),
    attr("maxlength", "4000"),
    flag("spellcheck", false),
    attr("placeholder", bar.terms.chips.length > 0 ? "Add a condition" : EXAMPLES),
    attr("data-input", "jobs.type"),
    attr("data-key", "jobs.bar"),
    attr("data-keys", bar.draft.length === 0 ? keys + " Backspace" : keys),
    attr("value", bar.draft),
  ];
  if (bar.marked >= 0) attrs.push(attr("aria-activedescendant", `${LIST}-${bar.marked}`));
  if (fault !== null) attrs.push(attr("aria-describedby", "jobs-fault"));
  return el("input", attrs, []);
}

/** A transparent copy of the field's text, drawn over the field. Only a wavy line below the fault is visible. */
function underlined(bar: Bar, fault: QueryFault | null): Node {
  if (fault === null) return nothing;
  const end = max(fault.end, fault.at + 1);
  const wrong = bar.draft.substring(fault.at, end);
  return el(
    "span",
    [cls("qmark"), attr("aria-hidden", "true")],
    [text(bar.draft.substring(0, fault.at)), leaf("u", "", wrong.length > 0 ? wrong : " ")],
  );
}

function faultNote(bar: Bar, fault: QueryFault): Node {
  const corrected = bar.correction;
  const found = bar.draft.substring(fault.at, fault.end);
  return el(
    "div",
    [cls("note bad"), attr("id", "jobs-fault"), attr("role", "alert")],
    [
      icon(ALERT),
      box("div", "", [
        leaf("b", "", `Column ${fault.at + 1}: ${fault.message}.`),
        found.length > 0 ? text(` Found “${found}”.`) : nothing,
        corrected.length > 0 ? text(" Try ") : nothing,
        corrected.length > 0 ? fix(corrected) : nothing,
        bar.terms.fault === null ? leaf("div", "", listNote(bar)) : nothing,
      ]),
    ],
  );
}

function fix(corrected: string): Node {
  return ownButton("as-link", "jobs.correct", corrected, [], [text(corrected)]);
}

function listNote(bar: Bar): string {
  const query = bar.terms.of(bar.terms.condition);
  return query.length > 0
    ? `The list below still shows ${query}.`
    : "The list below still shows all jobs.";
}

function completions(bar: Bar): Node {
  const options: Node[] = [];
  for (let i = 0; i < bar.options.length; i++) {
    const kind = bar.options[i].kind;
    if (i === 0 || kind !== bar.options[i - 1].kind) {
      options.push(
        el(
          "div",
          [cls("mhead"), key("h" + kind), attr("role", "presentation")],
          [text(headOf(kind))],
        ),
      );
    }
    options.push(option(bar, i));
  }
  return box("div", "qmenu", [
    el(
      "div",
      [attr("id", LIST), attr("role", "listbox"), attr("aria-label", "Completions")],
      options,
    ),
    box("div", "mfoot", [
      leaf("span", "", "↑ ↓ select"),
      leaf("span", "", "Tab complete"),
      leaf("span", "", "↵ search"),
      leaf("span", "", "Esc close"),
    ]),
  ]);
}

function option(bar: Bar, index: i32): Node {
  const suggestion = bar.options[index];
  const on = bar.marked === index;
  const about = suggestion.about;
  return el(
    "div",
    [
      key("o" + index.toString()),
      attr("id", `${LIST}-${index}`),
      cls(on ? "opt on" : "opt"),
      attr("role", "option"),
      attr("aria-selected", on ? "true" : "false"),
      attr("tabindex", "-1"),
      attr("data-click", "jobs.take"),
      attr("data-arg", index.toString()),
    ],
    [
      leaf("span", "mono cut", suggestion.text),
      about === null ? nothing : leaf("span", "n", about),
    ],
  );
}

function headOf(kind: string): string {
  if (kind === "field") return "Fields";
  if (kind === "condition") return "Condition";
  if (kind === "payload") return "Payload";
  if (kind === "time") return "Times";
  if (kind === "worker") return "Workers";
  if (kind === "flag") return "Flags";
  return kind === "task" ? "Tasks" : "Queues";
}
