/** Draws a job: its head, the explanation of its condition, its error, its payload, its facts, its shell command. */
import { empty, problem } from "../controls/empty";
import { pageHead, shellPanel } from "../controls/panel";
import { attr, box, el, leaf, Node, nothing } from "../lib/node";
import { Model } from "../model/model";
import { facts } from "./facts";
import { crumbRow, endedNote, jobHead } from "./head";
import { JobView } from "./job-view";
import { whyPanel } from "./why";

/**
 * Returns the nodes of the job: a placeholder until the job has arrived, or a note if the job was not found. `beside`:
 * whether they are in a column beside a list.
 */
export function drawJob(m: Model, view: JobView, beside: bool): Node {
  const job = view.job;
  if (job === null) return waiting(m, view, beside);
  const why = view.why;
  const error = job.lastError;
  const main = [
    why !== null
      ? whyPanel(m, job, why)
      : box("section", "panel", [
          view.explained.error.length > 0
            ? problem(view.explained.error)
            : view.explained.placeholder(m, 1),
        ]),
    error === null ? nothing : view.error.view(error, job.lastErrorTruncated, nothing),
    view.payload.view(m, job, view.comparison),
  ];
  const aside = [facts(m, job, why, view.payload.size), shellPanel(view.command(m))];
  return box("div", beside ? "job-page beside-list" : "job-page", [
    beside ? nothing : crumbRow(m, view),
    jobHead(m, view, job, beside),
    endedNote(m, view),
    view.head.error.length > 0 ? problem(view.head.error) : nothing,
    box("div", beside ? "" : "cols b", [
      box("div", "", main),
      el("aside", [attr("aria-label", "Job details")], aside),
    ]),
  ]);
}

function waiting(m: Model, view: JobView, beside: bool): Node {
  const title = `Job ${view.id}`;
  return box("div", "job-page", [
    beside ? nothing : crumbRow(m, view),
    beside ? leaf("h2", "job-title", title) : pageHead(title, []),
    view.head.missing
      ? empty(
          `${title} not found`,
          "It has finished, was removed, or never existed.",
          m.shared.listPath,
          "All jobs",
        )
      : view.head.placeholder(m, 6),
  ]);
}
