/** The verdict: one sentence about the incidents, and the numbers beside it. */

import { ago, clockAt } from "../../controls/age";
import { drawnButton } from "../../controls/button";
import { dash } from "../../controls/empty";
import { ALERT, CHECK, CLOCK, COPY, DOTS, icon, NONE, PLUS } from "../../controls/icon";
import { menu } from "../../controls/menu";
import { heading, headOf } from "../../controls/panel";
import { writeButton } from "../../kit/verb";
import { box, leaf, Node, nothing, text } from "../../lib/node";
import { countText } from "../../lib/number";
import { Model } from "../../model/model";
import { ALL, isPaused } from "../../operations/pausing";

export function verdict(m: Model): Node {
  const known = m.facts.has("incidents");
  const acts =
    known && !isEmpty(m)
      ? [drawnButton(COPY, "Copy report", "overview.report", "only-wide"), more(m)]
      : [];
  return headOf([mark(m), heading([text(words(m))])], beside(m), acts);
}

function more(m: Model): Node {
  if (!m.access.canWrite || isPaused(m, ALL)) return nothing;
  const pause = writeButton(m, "Pause everything…", "ask.pause", ALL, "q");
  return menu("More actions", [icon(DOTS)], [pause]);
}

/** Whether the queue was never used. The counts are checked, too, because they show a first job before `isNew` does. */
export function isEmpty(m: Model): bool {
  return m.facts.incidents.isNew && m.facts.counts.total.value === 0;
}

function words(m: Model): string {
  if (isEmpty(m) && !m.live.isStale(m.now)) return "No jobs yet";
  if (!m.facts.has("incidents")) return m.live.outage.length > 0 ? "Waiting for data" : "Overview";
  const sentence = m.facts.incidents.verdict;
  if (!m.live.isStale(m.now)) return sentence;
  return `At ${clockAt(m.live.newsTime, m.serverNow)}: ${sentence}`;
}

function mark(m: Model): Node {
  const level = m.facts.has("incidents") ? m.facts.incidents.level : "";
  const isStale = m.live.isStale(m.now);
  if (isEmpty(m) && !isStale) return box("span", "mark none", [icon(PLUS)]);
  if (level === "" || isStale) return box("span", "mark stale", [icon(CLOCK)]);
  if (level === "ok") {
    const made = m.facts.incidents.checks;
    for (let i = 0; i < made.length; i++)
      if (!made[i].passed) return box("span", "mark none", [icon(NONE)]);
    return box("span", "mark ok", [icon(CHECK)]);
  }
  return box("span", level === "bad" ? "mark bad" : "mark warn", [icon(ALERT)]);
}

/** If the incidents are older than this, the page shows their age. */
const OLD_MS: f64 = 10000;

function beside(m: Model): string {
  const parts: string[] = [];
  if (m.live.isStale(m.now)) {
    return "";
  }
  if (isEmpty(m)) return `The schema ${m.access.session.schema} is ready.`;
  const list = m.facts.incidents.incidents;
  // The headline is about the first incident.
  if (list.length > 0 && list[0].jobsWait && list[0].since < m.serverNow)
    parts.push("since " + clockAt(list[0].since, m.serverNow));
  if (m.facts.has("pulse")) {
    // Without incidents and workers, alive() is left out: the headline may already be `No worker sends heartbeats`.
    if (list.length + m.facts.pulse.alive + m.facts.pulse.stale > 0) parts.push(alive(m));
    const done = m.facts.pulse.done;
    if (done > 0)
      parts.push(`${countText(done, "job", "jobs")} done or removed in the last minute`);
  }
  // The numbers and ages in the incidents' sentences are as of `asOf`.
  const asOf = m.facts.incidents.asOf;
  if (m.facts.has("incidents") && list.length > 0 && m.serverNow - asOf > OLD_MS) {
    parts.push("read " + ago(asOf, m.times));
  }
  return parts.join(" · ");
}

function alive(m: Model): string {
  const pulse = m.facts.pulse;
  const all = pulse.alive + pulse.stale;
  if (all === 0) return "no worker sends heartbeats";
  return pulse.stale === 0
    ? `${countText(all, "worker", "workers")} alive`
    : `${pulse.alive} of ${countText(all, "worker", "workers")} alive`;
}

/** The checks, if there is no incident. A check that has not passed has a dash. */
export function checks(m: Model): Node {
  const done = m.facts.incidents.checks;
  const items: Node[] = [];
  for (let i = 0; i < done.length; i++) {
    const mark = done[i].passed ? icon(CHECK) : dash();
    items.push(box("li", "", [mark, leaf("span", "", done[i].text)]));
  }
  return box("section", "panel", [box("ul", "checks", items)]);
}
