/**
 * The jobs of a named queue, on the page of the queue: figures with the numbers of jobs, and a table with the running
 * job and the next due jobs, in the order in which they run.
 */
import { ageText, agoElement, durationText, timeElement } from "../../controls/age";
import { link } from "../../controls/button";
import { empty } from "../../controls/empty";
import { figure, figures, panel } from "../../controls/panel";
import { cell, row, table } from "../../controls/table";
import { valueNode, valueText } from "../../controls/value";
import { QueueDetails, QueuedJob, Value } from "../../generated/records";
import { leaf, Node, nothing, text } from "../../lib/node";
import { numberText } from "../../lib/number";
import { queryPath, queueQuery } from "../../model/links";
import { Model } from "../../model/model";
import { jobInRow } from "../../parts/exact-name";
import { hasLock, isBlocked, isStuck } from "../../parts/queue";

const COLUMNS: string[] = ["=Job", "w7 w-mid=Waiting for", "num w5=Due", "num w4 w-mid=Attempts"];

export function numbers(m: Model, details: QueueDetails): Node {
  const queue = details.queue;
  const oldest = queue.oldestReadyAt;
  const ofQueue = queueQuery(queue.queueName);
  const waits = isNaN(oldest) || queue.ready.value === 0 ? "" : "oldest " + due(m, oldest);
  const newest = details.arrivals.length > 0 ? details.arrivals[0].createdAt : NaN;
  return figures([
    figure("Waiting", number(queue.ready, ofQueue + " is:due"), waits),
    // Retries that are not due yet are counted, too.
    figure("Not due", number(queue.scheduled, ofQueue + " is:scheduled,retrying -is:due"), ""),
    figure("Failed", number(queue.failed, ofQueue + " is:failed"), ""),
    figure(
      "Last added",
      agoElement(newest, m.times),
      isStuck(queue) ? pace(details.arrivals, m.serverNow) : "",
    ),
  ]);
}

/** Returns the number of some jobs, with a link to these jobs if there are any. */
function number(value: Value, query: string): Node {
  const node = valueNode(value, "");
  return value.value === 0 ? node : link(queryPath(query), "link", [node]);
}

/**
 * Returns the rate at which the latest jobs were added in the last 10 minutes, such as `2.5/min`; empty if fewer than
 * five jobs were added, or all within a minute. Completed jobs are not counted, because they are no longer in the
 * table. So the rate is used only for a stuck queue, in which no job is completed.
 */
function pace(arrivals: QueuedJob[], now: f64): string {
  let last = arrivals.length - 1;
  while (last > 3 && now - arrivals[last].createdAt > 600000) last--;
  if (last < 4) return "";
  const minutes = (arrivals[0].createdAt - arrivals[last].createdAt) / 60000;
  if (minutes < 1) return "";
  const tenths = <i64>Math.round((<f64>last / minutes) * 10);
  return tenths === 0 ? "" : `${numberText(tenths / 10)}.${tenths % 10}/min`;
}

export function order(m: Model, details: QueueDetails): Node {
  const queue = details.queue;
  const running = details.running;
  const rows: Node[] = [];
  if (running !== null)
    rows.push(jobRow(running, "running", isStuck(queue) ? "worker not responding" : "", "running"));
  const condition = isBlocked(queue) ? "blocked" : "ready";
  for (let i = 0; i < details.next.length; i++) {
    const job = details.next[i];
    rows.push(jobRow(job, condition, waitsFor(details, i), due(m, job.runAt)));
  }
  const all = link(queryPath(queueQuery(queue.queueName)), "", [
    text(`All ${valueText(queue.total)}`),
  ]);
  return panel(
    "Next jobs",
    "by priority, due time, id",
    [all],
    [
      rows.length > 0
        ? table("order", "Jobs in order", COLUMNS, rows)
        : empty("No due jobs", "", "/queues", "All queues"),
      details.nextComplete
        ? nothing
        : leaf("p", "pf", "Only the first due jobs were searched: there may be more."),
    ],
  );
}

function jobRow(job: QueuedJob, condition: string, waits: string, when: string): Node {
  return row(job.id.toString(), "", [
    cell("", [jobInRow(condition, job.task, job.id)]),
    cell("dim w-mid", [text(waits)]),
    cell("num dim", [timeElement(job.runAt, when)]),
    cell("num dim w-mid", [text(`${job.attempts} of ${job.maxAttempts}`)]),
  ]);
}

/** Returns what the due job at this place waits for, such as `2 ahead` or `after #12`. */
function waitsFor(details: QueueDetails, place: i32): string {
  const running = details.running;
  if (place > 0) return `${place} ahead`;
  if (running !== null && hasLock(details.queue)) return `after #${running.id}`;
  const paused = details.queue.paused;
  if (paused !== null) return `the end of the ${paused.backsOff ? "back-off" : "pause"}`;
  if (hasLock(details.queue)) return "the queue lock";
  return details.queue.running.value > 0 ? "a free slot" : "a free worker";
}

/** Returns `2 h 9 m late`; if the page's data are stale, `since 22:11:02`. */
function due(m: Model, at: f64): string {
  return m.times.stale ? durationText(at, m.times) : ageText(m.times.now - at) + " late";
}
