// Counts the jobs that wait under limits: ready, blocked and fetched jobs, and due retries. The number for a limit is
// the sum of the numbers for the tasks or named queues that the limit covers.
import type { Database } from "../../database/database.ts";
import type { LimitScope } from "../../domain/limits/limit.ts";
import type { Value } from "../../domain/value.ts";
import type { NameCounts } from "../snapshot/name-counts.ts";
import { type NameTally, sumOfTallies } from "../stats/name-tallies.ts";
import { readNames } from "../stats/queue-rows.ts";
import { inCondition, inState, sumOf, type TallyName } from "../stats/tally.ts";

/** The maximum number of names in the result. If there are more, those with the fewest waiting jobs are left out. */
const MAX_NAMES = 10_000;
const waiting: readonly TallyName[] = [...inState.ready, ...inCondition.fetched];

export type WaitingCounts = Pick<NameCounts, "tallies" | "value">;

/** The counts of the tasks or named queues that have waiting jobs, by name; those with the most waiting jobs first. */
export type WaitingNames = ReadonlyMap<string, NameTally>;

export async function readWaitingNames(
  db: Database,
  { tallies }: WaitingCounts,
  scope: LimitScope,
): Promise<WaitingNames> {
  const all = scope === "task" ? tallies.tasks : tallies.queues;
  const most = [...all]
    .map(([id, tally]) => ({ id, tally, count: sumOf(tally.counts, waiting) }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count)
    .slice(0, MAX_NAMES);
  const ids = most.map(({ id }) => id);
  const names = await readNames(db, scope, ids);
  const named = most.flatMap(({ id, tally }): [string, NameTally][] => {
    const name = names.get(id);
    return name === undefined ? [] : [[name, tally]];
  });
  return new Map(named);
}

/** Returns the number of waiting jobs in all of these tallies together. */
export const waitingOf = ({ value }: WaitingCounts, tallies: readonly NameTally[]): Value =>
  value(tallies.length === 0 ? undefined : sumOfTallies(tallies), waiting);
