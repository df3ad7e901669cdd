/** The list of jobs. */
import { LIST as DRAWING } from "../../controls/icon";
import { valueText } from "../../controls/value";
import { Node } from "../../lib/node";
import { Address } from "../../model/address";
import { Mark, Model, noMark, Page } from "../../model/model";
import { OpenDialog } from "../../model/open-dialog";
import { isAway, Pending } from "../../model/requests";
import { filterIn, jobsPath } from "./filter";
import { JobListModel } from "./model";
import { askJobs, LIST, QUIETLY, refreshJobs, takeJobs } from "./refresh";
import { updateJobs } from "./update";
import { jobsView } from "./view";

export class JobsPage extends Page {
  private list: JobListModel = new JobListModel();

  constructor() {
    super("jobs", "/jobs");
    this.label = "Jobs";
    this.drawing = DRAWING;
    this.letter = "j";
    this.inBar = true;
    this.asksOverview = true;
    this.searchField = "filter-search";
  }

  override turn(m: Model, address: Address): void {
    this.list.turn(filterIn(address), address.value("cursor"));
    m.known.listPath = jobsPath(this.list.filter, this.list.cursor);
  }

  override forget(_m: Model): void {
    const list = new JobListModel();
    list.turn(this.list.filter, this.list.cursor);
    this.list = list;
  }

  override title(): string {
    const state = this.list.filter.state;
    return state === "all" ? "Jobs" : `Jobs, ${state}`;
  }

  override mark(m: Model): Mark {
    return m.facts.has("counts") ? new Mark(valueText(m.facts.counts.total), "") : noMark;
  }

  override view(m: Model): Node {
    return jobsView(m, this.list);
  }

  override load(m: Model): void {
    askJobs(m, this.list, LIST);
  }

  override refresh(m: Model): void {
    refreshJobs(m, this.list);
  }

  override take(m: Model, request: Pending, body: string): void {
    takeJobs(m, this.list, request.topic === QUIETLY, body);
    this.know(m);
  }

  override miss(_m: Model, _request: Pending, status: i32, reason: string): void {
    const list = this.list;
    list.loading = false;
    if (!isAway(status) || !list.loaded) list.error = reason;
  }

  override act(m: Model, verb: string, arg: string, value: string): void {
    updateJobs(m, this.list, verb, arg, value);
    this.know(m);
  }

  private know(m: Model): void {
    m.known.listed = this.list.jobs;
    m.known.listIds = this.list.jobs.map<i64>((job) => job.id);
  }

  override aim(_m: Model, dialog: OpenDialog): void {
    dialog.jobs = this.list.chosen();
  }

  override written(write: Pending): void {
    this.list.selected.clear();
    // What was acted on may have left its place: the focus goes back to the rows.
    this.list.refocus = write.count > 0;
  }
}
