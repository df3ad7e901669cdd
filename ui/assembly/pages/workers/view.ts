/** Who works, who has gone quiet, and what they hold. */
import { button, check, copyButton } from "../../controls/button";
import { empty, loading } from "../../controls/empty";
import { pageHead } from "../../controls/panel";
import { cell, MOST_ROWS, row, table } from "../../controls/table";
import { when } from "../../controls/when";
import { attr, box, cls, el, leaf, Node, nothing, text } from "../../lib/node";
import { counted, grouped } from "../../lib/number";
import { Model } from "../../model/model";
import { WorkerRow, workerRows } from "../../records/worker-rows";

const COLUMNS: string[] = [
  "col-name=Worker",
  "col-state=State",
  "col-num=Jobs held",
  "col-num=Queues held",
  "col-when=Heartbeat",
  "col-when=Started",
  "col-meta=Metadata",
];

export function workersView(m: Model, chosen: Set<string>): Node {
  if (!m.overviewLoaded) return box("div", "workers-page", [pageHead("Workers", []), loading()]);
  const workers = workerRows(m.overview);
  const hint =
    "A stale worker has stopped its heartbeat. Force-unlock it only when its process is gone.";
  if (workers.length === 0) {
    return box("div", "workers-page", [
      pageHead("Workers", []),
      empty("No worker has reported", "Start one, and it stands here after its first heartbeat."),
    ]);
  }
  const write = m.access.canWrite;
  const columns = write ? ["col-select=Choose"].concat(COLUMNS) : COLUMNS;
  const rows: Node[] = [];
  for (let i = 0; i < min(workers.length, MOST_ROWS); i++) {
    rows.push(workerRow(m, workers[i], chosen.has(workers[i].id)));
  }
  return box("div", "workers-page", [
    pageHead("Workers", [leaf("span", "as-of", counted(workers.length, "worker", "workers"))]),
    leaf("p", "lead", hint),
    write ? chosenBar(chosen.size) : nothing,
    table(write ? "workers" : "workers no-select", "Workers", columns, rows),
  ]);
}

function chosenBar(count: i32): Node {
  return el(
    "div",
    [
      cls(count > 0 ? "bar bulk-old" : "bar"),
      attr("role", "group"),
      attr("aria-label", "Chosen workers"),
    ],
    count > 0
      ? [
          leaf("strong", "bulk-count", `${counted(count, "worker", "workers")} chosen`),
          button("Force unlock…", "ask.unlock", "", "s"),
          button("Clear", "workers.select-none", "", "q s"),
        ]
      : [leaf("span", "bar-text faint", "Choose workers to unlock what they hold.")],
  );
}

function workerRow(m: Model, worker: WorkerRow, on: bool): Node {
  const metadata = worker.metadata === "null" ? "" : worker.metadata;
  const cells: Node[] = [];
  if (m.access.canWrite) {
    cells.push(cell("col-select", [check(`Select ${worker.id}`, "workers.select", worker.id, on)]));
  }
  cells.push(
    cell("col-name", [
      el("span", [cls("mono cut"), attr("title", worker.id)], [text(worker.id)]),
      copyButton("worker id", worker.id, true),
    ]),
  );
  cells.push(cell("col-state", [leaf("span", "state " + worker.status, worker.statusText)]));
  cells.push(cell("col-num", [text(grouped(worker.lockedJobs))]));
  cells.push(cell("col-num", [text(grouped(worker.lockedQueues))]));
  cells.push(cell("col-when", [when(worker.heartbeatAt, m.serverNow)]));
  cells.push(cell("col-when", [when(worker.startedAt, m.serverNow)]));
  cells.push(
    cell("col-meta", [
      metadata.length > 0
        ? el(
            "code",
            [attr("title", metadata.substring(0, 1000))],
            [text(metadata.substring(0, 300))],
          )
        : leaf("span", "none", "–"),
    ]),
  );
  return row(worker.id, on ? "chosen" : "", cells);
}
