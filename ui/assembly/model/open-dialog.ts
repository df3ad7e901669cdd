/** The open dialog, at most one: its subject, its form, and the result of its request. */
import { Draft } from "../forms/draft";
import { Incident, ListedJob, ListedWorker } from "../generated/records";

/** The beginning of an argument of the dialog `add`; the name of a task follows. */
export const OF_TASK = "task ";

export class OpenDialog {
  jobs: ListedJob[] = [];
  workers: string[] = [];
  draft: Draft = new Draft();
  /** The incident for which its action was offered. */
  about: Incident | null = null;
  /** The workers whose locks the page has read. */
  holders: ListedWorker[] = [];
  /** A sentence about its subject. */
  note: string = "";
  error: string = "";
  /** Why something that it shows cannot be read; empty: it can, or an outage is the reason. */
  unread: string = "";

  /** `name`: the name of its class (Dialog). VerbDialog replaces it with `operation` for an action on a query. */
  constructor(public name: string) {}

  /** Returns the number of the jobs in a state. */
  count(state: string): i32 {
    let count = 0;
    for (let i = 0; i < this.jobs.length; i++) if (this.jobs[i].state === state) count++;
    return count;
  }
}
