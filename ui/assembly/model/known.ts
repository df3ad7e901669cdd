/** What one page has read and another one can use until its own request is answered. */
import { valueText } from "../controls/value";
import { ListedJob, Value } from "../generated/records";
import { grouped } from "../lib/number";

const MOST_RECENT = 6;

export class Known {
  /** The jobs of the list. */
  listed: ListedJob[] = [];
  /** Where the list of jobs was left, and the ids of the jobs in it in their order. */
  listPath: string = "/jobs";
  listIds: i64[] = [];
  /** The number of the first of them in the whole list; 0: unknown. */
  listFirst: i64 = 0;
  /** How many the whole list has; null: unknown. */
  listTotal: Value | null = null;
  /** More follow on other pages. */
  listGoesOn: bool = false;
  /** The one job that is shown whole, and the one that a new job is to be like, with its payload. */
  shown: ListedJob | null = null;
  template: ListedJob | null = null;

  /** Jobs and searches that were open, the newest first. */
  recent: string[] = [];

  visit(path: string): void {
    const at = this.recent.indexOf(path);
    if (at >= 0) this.recent.splice(at, 1);
    this.recent.unshift(path);
    if (this.recent.length > MOST_RECENT) this.recent.pop();
  }

  /** Forgets what was read; where the list was left is no secret. */
  clear(): void {
    this.listed = [];
    this.listIds = [];
    this.recent = [];
    this.listTotal = null;
    this.shown = null;
    this.template = null;
  }

  /** The job's index in the list that it was opened from; -1: not in it. */
  placeOf(id: i64): i32 {
    return this.listIds.indexOf(id);
  }

  /** `4 of 12,000`; if the page's place in the list is unknown, `4 of 100 on this page`. */
  placeText(at: i32): string {
    const count = <i64>this.listIds.length;
    const first = this.listFirst;
    if (first === 0) return `${grouped(at + 1)} of ${grouped(count)} on this page`;
    const last = first + count - 1;
    const place = grouped(first + at);
    const total = this.listTotal;
    const least = this.listGoesOn ? last + 1 : last;
    if (total !== null && total.value >= least) {
      return `${place} of ${valueText(total)} in the list`;
    }
    return `${place} of ${grouped(last)}${this.listGoesOn ? "+" : ""} in the list`;
  }

  job(id: i64): ListedJob | null {
    for (let i = 0; i < this.listed.length; i++) {
      if (this.listed[i].id === id) return this.listed[i];
    }
    return null;
  }
}
