/** One job and what can be done with it. */
import { readListedJob } from "../../generated/records";
import { JsonReader } from "../../lib/json-reader";
import { Node } from "../../lib/node";
import { parseWhole, Whole } from "../../lib/number";
import { Address } from "../../model/address";
import { Model, Page } from "../../model/model";
import { OpenDialog } from "../../model/open-dialog";
import { isAway, Pending } from "../../model/requests";
import { JobModel } from "./model";
import { jobView } from "./view";

const JOB = "job.job";
/** A refresh that nobody asked for. */
const QUIETLY = "job.quietly";

export class JobPage extends Page {
  private model: JobModel = new JobModel(0);

  constructor() {
    super("job", "/jobs/");
    this.under = "jobs";
    this.asksOverview = true;
  }

  override matches(address: Address): bool {
    return address.path.startsWith(this.path) && this.idIn(address).valid;
  }

  override turn(_m: Model, address: Address): void {
    const id = this.idIn(address).value;
    if (id !== this.model.id) this.model = new JobModel(id);
  }

  override title(): string {
    return this.model.title;
  }

  override view(m: Model): Node {
    return jobView(m, this.model);
  }

  override load(m: Model): void {
    this.forget(m);
    m.requests.forget(QUIETLY);
    // The row that was clicked is shown until the server's answer comes.
    this.model.job = m.known.job(this.model.id);
    this.ask(m, JOB);
  }

  override reload(m: Model): void {
    this.ask(m, JOB);
  }

  override refresh(m: Model): void {
    if (this.model.missing || m.requests.waitsFor(JOB) || m.requests.waitsFor(QUIETLY)) return;
    this.ask(m, QUIETLY);
  }

  override forget(_m: Model): void {
    this.model = new JobModel(this.model.id);
  }

  override take(_m: Model, _request: Pending, body: string): void {
    const r = new JsonReader(body);
    const job = readListedJob(r);
    r.end();
    const model = this.model;
    model.loading = false;
    if (r.failed) {
      model.error = `The server's answer can't be read: ${r.error}`;
      return;
    }
    model.error = "";
    model.missing = false;
    model.job = job;
  }

  override miss(_m: Model, _request: Pending, status: i32, reason: string): void {
    const model = this.model;
    model.loading = false;
    model.missing = status === 404;
    if (!isAway(status) && status !== 404) model.error = reason;
  }

  override act(_m: Model, verb: string, _arg: string, _value: string): void {
    if (verb === "tree") this.model.raw = false;
    else if (verb === "raw") this.model.raw = true;
  }

  override aim(_m: Model, dialog: OpenDialog): void {
    const job = this.model.job;
    if (job !== null) dialog.jobs = [job];
  }

  private ask(m: Model, topic: string): void {
    this.model.loading = topic === JOB;
    m.requests.read(m.access, topic, `api/jobs/${this.model.id}`);
  }

  private idIn(address: Address): Whole {
    return parseWhole(address.path.substring(this.path.length));
  }
}
