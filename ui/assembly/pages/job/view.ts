/** One job: what it is, what it carries, what went wrong, and what can be done. */

import { absolute } from "../../controls/age";
import { button, copyButton, link } from "../../controls/button";
import { empty, loading, problem } from "../../controls/empty";
import { state } from "../../controls/glyph";
import { BACK, icon } from "../../controls/icon";
import { pageHead } from "../../controls/panel";
import { relative, span, when } from "../../controls/when";
import { askButton, commandsFor } from "../../forms/command-buttons";
import { ListedJob } from "../../generated/records";
import { jsonTree } from "../../kit/json-tree";
import { attr, box, cls, el, leaf, Node, nothing, text } from "../../lib/node";
import { queueJobsPath } from "../../model/links";
import { Model } from "../../model/model";
import { JobModel } from "./model";

export function jobView(m: Model, model: JobModel): Node {
  const job = model.job;
  const title = model.title;
  const back = link(m.known.listPath, "crumb", [icon(BACK), text("Jobs")]);
  if (model.missing || job === null) {
    return box("div", "job-page", [
      back,
      pageHead(title, []),
      model.error.length > 0 ? problem(model.error) : nothing,
      model.missing
        ? empty(`${title} isn't here`, "It was completed or removed, or it never was.")
        : model.error.length > 0
          ? nothing
          : loading(),
    ]);
  }
  return box("div", "job-page", [
    back,
    pageHead(title, m.access.canWrite ? actions(job) : []),
    model.error.length > 0 ? problem(model.error) : nothing,
    box("div", "job-line", [
      leaf("strong", "job-task", taskOf(job)),
      state(job.state),
      box("span", "job-sentence", sentence(job, m.serverNow)),
    ]),
    box("div", "job-columns", [
      box("div", "column", [lastError(job), payload(job, model.raw)]),
      facts(job, m.serverNow),
    ]),
  ]);
}

function taskOf(job: ListedJob): string {
  const task = job.taskIdentifier;
  return task === null ? "(no task)" : task;
}

function actions(job: ListedJob): Node[] {
  const key = job.key;
  const buttons = [key === null ? nothing : button("Remove by key…", "ask.remove", key, "q")];
  const offered = commandsFor([job]);
  // The last one is what one wants most.
  for (let i = 0; i < offered.length; i++) {
    buttons.push(askButton(offered[i], i === offered.length - 1 ? "p" : ""));
  }
  return buttons;
}

/** The state in words. */
function sentence(job: ListedJob, now: f64): Node[] {
  if (isNaN(job.lockedAt)) return [text(outlook(job, now))];
  const worker = job.lockedBy;
  return [
    text("Held by "),
    leaf("span", "", worker === null ? "a worker" : worker),
    text(` for ${span(max(0, now - job.lockedAt))}.`),
  ];
}

function outlook(job: ListedJob, now: f64): string {
  if (job.state === "failed") return "No attempts are left: it does not run again by itself.";
  if (job.state === "scheduled") return `Runs ${relative(job.runAt, now)}.`;
  if (job.state === "ready" && !job.isAvailable) return "It is time, but it has to wait.";
  return job.state === "ready" ? "Runs as soon as a worker is free." : "";
}

function lastError(job: ListedJob): Node {
  const error = job.lastError;
  if (error === null) return nothing;
  return box("section", "panel", [
    box("div", "panel-head", [leaf("h2", "", "Last error"), copyButton("the error", error, true)]),
    el(
      "pre",
      [cls("stack"), attr("tabindex", "0"), attr("aria-label", "Last error")],
      [text(error)],
    ),
  ]);
}

function payload(job: ListedJob, raw: bool): Node {
  return box("section", "panel", [
    box("div", "panel-head", [
      leaf("h2", "", "Payload"),
      el(
        "div",
        [cls("switch"), attr("role", "group"), attr("aria-label", "Show the payload as")],
        [choice("Tree", "job.tree", !raw), choice("Raw", "job.raw", raw)],
      ),
      copyButton("the payload", job.payload, true),
    ]),
    raw
      ? el(
          "pre",
          [cls("stack raw"), attr("tabindex", "0"), attr("aria-label", "Raw payload")],
          [text(job.payload)],
        )
      : jsonTree(job.payload),
  ]);
}

function choice(label: string, action: string, on: bool): Node {
  return el(
    "button",
    [
      attr("type", "button"),
      cls("switch-choice"),
      attr("data-click", action),
      attr("aria-pressed", on ? "true" : "false"),
    ],
    [text(label)],
  );
}

function facts(job: ListedJob, now: f64): Node {
  const queue = job.queueName;
  const key = job.key;
  const worker = job.lockedBy;
  return box("section", "panel facts-panel", [
    box("div", "panel-head", [leaf("h2", "", "Details")]),
    box("dl", "facts", [
      fact("Id", copied("id", job.id.toString())),
      fact("Task", copied("task identifier", taskOf(job))),
      fact("Queue", queue === null ? none() : link(queueJobsPath(queue), "", [text(queue)])),
      fact("Key", key === null ? none() : copied("key", key)),
      fact("Attempts", text(`${job.attempts} of ${job.maxAttempts}`)),
      fact("Priority", text(job.priority.toString())),
      fact("Run at", time(job.runAt, now)),
      fact("Created", time(job.createdAt, now)),
      fact("Updated", time(job.updatedAt, now)),
      fact("Locked", time(job.lockedAt, now)),
      fact("Locked by", worker === null ? none() : copied("worker id", worker)),
      fact("Revision", text(job.revision.toString())),
      fact("Flags", job.flags === "null" ? none() : leaf("code", "", job.flags)),
    ]),
  ]);
}

function fact(name: string, value: Node): Node {
  return box("div", "fact", [leaf("dt", "", name), el("dd", [], [value])]);
}

function none(): Node {
  return leaf("span", "none", "–");
}

function copied(what: string, value: string): Node {
  return box("span", "copied", [leaf("span", "copied-text", value), copyButton(what, value, true)]);
}

function time(at: f64, now: f64): Node {
  if (isNaN(at)) return none();
  return box("span", "two-times", [when(at, now), leaf("span", "faint", absolute(at))]);
}
