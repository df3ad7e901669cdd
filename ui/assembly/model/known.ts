/** What one page has read and another one can use until it has asked for itself. */
import { ListedJob } from "../generated/records";

export class Known {
  /** The jobs that stand in the list. */
  listed: ListedJob[] = [];
  /** Where the list of jobs was left, and the ids of the jobs in it in their order. */
  listPath: string = "/jobs";
  listIds: i64[] = [];
  /** The one job that is shown whole, and the one that a new job is to be like, with its payload. */
  shown: ListedJob | null = null;
  template: ListedJob | null = null;

  /** Forgets what was read; where the list was left is no secret. */
  clear(): void {
    this.listed = [];
    this.listIds = [];
    this.shown = null;
    this.template = null;
  }

  /** Where a job stands in the list that it was opened from, from 0 on; -1: not in it. */
  placeOf(id: i64): i32 {
    return this.listIds.indexOf(id);
  }

  job(id: i64): ListedJob | null {
    for (let i = 0; i < this.listed.length; i++) {
      if (this.listed[i].id === id) return this.listed[i];
    }
    return null;
  }
}
