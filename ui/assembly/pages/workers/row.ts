/** A worker in the list: whether it responds, where it runs, how busy it is, how many queues it has locked. */
import { aged } from "../../controls/age";
import { link } from "../../controls/button";
import { shareBar } from "../../controls/spark";
import { cell } from "../../controls/table";
import { ListedWorker } from "../../generated/records";
import { Column, Row } from "../../kit/row";
import { unlockButton } from "../../kit/verb";
import { box, leaf, Node, nothing, text } from "../../lib/node";
import { numberText } from "../../lib/number";
import { workerPath } from "../../model/links";
import { Model } from "../../model/model";
import { cutName } from "../../parts/exact-name";
import { holdsAny, jobCount } from "../../parts/holder";
import {
  fetchedJobs,
  fits,
  isOld,
  levelTone,
  loadText,
  perMinute,
  workerState,
} from "../../parts/worker";

export const COLUMNS: Column[] = [
  new Column("", "Worker", "id", ""),
  new Column("beat", "Heartbeat", "state", ""),
  new Column("by w-opt", "Host", "", ""),
  new Column("of w-max", "Version", "", ""),
  new Column("num ago w-max", "Up", "-started", ""),
  new Column("load", "Running", "-running", ""),
  new Column("num ago w-opt", "Jobs/min", "-done", ""),
  new Column("num of w-mid", "Queue locks", "", ""),
  new Column("verb", "Unlock", "", ""),
];

export class WorkerRow extends Row {
  constructor(readonly worker: ListedWorker) {
    super(worker.workerId);
  }

  override get name(): string {
    return "worker " + this.worker.workerId;
  }

  override get path(): string {
    return workerPath(this.worker.workerId);
  }

  override get unlocks(): string {
    return isOld(this.worker) && holdsAny(this.worker) ? this.worker.workerId : "";
  }

  override cells(m: Model): Node[] {
    const worker = this.worker;
    const queues = worker.lockedQueues;
    // The last report of a worker that is not responding is out of date.
    const isAlive = worker.state === "alive";
    return [
      cell("", [link(this.path, "name cut", [cutName(worker.workerId, "")])]),
      cell(levelTone(worker), [workerState(m, worker)]),
      cell("dim w-opt", [valueCell(worker.host)]),
      cell("dim w-max", [valueCell(worker.version)]),
      cell("num dim w-max", [isAlive ? aged(worker.startedAt, m.times) : nothing]),
      cell("", [load(worker)]),
      cell("num dim w-opt", [isAlive ? text(perMinute(worker.donePerMin)) : nothing]),
      cell("num dim w-mid", [leaf("span", queues === 0 ? "faint" : "", numberText(queues))]),
      cell("num vis", [unlockButton(m, this, "workers.unlock")]),
    ];
  }
}

function valueCell(value: string | null): Node {
  return value === null ? nothing : cutName(value, "");
}

/**
 * Returns the load: `18 of 20`, a bar, and `+45 fetched` if the worker has fetched jobs. If the number of slots is
 * unknown, or less than the number of running jobs, `18` replaces `18 of 20`, and there is no bar.
 */
function load(worker: ListedWorker): Node {
  const running = jobCount(worker);
  const fetched = fetchedJobs(worker);
  const words = loadText(worker, running);
  const counts: i64[] = [running.value, worker.slots - running.value];
  const name = worker.state === "alive" ? "running" : "failed";
  return box("span", "row", [
    leaf("span", "num", words),
    fits(worker, running) ? shareBar(words + " slots busy", [name, "none"], counts) : nothing,
    fetched > 0 ? leaf("span", "faint", `+${numberText(fetched)} fetched`) : nothing,
  ]);
}
