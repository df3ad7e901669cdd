/** Texts and elements that show a limit. */
import { clockAt, periodText, timeElement } from "../controls/age";
import { link } from "../controls/button";
import { stateWith } from "../controls/glyph";
import { shareBar } from "../controls/spark";
import { sub } from "../controls/table";
import { countNode, exactValue } from "../controls/value";
import { LimitRate, ListedLimit } from "../generated/records";
import { box, leaf, Node, nothing, text } from "../lib/node";
import { numberText, partText } from "../lib/number";
import { limitPath } from "../model/links";
import { Model } from "../model/model";

/** Returns the rate as text, such as `1,500/min`. */
export function rateText(rate: LimitRate): string {
  return `${numberText(rate.limit)}/${periodText(rate.perMs)}`;
}

/** Shows the number of the limit's due jobs that have not started. */
export function waitingOf(limit: ListedLimit): Node {
  const value = exactValue(limit.waiting);
  value.precision = limit.waitingPrecision;
  return countNode(value, "");
}

/** Returns what the limit is for, such as `task send_email` or `each of 27 queues tenant/*`. */
export function targetText(limit: ListedLimit): string {
  const match = limit.match;
  if (!match.includes("*")) return `${limit.scope} ${match}`;
  if (limit.scope === "task") return "tasks " + match;
  const count = limit.queues;
  return count > 1 ? `each of ${numberText(count)} queues ${match}` : "each queue " + match;
}

/** Whether the limit bounds each of several queues. If so, `limit.running` is the sum over these queues. */
function isEach(limit: ListedLimit): bool {
  return limit.scope === "queue" && limit.match.includes("*");
}

/** Shows how many jobs run and how many may run at once; `no limit` if the limit has only a rate. */
export function atOnce(limit: ListedLimit): Node[] {
  if (limit.concurrency === i64.MIN_VALUE) return [leaf("span", "faint", "no limit")];
  if (!isEach(limit)) return amount(limit.running, limit.concurrency);
  return [text(mostText(limit)), sub(`${numberText(limit.running)} running`)];
}

/** Shows a bar and words such as `33 of 40`. */
export function amount(used: i64, most: i64): Node[] {
  const words = usedText(used, most);
  const counts: i64[] = [used, max(0, most - used)];
  return [text(words), shareBar(words, ["running", "none"], counts)];
}

function usedText(used: i64, most: i64): string {
  return most > 0 ? partText(used, most) : numberText(used);
}

/** Returns how many jobs run: `33 of 40`, or `33` if the limit bounds each of several queues or has only a rate. */
export function runningText(limit: ListedLimit): string {
  return usedText(limit.running, isEach(limit) ? 0 : limit.concurrency);
}

/** Returns the bound on jobs that run at once: `40` or `3 each`; `none` if the limit has only a rate. */
export function mostText(limit: ListedLimit): string {
  const most = limit.concurrency;
  return most > 0 ? numberText(most) + (isEach(limit) ? " each" : "") : "none";
}

export function rateCell(limit: ListedLimit): Node[] {
  const rate = limit.rate;
  if (rate === null) return [leaf("span", "faint", "no limit")];
  return [text(rateText(rate)), sub("burst " + numberText(rate.burst))];
}

/** Shows whether the limit is backing off, full or not full. Never in red: a limit is meant to make jobs wait. */
export function limitState(m: Model, limit: ListedLimit): Node {
  const backOff = limit.backingOff;
  if (backOff !== null) {
    return stateWith("scheduled", "backing off until " + clockAt(backOff.until, m.serverNow));
  }
  if (limit.state !== "full") return leaf("span", "dim", "not full");
  const full = limit.full;
  const more = limit.fullQueues > 1 ? `, ${numberText(limit.fullQueues - 1)} more` : "";
  return stateWith("blocked", full.length > 0 ? `full: ${full[0].name}${more}` : "full");
}

/** Removes a back-off that has ended since the limit was read. */
export function endBackOff(m: Model, limit: ListedLimit): void {
  const backOff = limit.backingOff;
  if (backOff === null || backOff.until > m.serverNow) return;
  limit.backingOff = null;
  limit.cause = null;
}

/** Shows the author and the time of the definition, such as `ana, 3 Mar 16:20`. */
export function setText(m: Model, limit: ListedLimit): Node {
  const by = limit.setBy;
  const author = limit.fromCode ? "code" : by === null ? "" : by;
  const at = timeElement(limit.setAt, clockAt(limit.setAt, m.serverNow));
  return box("span", "", [author.length > 0 ? text(author + ", ") : nothing, at]);
}

/**
 * Shows a line for each limit of a queue or a task, such as `At once 2 of 3 · limit tenant/*`. `running`: the number of
 * the queue's running jobs, or -1 for a task.
 */
export function limitLines(limits: ListedLimit[], running: i64): Node {
  const lines: Node[] = [];
  for (let i = 0; i < limits.length; i++) {
    const limit = limits[i];
    const rate = limit.rate;
    const most = limit.concurrency;
    const used = running < 0 ? limit.running : running;
    const parts: string[] = [];
    if (most > 0) parts.push(`At once ${partText(used, most)}`);
    if (rate !== null) parts.push("Rate " + rateText(rate));
    lines.push(
      box("p", "hint", [
        text(parts.join(" · ") + " · limit "),
        link(limitPath(limit.name), "link", [text(limit.name)]),
      ]),
    );
  }
  return lines.length > 0 ? box("div", "limits-here", lines) : nothing;
}
