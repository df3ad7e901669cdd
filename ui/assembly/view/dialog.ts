/** The open dialog: it says what it will touch, asks for what it needs, and shows why it failed. */
import { Ask, Dialog } from "../app/dialog";
import { Model } from "../app/model";
import { ListedJob } from "../generated/records";
import { attr, box, cls, el, flag, key, leaf, Node, nothing, text } from "../lib/node";
import { grouped } from "../lib/number";
import { button, stateBadge } from "./controls";
import { addForm, failForm, keyForm, rescheduleForm, runNowForm } from "./dialog-forms";
import { consequence, dangerous, dialogTitle, dialogVerb, exception } from "./dialog-text";

/** This many of the jobs are named; of the others, the number. */
const NAMED = 6;

export function dialogView(m: Model): Node {
  const dialog = m.dialog;
  if (dialog === null) return nothing;
  const wide = dialog.ask === Ask.AddJob;
  const before = consequence(m, dialog);
  const except = exception(dialog);
  return el(
    "dialog",
    [
      key("dialog-" + (<i32>dialog.ask).toString()),
      cls(wide ? "dialog wide" : "dialog"),
      attr("data-modal", "dialog.close"),
      attr("aria-labelledby", "dialog-title"),
      attr("aria-describedby", "dialog-text"),
    ],
    [
      el(
        "form",
        [attr("data-submit", "dialog.submit"), flag("novalidate", true)],
        [
          el("h2", [attr("id", "dialog-title")], [text(dialogTitle(dialog))]),
          el(
            "div",
            [attr("id", "dialog-text"), cls("dialog-text")],
            [
              before.length > 0 ? leaf("p", "", before) : nothing,
              except.length > 0 ? leaf("p", "except", except) : nothing,
            ],
          ),
          named(dialog),
          form(m, dialog),
          dialog.error.length > 0
            ? el("p", [cls("fault dialog-error"), attr("role", "alert")], [text(dialog.error)])
            : nothing,
          buttons(m, dialog),
        ],
      ),
    ],
  );
}

function buttons(m: Model, dialog: Dialog): Node {
  const kind = dangerous(m, dialog) ? "danger" : "primary";
  return box("div", "dialog-buttons", [
    button("Cancel", "dialog.close", "", "quiet"),
    el(
      "button",
      [
        attr("type", "submit"),
        cls("button " + kind),
        // A disabled button would lose the focus.
        attr("aria-disabled", dialog.busy ? "true" : "false"),
      ],
      [text(dialog.busy ? "Working…" : dialogVerb(dialog))],
    ),
  ]);
}

function named(dialog: Dialog): Node {
  const items: Node[] = [];
  const jobs = dialog.jobs;
  const size = jobs.length > 0 ? jobs.length : dialog.workers.length;
  for (let i = 0; i < min(size, NAMED); i++) {
    items.push(jobs.length > 0 ? namedJob(jobs[i]) : leaf("li", "mono", dialog.workers[i]));
  }
  if (size > NAMED) items.push(leaf("li", "faint", `and ${grouped(size - NAMED)} more`));
  return items.length > 0 ? box("ul", "named", items) : nothing;
}

function namedJob(job: ListedJob): Node {
  const task = job.taskIdentifier;
  return el(
    "li",
    [],
    [
      leaf("span", "num", `#${job.id}`),
      leaf("span", "named-task", task === null ? "(no task)" : task),
      stateBadge(job.state),
    ],
  );
}

function form(m: Model, dialog: Dialog): Node {
  switch (dialog.ask) {
    case Ask.AddJob:
      return addForm(m, dialog.draft);
    case Ask.Fail:
      return failForm(dialog.draft);
    case Ask.RunNow:
      return runNowForm(dialog);
    case Ask.Reschedule:
      return rescheduleForm(m, dialog.draft);
    case Ask.RemoveByKey:
      return keyForm(dialog.draft);
    default:
      return nothing;
  }
}
