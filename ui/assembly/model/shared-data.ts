/** Data that pages, dialogs and the palette share. */
import { valueText } from "../controls/value";
import { ListedJob, Value } from "../generated/records";
import { numberText, partText } from "../lib/number";

const MAX_RECENT = 6;

export class SharedData {
  /** The address, without `cursor`, of the list of jobs that was shown last. */
  listPath: string = "/jobs";
  /** The ids of the jobs on the last shown page of this list. */
  listIds: i64[] = [];
  /** The position of the first job of `listIds` in the whole list, counted from 1; 0: unknown. */
  listFirst: i64 = 0;
  /** The number of jobs in the whole list; null: unknown. */
  listTotal: Value | null = null;
  /** Whether the list continues after the jobs of `listIds`. */
  listGoesOn: bool = false;
  /** The job whose details were shown last. */
  shown: ListedJob | null = null;
  /** The job, with its payload, that the form of a new job copies. */
  template: ListedJob | null = null;

  /** The addresses of jobs and searches that were opened, newest first. */
  recent: string[] = [];

  visit(path: string): void {
    const at = this.recent.indexOf(path);
    if (at >= 0) this.recent.splice(at, 1);
    this.recent.unshift(path);
    if (this.recent.length > MAX_RECENT) this.recent.pop();
  }

  /** Discards the jobs and the opened addresses when a session ends. */
  clear(): void {
    this.listIds = [];
    this.recent = [];
    this.listTotal = null;
    this.shown = null;
    this.template = null;
  }

  /** Returns the job's index in `listIds`; -1: absent. */
  placeOf(id: i64): i32 {
    return this.listIds.indexOf(id);
  }

  /** Returns the place of the job `listIds[at]`, such as `4 of 12,000 in the list` or `4 of 100 on this page`. */
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
}
