/** The maintenance page: its forms, and what the last action answered. */
import { Draft } from "./draft";

export const DELETE_FAILED: string = "delete-permanently-failed-jobs";
export const CLEANUP_TASKS: string[] = [DELETE_FAILED, "gc-task-identifiers", "gc-job-queues"];

export class MaintenanceModel {
  draft: Draft = new Draft();
  message: string = "";
  /** The last answer's own text, and whether it says more than its message. */
  answer: string = "";
  detailed: bool = false;
  answeredAt: f64 = NaN;
  error: string = "";
  /** The settings of the sweep that was tried dry. */
  tried: string = "";
  busy: bool = false;

  constructor() {
    this.draft.set("gc-task-identifiers", "on");
    this.draft.set("gc-job-queues", "on");
  }

  chosenTasks(): string[] {
    const chosen: string[] = [];
    for (let i = 0; i < CLEANUP_TASKS.length; i++) {
      if (this.draft.on(CLEANUP_TASKS[i])) chosen.push(CLEANUP_TASKS[i]);
    }
    return chosen;
  }

  /** The sweep's settings in one text, so that a change after the dry run shows. */
  sweepSettings(): string {
    return this.draft.value("threshold").trim() + " s, " + this.draft.value("delay").trim() + " s";
  }
}
