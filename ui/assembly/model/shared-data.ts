/** Data that one page has read, and that another page can use until its own request is answered. */
import { valueText } from "../controls/value";
import { ListedJob, Value } from "../generated/records";
import { numberText, partText } from "../lib/number";

const MAX_RECENT = 6;

export class SharedData {
  /** The jobs in the list. */
  listed: ListedJob[] = [];
  /** The address at which the list of jobs was left, and the ids of its jobs in their order. */
  listPath: string = "/jobs";
  listIds: i64[] = [];
  /** The number of the first of these jobs in the whole list; 0: unknown. */
  listFirst: i64 = 0;
  /** The number of jobs in the whole list; null: unknown. */
  listTotal: Value | null = null;
  /** Whether more jobs follow on other pages. */
  listGoesOn: bool = false;
  /** The job whose details are shown, and the job, with its payload, that the form of a new job copies. */
  shown: ListedJob | null = null;
  template: ListedJob | null = null;

  /** Jobs and searches that were opened, newest first. */
  recent: string[] = [];

  visit(path: string): void {
    const at = this.recent.indexOf(path);
    if (at >= 0) this.recent.splice(at, 1);
    this.recent.unshift(path);
    if (this.recent.length > MAX_RECENT) this.recent.pop();
  }

  /** Discards what was read. The address of the list stays, because it is not a secret. */
  clear(): void {
    this.listed = [];
    this.listIds = [];
    this.recent = [];
    this.listTotal = null;
    this.shown = null;
    this.template = null;
  }

  /** Returns the index of the job in the list from which it was opened; -1: not in it. */
  placeOf(id: i64): i32 {
    return this.listIds.indexOf(id);
  }

  /** Returns `4 of 12,000 in the list`; if the page's place in the list is unknown, `4 of 100 on this page`. */
  placeText(at: i32): string {
    const count = <i64>this.listIds.length;
    const first = this.listFirst;
    if (first === 0) return `${partText(at + 1, count)} on this page`;
    const last = first + count - 1;
    const place = numberText(first + at);
    const total = this.listTotal;
    const least = this.listGoesOn ? last + 1 : last;
    if (total !== null && total.value >= least) {
      return `${place} of ${valueText(total)} in the list`;
    }
    return `${place} of ${numberText(last)}${this.listGoesOn ? "+" : ""} in the list`;
  }

  job(id: i64): ListedJob | null {
    for (let i = 0; i < this.listed.length; i++) {
      if (this.listed[i].id === id) return this.listed[i];
    }
    return null;
  }
}
