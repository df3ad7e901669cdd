/** The panel "Running longest": at most five jobs of the workers on this page of the list, longest-running first. */
import { agoElement, timeElement } from "../../controls/age";
import { link } from "../../controls/button";
import { tablePanel } from "../../controls/panel";
import { cell, row } from "../../controls/table";
import { ListedWorker, RunningJob } from "../../generated/records";
import { Row } from "../../kit/row";
import { Node, nothing, text } from "../../lib/node";
import { sortByKeys } from "../../lib/number";
import { conditionPath, workerPath } from "../../model/links";
import { Model } from "../../model/model";
import { cutName, jobInRow } from "../../parts/exact-name";
import { currentJobs } from "../../parts/holder";
import { isReported, runTime } from "../../parts/worker";
import { WorkerRow } from "./row";

const SHOWN = 5;
const COLUMNS: string[] = ["=Job", "w7 w-mid=Worker", "num w3=For", "num w6 w-mid=Heartbeat"];

class Runs {
  constructor(
    readonly worker: ListedWorker,
    readonly job: RunningJob,
  ) {}
}

export function runningLongest(m: Model, workers: Row[]): Node {
  const all: Runs[] = [];
  const begins: f64[] = [];
  for (let i = 0; i < workers.length; i++) {
    const worker = (workers[i] as WorkerRow).worker;
    // The server lists the longest-running job of a worker first.
    const jobs = currentJobs(worker);
    for (let k = 0; k < min(jobs.length, SHOWN); k++) {
      all.push(new Runs(worker, jobs[k]));
      begins.push(jobs[k].since);
    }
  }
  sortByKeys(all, begins);
  const rows: Node[] = [];
  let hasReports = false;
  for (let i = 0; i < min(all.length, SHOWN); i++) {
    rows.push(runs(m, all[i]));
    hasReports = hasReports || isReported(all[i].worker);
  }
  const more = link(conditionPath("running"), "", [text("All running jobs")]);
  const remark = hasReports ? "as of the last heartbeat" : "";
  return tablePanel("Running longest", remark, [more], "running", COLUMNS, rows);
}

function runs(m: Model, one: Runs): Node {
  const worker = one.worker;
  const since = one.job.since;
  return row(one.job.id.toString(), "", [
    cell("", [jobInRow("running", one.job.task, one.job.id)]),
    cell("dim w-mid", [link(workerPath(worker.workerId), "cut", [cutName(worker.workerId, "")])]),
    cell(worker.state === "stale" ? "num red" : "num", [
      timeElement(since, runTime(m, worker, since)),
    ]),
    cell("num dim w-mid", [lastHeartbeat(m, worker)]),
  ]);
}

/** The age of the heartbeat that reported the jobs; empty if the server found the jobs by their locks instead. */
function lastHeartbeat(m: Model, worker: ListedWorker): Node {
  const at = worker.lastHeartbeatAt;
  return isReported(worker) ? agoElement(at, m.times) : nothing;
}
