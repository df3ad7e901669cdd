/**
 * The list of jobs. If the address has `group=`, the list shows groups of jobs: the head of each group, and the rows
 * of each open group.
 */

import { Terms } from "../../bar/terms";
import { RowPage } from "../../kit/row";
import { Address } from "../../model/address";
import { Model } from "../../model/model";
import { PageState } from "../../model/place";
import { Pending } from "../../model/requests";
import { GroupRow, groupHeads, headKey } from "./group-rows";
import { GROUPINGS, Grouping } from "./groups";
import { JobsList, JobsState } from "./jobs-list";
import { Settings } from "./settings";

/** The interval between requests for groups while jobs change, in milliseconds. */
const GROUPS_MS: f64 = 30000;

export abstract class GroupedJobs extends JobsList {
  groups: Grouping = new Grouping("", new Terms(), "", new Settings());

  /** The text in the field for the name of a new saved view. */
  viewName: string = "";

  /** The address to save as a view: the page's address without its cursor and without the job beside the list. */
  get viewPath(): string {
    return this.identity(this.address);
  }

  get isGrouped(): bool {
    return this.groups.by.length > 0;
  }

  override turn(m: Model, address: Address): void {
    super.turn(m, address);
    const by = address.value("group");
    const known = GROUPINGS.includes(by) ? by : "";
    this.groups = new Grouping(known, this.bar.terms, this.sorted, this.settings);
    this.spanningHeads = this.isGrouped ? groupHeads(known) : [];
  }

  override keepMore(): JobsState {
    const kept = super.keepMore();
    kept.groups = this.groups;
    return kept;
  }

  override restoreMore(more: PageState): void {
    super.restoreMore(more);
    const groups = (more as JobsState).groups;
    if (groups !== null) this.groups = groups as Grouping;
  }

  override reset(m: Model): void {
    super.reset(m);
    this.groups.clear();
  }

  override source(m: Model): string {
    return this.isGrouped ? this.groups.source(this.query) : super.source(m);
  }

  protected override refreshMs(): f64 {
    return this.isGrouped ? GROUPS_MS : super.refreshMs();
  }

  override read(body: string): RowPage {
    return this.isGrouped ? this.groups.read(body) : super.read(body);
  }

  protected override began(m: Model): void {
    if (this.isGrouped) this.groups.requestRows(m);
    else super.began(m);
  }

  override onAnswer(m: Model, request: Pending, body: string): void {
    if (!this.groups.owns(request)) {
      super.onAnswer(m, request, body);
      return;
    }
    if (!this.groups.awaits(request)) return;
    const key = this.groups.keyOf(request);
    if (this.groups.onAnswer(m, request, body)) {
      this.list.fill(headKey(key), this.groups.rowsBelow(key));
    }
    this.put(m, this.groups.page(), true);
    this.settle(m);
  }

  /** Opens a closed group in place, or closes an open one. The other rows keep their order. */
  protected toggle(m: Model, row: GroupRow): void {
    this.groups.toggle(m, row.group);
    if (!this.groups.isOpen(row.group.key)) this.list.fill(row.key, []);
    this.list.merge(this.groups.page());
    this.settle(m);
  }
}
