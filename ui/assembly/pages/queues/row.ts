/** One named queue in the list: how many of its jobs are where, and who holds it. */
import { age, lasting, timed } from "../../controls/age";
import { link } from "../../controls/button";
import { dash } from "../../controls/empty";
import { stateSaying } from "../../controls/glyph";
import { cell } from "../../controls/table";
import { valueNode } from "../../controls/value";
import { ListedQueue, Value } from "../../generated/records";
import { Row } from "../../kit/row";
import { Node, text } from "../../lib/node";
import { queuePath, workerPath } from "../../model/links";
import { Model } from "../../model/model";

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

  override cells(m: Model): Node[] {
    const queue = this.queue;
    const holder = queue.lockedBy;
    return [
      cell("", [link(this.path, "name cut", [text(queue.queueName)])]),
      cell("w6", [this.state(m)]),
      cell("num w4", [count(queue.ready)]),
      cell("num w4 w-mid", [count(queue.running)]),
      cell("num w4 w-mid", [count(queue.scheduled)]),
      cell("num w4", [count(queue.failed)]),
      cell("num w5 w-opt", [timed(queue.oldestReadyAt, age(queue.oldestReadyAt, m.times))]),
      cell("w8 w-opt", [
        holder === null ? dash() : link(workerPath(holder), "mono cut", [text(holder)]),
      ]),
    ];
  }

  private state(m: Model): Node {
    const queue = this.queue;
    const stuck = queue.stuckSince;
    if (!isNaN(stuck)) return stateSaying("blocked", "Stuck " + lasting(stuck, m.times));
    if (!isNaN(queue.lockedAt)) return stateSaying("running", "Running");
    if (queue.ready.value > 0) return stateSaying("ready", "Ready");
    return stateSaying("idle", "Idle");
  }
}

function count(value: Value): Node {
  return valueNode(value, value.value === 0 ? "none" : "");
}
