// Jobs grouped by a common property: error, task, queue, worker or priority.
import type { Value } from "../../domain/value.ts";
import { deadlineIn } from "../../domain/words.ts";

export const groupings = ["error", "task", "queue", "worker", "priority"] as const;
export type Grouping = (typeof groupings)[number];

export interface JobGroup {
  /** Identifies the group in all reads: the fingerprint of errors, otherwise the name or the priority. */
  readonly key: string;
  /** The text that is shown to users. */
  readonly label: string;
  /** The first line of one of its errors; only for errors grouped by place, whose label does not quote them. */
  readonly example?: string;
  readonly count: Value;
  /** The group's share of all grouped jobs, 0 to 1. */
  readonly share: number;
  /**
   * RFC 3339; null if unknown. For errors, the earliest and the latest failure among the rows read. A failure's time is
   * unknown if the row was changed since: then `firstSeen` is null, and `lastSeen` is the latest known time. For other
   * groups, when the first and the last job were added; both are null if this process, not PostgreSQL, counted them.
   */
  readonly firstSeen: string | null;
  readonly lastSeen: string | null;
  /** Whether `firstSeen` is known, and less than 15 minutes ago. */
  readonly isNew: boolean;
  /** The ids of some jobs of the group, at most 5: for errors the latest failures, otherwise the highest ids read. */
  readonly sampleIds: readonly string[];
  /** For errors, the tasks with the most jobs in the group, at most 5. For tasks, the task. Otherwise empty. */
  readonly tasks: readonly string[];
  /** For errors, the failures in each 24th of the last 3 hours, oldest first. Empty if no time is known. */
  readonly trend: readonly number[];
}

export interface Groups {
  /** The groups, largest first. */
  readonly groups: readonly JobGroup[];
  /** The number of rows from which the groups were made. */
  readonly sampled: number;
  /** The number of all jobs that are in groups, whether returned or not. `share` is relative to it. */
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
