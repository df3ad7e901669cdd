/**
 * How an operation is to be done: the first few before the rest, so many jobs a second at the most, and
 * the number typed where there is no way back.
 */
import { ageText } from "../controls/age";
import { button, commandLine } from "../controls/button";
import { note } from "../controls/empty";
import { Draft } from "../forms/draft";
import { Field } from "../forms/field";
import { Form } from "../forms/form";
import { quoted } from "../forms/shell-line";
import { Rehearsal } from "../generated/records";
import { attr, box, cls, el, flag, leaf, Node, nothing, text } from "../lib/node";
import { grouped, parseWhole } from "../lib/number";
import { Model } from "../model/model";
import { lineWith } from "./words";

/** Names of fields. */
const MANNER = "manner";
const CANARY = "canary";
const RATE = "rate";
const TYPED = "typed";
const FIRST = "first";
/** The server's bounds (src/queue/operations/verbs.ts). */
const MOST_CANARY: i64 = 1000;
const MOST_RATE: i64 = 1000000;
/** For fewer jobs nobody needs to see first how a few of them fare. */
const FEW: i64 = 20;
/** So many are undone by nobody by hand. */
const MANY: i64 = 100;

/** Of what runs again, the first few are watched unless somebody wishes otherwise. */
export function usualManner(draft: Draft, action: string): void {
  draft.set(MANNER, action === "retry" ? FIRST : "all");
  draft.set(CANARY, "5");
}

function mayHaveCanary(action: string, rehearsal: Rehearsal): bool {
  const runsAgain = action === "retry" || action === "run-now";
  return runsAgain && rehearsal.would.changeValue.value > FEW;
}

/** No way back, for more than somebody mends by hand. */
function mustBeTyped(rehearsal: Rehearsal): bool {
  const count = rehearsal.would.changeValue.value;
  return count > MANY && (!rehearsal.canUndo || rehearsal.undoJobs < count);
}

export function mannerFields(m: Model, draft: Draft, rehearsal: Rehearsal, action: string): Node {
  const hasCanary = mayHaveCanary(action, rehearsal);
  const count = rehearsal.would.changeValue.value;
  const rate = new Field(draft, RATE, "At most so many a second");
  rate.placeholder = "half of the time is left to others";
  const canary = new Field(draft, CANARY, "How many first");
  const typed = new Field(draft, TYPED, `Type ${grouped(count)} to do it`);
  typed.hint = rehearsal.canUndo
    ? `Only the first ${grouped(rehearsal.undoJobs)} can be undone.`
    : "It cannot be undone.";
  return box("div", "form", [
    hasCanary
      ? el(
          "fieldset",
          [cls("choices")],
          [
            leaf("legend", "sr", "How to begin"),
            choice(
              draft,
              FIRST,
              `First ${whole(draft, CANARY)}, then the rest if they succeed`,
              "They are watched for up to 2 min. If one fails again it is held and says so; nothing else is touched.",
            ),
            choice(draft, "all", "All at once", "In batches, each its own transaction."),
          ],
        )
      : nothing,
    box("div", "field-row", [
      hasCanary && draft.value(MANNER) === FIRST ? canary.input() : nothing,
      rate.input(),
    ]),
    mustBeTyped(rehearsal) ? typed.input() : nothing,
    commandLine(lineOf(m, draft, rehearsal, hasCanary)),
    box("div", "row hint", [
      text(`${eta(draft, rehearsal)}. Jobs that come after this moment are not included.`),
      button("Count again", "dialog.typed", "again", "q s push"),
    ]),
    rehearsal.canUndo || mustBeTyped(rehearsal)
      ? nothing
      : note("warn", [text("It cannot be undone: the extension “operations” is not there.")]),
  ]);
}

function choice(draft: Draft, value: string, words: string, hint: string): Node {
  const on = draft.value(MANNER) === value;
  return el(
    "label",
    [cls(on ? "choice on" : "choice")],
    [
      el(
        "input",
        [
          attr("type", "radio"),
          attr("name", MANNER),
          attr("value", value),
          attr("data-input", "dialog.input"),
          attr("data-arg", MANNER),
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
  return typed.valid ? grouped(typed.value) : "few";
}

/** `About 2 m 48 s` */
function eta(draft: Draft, rehearsal: Rehearsal): string {
  const rate = parseWhole(draft.value(RATE).trim());
  const atRate = rate.valid && rate.value > 0 ? rehearsal.would.changeValue.value / rate.value : 0;
  return `About ${ageText(<f64>max(1, max(atRate, rehearsal.etaS)) * 1000)}`;
}

/** The server's line, with what is chosen here. */
function lineOf(m: Model, draft: Draft, rehearsal: Rehearsal, hasCanary: bool): string {
  const rate = draft.value(RATE).trim();
  let options = rate.length > 0 ? ` --rate=${quoted(rate)}` : "";
  if (hasCanary && draft.value(MANNER) === FIRST) {
    options += ` --canary=${quoted(draft.value(CANARY).trim())}`;
  }
  return lineWith(rehearsal.cli, m.access.session.schema, options);
}

/** The request that begins what was rehearsed; what is wrong with it is left in the draft. */
export function begin(draft: Draft, rehearsal: Rehearsal, action: string): string {
  const form = new Form(draft);
  form.body.string("rehearsal", rehearsal.rehearsal);
  if (mustBeTyped(rehearsal)) {
    const typed = parseWhole(draft.value(TYPED).replaceAll(",", "").trim());
    const count = rehearsal.would.changeValue.value;
    if (!typed.valid || typed.value !== count) {
      draft.reject(TYPED, `Type ${grouped(count)}, or leave it.`);
    }
  }
  form.whole(RATE, RATE, 0, MOST_RATE);
  if (mayHaveCanary(action, rehearsal) && draft.value(MANNER) === FIRST) {
    if (draft.value(CANARY).trim().length === 0) draft.reject(CANARY, "How many?");
    form.whole(CANARY, CANARY, 1, MOST_CANARY);
  }
  return form.body.end();
}
