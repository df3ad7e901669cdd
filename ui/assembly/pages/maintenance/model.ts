/** What the maintenance page knows: its settings, and whether a dry run is under way. */
import { Draft } from "../../forms/draft";
import { commandNamed } from "../../generated/commands";

export const DELETE_FAILED: string = "delete-permanently-failed-jobs";
export const GC_TASKS: string = "gc-task-identifiers";
export const GC_QUEUES: string = "gc-job-queues";

export class MaintenanceModel {
  draft: Draft = new Draft();
  busy: bool = false;

  constructor() {
    this.draft.set(GC_TASKS, "on");
    this.draft.set(GC_QUEUES, "on");
  }

  get cleansSomething(): bool {
    const draft = this.draft;
    return draft.on(DELETE_FAILED) || draft.on(GC_TASKS) || draft.on(GC_QUEUES);
  }

  /** The sweep's settings in one text, so that a change after the dry run shows. */
  sweepSettings(): string {
    const fields = commandNamed("sweep").fields;
    const values: string[] = [];
    for (let i = 0; i < fields.length; i++) values.push(this.draft.value(fields[i].name).trim());
    return values.join(" s, ") + " s";
  }
}
