/**
 * Shows whether a named queue is paused, locked or not locked. For a locked queue, also shows which worker has locked
 * the queue, since when, and whether that worker responds.
 */
import { ago, clockAt, durationText } from "../../controls/age";
import { link } from "../../controls/button";
import { ALERT, CPU, LAYERS } from "../../controls/icon";
import { countedValue } from "../../controls/value";
import { Pause, QueueDetails, QueuedJob } from "../../generated/records";
import { unlockVerb, verbButton } from "../../kit/verb";
import { chainLink } from "../../kit/why-chain";
import { box, leaf, Node, nothing, text } from "../../lib/node";
import { jobPath, workerPath } from "../../model/links";
import { Model } from "../../model/model";
import { exactName } from "../../parts/exact-name";
import { HolderOf } from "../../parts/holder";
import { pausedWords } from "../../parts/pause";
import { hasLock, isStuck } from "../../parts/queue";

/** `holder`: the worker that has locked the queue; null until its data have been read. */
export function lockOfQueue(m: Model, details: QueueDetails, holder: HolderOf | null): Node {
  const queue = details.queue;
  const by = queue.lockedBy;
  const paused = queue.paused;
  if (paused !== null) return pause(m, paused);
  if (!hasLock(queue) || by === null) return free(details);
  return box("div", "", [holderText(m, details, holder), chain(m, details, by, holder)]);
}

function pause(m: Model, paused: Pause): Node {
  // A pause without a row in the table of pauses is only a lock, so its beginning is unknown.
  const since = paused.at > 0 ? ` Since ${clockAt(paused.at, m.serverNow)}.` : "";
  const end = isNaN(paused.until)
    ? "It lasts until it is resumed."
    : paused.until > m.serverNow
      ? "A running worker then resumes the queue."
      : "Its end has passed.";
  return why(
    paused.backsOff ? "sched" : "",
    pausedWords(m, paused) + ".",
    `${since} Jobs can still be added. ${end}`,
  );
}

function free(details: QueueDetails): Node {
  const queue = details.queue;
  if (queue.running.value > 0) {
    const wait = queue.ready.value > 0 ? ` ${countedValue(queue.ready, "waits.", "wait.")}` : "";
    return why("run", countedValue(queue.running, "job runs.", "jobs run."), wait);
  }
  // An estimate may be 0 although some jobs are due.
  const waits = queue.ready.value > 0;
  if (waits || details.next.length > 0) {
    return why(
      "",
      "Not locked.",
      waits ? ` ${countedValue(queue.ready, "job waits.", "jobs wait.")}` : "",
    );
  }
  if (queue.scheduled.value > 0) {
    const ahead = countedValue(queue.scheduled, "job is", "jobs are");
    return why("", "Nothing is due.", ` ${ahead} due later.`);
  }
  return why("", queue.total.value > 0 ? "Nothing is due." : "No jobs.", "");
}

function holderText(m: Model, details: QueueDetails, holder: HolderOf | null): Node {
  const queue = details.queue;
  const waits = countedValue(queue.ready, "job waits", "jobs wait");
  if (!isStuck(queue)) {
    const rest =
      queue.holder === "unknown"
        ? ` Its worker sends no heartbeats.`
        : ` Its worker is alive.${queue.ready.value > 0 ? ` ${waits} behind it.` : ""}`;
    return why("run", `Locked ${durationText(queue.lockedAt, m.times)}.`, rest);
  }
  const stale = queue.holder === "stale";
  const since = stale && holder !== null ? holder.holder.lastHeartbeatAt : queue.stuckSince;
  return why(
    "warn",
    `Nothing has moved ${durationText(queue.stuckSince, m.times)}; ${waits}.`,
    stale
      ? ` Its worker is not responding: no heartbeat ${durationText(since, m.times)}.`
      : " Its worker sends no heartbeats: check that it is still running.",
  );
}

function why(tone: string, lead: string, rest: string): Node {
  return box("div", "why-box " + tone, [leaf("span", "lead", lead), text(rest)]);
}

function chain(m: Model, details: QueueDetails, by: string, holder: HolderOf | null): Node {
  const queue = details.queue;
  const stuck = isStuck(queue);
  const job = details.running;
  const name = exactName(queue.queueName, "strong");
  const what =
    job === null ? [name, text(" is locked")] : [name, text(" is locked by "), jobLink(job)];
  const worker = link(workerPath(by), "link", [text(by)]);
  return box("ol", "chain", [
    chainLink("queue", LAYERS, false, what, durationText(queue.lockedAt, m.times), nothing),
    chainLink(
      "worker",
      stuck ? ALERT : CPU,
      stuck,
      [worker, leaf("b", "", answers(m, queue.holder, holder))],
      stuck ? consequence(holder, job) : "",
      stuck ? verbButton(m, unlockVerb(`Unlock ${by}…`, [by]), "s p") : nothing,
    ),
  ]);
}

export function jobLink(job: QueuedJob): Node {
  const task = job.task;
  const words = `${task === null ? "job" : task} #${job.id}`;
  return link(jobPath(job.id), "link", [text(words)]);
}

function answers(m: Model, state: string | null, known: HolderOf | null): string {
  if (state === "unknown") return " sends no heartbeats";
  const beatAt = known === null ? NaN : known.holder.lastHeartbeatAt;
  if (state === "stale") {
    return (
      " is not responding" +
      (isNaN(beatAt) ? "" : ": no heartbeat " + durationText(beatAt, m.times))
    );
  }
  return isNaN(beatAt) ? " is alive" : ", last heartbeat " + ago(beatAt, m.times);
}

/** Returns what unlocking the worker would do; empty until the data of the worker have been read. */
function consequence(known: HolderOf | null, job: QueuedJob | null): string {
  if (known === null) return "";
  const effect = "unlocking " + known.released;
  if (job === null) return effect;
  // `attempts` includes the attempt that the unlock interrupts, and does not change.
  const then =
    job.attempts < job.maxAttempts
      ? `runs again as attempt ${job.attempts + 1} of ${job.maxAttempts}`
      : "fails: it has no attempts left";
  return `${effect}; #${job.id} ${then}`;
}
