/**
 * One row in the list of queues: a queue, and the worker that has locked the queue. If the queue is stuck, the row's
 * button unlocks the jobs and queues of this worker. Otherwise the button pauses or resumes the queue.
 */
import { age, aged } from "../../controls/age";
import { link } from "../../controls/button";
import { cell } from "../../controls/table";
import { countNode } from "../../controls/value";
import { ListedQueue } from "../../generated/records";
import { Column, Row } from "../../kit/row";
import { unlockButton } from "../../kit/verb";
import { box, leaf, Node } from "../../lib/node";
import { queuePath, workerPath } from "../../model/links";
import { Model } from "../../model/model";
import { pauseButton } from "../../operations/pausing";
import { cutName } from "../../parts/exact-name";
import { pauseLine } from "../../parts/pause";
import { hasLock, isStuck, queueBar, queueState } from "../../parts/queue";

export const COLUMNS: Column[] = [
  new Column("", "Queue", "name", ""),
  new Column("q-state", "State", "stuck", ""),
  new Column("q-bar w-opt", "Jobs", "", ""),
  new Column("num q-num", "Due", "-waiting", "waiting"),
  new Column("num of w-mid", "Not due", "", ""),
  new Column("num q-num w-mid", "Failed", "-failed", ""),
  new Column("num ago w-mid", "Oldest due", "oldest", ""),
  new Column("by w-opt", "Locked by", "", ""),
  new Column("num verb", "Action", "", ""),
];

export class QueueRow extends Row {
  constructor(readonly queue: ListedQueue) {
    super(queue.queueName);
  }

  override get name(): string {
    return "queue " + this.queue.queueName;
  }

  override get path(): string {
    return queuePath(this.queue.queueName);
  }

  override get unlocks(): string {
    const by = this.queue.lockedBy;
    return by !== null && isStuck(this.queue) ? by : "";
  }

  override get pauses(): string {
    return "queue " + this.queue.queueName;
  }

  override get isPaused(): bool {
    return this.queue.paused !== null;
  }

  override cells(m: Model): Node[] {
    const queue = this.queue;
    const stuck = isStuck(queue);
    const oldest = queue.oldestReadyAt;
    return [
      cell("", [
        link(this.path, "name cut", [cutName(queue.queueName, "")]),
        pauseLine(m, queue.paused),
      ]),
      cell("", [queueState(m, queue)]),
      cell("q-bar w-opt", [queueBar(queue)]),
      cell("num", [countNode(queue.ready, "")]),
      cell("num dim w-mid", [countNode(queue.scheduled, "")]),
      cell("num dim w-mid", [countNode(queue.failed, "red")]),
      cell(stuck ? "num w-mid amber" : "num dim w-mid", [aged(oldest, m.times)]),
      cell("dim w-opt", holder(m, queue)),
      cell("num vis", [
        this.unlocks.length > 0
          ? unlockButton(m, this, "queues.unlock")
          : pauseButton(m, this.pauses, this.isPaused, "s q"),
      ]),
    ];
  }
}

function holder(m: Model, queue: ListedQueue): Node[] {
  const by = queue.lockedBy;
  if (by === null || !hasLock(queue)) return [leaf("span", "faint", "none")];
  const name = link(workerPath(by), "link", [cutName(by, "")]);
  // A queue that a stale worker has locked is shown as *Stuck*, with a duration, so the age of the lock is left out.
  if (queue.holder === "stale") return [name];
  const rest =
    queue.holder === "unknown" ? ", no heartbeats" : " · " + age(queue.lockedAt, m.times);
  return [box("span", "holder", [name, leaf("span", "", rest)])];
}
