// Jobs grouped by a common property: error, task, queue, worker or priority.
import type { Value } from "../../domain/value.ts";
import { deadlineIn } from "../../domain/words.ts";

export const groupings = ["error", "task", "queue", "worker", "priority"] as const;
export type Grouping = (typeof groupings)[number];

export interface JobGroup {
  /**
   * Identifies the group: the fingerprint of an error group, the name of the task or queue, the worker's id, or the
   * priority.
   */
  readonly key: string;
  /** The text that is shown to users. */
  readonly label: string;
  /** The first line of one of the group's errors. Only groups of errors from one place in the code have an example. */
  readonly example?: string;
  readonly count: Value;
  /** The group's share of all grouped jobs, 0 to 1. */
  readonly share: number;
  /**
   * `firstSeen` and `lastSeen` are RFC 3339 times; null: unknown. For errors: the earliest and the latest failure of
   * the jobs that were read. If the time of any failure is unknown, `firstSeen` is null. For other groupings: when the
   * first and the last of the jobs that were read were added.
   */
  readonly firstSeen: string | null;
  readonly lastSeen: string | null;
  /** Whether `firstSeen` is less than 15 minutes ago. */
  readonly isNew: boolean;
  /** The ids of at most 5 jobs: for errors the latest failures, for other groupings some of the newest jobs. */
  readonly sampleIds: readonly string[];
  /** For errors, the tasks with the most jobs, at most 5. For tasks, the task. For other groupings, empty. */
  readonly tasks: readonly string[];
  /**
   * For errors, 24 numbers of failures, oldest first: one for each 7.5 minutes of the last 3 hours. Empty for other
   * groupings, and if no failure has a known time.
   */
  readonly trend: readonly number[];
}

export interface Groups {
  /** The groups, largest first. */
  readonly groups: readonly JobGroup[];
  /** The number of matching jobs that were read. For errors, some jobs may count twice. */
  readonly sampled: number;
  /** The number of jobs in all groups, including groups that are not returned. */
  readonly of: Value;
  readonly asOf: string;
}

export const MAX_SAMPLE_IDS = 5;
export const MAX_TASKS = 5;
export const NEW_MS = 15 * 60_000;
/** The maximum number of error groups that are read for incidents. */
export const MAX_ERROR_GROUPS = 100;

/** Returns a sentence if a retry would probably not help the jobs of the group with this label; otherwise null. */
export function doubtOfRetry(label: string): string | null {
  if (deadlineIn(label) !== null) return " A retry would fail, too.";
  return label.startsWith("Recovered # times in a row")
    ? " A retry may crash workers again."
    : null;
}
