/** Shows the evidence that a job crashes workers: the times of crashes, and the jobs that lost attempts in crashes. */
import { ageText, clockAt } from "../../controls/age";
import { link } from "../../controls/button";
import { shareBar, sparkline } from "../../controls/spark";
import { CrashedJob, CrashReport } from "../../generated/records";
import { box, leaf, Node, nothing, text } from "../../lib/node";
import { numberText } from "../../lib/number";
import { jobPath, workerPath } from "../../model/links";
import { Model } from "../../model/model";
import { cutName } from "../../parts/exact-name";

const BARS: i32 = 60;

export function crashCard(m: Model, crash: CrashReport | null): Node {
  if (crash === null) return nothing;
  const hasTimes = crash.times.length > 1;
  const hasOthers = crash.jobs.length > 1;
  if (!hasTimes && !hasOthers) return nothing;
  return box("div", "crash", [hasTimes ? crashes(m, crash) : nothing, crashedJobs(crash)]);
}

/** A bar chart of the crashes, from the first crash until now. */
function crashes(m: Model, crash: CrashReport): Node {
  const times = crash.times;
  const first = times[0];
  const last = times[times.length - 1];
  const now = max(m.facts.incidents.asOf, last);
  const span = max(1000, now - first);
  const bars: i64[] = [];
  for (let i = 0; i < BARS; i++) bars.push(0);
  for (let i = 0; i < times.length; i++) {
    bars[min(BARS - 1, <i32>(((times[i] - first) / span) * <f64>BARS))]++;
  }
  const every = ageText((last - first) / <f64>(times.length - 1));
  const title = `${times.length} worker crashes, ${every} apart`;
  return box("div", "crash-times", [
    leaf("h3", "k", title),
    sparkline(bars, "failed", title, 480, 26),
    box("div", "ends", [
      leaf("span", "", clockAt(first, now)),
      worker(crash.worker),
      leaf("span", "", m.times.stale ? clockAt(now, now) : "now"),
    ]),
  ]);
}

function worker(id: string | null): Node {
  if (id === null) return nothing;
  return box("span", "cut", [text("last on "), link(workerPath(id), "link", [text(id)])]);
}

function crashedJobs(crash: CrashReport): Node {
  const rows: Node[] = [leaf("h3", "k", "Attempts lost in crashes")];
  for (let i = 0; i < crash.jobs.length; i++) rows.push(share(crash.jobs[i], crash.crashes));
  return box("div", "crash-jobs", rows);
}

function share(job: CrashedJob, crashes: i64): Node {
  const task = job.task;
  const name = task === null ? nothing : cutName(task, "name");
  const words = numberText(job.crashes);
  const colour = job.crashes >= crashes ? "failed" : "dim";
  return box("div", "crash-job", [
    link(jobPath(job.id), "row", [name, leaf("span", "id", `#${job.id}`)]),
    shareBar(words, [colour, "none"], [job.crashes, max<i64>(0, crashes - job.crashes)]),
    leaf("span", "num", words),
  ]);
}
