// Where a job stands, finer than the contract's four states: what an operator needs to know.

/**
 * Exactly one holds, tested in this order: *fetched* = locked, and its holder reports that it has not
 * started it; *running* = locked; *failed* = attempts used up; *blocked* = due, and its named queue is
 * locked by another; *retrying* = an attempt has failed; *scheduled* = run_at ahead; else *ready*.
 */
export const conditions = [
  "fetched",
  "running",
  "failed",
  "blocked",
  "retrying",
  "scheduled",
  "ready",
] as const;
export type Condition = (typeof conditions)[number];

/** The conditions of a locked job. */
export const lockedConditions = ["fetched", "running"] as const satisfies readonly Condition[];
export type LockedCondition = (typeof lockedConditions)[number];
