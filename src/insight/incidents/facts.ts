// The facts from which the rules find incidents, and functions that return the search query for the jobs of an
// incident. Facts that could not be read in time are null, empty or false.
import { quote } from "../../domain/portable/query/quote.ts";
import type { Value } from "../../domain/value.ts";
import type { Pause } from "../controls/list-pauses.ts";
import type { CommonFactor } from "../groups/common-factor.ts";
import type { Groups } from "../groups/group.ts";
import type { Horizon } from "../horizon/buckets.ts";
import type { BlockingLimit } from "../limits/blocking.ts";
import type { MissedTicks } from "../lists/cron/list-cron.ts";
import type { LockedJobs, TaskCoverage } from "../why/task-coverage.ts";
import type { QuietPeriod } from "./activity.ts";
import type { Crash } from "./crashes.ts";
import type { LockedQueue, StaleWorker } from "./holders-at-fault.ts";
import type { PoisonJob } from "./poison-walk.ts";
import type { ServerTrouble } from "./server-trouble.ts";

export interface WaitingQueue extends LockedQueue {
  /** The number of due jobs in the queue; null if unknown. */
  readonly waiting: Value | null;
  readonly trend: readonly number[];
}

export interface WaitingTask {
  readonly id: number;
  readonly identifier: string;
  /**
   * The number of the task's due jobs that are not in a locked or *full* queue. A queue is full if all its slots under
   * a limit are in use, or if its rate is used up or nearly used up.
   */
  readonly waiting: Value;
  readonly oldestMs: number;
  /** Whether the task's jobs wait for a limit of tasks. */
  readonly isLimited: boolean;
}

/** A limit for which due jobs wait. */
export interface LimitedWork {
  /** If several queues are full, `limit.queue` is the queue with the oldest waiting job. */
  readonly limit: BlockingLimit;
  /** The full queues in which jobs wait; none for a limit of tasks. */
  readonly queues: readonly string[];
  readonly waiting: Value;
  readonly oldestMs: number;
}

export interface PausedWork {
  readonly pause: Pause;
  /** The number of due jobs that wait for the end of the pause; null if unknown. */
  readonly waiting: Value | null;
}

export interface IncidentFacts {
  readonly nowMs: number;
  readonly asOf: string;
  /** Whether the schema has the table of heartbeats, and the database user may read it. */
  readonly hasWorkers: boolean;
  readonly queues: readonly WaitingQueue[];
  /** The tasks that have waiting jobs and are not paused. */
  readonly tasks: readonly WaitingTask[];
  readonly paused: readonly PausedWork[];
  readonly limited: readonly LimitedWork[];
  readonly coverage: TaskCoverage;
  /** How long no worker was active; null if unknown, if `tasks` is empty, or if a worker is alive. */
  readonly quiet: QuietPeriod | null;
  readonly stale: readonly StaleWorker[];
  readonly crashes: readonly Crash[];
  /** The error groups of the failed jobs. */
  readonly errors: Groups | null;
  /** What the jobs of an error group have in common, by the group's key. */
  readonly common: ReadonlyMap<string, CommonFactor>;
  /** The keys of the error groups whose jobs were all failed by a user, with a reason. */
  readonly failedByHand: ReadonlySet<string>;
  /** Jobs that probably crash their workers. */
  readonly poison: readonly PoisonJob[];
  /** Jobs that crashed their workers and have failed since. */
  readonly ended: readonly PoisonJob[];
  /** The number of locked jobs of each worker; null if unknown. */
  readonly lockedJobs: LockedJobs | null;
  readonly horizon: Horizon | null;
  /** The cron entries that have missed a tick, the earliest missed tick first. */
  readonly missed: readonly MissedTicks[];
  readonly server: ServerTrouble | null;
  /** Whether no task exists and no job was ever added. */
  readonly isUnused: boolean;
  /** The names of the data that could not be read in time. */
  readonly unread: readonly string[];
}

/** The maximum number of tasks or of queues that a query names. A longer list would be hard to read. */
export const MAX_NAMES = 20;

export const quoteNames = (names: readonly string[]): string => names.map(quote).join(",");

/**
 * Returns the query for the due jobs that match `term` and are not in a locked or full queue; null if due jobs wait in
 * more than MAX_NAMES full queues.
 */
export function startable(term: string, { limited }: IncidentFacts): string | null {
  const full = [...new Set(limited.flatMap(({ queues }) => queues))];
  if (full.length > MAX_NAMES) return null;
  const open = full.length === 0 ? "" : `-queue:${quoteNames(full)}`;
  return [term, "is:due -is:blocked", open].filter((part) => part !== "").join(" ");
}

/**
 * Returns the query for the startable jobs of the tasks in `waiting`, some or all of `facts.tasks`; null if the query
 * would name more than MAX_NAMES tasks or queues.
 */
export function jobsOfTasks(waiting: readonly WaitingTask[], facts: IncidentFacts): string | null {
  const others = [
    ...facts.tasks.filter((task) => !waiting.includes(task)).map(({ identifier }) => identifier),
    ...facts.paused.flatMap(({ pause: { scope, name } }) => (scope === "task" && name) || []),
  ];
  if (others.length === 0) return startable("", facts);
  if (others.length <= MAX_NAMES) return startable(`-task:${quoteNames(others)}`, facts);
  if (waiting.length > MAX_NAMES) return null;
  return startable(`task:${quoteNames(waiting.map(({ identifier }) => identifier))}`, facts);
}
