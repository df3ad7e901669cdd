/** Parts of a cron entry, for the list of entries and for the page of one entry. */
import { agoElement, clockAt, spanText, timeElement, timeUntil } from "../../controls/age";
import { link } from "../../controls/button";
import { stateWith } from "../../controls/glyph";
import { sub } from "../../controls/table";
import { CronEntry } from "../../generated/records";
import { attr, box, cls, el, leaf, Node, text } from "../../lib/node";
import { countText } from "../../lib/number";
import { jobPath, workerPath } from "../../model/links";
import { Model } from "../../model/model";
import { cutName } from "../../parts/exact-name";

/** The pattern in words, and as it is written; `unknown` if no live worker has the entry. */
export function pattern(entry: CronEntry): Node[] {
  const match = entry.match;
  if (match === null) return [leaf("span", "faint", "unknown")];
  const words = entry.inWords;
  const code = leaf("code", "", match);
  return words === null ? [code] : [text(words), box("span", "sub", [code])];
}

export function nextRun(m: Model, entry: CronEntry): Node[] {
  const at = entry.nextExecution;
  const since = entry.pausedAt;
  if (!isNaN(since)) {
    return [stateWith("paused", "Paused"), sub("since " + clockAt(since, m.serverNow))];
  }
  if (isNaN(at)) return [leaf("span", "faint", "none")];
  return [timeElement(at, timeUntil(at, m.times)), sub(clockAt(at, m.serverNow))];
}

/**
 * The time of the last tick. If ticks were missed since then, a second line has the time of the first missed tick.
 * Otherwise, while the job of the last tick waits, the second line has a link to this job.
 */
export function lastRun(m: Model, entry: CronEntry): Node[] {
  const at = entry.lastExecution;
  const late = entry.lateSince;
  const job = entry.pendingJobId;
  const lines: Node[] = [isNaN(at) ? leaf("span", "faint", "never") : agoElement(at, m.times)];
  if (!isNaN(late)) {
    const words = timeElement(late, `ticks missed since ${clockAt(late, m.serverNow)}`);
    lines.push(box("span", "sub", [box("span", "amber", [words])]));
  } else if (job !== i64.MIN_VALUE) {
    const waits = stateWith("scheduled", `#${job} waits`);
    lines.push(box("span", "sub", [link(jobPath(job), "link", [waits])]));
  }
  return lines;
}

/** The live workers that define the entry in their code; `any worker` for a schedule. */
export function keepers(entry: CronEntry): Node[] {
  if (entry.source === "schedule") return [text("schedule"), sub("any worker")];
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
      [text(countText(entry.workers, "worker", "workers"))],
    ),
  ];
}

/** Returns how far back missed ticks are backfilled: `up to 1 h back` or `off`; empty: unknown. */
export function madeUp(seconds: i64): string {
  if (seconds === i64.MIN_VALUE) return "";
  return seconds > 0 ? `up to ${spanText(<f64>seconds * 1000)} back` : "off";
}
