/** The fields of a preview that set how the operation runs: canary, rate and limit. */
import { ageText } from "../controls/age";
import { button, commandLine } from "../controls/button";
import { countedValue } from "../controls/value";
import { Draft } from "../forms/draft";
import { checkbox, Field } from "../forms/field";
import { Form } from "../forms/form";
import { quoted } from "../forms/shell-line";
import { JobAction } from "../generated/commands";
import { Rehearsal } from "../generated/records";
import { replaced } from "../lib/letters";
import { attr, box, cls, el, flag, leaf, Node, nothing, text } from "../lib/node";
import { numberText, parseWhole } from "../lib/number";
import { Model } from "../model/model";
import { jobs, lineWith } from "./words";

/** The names of fields. FIRST is the value of EXTENT for a canary. */
const EXTENT = "extent";
const CANARY = "canary";
const RATE = "rate";
const TYPED = "typed";
const LIMIT = "limit";
const FIRST = "first";
const ONLY = "only";
/** The highest values that the server accepts (src/commands/operations/lifecycle.ts). */
const MAX_CANARY: i64 = 1000;
const MAX_RATE: i64 = 1000000;
const MAX_LIMIT: i64 = 1000000000;
/** The number of jobs up to which neither a canary nor a limit is offered. */
const FEW: i64 = 20;

/** Fills in the defaults. */
export function setDefaults(draft: Draft, action: JobAction): void {
  draft.set(EXTENT, action.canary === "usual" ? FIRST : "all");
  draft.set(CANARY, "5");
  draft.set(LIMIT, "100");
}

function beginsWithCanary(rehearsal: Rehearsal, draft: Draft): bool {
  return isMany(rehearsal) && draft.value(EXTENT) === FIRST;
}

function isLimited(rehearsal: Rehearsal, draft: Draft): bool {
  return isMany(rehearsal) && draft.on(ONLY);
}

function isMany(rehearsal: Rehearsal): bool {
  return rehearsal.would.changeValue.value > FEW;
}

/** Returns how many jobs would be changed. */
function countOf(draft: Draft, rehearsal: Rehearsal): i64 {
  const all = rehearsal.would.changeValue.value;
  const most = parseWhole(draft.value(LIMIT).trim());
  return isLimited(rehearsal, draft) && most.valid ? min(all, most.value) : all;
}

/** Returns the jobs that would be changed: `12,000 jobs` or `first 500 jobs`. */
export function affectedJobs(draft: Draft, rehearsal: Rehearsal): string {
  return isLimited(rehearsal, draft)
    ? "first " + jobs(countOf(draft, rehearsal))
    : countedValue(rehearsal.would.changeValue, "job", "jobs");
}

/** Returns the matching jobs, including jobs that would be skipped: `12,000 jobs` or `first 500 of 12,000 jobs`. */
export function chosenJobs(draft: Draft, rehearsal: Rehearsal): string {
  const all = countedValue(rehearsal.count, "job", "jobs");
  return isLimited(rehearsal, draft)
    ? `first ${numberText(countOf(draft, rehearsal))} of ${all}`
    : all;
}

/** Whether the user must type the number of jobs, because an undo could restore only a part of the changed jobs. */
function mustBeTyped(draft: Draft, rehearsal: Rehearsal): bool {
  return rehearsal.canUndo && rehearsal.undoJobs < countOf(draft, rehearsal);
}

