/** The open dialog, at most one: its subject, its form, and the result of its request. */
import { Draft } from "../forms/draft";
import { Incident, ListedJob, ListedWorker } from "../generated/records";

/** The beginning of an argument of the dialog `add`; the name of a task follows. */
export const OF_TASK = "task ";

export class OpenDialog {
  jobs: ListedJob[] = [];
  workers: string[] = [];
  draft: Draft = new Draft();
  /** The incident that offered its action; null: none did. */
  about: Incident | null = null;
  /** Workers that the page has read: those among its subject are described before they are unlocked. */
  holders: ListedWorker[] = [];
  /** A sentence about its subject, shown before the text; empty: none. */
  note: string = "";
  error: string = "";
  /** Why something that it shows cannot be read; empty: it can, or an outage is the reason. */
  unread: string = "";

  /** `name`: the name of its class (Dialog). VerbDialog replaces it with `operation` for an action on a query. */
  constructor(public name: string) {}

  /** Returns how many of its jobs are in a state. */
  count(state: string): i32 {
    let count = 0;
    for (let i = 0; i < this.jobs.length; i++) if (this.jobs[i].state === state) count++;
    return count;
  }
}
