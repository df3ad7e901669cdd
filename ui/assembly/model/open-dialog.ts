/** The one dialog that may be open: what it is about, its form, and how its request went. */
import { Draft } from "../forms/draft";
import { ListedJob } from "../generated/records";

/** Begins an argument of the dialog `add` that names the task. */
export const OF_TASK = "task ";

export class OpenDialog {
  jobs: ListedJob[] = [];
  workers: string[] = [];
  draft: Draft = new Draft();
  /** A sentence that the page below adds. */
  note: string = "";
  /** True while the server works on it. */
  busy: bool = false;
  error: string = "";

  /** The name of its record, which may hand it over to another one. */
  constructor(public name: string) {}

  /** How many of the jobs are in a state. */
  count(state: string): i32 {
    let count = 0;
    for (let i = 0; i < this.jobs.length; i++) if (this.jobs[i].state === state) count++;
    return count;
  }
}
