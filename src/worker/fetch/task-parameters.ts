// The tasks of a worker as its fetches name them: parameters whose text is made once. Each answer brings
// the names of its tasks: ids are used again when the tables are refilled.
import type { TaskTally } from "../execute/task-tally.ts";
import { HORIZON_MS } from "./fetch-plan.ts";

type Tallies = ReadonlyMap<string, { readonly tally: Pick<TaskTally, "meanMs"> }>;

export interface TaskParameters {
  readonly names: readonly string[];
  /** text[] as PostgreSQL writes it: pg would make that anew for each statement. */
  readonly identifiers: string;
  /** The same of the forbidden flags; null = there are none, and statements leave the test out. */
  readonly forbiddenFlags: string | null;
  /**
   * float8[]: which part of a run of a named queue a job of each task takes up, in the order of
   * `identifiers`. Infinity: no job of the task has run yet.
   */
  readonly runShares: string;
}

/** `forbiddenFlags`: jobs with one of these are left to other workers. */
export function taskParameters(tasks: Tallies, forbiddenFlags: readonly string[]): TaskParameters {
  const names = [...tasks.keys()];
  return {
    names,
    identifiers: arrayText(names),
    forbiddenFlags: forbiddenFlags.length > 0 ? arrayText(forbiddenFlags) : null,
    get runShares() {
      const shares = [...tasks.values()].map(({ tally: { meanMs } }) =>
        meanMs === null ? "Infinity" : String(meanMs / HORIZON_MS),
      );
      return `{${shares.join(",")}}`;
    },
  };
}

function arrayText(texts: readonly string[]): string {
  return `{${texts.map((text) => `"${text.replace(/["\\]/g, "\\$&")}"`).join(",")}}`;
}
