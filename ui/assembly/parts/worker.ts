/** How a worker is, in a row and at the head of its page: by its heartbeat, and by nothing else. */
import { age, ageText, ago, lasting } from "../controls/age";
import { link } from "../controls/button";
import { glyph, stateSaying } from "../controls/glyph";
import { valueText } from "../controls/value";
import { ListedWorker, RunningJob, Value } from "../generated/records";
import { leaf, Node } from "../lib/node";
import { grouped } from "../lib/number";
import { jobPath } from "../model/links";
import { Model } from "../model/model";
import { cutName } from "./exact-name";

/** A stock worker sends no heartbeat: it is unknown, never not responding. */
export function workerState(m: Model, worker: ListedWorker): Node {
  const heard = worker.lastHeartbeatAt;
  const times = m.times;
  if (worker.state === "alive") return stateSaying("alive", ago(heard, times));
  if (worker.state === "stale") {
    return stateSaying(
      "stale",
      "not responding " + (times.stale ? lasting(heard, times) : age(heard, times)),
    );
  }
  return isOld(worker)
    ? stateSaying("unknown", "no heartbeats " + lasting(worker.oldestLockAt, times))
    : stateSaying("idle", "no heartbeats");
}

/** Whether its locks may be those of a process that is gone: it is stale, or unknown with old ones. */
export function isOld(worker: ListedWorker): bool {
  return worker.level !== "ok";
}

/** Red: its jobs are blocked. Amber: they may be. */
export function levelTone(worker: ListedWorker): string {
  return worker.level === "bad" ? "red" : worker.level === "warn" ? "amber" : "";
}

/** A rate that a worker reports: `12`, `0.4`; empty if it reports none. */
export function perMinute(rate: f64): string {
  if (isNaN(rate)) return "";
  const tenths = <i64>Math.round(rate * 10);
  return rate >= 10 || tenths % 10 === 0
    ? grouped(<i64>Math.round(rate))
    : `${tenths / 10}.${tenths % 10}`;
}

/** `18 of 20`, where it has reported so many slots. */
export function loadText(worker: ListedWorker, running: Value): string {
  const said = valueText(running);
  return fits(worker, running) ? `${said} of ${grouped(worker.slots)}` : said;
}

/** Whether it has slots for as many. */
export function fits(worker: ListedWorker, running: Value): bool {
  return worker.slots > 0 && running.value <= worker.slots;
}

/** How many jobs it has fetched and not started; for a worker that is not responding, 0. */
export function fetchedJobs(worker: ListedWorker): i64 {
  return worker.state === "alive" ? max<i64>(0, worker.fetched) : 0;
}

/** Whether the jobs that it runs are those of its last heartbeat: they may have ended since. */
export function isReported(worker: ListedWorker): bool {
  return worker.running.basis === "heartbeat" && !isNaN(worker.lastHeartbeatAt);
}

/** For how long it runs a job; of a report, for how long it did at the heartbeat. */
export function runTime(m: Model, worker: ListedWorker, since: f64): string {
  return isReported(worker) ? ageText(worker.lastHeartbeatAt - since) : age(since, m.times);
}

/** `at the last heartbeat, 3 s ago`: the time that `runTime` is of; nothing where that is now. */
export function runTimeAt(m: Model, worker: ListedWorker): string {
  if (!isReported(worker)) return "";
  return `at the last heartbeat, ${ago(worker.lastHeartbeatAt, m.times)}`;
}

export function runningJobLink(job: RunningJob): Node {
  const task = job.task;
  return link(jobPath(job.id), "row", [
    glyph("running"),
    cutName(task === null ? "(no task)" : task, "name"),
    leaf("span", "id", `#${job.id}`),
  ]);
}
