/** The open dialog: it says what it will touch, asks for what it needs, and shows why it failed. */
import { button } from "../controls/button";
import { state } from "../controls/glyph";
import { ListedJob } from "../generated/records";
import { attr, box, cls, el, flag, key, leaf, Node, nothing, text } from "../lib/node";
import { grouped } from "../lib/number";
import { Dialog, Model } from "../model/model";
import { OpenDialog } from "../model/open-dialog";

/** This many of the jobs are named; of the others, the number. */
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
      attr("data-keys", "Mod+enter"),
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
  const reason = record.blocked(dialog);
  const isOff = dialog.busy || reason.length > 0;
  const said = record.footnote();
  return box("div", "dialog-buttons", [
    said.length > 0 ? leaf("span", "hint said", said) : nothing,
    button("Cancel", "dialog.close", "", "q"),
    el(
      "button",
      [
        attr("type", "submit"),
        cls("btn " + kind),
        // Behind every field that takes it first; what destroys, or many jobs at once, is not a mere Enter.
        flag("autofocus", kind === "p" && !record.wide),
        // A disabled button would lose the focus.
        attr("aria-disabled", isOff ? "true" : "false"),
        attr("title", reason),
        attr("aria-description", reason),
      ],
      [text(dialog.busy ? "Working…" : record.verb(dialog))],
    ),
  ]);
}

function named(dialog: OpenDialog): Node {
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
      state(job.state),
    ],
  );
}
