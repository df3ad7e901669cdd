// Jobs put together by what they have in common: an error, a task, a queue, a worker, a priority.
import type { Value } from "../../domain/value.ts";

export const groupings = ["error", "task", "queue", "worker", "priority"] as const;
export type Grouping = (typeof groupings)[number];

export interface JobGroup {
  /** Stable: the error's fingerprint, or the name. */
  readonly key: string;
  /** For people. */
  readonly label: string;
  readonly count: Value;
  /** Of all that were asked about, 0 to 1. */
  readonly share: number;
  /** RFC 3339; of errors, the earliest and the latest failure among the rows that were read. */
  readonly firstSeen: string | null;
  readonly lastSeen: string | null;
  /** Nothing of it is older than 15 minutes. */
  readonly isNew: boolean;
  /** The newest of those that were read. */
  readonly sampleIds: readonly string[];
  /** Those with most jobs in it. */
  readonly tasks: readonly string[];
  /** How many failed in each 24th of the last 3 hours, the oldest first; empty: not for this grouping. */
  readonly trend: readonly number[];
}

export interface Groups {
  /** The largest first. */
  readonly groups: readonly JobGroup[];
  /** How many rows were read. */
  readonly sampled: number;
  /** How many there are. */
  readonly of: Value;
  readonly asOf: string;
}

export const MOST_SAMPLE_IDS = 5;
export const MOST_TASKS = 5;
export const NEW_MS = 15 * 60_000;
