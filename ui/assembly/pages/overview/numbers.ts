/**
 * Lists the conditions, each with its number of jobs and a remark such as an age. The list is also the legend of the
 * horizon.
 */

import { ageText, ago, timeUntil } from "../../controls/age";
import { link } from "../../controls/button";
import { state } from "../../controls/glyph";
import { valueNode, valueText } from "../../controls/value";
import { CONDITIONS, countOf } from "../../generated/conditions";
import { Value } from "../../generated/records";
import { attr, box, cls, el, leaf, Node } from "../../lib/node";
import { numberText } from "../../lib/number";
import { conditionPath } from "../../model/links";
import { Model } from "../../model/model";
import { ALL, isPaused } from "../../operations/pausing";

const LATE_MS: f64 = 300000;
const HOUR_MS: f64 = 3600000;

export function numbers(m: Model): Node {
  const items: Node[] = [];
  for (let i = 0; i < CONDITIONS.length; i++) items.push(number(m, CONDITIONS[i]));
  return el("ul", [cls("nums"), attr("aria-label", "Jobs by condition")], items);
}

function number(m: Model, condition: string): Node {
  const value = countOf(m.facts.counts, condition);
  const words = m.facts.has("counts") ? remark(m, condition, value) : "";
  return box("li", "", [
    link(conditionPath(condition), "num-" + condition, [
      box("span", "k", [state(condition)]),
      box("span", "v", [m.facts.has("counts") ? valueNode(value, "") : leaf("span", "faint", "–")]),
      leaf("span", "a " + toneOf(m, condition), words),
    ]),
  ]);
}

/** Returns the remark below the number of a condition; empty for none. */
function remark(m: Model, condition: string, value: Value): string {
  // An estimated 0 gets no `none`, because there may be a few jobs.
  if (value.value === 0 && value.precision === "exact") return "none";
  const counts = m.facts.counts;
  const times = m.times;
  if (condition === "ready")
    return isPaused(m, ALL) ? "paused" : since(m, "oldest", "waits ", counts.oldestReadyAt);
  if (condition === "running") return since(m, "longest", "", counts.longestRunningAt);
  if (condition === "blocked") {
    return m.facts.has("pulse")
      ? `queues locked or paused: ${numberText(m.facts.pulse.lockedQueues)}`
      : "";
  }
  if (condition === "fetched") return value.value > 0 ? "not started" : "";
  if (condition === "retrying") {
    const due = counts.retryingDue;
    if (due.value > 0) return valueText(due) + " overdue";
    return due.precision === "exact" ? "none overdue" : "";
  }
  const isFailed = condition === "failed";
  const at = isFailed ? counts.lastFailedAt : counts.nextDueAt;
  if (isNaN(at)) return "";
  return isFailed ? "last " + ago(at, times) : "next " + timeUntil(at, times);
}

/** Returns, for example, `oldest waits 18 m`, or `oldest since 00:02:11` while the page's data are stale. */
function since(m: Model, what: string, verb: string, at: f64): string {
  if (isNaN(at)) return "";
  const times = m.times;
  if (times.stale) return `${what} since ${ago(at, times).substring(3)}`;
  return `${what} ${verb}${ageText(times.now - at)}`;
}

function toneOf(m: Model, condition: string): string {
  const counts = m.facts.counts;
  if (condition === "failed") {
    return m.serverNow - counts.lastFailedAt < HOUR_MS ? "red" : "";
  }
  return condition === "ready" && m.serverNow - counts.oldestReadyAt > LATE_MS ? "amber" : "";
}
