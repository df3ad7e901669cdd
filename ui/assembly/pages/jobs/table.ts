/** The table of jobs. The rows take the arrow keys; one of them takes the tab key. */
import { check, copyButton } from "../../controls/button";
import { firstLine } from "../../controls/empty";
import { state } from "../../controls/glyph";
import { when } from "../../controls/when";
import { ListedJob } from "../../generated/records";
import { Attr, attr, box, cls, el, key, leaf, Node, nothing, text } from "../../lib/node";
import { jobPath, queueJobsPath } from "../../model/links";
import { Model } from "../../model/model";
import { JobListModel } from "./model";

export function jobsTable(m: Model, list: JobListModel): Node {
  const rows: Node[] = [];
  for (let i = 0; i < list.jobs.length; i++) rows.push(row(m, list, i));
  return el(
    "div",
    [cls(list.loading ? "table-frame loading-rows" : "table-frame"), attr("data-hold", "")],
    [
      el(
        "table",
        [
          cls(m.access.canWrite ? "t jobs" : "t jobs no-select"),
          attr("role", "grid"),
          attr("aria-label", "Jobs"),
          attr("aria-multiselectable", m.access.canWrite ? "true" : "false"),
          attr("data-key", "jobs.key"),
          attr("data-keys", "ArrowDown ArrowUp Home End Space Enter Escape"),
        ],
        [head(m, list), el("tbody", [], rows)],
      ),
    ],
  );
}

function head(m: Model, list: JobListModel): Node {
  const all = list.selected.size > 0 && list.selected.size >= list.jobs.length - list.gone.size;
  return el(
    "thead",
    [],
    [
      el(
        "tr",
        [],
        [
          m.access.canWrite
            ? heading("col-select", check("Select all", "jobs.select-all", "", all))
            : nothing,
          heading("col-id", text("Id")),
          heading("col-task", text("Task")),
          heading("col-state", text("State")),
          heading("col-queue", text("Queue")),
          heading("col-priority", text("Priority")),
          heading("col-attempts", text("Attempts")),
          heading("col-run", text("Run at")),
          heading("col-key", text("Key")),
          heading("col-why", text("Error or lock")),
        ],
      ),
    ],
  );
}

function heading(name: string, content: Node): Node {
  return el("th", [attr("scope", "col"), cls(name)], [content]);
}

function row(m: Model, list: JobListModel, index: i32): Node {
  const job = list.jobs[index];
  const id = job.id.toString();
  const gone = list.gone.has(job.id);
  const selected = list.selected.has(job.id);
  const attrs: Attr[] = [
    key(id),
    attr("id", "job-" + id),
    cls(gone ? "gone" : ""),
    attr("tabindex", index === list.current ? "0" : "-1"),
    attr("data-arg", id),
  ];
  if (m.access.canWrite) attrs.push(attr("aria-selected", selected ? "true" : "false"));
  return el("tr", attrs, [
    m.access.canWrite
      ? cell("col-select", check(`Select job ${id}`, "jobs.select", id, selected))
      : nothing,
    el("td", [cls("col-id")], [text(id), copyButton(`id ${id}`, id, false)]),
    cell("col-task", taskLink(job)),
    cell("col-state", gone ? leaf("span", "state gone", "left") : state(job.state)),
    cell("col-queue", queueLink(job)),
    cell("col-priority", text(job.priority.toString())),
    cell("col-attempts", text(`${job.attempts}/${job.maxAttempts}`)),
    cell("col-run", when(job.runAt, m.serverNow)),
    keyCell(job),
    cell("col-why", why(job, m.serverNow)),
  ]);
}

function cell(name: string, content: Node): Node {
  return el("td", [cls(name)], [content]);
}

function taskLink(job: ListedJob): Node {
  const task = job.taskIdentifier;
  const name = task === null ? "(no task)" : task;
  return el(
    "a",
    [attr("href", "#" + jobPath(job.id)), cls("task"), attr("title", name), attr("tabindex", "-1")],
    [text(name)],
  );
}

function queueLink(job: ListedJob): Node {
  const queue = job.queueName;
  if (queue === null) return leaf("span", "none", "–");
  return el(
    "a",
    [attr("href", "#" + queueJobsPath(queue)), attr("title", queue), attr("tabindex", "-1")],
    [text(queue)],
  );
}

function keyCell(job: ListedJob): Node {
  const value = job.key;
  if (value === null) return cell("col-key", leaf("span", "none", "–"));
  return el(
    "td",
    [cls("col-key"), attr("title", value)],
    [leaf("span", "key-text", value), copyButton("key", value, false)],
  );
}

/** What one wants to know next: who holds the job, or what went wrong with it. */
function why(job: ListedJob, now: f64): Node {
  const worker = job.lockedBy;
  const error = job.lastError;
  if (!isNaN(job.lockedAt)) {
    return box("span", "lock", [
      leaf("span", "", worker === null ? "locked" : worker),
      text(" "),
      when(job.lockedAt, now),
    ]);
  }
  if (error === null) return nothing;
  return el(
    "code",
    [cls("error-line"), attr("title", error.substring(0, 1000))],
    [text(firstLine(error))],
  );
}
