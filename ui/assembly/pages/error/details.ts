/**
 * The requests about an error group after its label was read: where its jobs are, what they have in common, the newest
 * of them, and the whole error of one.
 */
import {
  BriefJob,
  BriefJobs,
  Common,
  Group,
  Groups,
  ListedJob,
  readBriefJobs,
  readCommon,
  readGroups,
  readListedJob,
} from "../../generated/records";
import { Fetched } from "../../kit/fetched";
import { JsonReader } from "../../lib/json-reader";
import { sortByKeys } from "../../lib/number";
import { encode } from "../../lib/percent";
import { Model } from "../../model/model";
import { Pending } from "../../model/requests";
import { ErrorKind } from "../../parts/error-kind";
import { ErrorPanel } from "../../parts/error-panel";

export class Details {
  readonly tasks: Fetched = new Fetched("error.tasks");
  readonly queues: Fetched = new Fetched("error.queues");
  readonly common: Fetched = new Fetched("error.common");
  readonly newest: Fetched = new Fetched("error.newest");
  readonly example: Fetched = new Fetched("error.example");
  ofTasks: Group[] = [];
  ofQueues: Group[] = [];
  inCommon: Common = Common.empty();
  readonly panel: ErrorPanel = new ErrorPanel("error", "Stack trace");
  jobs: BriefJob[] = [];
  job: ListedJob = ListedJob.empty();

  private get all(): Fetched[] {
    return [this.tasks, this.queues, this.common, this.newest, this.example];
  }

  ask(m: Model, kind: ErrorKind, query: string): void {
    const q = encode(query);
    const isQuiet = this.newest.ready;
    // With a single task, its number is that of the whole group.
    if (kind.tasks.length > 1) this.tasks.ask(m, `api/groups?by=task&q=${q}&limit=5`, isQuiet);
    this.queues.ask(m, `api/groups?by=queue&q=${q}&limit=5`, isQuiet);
    this.common.ask(m, `api/groups/common?q=${q}`, isQuiet);
    const ids: string[] = [];
    const samples = kind.samples;
    for (let i = 0; i < samples.length; i++) ids.push(samples[i].toString());
    if (ids.length === 0) return;
    const found = encode("id:" + ids.join(","));
    this.newest.ask(m, `api/jobs?fields=row&q=${found}&sort=-id&limit=5`, isQuiet);
  }

  take(m: Model, request: Pending, body: string): void {
    const r = new JsonReader(body);
    const topic = request.topic;
    if (topic === this.common.topic) {
      const common = readCommon(r);
      if (this.common.ended(m, r)) this.inCommon = common;
    } else if (topic === this.newest.topic) {
      const list: BriefJobs = readBriefJobs(r);
      if (this.newest.ended(m, r)) this.show(m, list.jobs);
    } else if (topic === this.example.topic) {
      const job = readListedJob(r);
      if (this.example.ended(m, r)) this.job = job;
    } else {
      const isTasks = topic === this.tasks.topic;
      const groups: Groups = readGroups(r);
      const asked = isTasks ? this.tasks : this.queues;
      if (!asked.ended(m, r)) return;
      if (isTasks) this.ofTasks = groups.groups;
      else this.ofQueues = groups.groups;
    }
  }

  private show(m: Model, jobs: BriefJob[]): void {
    const keys: f64[] = [];
    for (let i = 0; i < jobs.length; i++) keys.push(-jobs[i].conditionSince);
    sortByKeys(jobs, keys);
    this.jobs = jobs;
    if (jobs.length > 0) this.example.ask(m, `api/jobs/${jobs[0].id}?fields=head`);
  }

  miss(request: Pending, status: i32, reason: string): void {
    const all = this.all;
    for (let i = 0; i < all.length; i++) {
      if (all[i].topic === request.topic) all[i].missed(status, reason);
    }
  }
}
