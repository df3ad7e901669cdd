/**
 * Shows what a worker runs and has locked. If the worker may have ended, the list also shows what happens to each job
 * and queue after the worker is unlocked.
 */
import { age, ago, clockAt, durationText, timeElement } from "../../controls/age";
import { link } from "../../controls/button";
import { note } from "../../controls/empty";
import { icon, LAYERS } from "../../controls/icon";
import { figure, figures, plainPanel, tablePanel } from "../../controls/panel";
import { cell, row } from "../../controls/table";
import { countedValue, valueNode, valueText } from "../../controls/value";
import { ListedQueue, ListedWorker, RunningJob, Value } from "../../generated/records";
import { box, leaf, Node, nothing, text } from "../../lib/node";
import { countText, numberText } from "../../lib/number";
import { queuePath } from "../../model/links";
import { Model } from "../../model/model";
import { cutName, jobInRow } from "../../parts/exact-name";
import { currentJobs, holdings, holdsAny, jobCount } from "../../parts/holder";
import { fetchedJobs, fits, isOld, perMinute, runTime, runTimeAt } from "../../parts/worker";

export function holds(m: Model, worker: ListedWorker): Node {
  return box("div", "", [
    plainPanel("Status", [box("div", "pb", [why(m, worker)]), numbers(m, worker)]),
    list(m, worker),
    isOld(worker) && holdsAny(worker) ? warning(worker) : nothing,
  ]);
}

function why(m: Model, worker: ListedWorker): Node {
  const beatAt = worker.lastHeartbeatAt;
  const waits = waitingBehind(worker);
  const wait =
    waits.value > 0 ? `; ${countedValue(waits, "job waits", "jobs wait")} behind them` : "";
  const locks = holdsAny(worker)
    ? ` It has locked ${holdings([worker])}${wait}.`
    : " It holds no locks.";
  if (worker.state === "stale") {
    const lead = `Not responding: no heartbeat ${durationText(beatAt, m.times)}.`;
    return statusLine(
      "bad",
      lead,
      ` The last one came at ${clockAt(beatAt, m.serverNow)}.${locks}`,
    );
  }
  if (worker.state === "alive") return statusLine("run", "Alive.", ` ${heartbeatText(m, worker)}`);
  const old = isNaN(worker.oldestLockAt)
    ? ""
    : ` It has held its oldest lock ${durationText(worker.oldestLockAt, m.times)}.`;
  return statusLine(
    isOld(worker) ? "warn" : "",
    "No heartbeats.",
    `${locks}${old} Graphile workers send none: check that it is still running.`,
  );
}

function statusLine(tone: string, lead: string, rest: string): Node {
  return box("div", "why-box " + tone, [leaf("span", "lead", lead), text(rest)]);
}

function heartbeatText(m: Model, worker: ListedWorker): string {
  const runs = fits(worker, worker.running)
    ? `${valueText(worker.running)} of ${numberText(worker.slots)} slots in use`
    : `Runs ${countedValue(worker.running, "job", "jobs")}`;
  return `Last heartbeat ${ago(worker.lastHeartbeatAt, m.times)}. ${runs}${fetchedText(worker)}.`;
}

/** Returns a text such as `, 45 more fetched`; empty if the worker has no jobs that are fetched and not started. */
function fetchedText(worker: ListedWorker): string {
  const fetched = fetchedJobs(worker);
  return fetched > 0 ? `, ${numberText(fetched)} more fetched` : "";
}

