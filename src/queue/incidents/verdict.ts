// From facts to the verdict: every rule is asked, the worst comes first, and one sentence says it all.
import { numberWord } from "../../domain/words.ts";
import type { Facts } from "./facts.ts";
import type { Incident, Incidents } from "./incident.ts";
import { errorGroups, peakAhead, poisonJobs, trouble } from "./rules-of-failing.ts";
import { oldReady, silentWorkers, stuckQueues, unsupportedTasks } from "./rules-of-waiting.ts";

const rules: readonly ((facts: Facts) => Incident[])[] = [
  stuckQueues,
  errorGroups,
  poisonJobs,
  unsupportedTasks,
  oldReady,
  peakAhead,
  silentWorkers,
  trouble,
];

const MOST_INCIDENTS = 50;

export function judge(facts: Facts): Incidents {
  const all = rules.flatMap((rule) => rule(facts)).sort(worstFirst);
  const isBad = all.some(({ level }) => level === "bad");
  return {
    verdict: verdictOf(all.length),
    level: isBad ? "bad" : all.length > 0 ? "warn" : "ok",
    incidents: all.slice(0, MOST_INCIDENTS),
    more: Math.max(0, all.length - MOST_INCIDENTS),
    asOf: facts.asOf,
  };
}

/** What stands still before what is over, and then by how many jobs it reaches. */
function worstFirst(a: Incident, b: Incident): number {
  const badness = ({ level, standsStill }: Incident) =>
    (level === "bad" ? 2 : 0) + (standsStill ? 1 : 0);
  return badness(b) - badness(a) || b.blast.value - a.blast.value || (a.id < b.id ? -1 : 1);
}

function verdictOf(count: number): string {
  if (count === 0) return "All is well";
  const word = numberWord(count);
  const many = `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
  return count === 1 ? "One thing needs you" : `${many} things need you`;
}
