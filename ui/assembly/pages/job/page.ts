/**
 * The page of one job. It reads the job's id from the address. All else is done by jobView, which also shows a job
 * beside the list of jobs.
 */

import { jobShortcuts } from "../../job/head";
import { jobView } from "../../job/job-view";
import { drawJob } from "../../job/view";
import { Node } from "../../lib/node";
import { ParsedInteger, parseWhole } from "../../lib/number";
import { Address } from "../../model/address";
import { Model, Page } from "../../model/model";
import { OpenDialog } from "../../model/open-dialog";
import { Pending } from "../../model/requests";
import { Shortcut } from "../../model/shortcut";

export class JobPage extends Page {
  private id: i64 = 0;

  constructor() {
    super("job", "/jobs/");
    this.under = "jobs";
  }

  override matches(address: Address): bool {
    return address.path.startsWith(this.path) && this.idIn(address).valid;
  }

  override turn(_m: Model, address: Address): void {
    this.id = this.idIn(address).value;
    if (this.id !== jobView.id) jobView.reset(this.id);
  }

  override title(): string {
    return `Job ${this.id}`;
  }

  override view(m: Model): Node {
    return drawJob(m, jobView, false);
  }

  override load(m: Model): void {
    jobView.open(m, this.id);
  }

  override refresh(m: Model): void {
    jobView.refresh(m);
  }

  override reset(_m: Model): void {
    // When the session ends, all pages are reset, even if they are not shown. jobView may then show a job beside the
    // list, not the job of this page.
    jobView.reset(jobView.id);
  }

  override onAnswer(m: Model, request: Pending, body: string): void {
    jobView.onAnswer(m, request, body);
  }

  override onFailure(m: Model, request: Pending, status: i32, reason: string): void {
    jobView.miss(m, request, status, reason);
  }

  override act(m: Model, verb: string, arg: string, value: string): void {
    jobView.act(m, verb, arg, value);
  }

  override shortcuts(m: Model): Shortcut[] {
    return jobShortcuts(m, jobView);
  }

  override aim(_m: Model, dialog: OpenDialog): void {
    const job = jobView.job;
    if (job !== null && !jobView.ended) dialog.jobs = [job];
  }

  private idIn(address: Address): ParsedInteger {
    return parseWhole(address.path.substring(this.path.length));
  }
}
