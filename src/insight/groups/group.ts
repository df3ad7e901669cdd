// Jobs grouped by a common property: error, task, queue, worker or priority.
import type { Value } from "../../domain/value.ts";
import { deadlineIn } from "../../domain/words.ts";

export const groupings = ["error", "task", "queue", "worker", "priority"] as const;
export type Grouping = (typeof groupings)[number];

export interface JobGroup {
  /** Identifies the group between reads: the error's fingerprint, or the name. */
  readonly key: string;
  /** The text that is shown. */
  readonly label: string;
  /** The first line of one of its errors, if the label has none of their words. */
  readonly example?: string;
  readonly count: Value;
  /** The group's share of all grouped jobs, 0 to 1. */
  readonly share: number;
  /**
   * When its first and its last job were added, RFC 3339; for errors, the earliest and the latest failure among the
   * rows read. The time of a failure is unknown if the row was changed since: then `firstSeen` is null, and `lastSeen`
   * is the latest known time, or null.
   */
  readonly firstSeen: string | null;
  readonly lastSeen: string | null;
  /** Whether `firstSeen` is known, and less than 15 minutes ago. */
  readonly isNew: boolean;
  /** The ids of the newest of its rows that were read. */
  readonly sampleIds: readonly string[];
  /** The tasks that have the most jobs in the group. */
  readonly tasks: readonly string[];
  /** The failures in each 24th of the last 3 hours, oldest first; empty if their times are not available. */
  readonly trend: readonly number[];
}

export interface Groups {
  /** The groups, largest first. */
  readonly groups: readonly JobGroup[];
  /** The number of rows read. */
  readonly sampled: number;
  /** The number of jobs from which the rows were read. */
  readonly of: Value;
  readonly asOf: string;
}

export const MAX_SAMPLE_IDS = 5;
export const MAX_TASKS = 5;
export const NEW_MS = 15 * 60_000;
/** The maximum number of error groups that become incidents. */
export const MAX_ERROR_GROUPS = 100;

/** Returns a sentence if a retry would probably not help the jobs of the group with this label; otherwise null. */
export function doubtOfRetry(label: string): string | null {
  if (deadlineIn(label) !== null) return " A retry would fail, too.";
  return label.startsWith("Recovered # times in a row")
    ? " A retry may crash workers again."
    : null;
}
