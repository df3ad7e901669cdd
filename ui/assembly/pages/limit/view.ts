/** The body of a limit's page: the limit's use and back-offs, its definition, and the command that sets it. */
import { ageText, clockAt, timeElement, timeUntil } from "../../controls/age";
import { link } from "../../controls/button";
import {
  figure,
  figures,
  pair,
  pairs,
  plainPanel,
  shellPanel,
  tablePanel,
} from "../../controls/panel";
import { cell, row } from "../../controls/table";
import { argument, option, shellLine } from "../../forms/shell-line";
import { BackOff, ListedLimit } from "../../generated/records";
import { box, leaf, Node, nothing, text } from "../../lib/node";
import { numberText } from "../../lib/number";
import { queuePath, taskPath, workerPath } from "../../model/links";
import { Model } from "../../model/model";
import { cutName, exactName, jobInRow } from "../../parts/exact-name";
import {
  amount,
  mostText,
  rateText,
  runningText,
  setText,
  targetText,
  waitingOf,
} from "../../parts/limit";

const PERMITS: string[] = ["=Worker", "num w3=Permits", "num w3 w-mid=Wanted", "w6=In use"];
const QUEUES: string[] = ["=Queue", "num w3=Waiting", "w6=Running"];
const BACK_OFFS: string[] = ["w4=At", "num w3=Length", "=Reason", "w7 w-mid=Job"];

export function use(m: Model, limit: ListedLimit): Node {
  return box("div", "", [
    plainPanel("Use", [
      backsOff(m, limit),
      figures([
        figure("Running", text(runningText(limit)), ""),
        figure("Waiting", waitingOf(limit), ""),
        figure("Back-offs", text(numberText(limit.backOffs.length)), "last hour"),
      ]),
    ]),
    permits(limit),
    queues(limit),
    backOffs(m, limit),
  ]);
}

function backsOff(m: Model, limit: ListedLimit): Node {
  const backOff = limit.backingOff;
  if (backOff === null) return nothing;
  const reason = backOff.reason;
  const lead = `Backing off until ${clockAt(backOff.until, m.serverNow)}, ${timeUntil(backOff.until, m.times)}.`;
  return box("div", "pb", [
    box("div", "why-box sched", [
      leaf("span", "lead", lead),
      text(` ${reason === null ? "" : reason + ". "}After that its jobs start again.`),
    ]),
  ]);
}

function permits(limit: ListedLimit): Node {
  const rows: Node[] = [];
  let given: i64 = 0;
  let used: i64 = 0;
  for (let i = 0; i < limit.permits.length; i++) {
    const holding = limit.permits[i];
    given += holding.permits;
    used += holding.inUse;
    rows.push(
      row(holding.workerId, "", [
        cell("", [link(workerPath(holding.workerId), "link cut", [cutName(holding.workerId, "")])]),
        cell("num", [text(numberText(holding.permits))]),
        cell("num dim w-mid", [text(numberText(holding.wanted))]),
        cell("vis", [box("span", "used", amount(holding.inUse, holding.permits))]),
      ]),
    );
  }
  const summary = `${numberText(given)} given out, ${numberText(used)} in use`;
  return tablePanel("Permits by worker", summary, [], "permits", PERMITS, rows);
}

function queues(limit: ListedLimit): Node {
  const rows: Node[] = [];
  for (let i = 0; i < limit.queueRows.length; i++) {
    const queue = limit.queueRows[i];
    rows.push(
      row(queue.name, "", [
        cell("", [link(queuePath(queue.name), "link cut", [cutName(queue.name, "")])]),
        cell("num", [text(numberText(queue.waiting))]),
        // A limit that has only a rate does not limit how many jobs of a queue run at once, so no bar is shown.
        limit.concurrency > 0
          ? cell("vis", [box("span", "used", amount(queue.running, queue.slots))])
          : cell("", [text(numberText(queue.running))]),
      ]),
    );
  }
  return tablePanel("Queues with running or waiting jobs", "", [], "slots", QUEUES, rows);
}

function backOffs(m: Model, limit: ListedLimit): Node {
  const rows: Node[] = [];
  for (let i = 0; i < limit.backOffs.length; i++) rows.push(backOff(m, limit.backOffs[i]));
  return tablePanel("Back-offs", "last hour", [], "back-offs", BACK_OFFS, rows);
}

function backOff(m: Model, one: BackOff): Node {
  const reason = one.reason;
  const task = one.task;
  const job = one.jobId;
  return row((<i64>one.beganAt).toString(), "", [
    cell("", [timeElement(one.beganAt, clockAt(one.beganAt, m.serverNow))]),
    cell("num", [text(ageText(one.until - one.beganAt))]),
    cell("dim", [text(reason === null ? "" : reason)]),
    cell("w-mid", [
      job === i64.MIN_VALUE ? nothing : jobInRow("", task === null ? "job" : task, job),
    ]),
  ]);
}

export function about(m: Model, limit: ListedLimit): Node {
  const match = limit.match;
  const rate = limit.rate;
  const target = exactName(targetText(limit), "");
  const path = match.includes("*")
    ? ""
    : limit.scope === "task"
      ? taskPath(match)
      : queuePath(match);
  return box("aside", "", [
    plainPanel("Definition", [
      box("div", "pb", [
        pairs([
          pair("Applies to", path.length > 0 ? link(path, "link", [target]) : target),
          pair("At once", text(mostText(limit))),
          pair(
            "Rate",
            text(rate === null ? "no limit" : `${rateText(rate)}, burst ${numberText(rate.burst)}`),
          ),
          pair("Set by", setText(m, limit)),
        ]),
      ]),
    ]),
    shellPanel(shellLine(setLine(limit), m.access.session.schema)),
  ]);
}

function setLine(limit: ListedLimit): string {
  const rate = limit.rate;
  let words = "limit set" + argument("name", limit.name) + option(limit.scope, limit.match);
  if (limit.concurrency > 0) words += ` --concurrency ${limit.concurrency}`;
  if (rate !== null) words += option("rate", rateText(rate)) + ` --burst ${rate.burst}`;
  return words;
}
