/** The state of a named queue as a word, and its jobs as the parts of a bar. */

import { age, durationText } from "../controls/age";
import { stateWith } from "../controls/glyph";
import { countBar } from "../controls/spark";
import { valueText } from "../controls/value";
import { ListedQueue } from "../generated/records";
import { Node } from "../lib/node";
import { Model } from "../model/model";
import { pausedState } from "./pause";

/** Whether a worker has locked the queue. */
export function hasLock(queue: ListedQueue): bool {
  return !isNaN(queue.lockedAt);
}

export function isStuck(queue: ListedQueue): bool {
  return !isNaN(queue.stuckSince);
}

/** Whether the queue's due jobs are blocked: a worker has locked the queue, or the queue is paused. */
export function isBlocked(queue: ListedQueue): bool {
  return hasLock(queue) || queue.paused !== null;
}

/**
 * Returns the state. *Locked* is normal: a worker has locked the queue. *Stuck* is a problem: the worker that has
 * locked the queue is not responding, or the lock is hours old and the worker never sent a heartbeat.
 */
export function queueState(m: Model, queue: ListedQueue): Node {
  const times = m.times;
  if (isStuck(queue)) {
    const since = queue.stuckSince;
    const lasts = times.stale ? durationText(since, times) : age(since, times);
    return stateWith("blocked", `Stuck ${lasts}`);
  }
  const paused = queue.paused;
  if (paused !== null) return pausedState(paused);
  if (hasLock(queue)) return stateWith("running", "Locked");
  if (queue.failed.value > 0) return stateWith("failed", "Failed");
  // Workers do not lock a queue that is under a limit, so jobs of the queue may run although the queue is not locked.
  if (queue.running.value > 0) return stateWith("running", "Running");
  if (queue.ready.value > 0) return stateWith("ready", "Ready");
  return queue.scheduled.value > 0
    ? stateWith("scheduled", "Scheduled")
    : stateWith("idle", "Idle");
}

export function queueBar(queue: ListedQueue): Node {
  const blocked = isBlocked(queue);
  const counts: i64[] = [
    blocked ? 0 : queue.ready.value,
    blocked ? queue.ready.value : 0,
    0,
    queue.running.value,
    0,
    queue.scheduled.value,
    queue.failed.value,
  ];
  const parts = `${valueText(queue.ready)} due, ${valueText(queue.running)} locked, ${valueText(queue.scheduled)} scheduled, ${valueText(queue.failed)} failed`;
  return countBar(parts, counts);
}