function numbers(m: Model, worker: ListedWorker): Node {
  const waits = waitingBehind(worker);
  const oldest = oldestBehind(worker);
  const jobs = currentJobs(worker);
  const first = jobs.length > 0 ? jobs[0].since : NaN;
  const isAlive = worker.state === "alive";
  const list: Node[] = [
    figure(
      isAlive ? "Running" : "Jobs locked",
      valueNode(jobCount(worker), ""),
      // A worker that is not alive may no longer run its jobs, but it still holds their locks. So the time until now is
      // shown for such a worker, not the time until its last heartbeat.
      isNaN(first)
        ? ""
        : "the longest for " + (isAlive ? runTime(m, worker, first) : age(first, m.times)),
    ),
    figure("Queues locked", text(numberText(worker.lockedQueues)), ""),
    figure(
      "Jobs blocked",
      valueNode(waits, ""),
      isNaN(oldest) ? "" : "oldest " + age(oldest, m.times),
    ),
  ];
  if (fetchedJobs(worker) > 0) {
    list.push(figure("Fetched", text(numberText(fetchedJobs(worker))), "not started"));
  }
  const done = perMinute(worker.donePerMin);
  const failed = perMinute(worker.failedPerMin);
  // The rates of a worker that is not responding are out of date.
  if (done.length > 0 && isAlive) {
    list.push(figure("Jobs/min", text(done), failed.length > 0 ? failed + " failed" : ""));
  }
  return figures(list);
}

/**
 * Returns the number of jobs that wait in the queues that the worker has locked. If not all of these queues were read,
 * the number includes only the jobs of those that were read.
 */
function waitingBehind(worker: ListedWorker): Value {
  const sum = Value.empty();
  sum.precision = worker.queues.length < worker.lockedQueues ? "capped" : "exact";
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
const STALE_COLUMNS: string[] = ["=Job or queue", "num w4=For", "w8 w-mid=After unlocking"];

function list(m: Model, worker: ListedWorker): Node {
  const isStale = isOld(worker);
  const rows: Node[] = [];
  const jobs = currentJobs(worker);
  for (let i = 0; i < jobs.length; i++) rows.push(jobRow(m, worker, jobs[i], isStale));
  for (let i = 0; i < worker.queues.length; i++) rows.push(queueRow(m, worker.queues[i], isStale));
  const left = jobCount(worker).value - jobs.length;
  const longest = left > 0 ? `${numberText(jobs.length)} longest-running jobs` : "";
  const at = jobs.length > 0 ? runTimeAt(m, worker) : "";
  const remark = longest.length > 0 && at.length > 0 ? `${longest}, ${at}` : longest + at;
  const title = worker.state === "alive" ? "Running jobs" : "Locks";
  return tablePanel(title, remark, [], "holds", isStale ? STALE_COLUMNS : COLUMNS, rows);
}

function jobRow(m: Model, worker: ListedWorker, job: RunningJob, isStale: bool): Node {
  return row("j" + job.id.toString(), "", [
    cell("", [jobInRow("running", job.task, job.id)]),
    cell("num dim", [timeElement(job.since, runTime(m, worker, job.since))]),
    isStale ? cell("dim w-mid", [text("runs again if attempts are left")]) : nothing,
  ]);
}

function queueRow(m: Model, queue: ListedQueue, isStale: bool): Node {
  const after =
    queue.ready.value > 0
      ? `${countedValue(queue.ready, "job runs", "jobs run, one at a time")}`
      : "unlocked for the next job";
  return row("q" + queue.queueName, "", [
    cell("", [
      link(queuePath(queue.queueName), "row", [
        box("span", "st", [icon(LAYERS)]),
        cutName(queue.queueName, "name"),
      ]),
    ]),
    cell("num dim", [timeElement(queue.lockedAt, age(queue.lockedAt, m.times))]),
    isStale ? cell("dim w-mid", [text(after)]) : nothing,
  ]);
}

function warning(worker: ListedWorker): Node {
  const jobs = currentJobs(worker);
  const what =
    jobs.length === 1
      ? `#${jobs[0].id}`
      : jobs.length > 1
        ? countText(jobs.length, "job", "jobs")
        : "a job";
  return note("warn", [
    leaf("b", "", "Only unlock a worker that no longer runs."),
    leaf(
      "span",
      "",
      `If it is alive but cut off, it may finish ${what} while another worker runs ${jobs.length > 1 ? "them" : "it"} again.`,
    ),
  ]);
}
