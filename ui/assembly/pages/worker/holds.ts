/** What a worker runs and holds, and what becomes of it when its locks are taken away. */
import { age, ago, clockAt, lasting, timed } from "../../controls/age";
import { link } from "../../controls/button";
import { note } from "../../controls/empty";
import { icon, LAYERS } from "../../controls/icon";
import { figure, figures, panel, plainPanel } from "../../controls/panel";
import { cell, row, table } from "../../controls/table";
import { countedValue, valueNode } from "../../controls/value";
import { ListedQueue, ListedWorker, RunningJob, Value } from "../../generated/records";
import { box, leaf, Node, nothing, text } from "../../lib/node";
import { counted, grouped } from "../../lib/number";
import { queuePath } from "../../model/links";
import { Model } from "../../model/model";
import { cutName } from "../../parts/exact-name";
import { holdings, holdsAny, jobsHeld } from "../../parts/holder";
import { isOld, perMinute, runningJobLink } from "../../parts/worker";

export function holds(m: Model, worker: ListedWorker): Node {
  return box("div", "", [
    plainPanel("How it is", [box("div", "pb", [why(m, worker)]), numbers(m, worker)]),
    list(m, worker),
    isOld(worker) && holdsAny(worker) ? warning(worker) : nothing,
  ]);
}

function why(m: Model, worker: ListedWorker): Node {
  const heard = worker.lastHeartbeatAt;
  const waits = behind(worker);
  const wait =
    waits.value > 0 ? `; ${countedValue(waits, "job waits", "jobs wait")} behind them` : "";
  const held = holdsAny(worker) ? ` It holds ${holdings([worker])}${wait}.` : " It holds nothing.";
  if (worker.state === "silent") {
    const lead = `No heartbeat ${lasting(heard, m.times)}.`;
    return said("bad", lead, ` The last one came at ${clockAt(heard, m.serverNow)}.${held}`);
  }
  if (worker.state === "alive") return said("run", "It answers.", ` ${beat(m, worker)}`);
  const old = isNaN(worker.oldestLockAt)
    ? ""
    : ` Its oldest lock has been held ${lasting(worker.oldestLockAt, m.times)}.`;
  return said(
    isOld(worker) ? "warn" : "",
    "It never sent a heartbeat.",
    `${held}${old} A stock worker sends none: whether this one still works is not known.`,
  );
}

function said(tone: string, lead: string, rest: string): Node {
  return box("div", "why-box " + tone, [leaf("span", "lead", lead), text(rest)]);
}

function beat(m: Model, worker: ListedWorker): string {
  const slots = worker.slots;
  const running = countedValue(worker.running, "job", "jobs");
  const runs = slots > 0 ? `${running} at once, of ${grouped(slots)} it could` : running;
  return `Its last heartbeat came ${ago(worker.lastHeartbeatAt, m.times)}. It runs ${runs}.`;
}

function numbers(m: Model, worker: ListedWorker): Node {
  const waits = behind(worker);
  const oldest = oldestBehind(worker);
  const jobs = current(worker);
  const first = jobs.length > 0 ? jobs[0].since : NaN;
  const list: Node[] = [
    figure(
      worker.state === "alive" ? "Running" : "Jobs held",
      valueNode(jobsHeld(worker), ""),
      isNaN(first) ? "" : "the longest " + lasting(first, m.times),
    ),
    figure("Queues held", text(grouped(worker.heldQueues)), ""),
    figure(
      "Waiting behind",
      valueNode(waits, ""),
      isNaN(oldest) ? "" : "oldest " + age(oldest, m.times),
    ),
  ];
  const done = perMinute(worker.donePerMin);
  const failed = perMinute(worker.failedPerMin);
  // The last minute of a worker that is silent is long over.
  if (done.length > 0 && worker.state === "alive") {
    list.push(figure("Done a minute", text(done), failed.length > 0 ? failed + " failed" : ""));
  }
  return figures(list);
}

/** What waits in the queues that it holds; at least, where not all of them were read. */
function behind(worker: ListedWorker): Value {
  const sum = Value.empty();
  sum.precision = worker.queues.length < worker.heldQueues ? "capped" : "exact";
  sum.low = 0;
  for (let i = 0; i < worker.queues.length; i++) {
    const ready = worker.queues[i].ready;
    sum.value += ready.value;
    sum.low += ready.low === i64.MIN_VALUE ? ready.value : ready.low;
    if (ready.precision !== "exact") sum.precision = ready.precision;
  }
  return sum;
}

function oldestBehind(worker: ListedWorker): f64 {
  let oldest: f64 = NaN;
  for (let i = 0; i < worker.queues.length; i++) {
    const at = worker.queues[i].oldestReadyAt;
    if (!isNaN(at) && !(at >= oldest)) oldest = at;
  }
  return oldest;
}

const COLUMNS: string[] = ["=Job or queue", "num w4=For"];
const SILENT_COLUMNS: string[] = ["=Job or queue", "num w4=For", "w8 w-mid=After unlocking"];

function list(m: Model, worker: ListedWorker): Node {
  const frees = isOld(worker);
  const rows: Node[] = [];
  const jobs = current(worker);
  for (let i = 0; i < jobs.length; i++) rows.push(jobRow(m, jobs[i], frees));
  for (let i = 0; i < worker.queues.length; i++) rows.push(queueRow(m, worker.queues[i], frees));
  if (rows.length === 0) return nothing;
  const left = jobsHeld(worker).value - jobs.length;
  const remark = left > 0 ? `the ${grouped(jobs.length)} jobs that run longest` : "";
  return panel(
    worker.state === "alive" ? "What it runs" : "What it holds",
    remark,
    [],
    [table("holds", "Held by it", frees ? SILENT_COLUMNS : COLUMNS, rows)],
  );
}

/** What it said that it runs, unless that was taken away from it since. */
function current(worker: ListedWorker): RunningJob[] {
  return jobsHeld(worker).value > 0 ? worker.current : [];
}

function jobRow(m: Model, job: RunningJob, frees: bool): Node {
  return row("j" + job.id.toString(), "", [
    cell("", [runningJobLink(job)]),
    cell("num dim", [timed(job.since, age(job.since, m.times))]),
    frees ? cell("dim w-mid", [text("may run again at once")]) : nothing,
  ]);
}

function queueRow(m: Model, queue: ListedQueue, frees: bool): Node {
  const after =
    queue.ready.value > 0
      ? `${countedValue(queue.ready, "job runs", "jobs run, one at a time")}`
      : "is free for the next job";
  return row("q" + queue.queueName, "", [
    cell("", [
      link(queuePath(queue.queueName), "row", [
        box("span", "st", [icon(LAYERS)]),
        cutName(queue.queueName, "name"),
      ]),
    ]),
    cell("num dim", [timed(queue.lockedAt, age(queue.lockedAt, m.times))]),
    frees ? cell("dim w-mid", [text(after)]) : nothing,
  ]);
}

function warning(worker: ListedWorker): Node {
  const jobs = current(worker);
  const what =
    jobs.length === 1
      ? `#${jobs[0].id}`
      : jobs.length > 1
        ? counted(jobs.length, "job", "jobs")
        : "a job";
  return note("warn", [
    leaf("b", "", "Only unlock a worker that no longer runs."),
    leaf(
      "span",
      "",
      `If it is alive but cut off, it may finish ${what} while another worker runs it again.`,
    ),
  ]);
}
