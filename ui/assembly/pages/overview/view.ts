/** The first page: health, numbers, what fails now, and who is at work. */
import { empty, firstLine, link, loading } from "../../controls/controls";
import { pageHead } from "../../controls/page-head";
import { relative, when } from "../../controls/when";
import { ListedJob, Queue, Stats } from "../../generated/records";
import { attr, box, cls, el, key, leaf, Node, nothing, text } from "../../lib/node";
import { counted, grouped } from "../../lib/number";
import { jobPath, queuePath, statePath } from "../../model/links";
import { Stream } from "../../model/live";
import { Model } from "../../model/model";
import { countOf, queueTotal, STATES } from "../../model/stats";
import { WorkerRow, workerRows } from "../../model/worker-rows";
import { health } from "./health";

const SHOWN = 8;

/** `loaded` says whether the failing jobs have come. */
export function overviewView(m: Model, failing: ListedJob[], loaded: bool): Node {
  const head = pageHead("Overview", [freshness(m)]);
  if (!m.overviewLoaded) return box("div", "overview", [head, loading()]);
  return box("div", "overview", [
    head,
    health(m),
    numbers(m.overview.stats),
    box("div", "columns", [
      failingPanel(failing, loaded, m.serverNow),
      box("div", "column", [busyQueues(m), workers(m)]),
    ]),
  ]);
}

/** An open stream tells each change at once, so its data are never old. */
function freshness(m: Model): Node {
  const live = m.live;
  if (isNaN(live.freshAt)) return nothing;
  const current = live.stream === Stream.Open && live.outage.length === 0;
  return leaf("span", "as-of", current ? "up to date" : `updated ${relative(live.freshAt, m.now)}`);
}

function numbers(stats: Stats): Node {
  const items: Node[] = [];
  for (let i = 0; i < STATES.length; i++) {
    const count = countOf(stats, STATES[i]);
    const tone = STATES[i] + (count === 0 ? " zero" : "");
    items.push(
      box("li", "", [
        link(statePath(STATES[i]), "number " + tone, [
          leaf("span", "number-name", i === 0 ? "total" : STATES[i]),
          leaf("strong", "number-value", grouped(count)),
        ]),
      ]),
    );
  }
  return el("ul", [cls("numbers"), attr("aria-label", "Jobs by state")], items);
}

function panel(title: string, path: string, all: string, body: Node): Node {
  return box("section", "panel", [
    box("div", "panel-head", [leaf("h2", "", title), link(path, "panel-all", [text(all)])]),
    body,
  ]);
}

function failingPanel(failing: ListedJob[], loaded: bool, now: f64): Node {
  const path = statePath("failed");
  if (!loaded) return panel("Failing now", path, "All failed", loading());
  if (failing.length === 0) {
    const calm = empty("Nothing has failed", "Jobs without attempts left would stand here.");
    return panel("Failing now", path, "All failed", calm);
  }
  const items: Node[] = [];
  for (let i = 0; i < failing.length; i++) items.push(failingItem(failing[i], now));
  return panel("Failing now", path, "All failed", box("ul", "failing", items));
}

function failingItem(job: ListedJob, now: f64): Node {
  const error = job.lastError;
  const task = job.taskIdentifier;
  return el(
    "li",
    [key(job.id.toString())],
    [
      box("div", "failing-head", [
        link(jobPath(job.id), "failing-task", [text(task === null ? "(no task)" : task)]),
        leaf("span", "num", `#${job.id}`),
        leaf("span", "num", `${job.attempts}/${job.maxAttempts} attempts`),
        when(job.updatedAt, now),
      ]),
      leaf("code", "failing-error", error === null ? "No error was recorded." : firstLine(error)),
    ],
  );
}

function busiestFirst(a: Queue, b: Queue): i32 {
  const locked = (isNaN(b.lockedAt) ? 0 : 1) - (isNaN(a.lockedAt) ? 0 : 1);
  if (locked !== 0) return locked;
  return a.jobCount > b.jobCount ? -1 : a.jobCount < b.jobCount ? 1 : 0;
}

function busyQueues(m: Model): Node {
  const queues = m.overview.queues.slice().sort(busiestFirst);
  if (queues.length === 0) {
    const none = empty("No named queues", "Jobs without a queue run side by side.");
    return panel("Queues", "/queues", "All queues", none);
  }
  const items: Node[] = [];
  for (let i = 0; i < min(queues.length, SHOWN); i++) {
    const queue = queues[i];
    const locked = !isNaN(queue.lockedAt);
    items.push(
      el(
        "li",
        [key(queue.id.toString())],
        [
          link(queuePath(queue.queueName), "name", [text(queue.queueName)]),
          leaf("span", locked ? "state locked" : "state idle", locked ? "locked" : "idle"),
          leaf("span", "num", counted(queue.jobCount, "job", "jobs")),
        ],
      ),
    );
  }
  const all = `All ${counted(queueTotal(m.overview), "queue", "queues")}`;
  return panel("Queues", "/queues", all, box("ul", "lines queue-lines", items));
}

function workers(m: Model): Node {
  const rows = workerRows(m.overview);
  if (rows.length === 0) {
    return panel("Workers", "/workers", "All workers", empty("No workers", "None has reported."));
  }
  const items: Node[] = [];
  for (let i = 0; i < min(rows.length, SHOWN); i++) items.push(workerItem(rows[i], m.serverNow));
  const all = `All ${counted(rows.length, "worker", "workers")}`;
  return panel("Workers", "/workers", all, box("ul", "lines worker-lines", items));
}

function workerItem(row: WorkerRow, now: f64): Node {
  return el(
    "li",
    [key(row.id)],
    [
      el("span", [cls("name"), attr("title", row.id)], [text(row.id)]),
      leaf("span", "state " + row.status, row.statusText),
      leaf("span", "num", counted(row.lockedJobs, "job", "jobs")),
      when(row.heartbeatAt, now),
    ],
  );
}
