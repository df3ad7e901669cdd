// Finds the tasks and queues with the most jobs, and their names. The names are read again for each new count of the
// jobs, because the same id can have another name after the tables of tasks and queues were emptied and filled again.
import type { Database } from "../../database/database.ts";
import type { NameTally } from "../stats/name-tallies.ts";
import { readNames } from "../stats/queue-rows.ts";
import { sumOf, tallied } from "../stats/tally.ts";
import type { QueueSnapshot } from "./queue-snapshot.ts";

/** The name of a task or a queue, and the counts of its jobs. */
export interface NamedTally {
  readonly name: string;
  readonly tally: NameTally;
}

export interface LargestNames {
  readonly tasks: readonly NamedTally[];
  readonly queues: readonly NamedTally[];
}

export function createLargestNames(
  db: Database,
): (snapshot: QueueSnapshot, limit: number) => Promise<LargestNames> {
  // The names are cached for each count, because several scrapes use the same count. The key does not contain `limit`:
  // all calls have the same limit, from the configuration.
  const cache = new WeakMap<object, Promise<readonly NamedTally[]>>();

  const named = (
    kind: "task" | "queue",
    tallies: ReadonlyMap<number, NameTally>,
    limit: number,
  ): Promise<readonly NamedTally[]> => {
    const cached = cache.get(tallies);
    if (cached !== undefined) return cached;
    const reading = readNamed(db, kind, sortBySize(tallies).slice(0, limit));
    cache.set(tallies, reading);
    reading.catch(() => cache.delete(tallies));
    return reading;
  };

  return async ({ names: { tallies } }, limit) => ({
    tasks: await named("task", tallies.tasks, limit),
    queues: await named("queue", tallies.queues, limit),
  });
}

async function readNamed(
  db: Database,
  kind: "task" | "queue",
  largest: readonly SizedName[],
): Promise<readonly NamedTally[]> {
  if (largest.length === 0) return [];
  const ids = largest.map(({ id }) => id);
  const names = await readNames(db, kind, ids);
  // A task or queue that was deleted since the count is left out.
  return largest.flatMap(({ id, tally }) => {
    const name = names.get(id);
    return name === undefined ? [] : [{ name, tally }];
  });
}

interface SizedName {
  readonly id: number;
  readonly tally: NameTally;
  readonly jobs: number;
}

function sortBySize(tallies: ReadonlyMap<number, NameTally>): readonly SizedName[] {
  return [...tallies]
    .map(([id, tally]) => ({ id, tally, jobs: sumOf(tally.counts, tallied) }))
    .sort((one, other) => other.jobs - one.jobs || one.id - other.id);
}
