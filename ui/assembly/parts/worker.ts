/** How a worker is, in a row and at the head of its page: by its heartbeat, and by nothing else. */
import { age, ago, lasting } from "../controls/age";
import { link } from "../controls/button";
import { glyph, stateSaying } from "../controls/glyph";
import { ListedWorker, RunningJob } from "../generated/records";
import { leaf, Node } from "../lib/node";
import { grouped } from "../lib/number";
import { jobPath } from "../model/links";
import { Model } from "../model/model";

/** A stock worker sends no heartbeat: it is unknown, never silent. */
export function workerState(m: Model, worker: ListedWorker): Node {
  const heard = worker.lastHeartbeatAt;
  const times = m.times;
  if (worker.state === "alive") return stateSaying("alive", ago(heard, times));
  if (worker.state === "silent") {
    return stateSaying(
      "silent",
      "silent " + (times.stale ? lasting(heard, times) : age(heard, times)),
    );
  }
  return isOld(worker)
    ? stateSaying("unknown", "holds " + lasting(worker.oldestLockAt, times))
    : stateSaying("idle", "no heartbeat");
}

/** Whether its locks may be those of a process that is gone: it is silent, or unknown with old ones. */
export function isOld(worker: ListedWorker): bool {
  return worker.level !== "ok";
}

/** Red: what it holds stands still. Amber: it may. */
export function levelTone(worker: ListedWorker): string {
  return worker.level === "bad" ? "red" : worker.level === "warn" ? "amber" : "";
}

/** A rate that a worker reports: `12`, `0.4`; nothing where it does not say. */
export function perMinute(rate: f64): string {
  if (isNaN(rate)) return "";
  const tenths = <i64>Math.round(rate * 10);
  return rate >= 10 || tenths % 10 === 0
    ? grouped(<i64>Math.round(rate))
    : `${tenths / 10}.${tenths % 10}`;
}

export function runningJobLink(job: RunningJob): Node {
  const task = job.task;
  return link(jobPath(job.id), "row", [
    glyph("running"),
    leaf("span", "name cut", task === null ? "(no task)" : task),
    leaf("span", "id", `#${job.id}`),
  ]);
}
