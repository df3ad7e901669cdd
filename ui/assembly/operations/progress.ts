/** The progress of an operation: as a number, as a bar, and as a link on every page. */
import { shareBar } from "../controls/spark";
import { Operation } from "../generated/records";
import { attr, box, cls, el, leaf, Node, nothing, text } from "../lib/node";
import { numberText } from "../lib/number";
import { operationPath } from "../model/links";
import { Model } from "../model/model";
import { allOf, isAtWork, isLimited, isResumable, jobs, titleOf } from "./words";

const COLOURS: string[] = ["ready", "blocked", "none"];

/** Returns the number of processed jobs: changed (or restored) and skipped. */
export function processedOf(operation: Operation): i64 {
  return changedOf(operation) + leftOf(operation);
}

function changedOf(operation: Operation): i64 {
  return isUndo(operation) ? operation.undone : operation.done;
}

function leftOf(operation: Operation): i64 {
  const left = operation.undoSkipped;
  return isUndo(operation)
    ? left.keyTaken + left.changed + left.gone + left.locked
    : operation.skippedLocked + operation.skippedChanged + operation.skippedGone;
}

function isUndo(operation: Operation): bool {
  return operation.state === "undoing" || operation.state === "undone";
}

/** Returns the number of jobs to process; 0: unknown. A limit counts only changed jobs, so skipped jobs are added. */
function totalOf(operation: Operation): i64 {
  const matched = operation.matched;
  if (isUndo(operation)) return operation.done;
  if (isLimited(operation)) return operation.limit + leftOf(operation);
  return matched === null ? 0 : max(matched.value, processedOf(operation));
}

/** Returns the number of jobs to change or to restore, such as `8,400 jobs`; empty if the number is unknown. */
export function aimOf(operation: Operation): string {
  if (isUndo(operation)) return jobs(operation.done);
  return isLimited(operation) ? jobs(operation.limit) : allOf(operation);
}

/** Returns `38 %`, at most 99 %; empty if the number of jobs is unknown or 0. */
export function percentOf(operation: Operation): string {
  const all = totalOf(operation);
  if (all === 0) return "";
  return `${min(<i64>99, (processedOf(operation) * 100) / all)} %`;
}

export function progressBar(operation: Operation): Node {
  const left = leftOf(operation);
  const changed = changedOf(operation);
  const label = `${numberText(changed)} done, ${numberText(left)} skipped, of ${aimOf(operation)}`;
  return shareBar(label, COLOURS, [changed, left, max(0, totalOf(operation) - changed - left)]);
}

/** The link on every page to an operation that runs or can be resumed. `name`: the link's class. */
export function progressLink(m: Model, name: string): Node {
  const operation = m.facts.operation;
  if (operation === null || (!isAtWork(operation) && !isResumable(operation))) return nothing;
  return el(
    "a",
    [
      attr("href", "#" + operationPath(operation.id)),
      cls(isResumable(operation) ? `op-progress held ${name}` : `op-progress ${name}`),
      attr("title", titleOf(operation)),
    ],
    [
      progressBar(operation),
      box("span", "row", [
        leaf("span", "cut", titleOf(operation)),
        el("span", [cls("push num")], [text(percentOf(operation))]),
      ]),
    ],
  );
}
