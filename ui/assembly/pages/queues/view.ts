/** The named queues: whose turn it is, how many wait. */
import { link } from "../../controls/button";
import { empty, loading } from "../../controls/empty";
import { pageHead } from "../../controls/panel";
import { cell, MOST_ROWS, row, table } from "../../controls/table";
import { when } from "../../controls/when";
import { Queue } from "../../generated/records";
import { attr, box, cls, el, leaf, Node, nothing, text } from "../../lib/node";
import { counted, grouped } from "../../lib/number";
import { queueJobsPath } from "../../model/links";
import { Model } from "../../model/model";
import { queueTotal } from "../../records/stats";

const COLUMNS: string[] = [
  "col-name=Queue",
  "col-state=State",
  "col-num=Jobs",
  "col-num=Ready",
  "col-num=Scheduled",
  "col-num=Running",
  "col-num=Failed",
  "col-when=Locked",
  "col-worker=Locked by",
];

export function queuesView(m: Model): Node {
  const queues = m.overview.queues;
  if (!m.overviewLoaded) return box("div", "queues-page", [pageHead("Queues", []), loading()]);
  const hint =
    "The jobs of a named queue run one after the other. Jobs without a queue stand under Jobs.";
  if (queues.length === 0) {
    return box("div", "queues-page", [
      pageHead("Queues", []),
      empty("There are no named queues", hint),
    ]);
  }
  const rows: Node[] = [];
  for (let i = 0; i < min(queues.length, MOST_ROWS); i++)
    rows.push(queueRow(queues[i], m.serverNow));
  const total = queueTotal(m.overview);
  const more = total - rows.length;
  return box("div", "queues-page", [
    pageHead("Queues", [leaf("span", "as-of", counted(total, "queue", "queues"))]),
    leaf("p", "lead", hint),
    table("queues", "Queues", COLUMNS, rows),
    more > 0 ? leaf("p", "hint", `${grouped(more)} more are not shown.`) : nothing,
  ]);
}

function queueRow(queue: Queue, now: f64): Node {
  const worker = queue.lockedBy;
  const locked = !isNaN(queue.lockedAt);
  return row(queue.id.toString(), "", [
    cell("col-name", [link(queueJobsPath(queue.queueName), "task", [text(queue.queueName)])]),
    cell("col-state", [
      leaf("span", locked ? "state locked" : "state idle", locked ? "locked" : "idle"),
    ]),
    cell("col-num", [text(grouped(queue.jobCount))]),
    cell("col-num", [count(queue.readyCount, "")]),
    cell("col-num", [count(queue.scheduledCount, "")]),
    cell("col-num", [count(queue.lockedCount, "")]),
    cell("col-num", [count(queue.failedCount, "failed-count")]),
    cell("col-when", [when(queue.lockedAt, now)]),
    cell("col-worker", [
      worker === null
        ? leaf("span", "none", "–")
        : el("a", [attr("href", "#/workers"), cls("mono"), attr("title", worker)], [text(worker)]),
    ]),
  ]);
}

/** A server that doesn't count it sends nothing. */
function count(value: i64, name: string): Node {
  if (value === i64.MIN_VALUE) return leaf("span", "none", "–");
  return leaf("span", value === 0 ? "none" : name, grouped(value));
}
