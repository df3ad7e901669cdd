/** The open dialog: its subject, its form, and the error of its request. At most one dialog is open. */
import { Draft } from "../forms/draft";
import { Incident, ListedJob, ListedWorker } from "../generated/records";

/** The beginning of an argument of the dialog `add`; the name of a task follows. */
export const OF_TASK = "task ";

export class OpenDialog {
  jobs: ListedJob[] = [];
  workers: string[] = [];
  draft: Draft = new Draft();
  /** The incident that offers the action of the dialog; null: no incident offers it. */
  about: Incident | null = null;
  /** Workers that the page has read. If they include all workers of the action, `note` describes what is unlocked. */
  holders: ListedWorker[] = [];
  /** Sentences about the subject, shown before the text of the dialog; empty: none. */
  note: string = "";
  error: string = "";
  /** Why a read for the dialog has failed; empty: no read has failed, or the cause was only an outage. */
  unread: string = "";

  /**
   * `name`: the name of the Dialog that draws the open dialog. For an action on a query, VerbDialog changes `name` to
   * `operation`.
   */
  constructor(public name: string) {}

  /** Returns how many of the jobs are in a state. */
  count(state: string): i32 {
    let count = 0;
    for (let i = 0; i < this.jobs.length; i++) if (this.jobs[i].state === state) count++;
    return count;
  }
}
