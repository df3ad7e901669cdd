/** The one dialog that may be open: what it is about, its form, and how the request went. */
import { ListedJob } from "../generated/records";
import { Draft } from "./draft";

export enum Ask {
  Nothing,
  AddJob,
  Complete,
  Fail,
  RunNow,
  Reschedule,
  RemoveByKey,
  Migrate,
  Cleanup,
  ForceUnlock,
  Sweep,
}

export class Dialog {
  jobs: ListedJob[] = [];
  workers: string[] = [];
  draft: Draft = new Draft();
  /** True while the server works on it. */
  busy: bool = false;
  error: string = "";

  constructor(readonly ask: Ask) {}

  count(state: string): i32 {
    let count = 0;
    for (let i = 0; i < this.jobs.length; i++) if (this.jobs[i].state === state) count++;
    return count;
  }
}
