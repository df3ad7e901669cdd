// The states of queues. A paused queue counts as locked. Each queue is in exactly one of the first six states, and may
// also be in some of the last three. The first six are listed from the worst to the best.
//   stuck     locked by a stale worker, or for more than 4 hours by an unknown worker
//   failed    not locked, with failed jobs
//   ready     not locked, without failed jobs, with due jobs or (under a limit) locked jobs
//   running   locked, and not stuck
//   scheduled not locked, and all its jobs are due in the future
//   idle      not locked, and without jobs
//
//   locked    stuck or running
//   failing   with failed jobs, locked or not
//   waiting   not locked, with due jobs
import type { NameTally } from "../../stats/name-tallies.ts";
import { inState, type TallyName } from "../../stats/tally.ts";
import { type CountedNames, countOf, type QueueCounts } from "../counted-names.ts";
import type { ListedQueueRow, QueueFilter } from "./queue-rows.ts";

const exclusive = ["stuck", "failed", "ready", "running", "scheduled", "idle"] as const;
type ExclusiveState = (typeof exclusive)[number];
export const queueStates = [...exclusive, "locked", "failing", "waiting"] as const;
export type QueueState = (typeof queueStates)[number];

type StateCheck = (state: "failed" | "ready" | "scheduled" | "locked") => boolean;

const hasCounted =
  (tally: NameTally | undefined): StateCheck =>
  (state) =>
    countOf(tally, inState[state]) > 0;

/** Returns the state of a queue that is not locked. */
function freeState(has: StateCheck) {
  if (has("failed")) return "failed";
  if (has("ready") || has("locked")) return "ready";
  return has("scheduled") ? "scheduled" : "idle";
}

/** Returns the rank of the queue's state among the first six states: 0 is the worst. */
export function severityOf(row: ListedQueueRow, { tallies }: CountedNames): number {
  if (isLocked(row)) return exclusive.indexOf(isStuck(row) ? "stuck" : "running");
  return exclusive.indexOf(freeState(hasCounted(tallies.queues.get(row.id))));
}

/** The database filters queues by `only` and `ids`, this process by `fits`. */
export interface StateFilter {
  readonly only: QueueFilter["only"];
  readonly ids: QueueFilter["ids"];
  fits(row: ListedQueueRow): boolean;
}

export const isStuck = ({ stuckSinceUs }: ListedQueueRow) => stuckSinceUs !== null;

/** Whether a worker or a pause has locked the queue. */
export const isLocked = ({ lockedAtUs, isPaused }: ListedQueueRow) =>
  lockedAtUs !== null || isPaused;

const always = () => true;

export function filterOf(state: QueueState | null, counted: CountedNames): StateFilter {
  switch (state) {
    case null:
      return { only: "all", ids: null, fits: always };
    case "stuck":
      return { only: "locked", ids: null, fits: isStuck };
    case "locked":
      return { only: "locked", ids: null, fits: always };
    case "running":
      return { only: "locked", ids: null, fits: (row) => !isStuck(row) };
    case "failing":
      return { only: "all", ids: { among: idsWith(counted, inState.failed) }, fits: always };
    case "failed":
    case "ready":
    case "scheduled":
      return { only: "free", ids: { among: idsIn(counted, state) }, fits: always };
    case "waiting":
      return { only: "free", ids: { among: idsWith(counted, inState.ready) }, fits: always };
    case "idle":
      return { only: "free", ids: { except: idsWith(counted, NOT_IDLE) }, fits: always };
  }
}

/** Whether the shown counts of a queue agree with the state. filterOf() may have used older counts. */
export function isIn(state: QueueState | null, counts: QueueCounts): boolean {
  if (state === "failing") return counts.failed.value > 0;
  if (state === "waiting") return counts.ready.value > 0;
  const isByLockAlone = state === null || ["stuck", "running", "locked"].includes(state);
  const has: StateCheck = (one) => counts[one === "locked" ? "running" : one].value > 0;
  return isByLockAlone || freeState(has) === state;
}

/** The number of queues in each state; null if only a sample of the jobs was counted. */
export interface StateCounts {
  readonly stuck: number;
  readonly running: number;
  readonly failed: number | null;
  readonly ready: number | null;
  readonly scheduled: number | null;
  readonly failing: number | null;
  readonly waiting: number | null;
  readonly idle: number | null;
}

/** Returns the number of queues in each state. `lockedRows`: all locked queues. */
export function countStates(
  counted: CountedNames,
  total: number,
  lockedRows: readonly ListedQueueRow[],
): StateCounts {
  const stuck = lockedRows.filter(isStuck).length;
  const byLocks = { stuck, running: lockedRows.length - stuck };
  if (counted.basis === "sample") return { ...byLocks, ...NOT_COUNTED };
  const lockedIds = new Set(lockedRows.map(({ id }) => id));
  const counts = { failed: 0, ready: 0, scheduled: 0, failing: 0, waiting: 0, idle: 0 };
  for (const [id, tally] of counted.tallies.queues) {
    const has = hasCounted(tally);
    if (has("failed")) counts.failing++;
    if (lockedIds.has(id)) continue;
    if (has("ready")) counts.waiting++;
    counts[freeState(has)]++;
  }
  const { failed, ready, scheduled } = counts;
  const idle = Math.max(0, total - lockedRows.length - failed - ready - scheduled);
  return { ...byLocks, ...counts, idle };
}

const NOT_COUNTED = {
  ...{ failed: null, ready: null, scheduled: null, failing: null, waiting: null, idle: null },
};
const NOT_IDLE = Object.values(inState).flat();

/** Returns the ids of the queues that would be in this state if no queue were locked. */
function idsIn({ tallies }: CountedNames, state: ExclusiveState): number[] {
  const isIn = (tally: NameTally) => freeState(hasCounted(tally)) === state;
  return [...tallies.queues].filter(([, tally]) => isIn(tally)).map(([id]) => id);
}

function idsWith({ tallies }: CountedNames, which: readonly TallyName[]): number[] {
  return [...tallies.queues].filter(([, tally]) => countOf(tally, which) > 0).map(([id]) => id);
}
