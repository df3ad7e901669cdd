/** Lists the jobs of an operation that have one outcome, with links to the lists of the other outcomes. */
import { link } from "../../controls/button";
import { panel } from "../../controls/panel";
import { cell, row, table } from "../../controls/table";
import { linkedPart, segments } from "../../controls/tabs";
import { valueText } from "../../controls/value";
import { jobActionNamed } from "../../generated/commands";
import { Operation, OperationJobs } from "../../generated/records";
import { errorLabel } from "../../kit/group-row";
import { ServerData } from "../../kit/server-data";
import { operationVerb, verbButton } from "../../kit/verb";
import { box, leaf, Node, nothing, text } from "../../lib/node";
import { Address } from "../../model/address";
import { jobPath } from "../../model/links";
import { Model } from "../../model/model";
import { Outcome, outcomesOf, undoOutcomesOf } from "../../operations/outcomes";
import { jobName } from "../../operations/rehearsed";
import { isAtWork } from "../../operations/words";

const FAILED_AGAIN = "failed_again";
const COLUMNS: string[] = ["w6=Job", "=Last error"];

export function runsAgain(operation: Operation): bool {
  const action = jobActionNamed(operation.action);
  return action !== null && action.hasCanary;
}

/** Returns the outcomes whose jobs can be listed, except for outcomes that are known to have no jobs. */
function listed(operation: Operation): Outcome[] {
  const list: Outcome[] = [];
  const state = operation.state;
  const own = outcomesOf(operation);
  const undo = undoOutcomesOf(operation);
  const all = state === "undone" || state === "undoing" ? undo.concat(own) : own;
  for (let i = 0; i < all.length; i++) {
    if (all[i].name.length > 0 && all[i].isThere) list.push(all[i]);
  }
  if (runsAgain(operation) && operation.done > 0) {
    list.push(new Outcome(FAILED_AGAIN, "Failed again", null, ""));
  }
  return list;
}

/** Returns the outcome in the page's address; by default the first that can be listed; `done` if none can. */
export function shownOutcome(operation: Operation, address: Address): string {
  const wanted = address.value("outcome");
  if (wanted.length > 0) return wanted;
  const list = listed(operation);
  return list.length > 0 ? list[0].name : "done";
}

export function outcomePanel(
  m: Model,
  operation: Operation,
  address: Address,
  data: ServerData,
  jobs: OperationJobs,
): Node {
  const list = listed(operation);
  if (list.length === 0) return nothing;
  const shown = shownOutcome(operation, address);
  const parts: Node[] = [];
  for (let i = 0; i < list.length; i++) {
    const count = list[i].count;
    const words = count === null ? list[i].label : `${list[i].label} ${valueText(count)}`;
    parts.push(linkedPart(words, address.with("outcome", list[i].name), list[i].name === shown));
  }
  return panel(
    "Jobs",
    "",
    [again(m, operation, shown, jobs)],
    [
      box("div", "pb op-outcomes", [segments("Results", parts)]),
      data.ready ? foundJobs(address, jobs) : data.placeholder(m, 2),
    ],
  );
}

/**
 * Returns a button that repeats the action for the listed jobs. Only for the actions retry and run-now, if the jobs were
 * locked, were changed or have failed again, and the operation is not at work.
 */
function again(m: Model, operation: Operation, shown: string, jobs: OperationJobs): Node {
  const canRepeat = shown === "locked" || shown === "changed" || shown === FAILED_AGAIN;
  if (!canRepeat || jobs.outcome !== shown || jobs.jobs.length === 0 || isAtWork(operation)) {
    return nothing;
  }
  const action = jobActionNamed(operation.action);
  if (action === null || !action.hasCanary) return nothing;
  const names: string[] = [];
  for (let i = 0; i < jobs.jobs.length; i++) names.push(jobs.jobs[i].id.toString());
  const verb = action.command.verb.split(" ")[0];
  const label = `${verb} these ${names.length}…`;
  return verbButton(m, operationVerb(operation.action, label, "id:" + names.join(",")), "s");
}

function foundJobs(address: Address, jobs: OperationJobs): Node {
  const list = jobs.jobs;
  if (list.length === 0) return leaf("p", "pb dim", "None.");
  const rows: Node[] = [];
  for (let i = 0; i < list.length; i++) {
    const job = list[i];
    const error = job.errorLine;
    rows.push(
      row(job.id.toString(), "", [
        cell("", [link(jobPath(job.id), "row", [jobName(job.taskIdentifier, job.id)])]),
        cell("", [error === null ? nothing : errorLabel(error)]),
      ]),
    );
  }
  const next = jobs.nextCursor;
  return box("div", "", [
    table("op-jobs", "Jobs", COLUMNS, rows),
    next === null
      ? nothing
      : box("div", "pb", [link(address.with("cursor", next), "btn s", [text("More")])]),
  ]);
}
