// Reads the input of the incident rules, and returns the incidents. The reads run in two parallel sequences, so that a
// small pool has connections left. An incident lists the data that cannot be read in time.
import { codeOf } from "../../base/errors.ts";
import type { Database } from "../../database/database.ts";
import { cappedValue, exactValue, type Value } from "../../domain/value.ts";
import { listPauses, type Pause } from "../controls/list-pauses.ts";
import type { CommonFactor } from "../groups/common-factor.ts";
import type { Groups } from "../groups/group.ts";
import type { CommonFactors } from "../groups/read-common.ts";
import type { Horizon } from "../horizon/buckets.ts";
import { type BlockingLimit, readBlockingLimits, readQueueIds } from "../limits/blocking.ts";
import { isFor } from "../limits/read-use.ts";
import { readMissedTicks } from "../lists/cron/list-cron.ts";
import { SMALL_TABLE_PAGES } from "../stats/count-query.ts";
import type { Gauge } from "../stats/gauge.ts";
import { readNames } from "../stats/queue-rows.ts";
import {
  type LockedJobs,
  NO_COVERAGE,
  readTaskCoverage,
  type TaskCoverage,
} from "../why/task-coverage.ts";
import { type ActivityWatch, readIsUnused } from "./activity.ts";
import { readCrashes, readFailedByHand } from "./crashes.ts";
import { type DueHead, readDueHead } from "./due-head.ts";
import type { LimitedWork, WaitingTask } from "./facts.ts";
import {
  hasLiveWorker,
  type LockedQueue,
  readLockedQueues,
  readPausedQueues,
  readStaleWorkers,
} from "./holders-at-fault.ts";
import type { Incidents } from "./incident.ts";
import type { PoisonWalk } from "./poison-walk.ts";
import { failedOf, isMany } from "./rules-of-failing.ts";
import { readServerTrouble } from "./server-trouble.ts";
import { judge } from "./verdict.ts";

/** Reads that keep state between calls, or share cached results with other callers. */
export interface SharedReads {
  readonly walk: PoisonWalk;
  readonly activity: ActivityWatch;
  /** Reads the error groups of failed jobs. */
  readonly errors: () => Promise<Groups>;
  readonly horizon: () => Promise<Horizon>;
  /** Reads what the jobs that match the query `q` have in common. */
  readonly common: (q: string) => Promise<CommonFactors>;
}

/** The maximum number of error groups that are compared with other jobs, in about 0.1 s each. */
const MAX_COMPARED = 1;

/** Runs a read. At the statement timeout, returns null and adds `what` to the list of unread data. */
type TimedRead = <T>(what: string, read: () => Promise<T>) => Promise<T | null>;

/** Returns the incidents and the verdict. Throws WorkerError if the database is unreachable. */
export async function readIncidents(
  db: Database,
  gauge: Gauge,
  shared: SharedReads,
): Promise<Incidents> {
  const unread: string[] = [];
  const inTime: TimedRead = async (what, read) => {
    try {
      return await read();
    } catch (error) {
      if (codeOf(error) !== "database_timeout") throw error;
      unread.push(what);
      return null;
    }
  };
  const [waiting, failing] = await Promise.all([
    readWaiting(db, gauge, shared, inTime),
    readFailing(db, shared, inTime),
  ]);
  const asOf = new Date(gauge.nowMs).toISOString();
  return judge({ nowMs: gauge.nowMs, asOf, ...waiting, ...failing, unread });
}

async function readFailing(db: Database, shared: SharedReads, inTime: TimedRead) {
  const errors = await inTime("errors", shared.errors);
  const common = new Map<string, CommonFactor>();
  for (const group of largest(errors)) {
    const read = await inTime("what errors have in common", () => shared.common(failedOf(group)));
    const [finding] = read?.findings ?? [];
    if (finding !== undefined)
      common.set(group.key, {
        ...finding,
        compared: read?.compared.here ?? 0,
        others: read?.compared.there ?? 0,
      });
  }
  const failedByHand = await inTime("jobs failed by hand", () => readFailedByHand(db, errors));
  return { errors, common, failedByHand: failedByHand ?? new Set() };
}

