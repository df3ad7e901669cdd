// A tally has the number of jobs in each condition. Due and future retries are counted separately, so that the numbers
// of the HTTP API's four states can be computed from the same counts.
import {
  type Condition,
  type ConditionData,
  conditionData,
  conditions,
} from "../../domain/condition.ts";
import { isDue } from "../../queue/sql/eligible.ts";
import { conditionOf, isQueueIn } from "../expressions/condition.ts";
import type { Heartbeats } from "../expressions/heartbeats.ts";

/** A counted condition: a job's condition, except that `retrying` is divided into due and future retries. */
export type TallyName = Exclude<Condition, "retrying"> | "retrying_due" | "retrying_ahead";
export type Tally = Readonly<Record<TallyName, number>>;

/**
 * Returns an SQL expression: the counted condition of a job. `job`: the alias of the job's row. `lockedQueues`: the
 * parameter with the ids of locked queues, such as `$1`.
 */
export const talliedAs = (job: string, lockedQueues: string, heartbeats: Heartbeats): string =>
  conditionOf(job, heartbeats, {
    isQueueLocked: isQueueIn(job, lockedQueues),
    retrying: `case when ${isDue(job)} then 'retrying_due' else 'retrying_ahead' end`,
  });

const partsOf = (condition: Condition): readonly TallyName[] =>
  condition === "retrying" ? ["retrying_due", "retrying_ahead"] : [condition];

export const tallied: readonly TallyName[] = conditions.flatMap(partsOf);

/** The counted conditions that form each condition. */
export const inCondition = Object.fromEntries(
  conditions.map((condition) => [condition, partsOf(condition)]),
) as Readonly<Record<Condition, readonly TallyName[]>>;

type State = ConditionData["states"][number];

const inOneState = (state: State): readonly TallyName[] =>
  conditions.flatMap((condition) => {
    const { states } = conditionData[condition];
    if (!states.includes(state)) return [];
    // A retrying job has one of two states, depending on whether it is due.
    if (condition !== "retrying") return partsOf(condition);
    return state === "ready" ? "retrying_due" : "retrying_ahead";
  });

/** The counted conditions that form each state of the HTTP API. */
export const inState: Readonly<Record<State, readonly TallyName[]>> = {
  ready: inOneState("ready"),
  scheduled: inOneState("scheduled"),
  locked: inOneState("locked"),
  failed: inOneState("failed"),
};

export function sumOf(tally: Tally, which: readonly TallyName[]): number {
  return which.reduce((sum, one) => sum + tally[one], 0);
}
