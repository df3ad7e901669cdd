/**
 * A row of the list of tasks: the task's workers, its jobs by condition, its last error, and the button that pauses or
 * resumes it.
 */

import { aged, ago, timeElement } from "../../controls/age";
import { link } from "../../controls/button";
import { BUG, icon } from "../../controls/icon";
import { countBar } from "../../controls/spark";
import { cell } from "../../controls/table";
import { countNode, valueText } from "../../controls/value";
import { CONDITIONS, countsOfTask } from "../../generated/conditions";
import { ListedTask } from "../../generated/records";
import { errorLabel } from "../../kit/group-row";
import { Column, Row } from "../../kit/row";
import { box, leaf, Node, text } from "../../lib/node";
import { numberText, partText } from "../../lib/number";
import { taskPath } from "../../model/links";
import { Model } from "../../model/model";
import { pauseButton } from "../../operations/pausing";
import { cutName } from "../../parts/exact-name";
import { pauseLine } from "../../parts/pause";

export const COLUMNS: Column[] = [
  new Column("", "Task", "name", ""),
  new Column("of", "Workers", "", ""),
  new Column("q-bar w-opt", "Jobs", "worst", ""),
  new Column("num q-num", "Ready", "-ready", ""),
  new Column("num q-num w-mid", "Blocked", "-blocked", ""),
  new Column("num q-num w-mid", "Retrying", "-retrying", ""),
  new Column("num q-num", "Failed", "-failed", ""),
  new Column("num ago w-mid", "Oldest due", "oldest", ""),
  new Column("last w-opt", "Last error", "", ""),
  new Column("num verb", "Action", "", ""),
];

export class TaskRow extends Row {
  constructor(readonly task: ListedTask) {
    super(task.identifier);
  }

  override get name(): string {
    return "task " + this.task.identifier;
  }

  override get path(): string {
    return taskPath(this.task.identifier);
  }

  override get pauses(): string {
    return "task " + this.task.identifier;
  }

  override get isPaused(): bool {
    return this.task.paused !== null;
  }

  private get isUnsupported(): bool {
    return this.task.isUnsupported === "true";
  }

  override cells(m: Model): Node[] {
    const task = this.task;
    const waits = this.isUnsupported && task.ready.value > 0;
    return [
      cell("", [
        link(this.path, "name cut", [cutName(task.identifier, "")]),
        pauseLine(m, task.paused),
      ]),
      cell("", [this.knownBy(m)]),
      cell("q-bar w-opt", [jobsBar(task)]),
      cell("num", [countNode(task.ready, waits ? "amber" : "")]),
      cell("num dim w-mid", [countNode(task.blocked, "")]),
      cell("num dim w-mid", [countNode(task.retrying, "")]),
      cell("num", [countNode(task.failed, "red")]),
      cell(waits ? "num w-mid amber" : "num dim w-mid", [aged(task.oldestReadyAt, m.times)]),
      cell("dim w-opt", [this.lastError(m)]),
      cell("num vis", [pauseButton(m, this.pauses, this.isPaused, "s q")]),
    ];
  }

  /**
   * Shows how many workers support the task, and how many workers are alive in all, for example `5 of 5`. The two
   * numbers are read at different times. If the second number is smaller or unknown, only the first one is shown.
   */
  private knownBy(m: Model): Node {
    const by = this.task.supportedBy;
    if (this.isUnsupported) return box("span", "row amber", [icon(BUG), text("none")]);
    if (by === 0) return leaf("span", "faint", "unknown");
    const alive = m.facts.has("pulse") ? m.facts.pulse.alive : 0;
    return text(by <= alive ? partText(by, alive) : numberText(by));
  }

  private lastError(m: Model): Node {
    const at = this.task.lastErrorAt;
    const line = this.task.lastErrorLine;
    const sampled = this.task.lastErrorSampled;
    if (line === null) return leaf("span", "faint", sampled ? "none found" : "none");
    const when = ago(at, m.times);
    return box("span", "row", [
      errorLabel(line),
      timeElement(at, sampled ? "sampled, " + when : when),
    ]);
  }
}

function jobsBar(task: ListedTask): Node {
  const counts = countsOfTask(task);
  const parts: string[] = [];
  const values: i64[] = [];
  for (let i = 0; i < counts.length; i++) {
    values.push(counts[i].value);
    if (counts[i].value > 0) parts.push(`${valueText(counts[i])} ${CONDITIONS[i]}`);
  }
  return countBar(parts.length > 0 ? parts.join(", ") : "no jobs", values);
}
