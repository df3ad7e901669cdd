/** Takes the locks of chosen workers away, and says what these hold and which of them still live. */
import { Form } from "../forms/form";
import { counted } from "../lib/number";
import { Model } from "../model/model";
import { OpenDialog } from "../model/open-dialog";
import { WorkerRow, workerRows } from "../records/worker-rows";
import { CommandDialog } from "./command";

export class UnlockDialog extends CommandDialog {
  override open(_m: Model, dialog: OpenDialog, _arg: string): bool {
    return dialog.workers.length > 0;
  }

  override title(dialog: OpenDialog): string {
    return `${this.command.verb} ${counted(dialog.workers.length, "worker", "workers")}`;
  }

  override text(m: Model, dialog: OpenDialog): string {
    const rows = workerRows(m.overview);
    let held: i64 = 0;
    let queues: i64 = 0;
    let alive = 0;
    for (let i = 0; i < rows.length; i++) {
      const row: WorkerRow = rows[i];
      if (!dialog.workers.includes(row.id)) continue;
      held += row.lockedJobs;
      queues += row.lockedQueues;
      if (row.status === "alive") alive++;
    }
    const what = `${counted(held, "job", "jobs")} and ${counted(queues, "queue", "queues")}`;
    const warning =
      alive > 0
        ? ` ${counted(alive, "of these workers still sends", "of these workers still send")} a heartbeat: a job that is running may run twice.`
        : " If a process still lives, its jobs may run twice.";
    return `${what} are unlocked and may run again at once.${warning}`;
  }

  protected override members(_m: Model, dialog: OpenDialog, form: Form): void {
    form.body.strings("worker_ids", dialog.workers);
  }
}
