/** One entry of a timetable: its task and pattern, its ticks, and its backfill period. */
import { aged, ago, clockAt, spanText, timed, until } from "../../controls/age";
import { link } from "../../controls/button";
import { stateSaying } from "../../controls/glyph";
import { DOTS, icon } from "../../controls/icon";
import { menu } from "../../controls/menu";
import { cell } from "../../controls/table";
import { CronEntry } from "../../generated/records";
import { Column, Row } from "../../kit/row";
import { verbArg, verbOf, writeButton } from "../../kit/verb";
import { JsonWriter } from "../../lib/json-writer";
import { attr, box, cls, el, leaf, Node, nothing, text } from "../../lib/node";
import { counted } from "../../lib/number";
import { jobPath, taskPath, workerPath } from "../../model/links";
import { Model } from "../../model/model";
import { cutName } from "../../parts/exact-name";

export const COLUMNS: Column[] = [
  new Column("", "Schedule", "identifier", ""),
  new Column("pattern w-mid", "Pattern", "", ""),
  new Column("when", "Next", "next", ""),
  new Column("when", "Last", "-last", ""),
  new Column("ticks w-opt", "Backfill", "", ""),
  new Column("num ago w-max", "Since", "", ""),
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

  /** The address of its task's jobs. An entry that no worker has any more has no link. */
  override get path(): string {
    const task = this.entry.task;
    return task === null ? "" : taskPath(task);
  }

  override get tone(): string {
    return this.entry.workers === 0 && !this.isSchedule ? "forgotten" : "";
  }

  /** A row of the database, which any worker runs. */
  private get isSchedule(): bool {
    return this.entry.source === "schedule";
  }

  override get isPaused(): bool {
    return !isNaN(this.entry.pausedAt);
  }

  override cells(m: Model): Node[] {
    const entry = this.entry;
    return [
      cell("", [this.named(), this.about()]),
      cell("w-mid", this.pattern()),
      cell("", this.next(m)),
      cell("", this.last(m)),
      cell("dim w-opt", [text(madeUp(entry.backfill))]),
      cell("num dim w-max", [aged(entry.knownSince, m.times)]),
      cell("dim w-opt", this.keepers()),
      cell("num vis", this.actions(m)),
    ];
  }

  private named(): Node {
    const name = cutName(this.entry.identifier, "");
    return this.path.length > 0
      ? link(this.path, "name cut", [name])
      : box("span", "name cut", [name]);
  }

  /** The task, if its name differs from that of the entry. */
  private about(): Node {
    const task = this.entry.task;
    if (task === null) return sub("no worker reports it any more");
    return task === this.entry.identifier ? nothing : cutName(task, "sub");
  }

  private pattern(): Node[] {
    const match = this.entry.match;
    if (match === null) return [leaf("span", "faint", "unknown")];
    const words = this.entry.inWords;
    const code = leaf("code", "", match);
    return words === null ? [code] : [text(words), box("span", "sub", [code])];
  }

  private next(m: Model): Node[] {
    const at = this.entry.nextExecution;
    if (this.isPaused) {
      const since = this.entry.pausedAt;
      return [stateSaying("paused", "Paused"), sub("since " + clockAt(since, m.serverNow))];
    }
    if (isNaN(at)) return [leaf("span", "faint", "none")];
    return [timed(at, until(at, m.times)), sub(clockAt(at, m.serverNow))];
  }

  /** When the last tick was, and its job as long as that waits; or the tick that was missed. */
  private last(m: Model): Node[] {
    const entry = this.entry;
    const at = entry.lastExecution;
    const late = entry.lateSince;
    const job = entry.pendingJobId;
    const lines: Node[] = [
      isNaN(at) ? leaf("span", "faint", "never") : timed(at, ago(at, m.times)),
    ];
    if (!isNaN(late)) {
      const words = timed(late, `missed ${clockAt(late, m.serverNow)}`);
      lines.push(box("span", "sub", [box("span", "amber", [words])]));
    } else if (job !== i64.MIN_VALUE) {
      const waits = stateSaying("scheduled", `#${job} waits`);
      lines.push(box("span", "sub", [link(jobPath(job), "link", [waits])]));
    }
    return lines;
  }

  private keepers(): Node[] {
    const entry = this.entry;
    if (this.isSchedule) return [text("schedule"), sub("any worker")];
    if (entry.workers === 0) return [leaf("span", "amber", "no worker")];
    if (entry.workers === 1 && entry.workerIds.length === 1) {
      const id = entry.workerIds[0];
      return [link(workerPath(id), "link cut", [cutName(id, "")])];
    }
    const some: string[] = [];
    for (let i = 0; i < entry.workerIds.length; i++) some.push(entry.workerIds[i]);
    const more = entry.workers > entry.workerIds.length ? ", …" : "";
    return [
      el(
        "span",
        [cls(""), attr("title", some.join(", ") + more)],
        [text(counted(entry.workers, "worker", "workers"))],
      ),
    ];
  }

  private actions(m: Model): Node[] {
    if (!this.isSchedule || !m.access.canWrite) return [];
    const entry = this.entry;
    const name = entry.identifier;
    const arg = `${entry.revision} ${name}`;
    const items = [
      this.act(m, "run", "Run now", `Run ${name} now`),
      writeButton(m, "Change…", "ask.schedule-change", arg, "s q"),
      this.act(m, "remove", "Remove", `Remove ${name}`),
    ];
    return [
      this.isPaused
        ? this.act(m, "resume", "Resume", `Resume ${name}`)
        : this.act(m, "pause", "Pause", `Pause ${name}`),
      menu("More actions: " + name, [icon(DOTS)], items),
    ];
  }

  /** Opens the dialog that confirms it. */
  private act(m: Model, action: string, label: string, title: string): Node {
    const name = this.entry.identifier;
    const body = new JsonWriter().string("action", action).string("identifier", name).end();
    const verb = verbOf(action, title, "/api/schedules", body);
    return writeButton(m, label + "…", "ask.verb", verbArg(verb), "s q");
  }
}

function sub(words: string): Node {
  return words.length > 0 ? leaf("span", "sub", words) : nothing;
}

/** Returns the backfill period. */
function madeUp(seconds: i64): string {
  if (seconds === i64.MIN_VALUE) return "";
  return seconds > 0 ? `up to ${spanText(<f64>seconds * 1000)} back` : "off";
}