async function readWaiting(db: Database, gauge: Gauge, shared: SharedReads, inTime: TimedRead) {
  const { nowMs, lockedQueueIds } = gauge;
  const asOf = new Date(nowMs).toISOString();
  const hasWorkers = gauge.heartbeats !== null;
  const queues = (await inTime("locked queues", () => readLockedQueues(db, hasWorkers))) ?? [];
  const pauses = (await inTime("pauses", () => listPauses(db))) ?? [];
  const pausedIds = pauses.some(({ scope }) => scope === "queue")
    ? await inTime("paused queues", () => readPausedQueues(db))
    : NONE;
  const used = (await inTime("limits", () => readBlockingLimits(db))) ?? [];
  // If no worker responds, jobs wait for a worker and not for their limit.
  const isAlive = () => hasLiveWorker(db, hasWorkers);
  const limits = used.length > 0 && (await inTime("live workers", isAlive)) === true ? used : [];
  const fullIds = (await inTime("full queues", () => readQueueIds(db, fullQueues(limits)))) ?? NONE;
  const ids = [...queues.map(({ id }) => id), ...(pausedIds ?? NONE).values(), ...fullIds.values()];
  // The jobs of a queue whose slots or rate are used up count as blocked.
  const blockedIds = [...lockedQueueIds, ...fullIds.values()];
  const head = await inTime("due jobs", () => readDueHead(db, ids, blockedIds, nowMs));
  const due =
    head === null
      ? null
      : await inTime("the names of tasks", () => tasksOf(db, head, limits, asOf));
  const tasks = (due ?? []).filter((task) => !pauses.some((pause) => isPausedBy(pause, task)));
  const walked = await inTime("the locks of jobs", () => shared.walk(db, gauge));
  const crashing = walked?.poison.flatMap(({ task }) => task ?? []) ?? [];
  const coverage = await inTime("the tasks of workers", () =>
    coverageOf(
      db,
      [...tasks.map(({ identifier }) => identifier), ...crashing],
      hasWorkers,
      gauge,
      walked?.lockedJobs ?? null,
    ),
  );
  return {
    hasWorkers,
    queues: queues.map((queue) => ({ ...queue, ...waitingFor(queue, head, asOf) })),
    tasks,
    paused: pauses.map((pause) => ({
      pause,
      waiting:
        head === null || due === null || pausedIds === null
          ? null
          : waitingForPause(pause, due, pausedIds, head, asOf),
    })),
    limited: head === null || due === null ? [] : limitedWork(limits, due, fullIds, head, asOf),
    coverage: coverage ?? NO_COVERAGE,
    quiet:
      tasks.length === 0 || (coverage ?? NO_COVERAGE).alive > 0
        ? null
        : await inTime("the newest locks", () => shared.activity(db, gauge)),
    stale:
      (await inTime("workers that are not responding", () => readStaleWorkers(db, hasWorkers))) ??
      [],
    crashes: (await inTime("recovered workers", () => readCrashes(db, hasWorkers))) ?? [],
    poison: walked?.poison ?? [],
    ended: walked?.ended ?? [],
    lockedJobs: walked?.lockedJobs ?? null,
    horizon: await inTime("the horizon", shared.horizon),
    missed: (await inTime("cron entries", () => readMissedTicks(db))) ?? [],
    server: await inTime("the server", () => readServerTrouble(db)),
    isUnused:
      gauge.pages === 0 && (await inTime("the sequence of jobs", () => readIsUnused(db))) === true,
  };
}

const largest = (errors: Groups | null) =>
  errors === null
    ? []
    : errors.groups.filter((group) => isMany(group, errors)).slice(0, MAX_COMPARED);

const atLeast = (count: number, isWhole: boolean, asOf: string): Value =>
  (isWhole ? exactValue : cappedValue)(count, "probe", asOf);

