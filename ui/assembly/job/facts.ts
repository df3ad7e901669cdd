/** The panel of facts about a job. */
import { age, ago, clockAt, timeElement, timeUntil } from "../controls/age";
import { copyName, link } from "../controls/button";
import { pair, pairs, plainPanel } from "../controls/panel";
import { countedValue, isKnown, valueText } from "../controls/value";
import { DEADLINE, RETRY } from "../forms/flags";
import { ListedJob, Value, Why } from "../generated/records";
import { JsonReader } from "../lib/json-reader";
import { box, leaf, Node, text } from "../lib/node";
import { bytes, parseWhole, partText } from "../lib/number";
import { errorPath, queuePath, workerPath } from "../model/links";
import { Model } from "../model/model";

/**
 * Whether a failed job was cancelled, or was marked as failed by hand without a reason. Both actions set `attempts` to
 * the maximum, so `attempts` does not show how often the job has run.
 */
export function endedByHand(job: ListedJob): bool {
  const error = job.errorLine;
  if (job.state !== "failed" || error === null) return false;
  return (
    error.startsWith("cancelled") ||
    error.startsWith("Marked failed ") ||
    error.startsWith("Manually marked as failed")
  );
}

const AT_ONCE_MS: f64 = 1000;

/** Returns the panel. `size`: the size of the payload's text; if empty, the size in the database is shown. */
export function facts(m: Model, job: ListedJob, why: Why | null, size: string): Node {
  const list: Node[] = [];
  const queue = job.queueName;
  if (queue !== null) list.push(pair("Queue", queueNode(queue, why)));
  if (why !== null) {
    const ahead = why.ahead;
    if (ahead !== null) list.push(pair("Place", text(placeText(ahead, why.of))));
  }
  const worker = job.lockedBy;
  if (worker !== null) {
    list.push(pair("Worker", link(workerPath(worker), "link", [text(worker)])));
  }
  const key = job.key;
  if (key !== null) list.push(pair("Key", copyable("key", key)));
  if (!endedByHand(job)) {
    list.push(pair("Attempts", text(partText(job.attempts, job.maxAttempts))));
  }
  if (job.priority !== 0) {
    const side = job.priority < 0 ? "runs before default 0" : "runs after default 0";
    list.push(pair("Priority", text(`${job.priority} (${side})`)));
  }
  times(m, job, why, list);
  flags(m, job.flags, list);
  list.push(pair("Payload", text(size.length > 0 ? size : storedSize(job))));
  list.push(pair("Revision", text(job.revision.toString())));
  if (why !== null) sameError(why, list);
  return plainPanel("Facts", [box("div", "pb", [pairs(list)])]);
}

function queueNode(queue: string, why: Why | null): Node {
  const words = why === null ? "" : queueState(why);
  const name = queue.length > 0 ? queue : "(empty)";
  return box("span", "", [link(queuePath(queue), "link", [text(name)]), text(words)]);
}

function queueState(why: Why): string {
  for (let i = 0; i < why.causes.length; i++) {
    const kind = why.causes[i].kind;
    if (kind === "paused") return why.causes[i].links.queue === null ? "" : " · paused";
    // For an unknown worker, the server offers a fix only if the lock is old.
    if (kind === "holder_stale" || (kind === "holder_unknown" && why.causes[i].fix !== null))
      return why.condition === "blocked" ? " · stuck" : "";
  }
  return why.condition === "blocked" ? " · locked" : "";
}

function placeText(ahead: Value, all: Value | null): string {
  const before = ahead.value === 0 ? "next in line" : `${valueText(ahead)} ahead`;
  return all === null ? before : `${before}, of ${valueText(all)}`;
}

function times(m: Model, job: ListedJob, why: Why | null, list: Node[]): void {
  const now = m.serverNow;
  const state = job.state;
  // Until `why` has arrived, only the state is used.
  const condition = why === null ? "" : why.condition;
  if (condition === "fetched") list.push(pair("Fetched", moment(m, job.lockedAt)));
  else if (state === "locked") {
    list.push(pair("Locked", moment(m, job.lockedAt)));
  } else if (job.runAt > now && state !== "failed") {
    list.push(
      pair(
        "Due",
        timeElement(job.runAt, `${clockAt(job.runAt, now)}, ${timeUntil(job.runAt, m.times)}`),
      ),
    );
  } else if (state === "ready") {
    list.push(pair("Waits", timeElement(job.runAt, age(max(job.runAt, job.createdAt), m.times))));
  }
  // For a failed or retrying job with an error, `why.since` is the end of the last attempt; NaN if the end is unknown.
  // `updated_at` alone does not show this end: it may be the time of a later change.
  const hasFailed = (condition === "failed" || condition === "retrying") && !endedByHand(job);
  if (why !== null && hasFailed && !isNaN(why.since))
    list.push(pair("Last attempt", moment(m, why.since)));
  const atOnce = job.runAt - job.createdAt < AT_ONCE_MS && job.attempts === 0;
  const added = clockAt(job.createdAt, now) + (atOnce ? ", due at once" : "");
  list.push(pair("Added", timeElement(job.createdAt, added)));
}

function moment(m: Model, at: f64): Node {
  return timeElement(at, `${clockAt(at, m.serverNow)}, ${ago(at, m.times)}`);
}

/**
 * Shows the flags `{"slow": true}` as `slow`. A retry policy and a deadline, which are stored as flags, are shown as
 * separate facts. JSON of any other form is shown unchanged.
 */
function flags(m: Model, json: string, list: Node[]): void {
  const names: string[] = [];
  const r = new JsonReader(json);
  if (json !== "null") {
    r.beginObject();
    while (r.nextKey()) {
      const name = r.key();
      if (!r.bool()) r.fail("another value");
      const at = <f64>parseWhole(name.substring(DEADLINE.length)).value;
      if (name.startsWith(RETRY))
        list.push(pair("Retry policy", text(name.substring(RETRY.length))));
      else if (name.startsWith(DEADLINE))
        list.push(pair("Deadline", timeElement(at, deadlineText(m, at))));
      else names.push(name);
    }
    r.end();
  }
  const none = names.length === 0;
  const words = leaf("span", none ? "faint" : "", none ? "none" : names.join(", "));
  list.push(pair("Flags", r.failed ? leaf("code", "", json) : words));
}

function deadlineText(m: Model, at: f64): string {
  const when = at > m.serverNow ? timeUntil(at, m.times) : "passed " + ago(at, m.times);
  return `${clockAt(at, m.serverNow)}, ${when}`;
}

/** Returns the size of the payload in the database. */
export function storedSize(job: ListedJob): string {
  return bytes(job.payloadBytes) + (job.payloadPacked ? " compressed" : "");
}

function sameError(why: Why, list: Node[]): void {
  const group = why.errorGroup;
  if (group === null) return;
  const same = why.sameError;
  const words =
    same === null || !isKnown(same)
      ? "jobs with this error"
      : same.value <= 1 && same.precision === "exact"
        ? "no other job"
        : `${countedValue(same, "job", "jobs")} in all`;
  list.push(pair("Same error", link(errorPath(group), "link", [text(words)])));
}

export function copyable(what: string, value: string): Node {
  return box("span", "copied", [leaf("span", "mono", value), copyName(what, value)]);
}
