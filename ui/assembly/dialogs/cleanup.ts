/** Cleans up what was chosen on the maintenance page, and counts what would be deleted. */
import { Form } from "../forms/form";
import { Node, nothing } from "../lib/node";
import { counted } from "../lib/number";
import { Model } from "../model/model";
import { OpenDialog } from "../model/open-dialog";
import { CommandDialog } from "./command";

const DELETE_FAILED = "delete-permanently-failed-jobs";

export class CleanupDialog extends CommandDialog {
  override text(m: Model, dialog: OpenDialog): string {
    const draft = dialog.draft;
    const steps: string[] = [];
    if (draft.on(DELETE_FAILED)) {
      const failed = counted(m.overview.stats.failed, "job", "jobs");
      steps.push(`Jobs that failed for good are deleted: ${failed} as of now.`);
    }
    if (draft.on("gc-task-identifiers")) steps.push("Task identifiers without jobs are removed.");
    if (draft.on("gc-job-queues")) steps.push("Queues without jobs are removed.");
    return steps.join(" ");
  }

  /** Names without jobs are no loss. */
  override danger(_m: Model, dialog: OpenDialog): bool {
    return this.command.destroys && dialog.draft.on(DELETE_FAILED);
  }

  /** What is cleaned up was chosen on the page. */
  override form(_m: Model, _dialog: OpenDialog): Node {
    return nothing;
  }

  protected override members(_m: Model, dialog: OpenDialog, form: Form): void {
    const tasks: string[] = [];
    const all = this.command.fields[0].choices;
    for (let i = 0; i < all.length; i++) if (dialog.draft.on(all[i])) tasks.push(all[i]);
    form.body.strings("cleanup_tasks", tasks);
  }
}
