/** The frame of the open dialog: title, what the request will change, form, why the request failed, and buttons. */
import { ownButton } from "../controls/button";
import { problem } from "../controls/empty";
import { state } from "../controls/glyph";
import { ListedJob } from "../generated/records";
import { attr, box, cls, el, flag, key, leaf, Node, nothing, text } from "../lib/node";
import { numberText } from "../lib/number";
import { Dialog, Model } from "../model/model";
import { OpenDialog } from "../model/open-dialog";

/** The maximum number of jobs, workers or tasks that are listed. If there are more jobs, their tasks are listed. */
const NAMED = 6;

export function dialogView(m: Model): Node {
  const dialog = m.dialog;
  if (dialog === null) return nothing;
  const record = m.dialogNamed(dialog.name);
  if (record === null) return nothing;
  const before = record.text(m, dialog);
  const except = record.exception(dialog);
  return el(
    "dialog",
    [
      key("dialog-" + dialog.name),
      cls(record.wide ? "dialog wide" : "dialog"),
      attr("data-modal", "dialog.close"),
      attr("data-key", "dialog.submit"),
      attr("data-keys", "Mod+Enter"),
      attr("aria-labelledby", "dialog-title"),
      attr("aria-describedby", "dialog-text"),
    ],
    [
      el(
        "form",
        [attr("data-submit", "dialog.submit"), flag("novalidate", true)],
        [
          el("h2", [attr("id", "dialog-title")], [text(record.title(dialog))]),
          el(
            "div",
            [attr("id", "dialog-text"), cls("dialog-text")],
            [
              before.length > 0 ? leaf("p", "", before) : nothing,
              except.length > 0 ? leaf("p", "except", except) : nothing,
            ],
          ),
          named(dialog),
          record.form(m, dialog),
          dialog.unread.length > 0 ? problem(dialog.unread) : nothing,
          dialog.error.length > 0
            ? el("p", [cls("fault dialog-error"), attr("role", "alert")], [text(dialog.error)])
            : nothing,
          buttons(m, record, dialog),
        ],
      ),
    ],
  );
}

function buttons(m: Model, record: Dialog, dialog: OpenDialog): Node {
  const kind = record.danger(m, dialog) ? "danger" : "p";
  const isEager = record.eager(m, dialog);
  const reason = record.blocked(dialog);
  const isBusy = m.requests.isBusy(dialog);
  const isOff = isBusy || reason.length > 0;
  const footnote = record.footnote();
  const verb = record.verb(dialog);
  return box("div", "dialog-buttons", [
    footnote.length > 0 ? leaf("span", "hint after", footnote) : nothing,
    ownButton(
      "btn q",
      "dialog.close",
      "",
      // If a field of the form has `autofocus`, too, that field gets the focus, because it comes before this button.
      [flag("autofocus", !isEager)],
      // In a dialog about cancelling jobs, "Cancel" would be ambiguous.
      [text(record.title(dialog).startsWith("Cancel") ? "Back" : "Cancel")],
    ),
    el(
      "button",
      [
        attr("type", "submit"),
        cls("btn " + kind),
        flag("autofocus", isEager),
        // A disabled button would lose the focus.
        attr("aria-disabled", isOff ? "true" : "false"),
        attr("title", reason),
        attr("aria-description", reason),
      ],
      [text(isBusy ? "Working…" : verb)],
    ),
  ]);
}

function named(dialog: OpenDialog): Node {
  const items: Node[] = [];
  const jobs = dialog.jobs;
  const size = jobs.length > 0 ? jobs.length : dialog.workers.length;
  if (jobs.length > NAMED) return box("ul", "named", byTask(jobs));
  for (let i = 0; i < min(size, NAMED); i++) {
    items.push(jobs.length > 0 ? namedJob(jobs[i]) : leaf("li", "mono", dialog.workers[i]));
  }
  if (size > NAMED) items.push(leaf("li", "faint", `and ${numberText(size - NAMED)} more`));
  return items.length > 0 ? box("ul", "named", items) : nothing;
}

/** Returns rows with the number of jobs of each of the first NAMED tasks, and of all other tasks together. */
function byTask(jobs: ListedJob[]): Node[] {
  const counts = new Map<string, i32>();
  for (let i = 0; i < jobs.length; i++) {
    const name = nameOf(jobs[i]);
    counts.set(name, (counts.has(name) ? counts.get(name) : 0) + 1);
  }
  const names = counts.keys();
  const items: Node[] = [];
  let rest = jobs.length;
  for (let i = 0; i < min(names.length, NAMED); i++) {
    const count = counts.get(names[i]);
    rest -= count;
    items.push(
      el("li", [], [leaf("span", "num", numberText(count)), leaf("span", "named-task", names[i])]),
    );
  }
  if (rest > 0) items.push(leaf("li", "faint", `and ${numberText(rest)} of other tasks`));
  return items;
}

function nameOf(job: ListedJob): string {
  const task = job.taskIdentifier;
  return task === null ? "(no task)" : task;
}

function namedJob(job: ListedJob): Node {
  return el(
    "li",
    [],
    [
      leaf("span", "num", `#${job.id}`),
      leaf("span", "named-task", nameOf(job)),
      state(job.condition.length > 0 ? job.condition : job.state),
    ],
  );
}
