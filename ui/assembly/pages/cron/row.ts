/** One cron entry in the list. The row of a schedule has buttons for its actions. */
import { durationText, timeElement } from "../../controls/age";
import { link } from "../../controls/button";
import { DOTS, icon } from "../../controls/icon";
import { menu } from "../../controls/menu";
import { cell, sub } from "../../controls/table";
import { CronEntry } from "../../generated/records";
import { Column, Row } from "../../kit/row";
import { Node, nothing, text } from "../../lib/node";
import { cronPath } from "../../model/links";
import { Model } from "../../model/model";
import {
  changeButton,
  isSchedule,
  pauseOrResume,
  removeSchedule,
  runButton,
} from "../../operations/scheduling";
import { cutName } from "../../parts/exact-name";
import { keepers, lastRun, madeUp, nextRun, pattern } from "./parts";

export const COLUMNS: Column[] = [
  new Column("", "Schedule", "identifier", ""),
  new Column("pattern w-mid", "Pattern", "", ""),
  new Column("when", "Next", "next", ""),
  new Column("when", "Last tick", "-last", ""),
  new Column("ticks w-opt", "Backfill", "", ""),
  new Column("num ago w-max", "Known", "", ""),
  new Column("w4 w-opt", "Workers", "", ""),
  new Column("num w6", "Action", "", ""),
];

export class CronRow extends Row {
  constructor(readonly entry: CronEntry) {
    super(entry.identifier);
  }

  override get name(): string {
    return "schedule " + this.entry.identifier;
  }

  override get path(): string {
    return cronPath(this.entry.identifier);
  }

  override get tone(): string {
    return this.entry.workers === 0 && !isSchedule(this.entry) ? "forgotten" : "";
  }

  override get isPaused(): bool {
    return !isNaN(this.entry.pausedAt);
  }

  override cells(m: Model): Node[] {
    const entry = this.entry;
    return [
      cell("", [this.named(), this.about()]),
      cell("w-mid", pattern(entry)),
      cell("", nextRun(m, entry)),
      cell("", lastRun(m, entry)),
      cell("dim w-opt", [text(madeUp(entry.backfill))]),
      cell("num dim w-max", [
        timeElement(entry.knownSince, durationText(entry.knownSince, m.times)),
      ]),
      cell("dim w-opt", keepers(entry)),
      cell("num vis", this.actions(m)),
    ];
  }

  private named(): Node {
    return link(this.path, "name cut", [cutName(this.entry.identifier, "")]);
  }

  /**
   * Shows the task if its name differs from the entry's. If the entry has no task, shows that no worker reports the
   * entry.
   */
  private about(): Node {
    const task = this.entry.task;
    if (task === null) return sub("no worker reports it any more");
    return task === this.entry.identifier ? nothing : cutName(task, "sub");
  }

  private actions(m: Model): Node[] {
    const entry = this.entry;
    if (!isSchedule(entry) || !m.access.canWrite) return [];
    const items = [
      runButton(m, entry, "s q"),
      changeButton(m, entry, "s q"),
      removeSchedule(m, entry, "s q"),
    ];
    return [
      pauseOrResume(m, entry, "s q"),
      menu("More actions: " + entry.identifier, [icon(DOTS)], items),
    ];
  }
}
