// The tasks of a worker as parameters of its fetches. Arrays are in PostgreSQL's format, so that pg does not format
// them for each fetch. Fetches pass the names of tasks, not remembered ids: after a restore of the database, such an id
// may belong to another task.
import type { TaskTally } from "../execute/task-tally.ts";
import { HORIZON_MS } from "./fetch-plan.ts";

type Tallies = ReadonlyMap<string, { readonly tally: Pick<TaskTally, "meanMs"> }>;

export interface TaskParameters {
  /** The names of all tasks. */
  readonly names: readonly string[];
  /** The names of the tasks whose jobs are fetched: a text[] in PostgreSQL's format. */
  readonly identifiers: string;
  /** Jobs with one of these flags are not fetched. A text[] in PostgreSQL's format; null: flags are not checked. */
  readonly forbiddenFlags: string | null;
  /** Whether fetches leave out paused tasks: the schema has a table of pauses, and this role may read the table. */
  readonly pauses: boolean;
  /** Patterns of the names of queues under limits: a text[] in PostgreSQL's format; null if there are none. */
  readonly limitedQueues: string | null;
  /** How many times new pauses were read. */
  readonly pausesRead: number;
  /** Called when the end of a run of a named queue was written to the database. */
  queueUnlocked(): void;
  /**
   * A float8[] with a number for each task of `identifiers`, in the same order: the mean duration of the task's jobs in
   * named queues, divided by HORIZON_MS; Infinity if the duration is not known yet. Fetches use these numbers to limit
   * the length of runs.
   */
  readonly runShares: string;
}

/** What the worker has read about pauses. `isInstalled`: see TaskParameters.pauses. */
export interface Controls extends Pick<TaskParameters, "pausesRead" | "queueUnlocked"> {
  readonly isInstalled: boolean;
}

/** The limits as they are now. */
export interface FetchLimits {
  /** The names of tasks without a limit. */
  readonly unlimited: readonly string[];
  /** Patterns of the queues under limits; null: none. */
  readonly queues: { readonly patterns: readonly string[] } | null;
}

/**
 * Returns the parameters. `controls` and `limits` may change while the worker runs. If `fetched` is `unlimited`, only
 * the jobs of tasks without a limit are fetched.
 */
export function taskParameters(
  tasks: Tallies,
  forbiddenFlags: readonly string[],
  controls: Controls,
  limits: FetchLimits,
  fetched: "all" | "unlimited",
): TaskParameters {
  const names = [...tasks.keys()];
  let current: readonly string[] = names;
  let identifiers = arrayText(names);
  return {
    names,
    get identifiers() {
      if (fetched === "unlimited" && current !== limits.unlimited) {
        current = limits.unlimited;
        identifiers = arrayText(current);
      }
      return identifiers;
    },
    forbiddenFlags: forbiddenFlags.length > 0 ? arrayText(forbiddenFlags) : null,
    get pauses() {
      return controls.isInstalled;
    },
    get limitedQueues() {
      const { patterns = [] } = limits.queues ?? {};
      return patterns.length === 0 ? null : arrayText(patterns);
    },
    get pausesRead() {
      return controls.pausesRead;
    },
    queueUnlocked: () => controls.queueUnlocked(),
    get runShares() {
      const ofShares = fetched === "unlimited" ? limits.unlimited : names;
      const shares = ofShares.map((name) => {
        const meanMs = tasks.get(name)?.tally.meanMs ?? null;
        return meanMs === null ? "Infinity" : String(meanMs / HORIZON_MS);
      });
      return `{${shares.join(",")}}`;
    },
  };
}

function arrayText(texts: readonly string[]): string {
  return `{${texts.map((text) => `"${text.replace(/["\\]/g, "\\$&")}"`).join(",")}}`;
}
