/** The dialog that is open, of which there is at most one: its subject, its form, and the result of its request. */
import { Draft } from "../forms/draft";
import { ListedJob } from "../generated/records";

/** The beginning of an argument of the dialog `add` that names the task. */
export const OF_TASK = "task ";

export class OpenDialog {
  jobs: ListedJob[] = [];
  workers: string[] = [];
  draft: Draft = new Draft();
  /** A sentence that the page adds. */
  note: string = "";
  /** Whether the server is working on the request. */
  busy: bool = false;
  error: string = "";

  /** `name`: the name of its record, which may pass it on to another record. */
  constructor(public name: string) {}

  /** Returns the number of the jobs in a state. */
  count(state: string): i32 {
    let count = 0;
    for (let i = 0; i < this.jobs.length; i++) if (this.jobs[i].state === state) count++;
    return count;
  }
}
