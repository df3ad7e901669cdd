// Jobs grouped by a common property: error, task, queue, worker or priority.
import type { Value } from "../../domain/value.ts";

export const groupings = ["error", "task", "queue", "worker", "priority"] as const;
export type Grouping = (typeof groupings)[number];

export interface JobGroup {
  /** Stable: the error's fingerprint, or the name. */
  readonly key: string;
  /** For display. */
  readonly label: string;
  readonly count: Value;
  /** The group's share of all jobs that were grouped, 0 to 1. */
  readonly share: number;
  /** RFC 3339; for errors, the earliest and the latest failure among the rows read. */
  readonly firstSeen: string | null;
  readonly lastSeen: string | null;
  /** None of its jobs is older than 15 minutes. */
  readonly isNew: boolean;
  /** The newest of the rows read. */
  readonly sampleIds: readonly string[];
  /** The tasks with most jobs in it. */
  readonly tasks: readonly string[];
  /** Failures in each 24th of the last 3 hours, oldest first; empty if not available for this grouping. */
  readonly trend: readonly number[];
}

export interface Groups {
  /** Largest first. */
  readonly groups: readonly JobGroup[];
  /** The number of rows read. */
  readonly sampled: number;
  /** The number of all jobs in question. */
  readonly of: Value;
  readonly asOf: string;
}

export const MOST_SAMPLE_IDS = 5;
export const MOST_TASKS = 5;
export const NEW_MS = 15 * 60_000;
