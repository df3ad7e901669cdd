// The tasks and queues with the most jobs, by name. Names are asked for once: a task keeps its name.
import type { Database } from "../../database/database.ts";
import type { NameTally } from "../../queue/stats/name-tallies.ts";
import { readNames } from "../../queue/stats/queue-rows.ts";
import { sumOf, tallied } from "../../queue/stats/tally.ts";
import type { Known } from "./known.ts";

/** A task or a queue by its name. */
export interface NamedTally {
  readonly name: string;
  readonly tally: NameTally;
}

export interface LargestNames {
  readonly tasks: readonly NamedTally[];
  readonly queues: readonly NamedTally[];
}

/** Names that are kept; with more all are asked for anew. */
const MOST_NAMES = 10_000;

export function createLargestNames(
  db: Database,
): (known: Known, limit: number) => Promise<LargestNames> {
  // A census or a sample stays the same for many scrapes; the limit is that of the configuration.
  const sorted = new WeakMap<object, readonly Sized[]>();
  const books = { task: new Map<number, string>(), queue: new Map<number, string>() };

  const named = async (
    kind: "task" | "queue",
    tallies: ReadonlyMap<number, NameTally>,
    limit: number,
  ): Promise<NamedTally[]> => {
    const book = books[kind];
    const largest = (sorted.get(tallies) ?? sortBySize(tallies)).slice(0, limit);
    sorted.set(tallies, largest);
    const missing = largest.filter(({ id }) => !book.has(id)).map(({ id }) => id);
    if (book.size + missing.length > MOST_NAMES) book.clear();
    if (missing.length > 0) {
      for (const [id, name] of await readNames(db, kind, missing)) book.set(id, name);
    }
    // A name that has gone in this moment is left out.
    return largest.flatMap(({ id, tally }) => {
      const name = book.get(id);
      return name === undefined ? [] : [{ name, tally }];
    });
  };

  return async ({ names: { tallies } }, limit) => ({
    tasks: await named("task", tallies.tasks, limit),
    queues: await named("queue", tallies.queues, limit),
  });
}

interface Sized {
  readonly id: number;
  readonly tally: NameTally;
  readonly jobs: number;
}

function sortBySize(tallies: ReadonlyMap<number, NameTally>): readonly Sized[] {
  return [...tallies]
    .map(([id, tally]) => ({ id, tally, jobs: sumOf(tally.counts, tallied) }))
    .sort((one, other) => other.jobs - one.jobs || one.id - other.id);
}
