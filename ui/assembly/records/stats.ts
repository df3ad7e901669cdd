/** What more than one page reads out of the overview's numbers. */
import { Overview, Stats } from "../generated/records";

export const STATES: string[] = ["all", "ready", "scheduled", "locked", "failed"];

export function countOf(stats: Stats, state: string): i64 {
  if (state === "ready") return stats.ready;
  if (state === "scheduled") return stats.scheduled;
  if (state === "locked") return stats.locked;
  return state === "failed" ? stats.failed : stats.total;
}

/** The server lists a bounded number of queues and says how many there are. */
export function queueTotal(overview: Overview): i64 {
  return max<i64>(overview.queueTotal, overview.queues.length);
}
