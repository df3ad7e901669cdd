/** The panels of one operation: its progress, the state of its jobs, its steps, its undo. */
import { clockAt, timeElement, timeUntil } from "../../controls/age";
import { commandLine } from "../../controls/button";
import { note } from "../../controls/empty";
import { ALERT, CHECK, INFO, icon } from "../../controls/icon";
import { figure, figures, panel, step } from "../../controls/panel";
import { valueNode } from "../../controls/value";
import { Operation, OperationResults } from "../../generated/records";
import { writeButton } from "../../kit/verb";
import { box, cls, el, leaf, Node, nothing, text } from "../../lib/node";
import { numberText } from "../../lib/number";
import { Model } from "../../model/model";
import { Outcome, outcomesOf, resultsOf, undoOutcomesOf } from "../../operations/outcomes";
import { aimOf, processedOf, progressBar } from "../../operations/progress";
import { isAtWork, isResumable, lineWith, paceOf, settingsOf } from "../../operations/words";

/** The maximum number of jobs whose results the server counts (src/commands/operations/store/results.ts). */
const MAX_RESULTS: i64 = 20000;

export function body(m: Model, operation: Operation, results: OperationResults | null): Node {
  const isOpen = isAtWork(operation) || isResumable(operation);
  return box("div", "", [
    trouble(operation),
    numbers(m, operation, isOpen, results),
    operation.canary !== i64.MIN_VALUE && !isUndone(operation) ? steps(operation) : nothing,
    undoPanel(m, operation),
    isAtWork(operation) ? goesOn() : nothing,
  ]);
}

/** A note with the reason why the operation is paused, interrupted or failed; nothing in the other states. */
function trouble(operation: Operation): Node {
  const state = operation.state;
  const error = operation.error;
  const reason = error === null ? "" : `${error}. `;
  if (state === "paused") {
    return warning(
      "warn",
      `${reason}Paused: ${numberText(processedOf(operation))} of ${aimOf(operation)} are processed; the rest are not changed.`,
    );
  }
  if (state === "interrupted") {
    return warning(
      "warn",
      "The process of this operation has stopped. Resume continues after the last complete batch.",
    );
  }
  if (state === "failed") {
    return warning(
      "bad",
      `${reason}The changes before this failure remain. All other jobs are not changed.`,
    );
  }
  return nothing;
}

function warning(tone: string, message: string): Node {
  return note(tone, [icon(ALERT), leaf("span", "", message)]);
}

function numbers(
  m: Model,
  operation: Operation,
  isOpen: bool,
  results: OperationResults | null,
): Node {
  const children: Node[] = [];
  if (isOpen) children.push(progress(m, operation));
  const outcomes = isUndone(operation) ? undoOutcomesOf(operation) : outcomesOf(operation);
  const list: Node[] = [];
  for (let i = 0; i < outcomes.length; i++) {
    if (i === 0 || outcomes[i].isThere) list.push(figureOf(outcomes[i]));
  }
  children.push(figures(list));
  if (results !== null && !isUndone(operation)) children.push(since(operation, results));
  children.push(facts(m, operation));
  if (operation.cli.length > 0) {
    const line = lineWith(operation.cli, m.access.session.schema, "");
    children.push(box("div", "pb shell", [commandLine(line)]));
  }
  return el("section", [cls("panel op-numbers")], children);
}

/** Shows how many of the jobs that the operation has changed are now in each state. At most MAX_RESULTS are counted. */
function since(operation: Operation, results: OperationResults): Node {
  const all = resultsOf(results);
  const list: Node[] = [];
  for (let i = 0; i < all.length; i++) if (i < 2 || all[i].isThere) list.push(figureOf(all[i]));
  return box("div", "", [
    figures(list),
    results.scanned === MAX_RESULTS && results.scanned < operation.done
      ? leaf("p", "pb dim", `Of the first ${numberText(results.scanned)} by id.`)
      : nothing,
  ]);
}

function isUndone(operation: Operation): bool {
  return operation.state === "undone" || operation.state === "undoing";
}

function figureOf(outcome: Outcome): Node {
  const count = outcome.count;
  return figure(
    outcome.label,
    count === null ? nothing : valueNode(count, count.value === 0 ? "faint" : ""),
    outcome.meaning,
  );
}

function progress(_m: Model, operation: Operation): Node {
  const pace = isAtWork(operation) ? paceOf(operation) : "";
  return box("div", "pb", [
    box("div", "row far", [
      leaf("span", "big", numberText(processedOf(operation))),
      leaf("span", "dim", `of ${aimOf(operation)}${pace.length > 0 ? ` · ${pace}` : ""}`),
    ]),
    progressBar(operation),
  ]);
}

/** Shows the operation's user, times and settings, and the largest id that its jobs can have. */
function facts(m: Model, operation: Operation): Node {
  const by = operation.by;
  const end = operation.finishedAt;
  const began = clockAt(operation.startedAt, m.serverNow);
  const times = isNaN(end) ? `since ${began}` : `${began} to ${clockAt(end, m.serverNow)}`;
  const settings = settingsOf(operation);
  return box("div", "pf row wrap", [
    by === null ? nothing : leaf("span", "", by),
    timeElement(operation.startedAt, times),
    settings.length > 0 ? leaf("span", "", settings) : nothing,
    leaf("span", "", `ids up to ${operation.boundary.maxId}`),
  ]);
}

/** The steps of an operation with a canary: the canary, the rest, the receipt. */
function steps(operation: Operation): Node {
  const first = operation.canary;
  const state = operation.state;
  const isOver = !isAtWork(operation) && !isResumable(operation);
  const isRest = processedOf(operation) > first || state === "done";
  const error = operation.error;
  const watched =
    state === "canary"
      ? `watching ${numberText(operation.done)} for up to 2 min`
      : error !== null && !isRest
        ? error
        : isRest
          ? "done"
          : "";
  return panel(
    "Steps",
    "",
    [],
    [
      box("div", "steps pb", [
        stepOf("1", isRest, true, `First ${numberText(first)}`, watched),
        stepOf("2", state === "done", isRest, "The rest", isRest ? "" : "if the first succeed"),
        stepOf("3", isOver, isOver, "Receipt", "stays in Activity for 90 days"),
      ]),
    ],
  );
}

function stepOf(number: string, isDone: bool, isBegun: bool, what: string, hint: string): Node {
  const mark = isDone ? icon(CHECK) : text(number);
  const tone = isDone ? "done" : isBegun ? "" : "wait";
  return step(tone, mark, what, [leaf("p", "hint", hint)]);
}

function undoPanel(m: Model, operation: Operation): Node {
  if (isAtWork(operation) || isResumable(operation) || operation.state === "undone") return nothing;
  if (!operation.canUndo) {
    if (operation.done === 0) return nothing;
    const why = "It can no longer be undone.";
    return panel("Undo", "", [], [leaf("p", "pb dim", why)]);
  }
  const deadline = operation.undoUntil;
  return panel(
    "Undo",
    isNaN(deadline)
      ? ""
      : `until ${clockAt(deadline, m.serverNow)}, ${timeUntil(deadline, m.times)}`,
    [],
    [
      box("div", "pb row wrap", [
        leaf("p", "dim", "Restores jobs that have not changed since; the others are skipped."),
        writeButton(m, "Undo…", "ask.change", `undo ${operation.id}`, ""),
      ]),
    ],
  );
}

function goesOn(): Node {
  const kept = "Runs on the server. You can close this page.";
  return note("", [icon(INFO), leaf("span", "", kept)]);
}
