// Queues that are asked for by their state: by who holds them, and by what is known of their jobs.
//
//   stuck     held by a silent worker     running   held, and not stuck
//   failing   with failed jobs            waiting   with due jobs, and held by nobody
//   idle      without a job, and held by nobody
import type { Database } from "../../../database/database.ts";
import { inState, type Tallied } from "../../stats/tally.ts";
import { type CountedNames, countOf, type QueueCounts } from "../counted-names.ts";
import { type QueueFilter, type QueueRow, queueRows } from "./queue-rows.ts";

export const queueStates = ["stuck", "locked", "running", "failing", "waiting", "idle"] as const;
export type QueueState = (typeof queueStates)[number];

/** Where the queues in a state are found. */
export interface Whereabouts {
  readonly only: QueueFilter["only"];
  readonly ids: QueueFilter["ids"];
  fits(row: QueueRow): boolean;
}

export const isStuck = ({ stuckSinceUs }: QueueRow) => stuckSinceUs !== null;

const always = () => true;

export function whereabouts(state: QueueState | null, counted: CountedNames): Whereabouts {
  const { queues } = counted.tallies;
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
    case "waiting":
      return { only: "free", ids: { among: idsWith(counted, inState.ready) }, fits: always };
    case "idle":
      return { only: "free", ids: { except: [...queues.keys()] }, fits: always };
  }
}

/** Whether what was looked up for a page does not belie the state: a sample has not met every job. */
export function isIn(state: QueueState | null, { ready, scheduled, failed }: QueueCounts): boolean {
  if (state === "failing") return failed.value > 0;
  if (state === "waiting") return ready.value > 0;
  return state !== "idle" || (ready.value === 0 && scheduled.value === 0 && failed.value === 0);
}

/** How many queues are in each; null: their jobs were not all counted. */
export interface StateCounts {
  readonly stuck: number;
  readonly running: number;
  readonly failing: number | null;
  readonly waiting: number | null;
  readonly idle: number | null;
}

/** Null: more are held than are read for a page. */
export async function countStates(
  db: Database,
  counted: CountedNames,
  { total, hasHeartbeats, limit }: { total: number; hasHeartbeats: boolean; limit: number },
): Promise<StateCounts | null> {
  const filter = { search: "", only: "locked", ids: null, after: null, limit } as const;
  const held = await queueRows(db, { ...filter, hasHeartbeats });
  if (held.length === limit) return null;
  const stuck = held.filter(isStuck).length;
  const byLocks = { stuck, running: held.length - stuck };
  if (counted.basis !== "scan") return { ...byLocks, failing: null, waiting: null, idle: null };
  const heldIds = new Set(held.map(({ id }) => id));
  const isFree = (id: number) => !heldIds.has(id);
  const withJobs = [...counted.tallies.queues.keys()].filter(isFree).length;
  return {
    ...byLocks,
    failing: idsWith(counted, inState.failed).length,
    waiting: idsWith(counted, inState.ready).filter(isFree).length,
    idle: Math.max(0, total - held.length - withJobs),
  };
}

function idsWith({ tallies }: CountedNames, which: readonly Tallied[]): number[] {
  return [...tallies.queues].filter(([, tally]) => countOf(tally, which) > 0).map(([id]) => id);
}
