/**
 * The body of the page of a cron entry. times() returns the main column: the entry's runs, payload and changes. about()
 * returns the column beside it: the entry's definition.
 */
import { agoElement, localTimes, spanText, timeElement } from "../../controls/age";
import { link } from "../../controls/button";
import { note } from "../../controls/empty";
import { INFO, icon } from "../../controls/icon";
import { pair, pairs, panel, plainPanel, shellPanel, tablePanel } from "../../controls/panel";
import { cell, row } from "../../controls/table";
import { argument, shellLine } from "../../forms/shell-line";
import { CronDetails, CronEntry } from "../../generated/records";
import { box, leaf, Node, nothing, text } from "../../lib/node";
import { queuePath, taskPath } from "../../model/links";
import { Model } from "../../model/model";
import { exactName } from "../../parts/exact-name";
import { keepers, lastRun, madeUp, nextRun } from "./parts";

const CHANGES: string[] = ["num w4=When", "w3 w-mid=By", "=What"];

export function times(m: Model, entry: CronEntry, details: CronDetails): Node {
  const differs = entry.differs;
  const schedule = details.schedule;
  return box("div", "", [
    differs === null
      ? nothing
      : note("", [
          icon(INFO),
          box("div", "", [leaf("b", "", entry.identifier), text(" " + differs)]),
        ]),
    plainPanel("Runs", [
      box("div", "stats", [
        stat("Next run", nextRun(m, entry)),
        stat("Last tick", lastRun(m, entry)),
        stat("Workers", keepers(entry)),
      ]),
    ]),
    ticks(entry, details),
    schedule === null
      ? nothing
      : panel("Payload", "", [], [box("div", "pb", [leaf("pre", "pre", schedule.payload)])]),
    changes(m, details),
  ]);
}

function stat(name: string, value: Node[]): Node {
  return box("div", "", [leaf("div", "k", name), box("div", "v", value)]);
}

function ticks(entry: CronEntry, details: CronDetails): Node {
  const all = details.ticks;
  const change = details.clockChange;
  const zone = entry.timeZone;
  const isUtc = zone === null || zone === "UTC";
  const rows: Node[] = [];
  for (let i = 0; i < all.length; i++) {
    const tick = all[i];
    const utc = leaf("span", tick.isAfterChange ? "amber" : "", tick.utc);
    rows.push(
      row((<i64>tick.at).toString(), "", [
        cell("", [timeElement(tick.at, tick.local)]),
        isUtc ? nothing : cell("dim", [utc]),
      ]),
    );
  }
  const columns = isUtc ? ["=UTC"] : ["=" + zone!, "=UTC"];
  const remark = change === null ? "" : change;
  return tablePanel("Next runs", remark, [], "next-runs", columns, rows);
}

function changes(m: Model, details: CronDetails): Node {
  const rows: Node[] = [];
  for (let i = 0; i < details.changes.length; i++) {
    const change = details.changes[i];
    const by = change.by;
    rows.push(
      row((<i64>change.at).toString(), "", [
        cell("num dim", [agoElement(change.at, m.times)]),
        cell("dim w-mid cut", [text(by === null ? "" : by)]),
        cell("", [text(localTimes(change.message, m.serverNow))]),
      ]),
    );
  }
  return tablePanel("Activity", "", [], "changes", CHANGES, rows);
}

/** Returns the definition of the entry and, for a schedule, the shell command that runs the schedule now. */
export function about(m: Model, entry: CronEntry, details: CronDetails): Node {
  const schedule = details.schedule;
  const match = entry.match;
  const task = entry.task;
  const list: Node[] = [];
  if (match !== null) list.push(pair("Pattern", leaf("code", "", match)));
  if (entry.timeZone !== null) list.push(pair("Time zone", text(entry.timeZone!)));
  if (task !== null) {
    list.push(pair("Task", link(taskPath(task), "link", [exactName(task, "")])));
  }
  list.push(pair("Backfill", text(madeUp(entry.backfill))));
  if (schedule !== null) {
    const queue = schedule.queue;
    const key = schedule.key;
    const isSpread = schedule.jitterSecs > 0;
    list.push(pair("Overlap", text(schedule.overlap)));
    list.push(pair("Jitter", text(isSpread ? spanText(schedule.jitterSecs * 1000) : "none")));
    if (queue !== null) {
      list.push(pair("Queue", link(queuePath(queue), "link", [exactName(queue, "")])));
    }
    if (schedule.maxAttempts !== i64.MIN_VALUE) {
      list.push(pair("Attempts", text(schedule.maxAttempts.toString())));
    }
    if (schedule.priority !== i64.MIN_VALUE) {
      list.push(pair("Priority", text(schedule.priority.toString())));
    }
    if (key !== null) list.push(pair("Key", exactName(key, "")));
    list.push(pair("Revision", text(entry.revision.toString())));
  }
  const line = "schedule run" + argument("identifier", entry.identifier);
  return box("aside", "", [
    plainPanel("Definition", [box("div", "pb", [pairs(list)])]),
    schedule === null ? nothing : shellPanel(shellLine(line, m.access.session.schema)),
  ]);
}
