/** One queue in the list: who holds it, what waits in it, and the verb that frees it where it is stuck. */
import { age, aged } from "../../controls/age";
import { link } from "../../controls/button";
import { cell } from "../../controls/table";
import { countNode } from "../../controls/value";
import { ListedQueue } from "../../generated/records";
import { Column, Row } from "../../kit/row";
import { writeButton } from "../../kit/verb";
import { box, leaf, Node, nothing, text } from "../../lib/node";
import { queuePath, workerPath } from "../../model/links";
import { Model } from "../../model/model";
import { exactName } from "../../parts/exact-name";
import { isHeld, isStuck, queueBar, queueState } from "../../parts/queue";

export const COLUMNS: Column[] = [
  new Column("", "Queue", "name", ""),
  new Column("q-state", "State", "stuck", ""),
  new Column("w5 w-opt", "Jobs", "", ""),
  new Column("num q-num", "Due", "-waiting", "waiting"),
  new Column("num w4 w-mid w-later", "Later", "", ""),
  new Column("num w4 w-mid", "Failed", "-failed", ""),
  new Column("num w4 w-mid", "Oldest", "oldest", ""),
  new Column("w8 w-opt", "Held by", "", ""),
  new Column("w4 w-mid", "Free it", "", ""),
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

  override cells(m: Model): Node[] {
    const queue = this.queue;
    const stuck = isStuck(queue);
    const oldest = queue.oldestReadyAt;
    return [
      cell("", [link(this.path, "name cut", [exactName(queue.queueName, "")])]),
      cell("", [queueState(m, queue)]),
      cell("w-opt", [queueBar(queue)]),
      cell("num", [countNode(queue.ready, "")]),
      cell("num dim w-mid w-later", [countNode(queue.scheduled, "")]),
      cell("num dim w-mid", [countNode(queue.failed, "red")]),
      cell(stuck ? "num w-mid amber" : "num dim w-mid", [aged(oldest, m.times)]),
      cell("dim w-opt", holder(m, queue)),
      cell("num vis w-mid", [stuck ? this.verb(m) : nothing]),
    ];
  }

  private verb(m: Model): Node {
    const by = this.queue.lockedBy;
    return by === null ? nothing : writeButton(m, "Unlock…", "queues.unlock", by, "s");
  }
}

function holder(m: Model, queue: ListedQueue): Node[] {
  const by = queue.lockedBy;
  if (by === null || !isHeld(queue)) return [leaf("span", "faint", "nobody")];
  const rest =
    queue.holder === "silent"
      ? ", silent"
      : queue.holder === "unknown"
        ? ", no heartbeat"
        : " · " + age(queue.lockedAt, m.times);
  return [
    box("span", "holder", [
      link(workerPath(by), "link cut", [text(by)]),
      leaf("span", queue.holder === "silent" ? "amber" : "", rest),
    ]),
  ];
}
