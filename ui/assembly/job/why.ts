/** Shows why the job is in its condition: a sentence, the job's past and future attempts, and the chain of causes. */

import { clockAt, timeUntil } from "../controls/age";
import { rect } from "../controls/spark";
import { isLocked } from "../generated/conditions";
import { ListedJob, Why } from "../generated/records";
import { whyBox, whyChain } from "../kit/why-chain";
import { attr, box, el, leaf, Node, nothing } from "../lib/node";
import { Model } from "../model/model";
import { endedByHand } from "./facts";

/** The largest `max_attempts` for which cells are drawn, one for each attempt. */
const MAX_CELLS = 40;
const BAR = 300;

export function whyPanel(m: Model, job: ListedJob, why: Why): Node {
  const hasChain =
    why.causes.length > 1 || (why.causes.length === 1 && why.condition === "blocked");
  return box("section", "panel why", [
    box("div", "pb", [whyBox(m, why), attempts(m, job, why)]),
    hasChain ? box("div", "pb over-line", [whyChain(m, why)]) : nothing,
    toCome(m, job, why),
  ]);
}

function attempts(m: Model, job: ListedJob, why: Why): Node {
  if (job.attempts === 0 && !isLocked(why.condition)) return nothing;
  if (endedByHand(job)) return nothing;
  const most = job.maxAttempts;
  const ends: Node[] = [leaf("span", "", `added ${clockAt(job.createdAt, m.serverNow)}`)];
  if (isLocked(why.condition)) {
    ends.push(leaf("span", "", `attempt ${job.attempts} of ${most}`));
  } else ends.push(leaf("span", "", `${job.attempts} of ${most} attempts`));
  if (why.nextAttempts.length > 0) {
    ends.push(leaf("span", "", `next attempt ${clockAt(why.nextAttempts[0], m.serverNow)}`));
  }
  return box("div", "attempts", [
    most > 1 && most <= MAX_CELLS ? cells(job, why.condition) : nothing,
    box("div", "ends", ends),
  ]);
}

/** A cell for each attempt: those that failed, the current or next one, and those that are left. */
function cells(job: ListedJob, condition: string): Node {
  const step = min(<f64>BAR / <f64>job.maxAttempts, 43);
  const failed = isLocked(condition) ? job.attempts - 1 : job.attempts;
  const list: Node[] = [];
  for (let i = 0; i < job.maxAttempts; i++) {
    const next = isLocked(condition) ? condition : "retrying";
    const colour = i < failed ? "failed" : i === failed && condition !== "failed" ? next : "none";
    list.push(rect("f-" + colour, <f64>i * step, 0, max(step - 3, 2), 11));
  }
  const wide = <i32>Math.ceil(step * <f64>job.maxAttempts);
  return el(
    "svg",
    [
      attr("viewBox", `0 0 ${wide} 11`),
      attr("width", wide.toString()),
      attr("height", "11"),
      attr("role", "img"),
      attr("aria-label", `${job.attempts} of ${job.maxAttempts} attempts`),
    ],
    list,
  );
}

/** The times of a retrying job's next attempts and of its last one, on the assumption that each attempt fails. */
function toCome(m: Model, job: ListedJob, why: Why): Node {
  if (why.condition !== "retrying" || why.nextAttempts.length < 2) return nothing;
  const parts: Node[] = [leaf("b", "", "Upcoming attempts")];
  for (let i = 0; i < why.nextAttempts.length; i++) {
    const try_ = `attempt ${job.attempts + 1 + i} ${timeUntil(why.nextAttempts[i], m.times)}`;
    parts.push(leaf("span", i === 0 ? "" : "faint", try_));
  }
  if (!isNaN(why.lastAttemptAt)) {
    parts.push(
      leaf("span", "", `the last, ${job.maxAttempts}, ${clockAt(why.lastAttemptAt, m.serverNow)}`),
    );
  }
  return box("div", "pb over-line to-come", parts);
}
