/** The list of jobs. If the address has the parameter `job`, the job with this id is open beside the list. */
import { after, back, focus, isWide, navigate } from "../../host";
import { BESIDE } from "../../job/beside";
import { jobView } from "../../job/job-view";
import { Row } from "../../kit/row";
import { parseWhole } from "../../lib/number";
import { Address } from "../../model/address";
import { jobPath } from "../../model/links";
import { Model } from "../../model/model";
import { GroupRow } from "./group-rows";
import { GroupedJobs } from "./grouped-jobs";
import { JobRow } from "./row";

/**
 * How long the user must stay on a job's row before the job replaces the open job. So a held key does not open each job
 * that it passes.
 */
const FOLLOW_MS = 120;

export abstract class BesideJobs extends GroupedJobs {
  /** The number of the history entry in which a job was opened beside the list. */
  private openedAs: i32 = 0;

  /** The id of the job that is open beside the list; empty: none. */
  override get opened(): string {
    const id = this.address.value("job");
    return parseWhole(id).valid ? id : "";
  }

  override turn(m: Model, address: Address): void {
    super.turn(m, address);
    this.openJob();
  }

  override shift(m: Model, address: Address): bool {
    const before = this.address;
    const cursor = address.value("cursor");
    if (this.identity(before) !== this.identity(address)) return false;
    if (before.value("cursor") !== cursor) return false;
    const wasOpen = this.opened.length > 0;
    this.address = address;
    m.shared.listPath = address.with("", "");
    this.openJob();
    if (this.opened.length === 0) this.focusCurrent();
    else {
      if (!wasOpen) {
        this.openedAs = m.entry;
        focus(BESIDE);
      }
      this.loadJob(m);
    }
    return true;
  }

  /** Shows the job of the address beside the list; in a narrow window, opens the job's own page. */
  private openJob(): void {
    const id = this.opened;
    if (id.length === 0) return;
    const job = parseWhole(id).value;
    if (!isWide()) navigate(jobPath(job), true);
    else if (job !== jobView.id) jobView.reset(job);
  }

  private loadJob(m: Model): void {
    if (this.opened === jobView.id.toString()) jobView.open(m, jobView.id);
  }

  override load(m: Model): void {
    super.load(m);
    this.loadJob(m);
  }

  override refresh(m: Model): void {
    super.refresh(m);
    if (this.opened.length > 0) jobView.refresh(m);
  }

  /**
   * Opens or closes a group, or opens a job beside the list. In a narrow window, or by Enter on the open job, opens the
   * job's own page.
   */
  protected override open(m: Model, row: Row, stroke: string): void {
    if (row instanceof GroupRow) this.toggle(m, row as GroupRow);
    else if (!(row instanceof JobRow) || !isWide()) navigate(row.path, false);
    else if (row.key !== this.opened) this.showBeside(row.key);
    else if (stroke === "Enter") navigate(row.path, false);
  }

  private showBeside(key: string): void {
    navigate(this.address.beside("job", key), this.opened.length > 0);
  }

  protected override walk(by: i32): void {
    super.walk(by);
    if (this.opened.length > 0) after(FOLLOW_MS, "jobs.follow", this.list.currentKey);
  }

  protected follow(key: string): void {
    const at = this.list.indexOf(key);
    const isHere = this.opened.length > 0 && key === this.list.currentKey && key !== this.opened;
    if (isHere && at >= 0 && this.list.rows[at] instanceof JobRow) this.showBeside(key);
  }

  /**
   * Closes the job beside the list. Goes back only if the job was opened from the list: if the address was pasted, the
   * history may not have the list.
   */
  protected close(m: Model): void {
    if (m.entry === this.openedAs) back();
    else navigate(this.address.beside("job", ""), true);
  }

  protected override escape(m: Model): void {
    if (this.opened.length > 0) this.close(m);
    else super.escape(m);
  }
}
