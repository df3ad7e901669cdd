/** Texts about a worker: its state, its load and its run times. */
import { age, ageText, ago, durationText } from "../controls/age";
import { stateWith } from "../controls/glyph";
import { valueText } from "../controls/value";
import { ListedWorker, Value } from "../generated/records";
import { Node } from "../lib/node";
import { numberText } from "../lib/number";
import { Model } from "../model/model";

/** Shows a worker's state. */
export function workerState(m: Model, worker: ListedWorker): Node {
  const beatAt = worker.lastHeartbeatAt;
  const times = m.times;
  if (worker.state === "alive") return stateWith("alive", ago(beatAt, times));
  if (worker.state === "stale") {
    return stateWith(
      "stale",
      "not responding " + (times.stale ? durationText(beatAt, times) : age(beatAt, times)),
    );
  }
  return isOld(worker)
    ? stateWith("unknown", "no heartbeats " + durationText(worker.oldestLockAt, times))
    : stateWith("idle", "no heartbeats");
}

/** Whether the worker is stale, or unknown with old locks. In both cases its process may have ended. */
export function isOld(worker: ListedWorker): bool {
  return worker.level !== "ok";
}

/** Returns the colour of a worker's level; empty if isOld() is false. */
export function levelTone(worker: ListedWorker): string {
  return worker.level === "bad" ? "red" : worker.level === "warn" ? "amber" : "";
}

/** Returns a rate per minute as text, such as `12` or `0.4`; empty for NaN. */
export function perMinute(rate: f64): string {
  if (isNaN(rate)) return "";
  const tenths = <i64>Math.round(rate * 10);
  return rate >= 10 || tenths % 10 === 0
    ? numberText(<i64>Math.round(rate))
    : `${tenths / 10}.${tenths % 10}`;
}

/** Returns `18 of 20` (slots) if fits() is true, and `18` if not. */
export function loadText(worker: ListedWorker, running: Value): string {
  const count = valueText(running);
  return fits(worker, running) ? `${count} of ${numberText(worker.slots)}` : count;
}

/** Whether the worker has reported its slots, and has at least as many as `running`. */
export function fits(worker: ListedWorker, running: Value): bool {
  return worker.slots > 0 && running.value <= worker.slots;
}

/** Returns how many jobs the worker has fetched and not started; 0 if unknown, or if the worker is not `alive`. */
export function fetchedJobs(worker: ListedWorker): i64 {
  return worker.state === "alive" ? max<i64>(0, worker.fetched) : 0;
}

/** Whether `worker.running` is from the worker's last heartbeat. */
export function isReported(worker: ListedWorker): bool {
  return worker.running.basis === "heartbeat" && !isNaN(worker.lastHeartbeatAt);
}

/** Returns how long a job has been running. If isReported() is true, the time counts until the last heartbeat. */
export function runTime(m: Model, worker: ListedWorker, since: f64): string {
  return isReported(worker) ? ageText(worker.lastHeartbeatAt - since) : age(since, m.times);
}

/** Returns the time until which runTime() counts, such as `at the last heartbeat, 3 s ago`; empty: until now. */
export function runTimeAt(m: Model, worker: ListedWorker): string {
  if (!isReported(worker)) return "";
  return `at the last heartbeat, ${ago(worker.lastHeartbeatAt, m.times)}`;
}
