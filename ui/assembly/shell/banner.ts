/**
 * The banner above each page. It shows the first of these that applies: an outage, a server whose version differs from
 * that of the page, a pause of all jobs, a read-only admin.
 */
import { ageText, clockAt, upToDate } from "../controls/age";
import { button } from "../controls/button";
import { BUG, INFO, icon, PAUSE } from "../controls/icon";
import { attr, cls, el, leaf, Node, nothing, text } from "../lib/node";
import { RED_MS } from "../model/live";
import { Model } from "../model/model";
import { ALL, pauseButton } from "../operations/pausing";

export function banner(m: Model): Node {
  const live = m.live;
  if (live.outage.length > 0 || live.silence(m.now) >= RED_MS) return connection(m);
  const session = m.access.session;
  if (session.version !== m.version) {
    const message = `The server is now version ${session.version}; this page has another version.`;
    return bar("info", INFO, message, "", [button("Reload", "app.renew", "", "s push")]);
  }
  const paused = pausedBar(m);
  if (paused !== nothing || !session.readOnly) return paused;
  return session.readOnlyServer
    ? bar("info", INFO, "Read-only.", READ_ONLY_DATABASE, [])
    : bar("info", INFO, "Read-only.", READ_ONLY, []);
}

/**
 * Returns the banner while all jobs are paused, with the sentence of the incident that reports the pause, and the
 * button that resumes the jobs. Otherwise returns nothing.
 */
function pausedBar(m: Model): Node {
  const list = m.facts.incidents.incidents;
  for (let i = 0; i < list.length; i++) {
    if (list[i].id !== "paused:all:") continue;
    const message = upToDate(list[i].sentence, m.facts.incidents.asOf, m.times);
    return bar("info", PAUSE, list[i].title + ".", message, [pauseButton(m, ALL, true, "s push")]);
  }
  return nothing;
}

const READ_ONLY = "This server allows no changes; commands can still be copied.";
const READ_ONLY_DATABASE = "PostgreSQL is a standby, or read-only by its settings.";

/**
 * Returns the banner of an outage. The seconds that it counts are hidden from screen readers, so that screen readers
 * read the banner only once.
 */
function connection(m: Model): Node {
  const live = m.live;
  const message = live.outage.length > 0 ? live.outage : "The server does not respond";
  const data = isNaN(live.newsAt)
    ? "There is no data yet."
    : `Showing data from ${clockAt(live.newsTime, m.serverNow)}. Workers that reach the database keep running.`;
  const acts = [
    el(
      "span",
      [cls("ticks num push"), attr("aria-hidden", "true")],
      [text(`${since(m)}next attempt ${nextTry(m)}`)],
    ),
  ];
  if (live.outageCode === "schema_missing" && m.access.canWrite) {
    acts.push(button("Create schema…", "ask.migrate", "", "s"));
  }
  acts.push(button("Try now", "app.retry", "", "s"));
  return bar("bad", BUG, message.endsWith(".") ? message : message + ".", data, acts);
}

function since(m: Model): string {
  return isNaN(m.live.newsAt) ? "" : `for ${ageText(m.live.silence(m.now))} · `;
}

function nextTry(m: Model): string {
  const left = m.live.nextAskAt - m.now;
  return left < 1000 ? "now" : "in " + ageText(left);
}

function bar(tone: string, drawing: string, lead: string, message: string, acts: Node[]): Node {
  const words = [leaf("b", "", lead), text(" " + message)];
  const role = attr("role", tone === "bad" ? "alert" : "status");
  const children: Node[] = [icon(drawing), el("p", [role], words)];
  return el("div", [cls("banner " + tone)], children.concat(acts));
}