function waitingFor({ id }: LockedQueue, head: DueHead | null, asOf: string) {
  const found = head?.queues.get(id);
  const isWhole = head?.isWhole === true;
  if (found === undefined && !isWhole) return { waiting: null, trend: [] };
  return { waiting: atLeast(found?.count ?? 0, isWhole, asOf), trend: found?.trend ?? [] };
}

const NONE: ReadonlyMap<string, number> = new Map();

const isPausedBy = ({ scope, name }: Pause, { identifier }: WaitingTask) =>
  scope === "all" || (scope === "task" && name === identifier);

function waitingForPause(
  pause: Pause,
  due: readonly WaitingTask[],
  queueIds: ReadonlyMap<string, number>,
  head: DueHead,
  asOf: string,
): Value {
  const count =
    pause.scope === "queue"
      ? (head.queues.get(queueIds.get(pause.name ?? "") ?? 0)?.count ?? 0)
      : due.reduce((sum, task) => sum + (isPausedBy(pause, task) ? task.waiting.value : 0), 0);
  return atLeast(count, head.isWhole, asOf);
}

/** The maximum number of full queues whose waiting jobs are counted. */
const MAX_FULL = 500;

const fullQueues = (limits: readonly BlockingLimit[]): string[] =>
  limits.flatMap(({ queue }) => queue ?? []).slice(0, MAX_FULL);

/**
 * Returns an entry for each limit that keeps due jobs waiting. The entry of a limit of queues includes all full queues
 * with due jobs.
 */
function limitedWork(
  limits: readonly BlockingLimit[],
  due: readonly WaitingTask[],
  fullIds: ReadonlyMap<string, number>,
  head: DueHead,
  asOf: string,
): LimitedWork[] {
  const isWhole = head.isWhole && fullIds.size < MAX_FULL;
  const all = limits.flatMap((limit) => {
    const { definition, queue } = limit;
    const jobs =
      definition.scope === "task"
        ? due
            .filter(({ identifier }) => isFor(definition, identifier))
            .map(({ waiting, oldestMs }) => ({ count: waiting.value, oldestMs }))
        : [head.queues.get(fullIds.get(queue ?? "") ?? 0)].filter((one) => one !== undefined);
    return jobs.map(({ count, oldestMs }) => ({ limit, count, oldestMs }));
  });
  const byName = Map.groupBy(all, ({ limit }) => limit.definition.name);
  return [...byName.values()].flatMap((some): LimitedWork[] => {
    const count = some.reduce((sum, one) => sum + one.count, 0);
    const [oldest] = some.toSorted((a, b) => a.oldestMs - b.oldestMs);
    if (oldest === undefined || count === 0) return [];
    const { limit, oldestMs } = oldest;
    const queues = some.flatMap((one) => one.limit.queue ?? []);
    return [{ limit, queues, waiting: atLeast(count, isWhole, asOf), oldestMs }];
  });
}

async function tasksOf(
  db: Database,
  head: DueHead,
  limits: readonly BlockingLimit[],
  asOf: string,
): Promise<WaitingTask[]> {
  const names = await readNames(db, "task", [...head.tasks.keys()]);
  return [...head.tasks].flatMap(([id, { count, oldestMs }]) => {
    const identifier = names.get(id);
    if (identifier === undefined) return [];
    const isLimited = limits.some(
      ({ definition }) => definition.scope === "task" && isFor(definition, identifier),
    );
    return [{ id, identifier, waiting: atLeast(count, head.isWhole, asOf), oldestMs, isLimited }];
  });
}

async function coverageOf(
  db: Database,
  tasks: readonly string[],
  hasWorkers: boolean,
  { pages }: Gauge,
  lockedJobs: LockedJobs | null,
): Promise<TaskCoverage> {
  const isSmall = pages <= SMALL_TABLE_PAGES;
  return readTaskCoverage(db, [...new Set(tasks)], {
    hasWorkers,
    jobLocks: isSmall ? "read" : (lockedJobs ?? "unknown"),
  });
}