export function settingFields(
  m: Model,
  draft: Draft,
  rehearsal: Rehearsal,
  action: JobAction,
): Node {
  const hasCanary = action.hasCanary;
  const count = countOf(draft, rehearsal);
  const rate = new Field(draft, RATE, "Rate limit (jobs/s)");
  rate.placeholder = "automatic";
  const canary = new Field(draft, CANARY, "Canary size");
  const limit = new Field(draft, LIMIT, "How many");
  const typed = new Field(draft, TYPED, `Type ${numberText(count)} to confirm`);
  typed.hint = `Only ${numberText(rehearsal.undoJobs)} can be undone.`;
  return box("div", "form", [
    isMany(rehearsal) && hasCanary
      ? el(
          "fieldset",
          [cls("choices")],
          [
            leaf("legend", "sr", "How to begin"),
            choice(
              draft,
              FIRST,
              `First ${whole(draft, CANARY)}, then the rest if they succeed`,
              "Waits up to 2 min, pauses unless all succeed.",
            ),
            choice(draft, "all", "All jobs", "In batches, without waiting for results."),
          ],
        )
      : nothing,
    isMany(rehearsal)
      ? checkbox(draft, ONLY, `Only the first ${whole(draft, LIMIT)} by id`, "dialog.input")
      : nothing,
    box("div", "field-row", [
      isLimited(rehearsal, draft) ? limit.input() : nothing,
      beginsWithCanary(rehearsal, draft) ? canary.input() : nothing,
      rate.input(),
    ]),
    mustBeTyped(draft, rehearsal) ? typed.input() : nothing,
    commandLine(lineOf(m, draft, rehearsal)),
    box("div", "row hint", [
      text(`${eta(draft, rehearsal)}. Jobs added later are not included.`),
      button("Preview again", "dialog.typed", "again", "q s push"),
    ]),
  ]);
}

function choice(draft: Draft, value: string, words: string, hint: string): Node {
  const on = draft.value(EXTENT) === value;
  return el(
    "label",
    [cls(on ? "choice on" : "choice")],
    [
      el(
        "input",
        [
          attr("type", "radio"),
          attr("name", EXTENT),
          attr("value", value),
          attr("data-input", "dialog.input"),
          attr("data-arg", EXTENT),
          flag("checked", on),
        ],
        [],
      ),
      box("span", "", [leaf("b", "", words), leaf("span", "hint", hint)]),
    ],
  );
}

function whole(draft: Draft, field: string): string {
  const typed = parseWhole(draft.value(field).trim());
  return typed.valid ? numberText(typed.value) : "few";
}

function eta(draft: Draft, rehearsal: Rehearsal): string {
  const rate = parseWhole(draft.value(RATE).trim());
  const atRate = rate.valid && rate.value > 0 ? countOf(draft, rehearsal) / rate.value : 0;
  return `About ${ageText(<f64>max(1, max(atRate, rehearsal.etaS)) * 1000)}`;
}

/** Returns the rehearsal's command line with the entered options. */
function lineOf(m: Model, draft: Draft, rehearsal: Rehearsal): string {
  const rate = draft.value(RATE).trim();
  let options = rate.length > 0 ? ` --rate=${quoted(rate)}` : "";
  if (beginsWithCanary(rehearsal, draft)) {
    options += ` --canary=${quoted(draft.value(CANARY).trim())}`;
  }
  if (isLimited(rehearsal, draft)) {
    options += ` --limit=${quoted(draft.value(LIMIT).trim())}`;
  }
  return lineWith(rehearsal.cli, m.access.session.schema, options);
}

/** Returns the body of the request that begins the operation. Errors in fields are stored in the draft. */
export function begin(draft: Draft, rehearsal: Rehearsal): string {
  const form = new Form(draft);
  form.body.string("rehearsal", rehearsal.rehearsal);
  if (mustBeTyped(draft, rehearsal)) {
    const typed = parseWhole(replaced(draft.value(TYPED), ",", "").trim());
    const count = countOf(draft, rehearsal);
    if (!typed.valid || typed.value !== count) {
      draft.reject(TYPED, `Type ${numberText(count)} to confirm.`);
    }
  }
  form.whole(RATE, RATE, 0, MAX_RATE);
  if (beginsWithCanary(rehearsal, draft)) first(form, draft, CANARY, MAX_CANARY);
  if (isLimited(rehearsal, draft)) first(form, draft, LIMIT, MAX_LIMIT);
  return form.body.end();
}

function first(form: Form, draft: Draft, field: string, most: i64): void {
  if (draft.value(field).trim().length === 0) draft.reject(field, "Enter a number.");
  form.whole(field, field, 1, most);
}
