/** The panels on the page of one error group. */
import { ago, agoElement, clockAt, timeElement } from "../../controls/age";
import { link } from "../../controls/button";
import { figure, figures, panel, plainPanel } from "../../controls/panel";
import { sparkline } from "../../controls/spark";
import { cell, row, table } from "../../controls/table";
import { valueNode, valueText } from "../../controls/value";
import { Group } from "../../generated/records";
import { box, leaf, Node, nothing, text } from "../../lib/node";
import { numberText } from "../../lib/number";
import { quote } from "../../lib/quoting";
import { jobPath, queryPath, queuePath } from "../../model/links";
import { Model } from "../../model/model";
import { percent } from "../../parts/common";
import { ErrorGroup, valueOf } from "../../parts/error-group";
import { cutName, jobInRow } from "../../parts/exact-name";
import { Details } from "./details";

const JOB_COLUMNS: string[] = ["=Job", "num w5=Failed"];
const PLACE_COLUMNS: string[] = ["=Name", "num w5=Jobs"];
export function numbers(m: Model, group: ErrorGroup): Node {
  const failed = group.failed;
  const isExact = failed === null || failed.count.precision === "exact";
  const ofRead = isExact ? "" : ", among the jobs read";
  return plainPanel("Numbers", [
    figures([
      figure("Failed", valueNode(valueOf(failed), ""), share(m, failed)),
      figure("Retrying", valueNode(valueOf(group.retrying), ""), ""),
      when(m, "First", group.first, ofRead),
      when(m, "Last", group.last, ""),
    ]),
    trend(group),
  ]);
}

/**
 * The group's share of all failed jobs, as text; empty if it is unknown. The number of all failed jobs is from the
 * feed, because an answer about groups may contain only this group.
 */
function share(m: Model, failed: Group | null): string {
  const all = <f64>m.facts.counts.failed.value;
  if (failed === null || !m.facts.has("counts") || all === 0) return "";
  return `${percent(Math.min(1, <f64>failed.count.value / all))} of all failed jobs`;
}

function when(m: Model, name: string, at: f64, rest: string): Node {
  const clock = timeElement(at, clockAt(at, m.serverNow));
  return figure(name, clock, isNaN(at) || m.times.stale ? "" : ago(at, m.times) + rest);
}

function trend(group: ErrorGroup): Node {
  const counts = group.trend;
  let most: i64 = 0;
  for (let i = 0; i < counts.length; i++) most = max(most, counts[i]);
  // Failures whose time is unknown may be of the last 3 hours, so the text below could be untrue.
  if (most === 0 && isNaN(group.first)) return nothing;
  if (most === 0) return leaf("p", "pb faint", "None in the last 3 hours.");
  return box("figure", "trend", [
    // A bar covers 7.5 minutes. No rate is shown, because all failures of a bar may have occurred in the same second.
    leaf("figcaption", "", `Failures in the last 3 h (peak ${numberText(most)} in 7 m 30 s)`),
    sparkline(counts, "failed", "failures, last 3 h", 960, 88),
    box("div", "ends", [
      leaf("span", "", "3 h ago"),
      leaf("span", "", "2 h ago"),
      leaf("span", "", "1 h ago"),
      leaf("span", "", "now"),
    ]),
  ]);
}

/** The panel with the whole error of the first job in the panel Latest jobs. */
export function errorView(m: Model, details: Details): Node {
  const data = details.example;
  const error = details.job.lastError;
  if (data.ready && error !== null) {
    const whose = link(jobPath(details.job.id), "", [text(`Job ${details.job.id}`)]);
    return details.panel.view(error, false, whose);
  }
  return panel(
    "Stack trace",
    "",
    [],
    [
      box("div", "pb", [
        data.missing ? leaf("p", "dim", "This job no longer exists.") : data.placeholder(m, 3),
      ]),
    ],
  );
}

export function newest(m: Model, details: Details, all: string, query: string): Node {
  const jobs = details.jobs;
  const rows: Node[] = [];
  for (let i = 0; i < jobs.length; i++) {
    const job = jobs[i];
    const at = job.conditionSince;
    rows.push(
      row(job.id.toString(), "", [
        cell("", [jobInRow("", job.taskIdentifier, job.id)]),
        cell("num dim", [isNaN(at) ? nothing : agoElement(at, m.times)]),
      ]),
    );
  }
  return panel(
    "Latest jobs",
    "",
    [link(queryPath(query), "", [text(`All ${all}`)])],
    [
      details.newest.ready
        ? table("newest", "Latest jobs", JOB_COLUMNS, rows)
        : box("div", "pb", [details.newest.placeholder(m, 3)]),
    ],
  );
}

/** The panel with the tasks and named queues of the group's jobs, and the number of jobs of each (details.ts). */
export function places(m: Model, group: ErrorGroup, details: Details, query: string): Node {
  const tasks = group.tasks;
  const all = group.failedCount + group.retryingCount;
  const rows: Node[] = [];
  for (let i = 0; i < tasks.length && !details.tasks.ready; i++) {
    const path = queryPath(`${query} task:${quote(tasks[i])}`);
    rows.push(place("task", tasks[i], tasks.length === 1 ? "all" : "", path));
  }
  for (let i = 0; i < details.ofTasks.length && details.tasks.ready; i++) {
    const group = details.ofTasks[i];
    rows.push(
      place(
        "task",
        group.label,
        part(group, all),
        queryPath(`${query} task:${quote(group.label)}`),
      ),
    );
  }
  for (let i = 0; i < details.ofQueues.length; i++) {
    const group = details.ofQueues[i];
    rows.push(place("queue", group.label, part(group, all), queuePath(group.label)));
  }
  return panel(
    "Tasks and queues",
    "",
    [],
    [
      table("where", "Tasks and queues", PLACE_COLUMNS, rows),
      details.queues.ready ? nothing : details.queues.placeholder(m, 1),
    ],
  );
}

/**
 * Returns how many jobs a task or queue (`group`) has, as text. `all`: the number of jobs of the error group. If the
 * task or queue has all of these jobs, the text is `all` or `≈ all`.
 */
function part(group: Group, all: i64): string {
  const isEstimate = group.count.precision !== "exact";
  if (group.count.value < all) return valueText(group.count);
  return isEstimate ? "≈ all" : "all";
}

function place(what: string, name: string, count: string, path: string): Node {
  return row(what + name, "", [
    cell("", [link(path, "row", [leaf("span", "faint place", what), cutName(name, "name")])]),
    cell("num", [text(count)]),
  ]);
}
