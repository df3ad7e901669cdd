// Jobs counted by condition. Retries that are due and those ahead are counted apart, so that the
// contract's four states follow from the same numbers.
import { type Condition, lockedConditions } from "../../domain/condition.ts";
import { conditionOf, type Heartbeats, isQueueIn } from "../../queue/sql/condition.ts";
import { isDue } from "../../queue/sql/eligible.ts";

export const tallied = [
  "fetched",
  "running",
  "failed",
  "blocked",
  "retrying_due",
  "retrying_ahead",
  "scheduled",
  "ready",
] as const;
export type Tallied = (typeof tallied)[number];

/** Of each how many. */
export type Tally = Readonly<Record<Tallied, number>>;

/** What is counted of a job, in SQL. `lockedQueues`: the parameter with their ids, as `$1`. */
export const talliedAs = (job: string, lockedQueues: string, heartbeats: Heartbeats): string =>
  conditionOf(job, heartbeats, {
    isQueueLocked: isQueueIn(job, lockedQueues),
    retrying: `case when ${isDue(job)} then 'retrying_due' else 'retrying_ahead' end`,
  });

/** Which of them make up a condition. */
export const inCondition: Readonly<Record<Condition, readonly Tallied[]>> = {
  fetched: ["fetched"],
  running: ["running"],
  failed: ["failed"],
  blocked: ["blocked"],
  retrying: ["retrying_due", "retrying_ahead"],
  scheduled: ["scheduled"],
  ready: ["ready"],
};

/** Which of them make up a state of the contract. */
export const inState = {
  ready: ["blocked", "retrying_due", "ready"],
  scheduled: ["retrying_ahead", "scheduled"],
  locked: lockedConditions,
  failed: ["failed"],
} as const satisfies Record<string, readonly Tallied[]>;

export function sumOf(tally: Tally, which: readonly Tallied[]): number {
  return which.reduce((sum, one) => sum + tally[one], 0);
}
