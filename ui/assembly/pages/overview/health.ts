/** Says in words whether the queue is healthy, and what to look at first if it is not. */
import { link } from "../../controls/controls";
import { attr, box, cls, el, leaf, Node, text } from "../../lib/node";
import { counted } from "../../lib/number";
import { Model } from "../../model/model";
import { staleCount, workerRows } from "../../model/worker-rows";

class Finding {
  constructor(
    readonly tone: string,
    readonly sentence: string,
    readonly path: string,
  ) {}
}

export function health(m: Model): Node {
  const findings = examine(m);
  const items: Node[] = [];
  let worst = "good";
  for (let i = 0; i < findings.length; i++) {
    const finding = findings[i];
    if (finding.tone === "bad" || worst === "good") worst = finding.tone;
    items.push(box("li", finding.tone, [link(finding.path, "", [text(finding.sentence)])]));
  }
  const verdict =
    worst === "good" ? "Healthy" : worst === "warn" ? "Needs a look" : "Needs help now";
  return el(
    "section",
    [cls("health " + worst), attr("aria-label", "Health")],
    [
      leaf("strong", "verdict", verdict),
      items.length > 0 ? box("ul", "findings", items) : leaf("p", "findings", allIsWell(m)),
    ],
  );
}

function examine(m: Model): Finding[] {
  const stats = m.overview.stats;
  const active = m.overview.activeWorkers;
  const findings: Finding[] = [];
  const stale = staleCount(active);
  const alive = active.length - stale;
  if (stats.ready > 0 && alive === 0 && m.overview.workers.length === 0) {
    const waiting = counted(stats.ready, "job is ready", "jobs are ready");
    findings.push(new Finding("bad", `No worker is alive, and ${waiting} to run`, "/workers"));
  }
  if (stale > 0) {
    const sentence =
      counted(stale, "worker has", "workers have") + " stopped its heartbeat and may hold locks";
    findings.push(
      new Finding("warn", stale > 1 ? sentence.replace(" its ", " their ") : sentence, "/workers"),
    );
  }
  const silent = silentCount(m);
  // Where no worker sends heartbeats at all, silence says nothing.
  if (silent > 0 && active.length > 0) {
    const sentence = counted(silent, "worker holds", "workers hold") + " locks without a heartbeat";
    findings.push(new Finding("warn", sentence, "/workers"));
  }
  if (stats.failed > 0) {
    const sentence = counted(stats.failed, "job has", "jobs have") + " no attempts left";
    findings.push(new Finding("warn", sentence, "/jobs?state=failed"));
  }
  return findings;
}

function allIsWell(m: Model): string {
  const alive = m.overview.activeWorkers.length;
  const workers = alive > 0 ? counted(alive, "worker is alive", "workers are alive") : "";
  if (m.overview.stats.total === 0) {
    return workers.length > 0 ? `The queue is empty and ${workers}.` : "The queue is empty.";
  }
  return workers.length > 0 ? `Nothing has failed and ${workers}.` : "Nothing has failed.";
}

function silentCount(m: Model): i32 {
  const rows = workerRows(m.overview);
  let count = 0;
  for (let i = 0; i < rows.length; i++) if (rows[i].status === "silent") count++;
  return count;
}
