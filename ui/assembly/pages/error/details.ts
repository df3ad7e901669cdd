/**
 * The details of an error group, which are requested after the group itself: the numbers of its jobs by task and by
 * named queue, what its jobs have in common, the jobs that failed last (at most five), and the whole error of the job
 * that failed last. If the group has failed jobs, the details leave out its retrying jobs.
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
import { ServerData } from "../../kit/server-data";
import { JsonReader } from "../../lib/json-reader";
import { sortByKeys } from "../../lib/number";
import { encode } from "../../lib/percent";
import { Model } from "../../model/model";
import { Pending } from "../../model/requests";
import { ErrorGroup } from "../../parts/error-group";
import { ErrorPanel } from "../../parts/error-panel";

export class Details {
  readonly tasks: ServerData = new ServerData("error.tasks");
  readonly queues: ServerData = new ServerData("error.queues");
  readonly common: ServerData = new ServerData("error.common");
  readonly newest: ServerData = new ServerData("error.newest");
  readonly example: ServerData = new ServerData("error.example");
  ofTasks: Group[] = [];
  ofQueues: Group[] = [];
  inCommon: Common = Common.empty();
  readonly panel: ErrorPanel = new ErrorPanel("error", "Stack trace");
  jobs: BriefJob[] = [];
  job: ListedJob = ListedJob.empty();

  private get all(): ServerData[] {
    return [this.tasks, this.queues, this.common, this.newest, this.example];
  }

  request(m: Model, group: ErrorGroup, query: string): void {
    const q = encode(query);
    const isQuiet = this.newest.ready;
    // If the group has only one task, all its jobs are of that task, so their number is not requested.
    if (group.tasks.length > 1) this.tasks.request(m, `api/groups?by=task&q=${q}&limit=5`, isQuiet);
    this.queues.request(m, `api/groups?by=queue&q=${q}&limit=5`, isQuiet);
    this.common.request(m, `api/groups/common?q=${q}`, isQuiet);
    const ids: string[] = [];
    const samples = group.samples;
    for (let i = 0; i < samples.length; i++) ids.push(samples[i].toString());
    if (ids.length === 0) {
      this.newest.arrived(m);
      this.show(m, []);
      return;
    }
    const found = encode("id:" + ids.join(","));
    this.newest.request(m, `api/jobs?fields=row&q=${found}&sort=-id&limit=5`, isQuiet);
  }

  onAnswer(m: Model, request: Pending, body: string): void {
    const r = new JsonReader(body);
    const topic = request.topic;
    if (topic === this.common.topic) {
      const common = readCommon(r);
      if (this.common.finish(m, r)) this.inCommon = common;
    } else if (topic === this.newest.topic) {
      const list: BriefJobs = readBriefJobs(r);
      if (this.newest.finish(m, r)) this.show(m, list.jobs);
    } else if (topic === this.example.topic) {
      const job = readListedJob(r);
      if (this.example.finish(m, r)) this.job = job;
    } else {
      const isTasks = topic === this.tasks.topic;
      const groups: Groups = readGroups(r);
      const data = isTasks ? this.tasks : this.queues;
      if (!data.finish(m, r)) return;
      if (isTasks) this.ofTasks = groups.groups;
      else this.ofQueues = groups.groups;
    }
  }

  private show(m: Model, jobs: BriefJob[]): void {
    const keys: f64[] = [];
    for (let i = 0; i < jobs.length; i++) keys.push(-jobs[i].conditionSince);
    sortByKeys(jobs, keys);
    this.jobs = jobs;
    this.example.missing = jobs.length === 0;
    if (jobs.length > 0) this.example.request(m, `api/jobs/${jobs[0].id}?fields=head`);
  }

  onFailure(request: Pending, status: i32, reason: string): void {
    const all = this.all;
    for (let i = 0; i < all.length; i++) {
      if (all[i].topic === request.topic) all[i].failedWith(status, reason);
    }
  }
}
