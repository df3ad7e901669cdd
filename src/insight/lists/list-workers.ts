// Reads the workers of one page of a list, or a single worker, with their reports and jobs.

import type { Database, Statement } from "../../database/database.ts";
import { query } from "../../database/database.ts";
import {
  type Basis,
  cappedValue,
  estimatedValue,
  exactValue,
  type Value,
} from "../../domain/value.ts";
import { isLocked } from "../../queue/sql/job-state.ts";
import { lockHolder } from "../../queue/sql/lock.ts";
import { microseconds, timeText } from "../../queue/sql/moments.ts";
import { type WorkerReport, workerReport } from "../read/worker-report.ts";
import {
  type KnownWorker,
  type KnownWorkers,
  knownWorkers,
  type WorkerState,
} from "./known-workers.ts";
import { type PageRequest, pageOf, type SortOrder } from "./list-page.ts";
import { type CountedHolders, reachOf } from "./lock-holders.ts";
import { reportsOf } from "./worker-reports.ts";

/** A worker with its report and its jobs. */
export interface ListedWorker extends KnownWorker {
  readonly report: WorkerReport;
  /** The number of running jobs, from the worker's report or else from the worker's locks. */
  readonly running: Value;
  /** The number of jobs that the worker has locked and not started; null if unknown. */
  readonly fetched: number | null;
  /** The number of jobs that the worker has locked in the database now; null if unknown. */
  readonly lockedJobs: number | null;
  /**
   * The jobs that have run longest, from the worker's report. If the report has no number of running jobs, the jobs
   * with the worker's oldest locks follow.
   */
  readonly current: readonly WorkerJob[];
}

export interface WorkerJob {
  readonly id: string;
  readonly task: string | null;
  /** When the job started, or when it was locked if the worker's report does not have the job; RFC 3339. */
  readonly since: string;
}

export const workerSorts = ["state", "id", "-started", "-running", "-done"] as const;
export type WorkerSort = (typeof workerSorts)[number];

// Workers that need attention come first.
const rank: Record<WorkerState, number> = { stale: 1, unknown: 2, alive: 3 };
const time = (us: string | null) => (us === null ? null : Number(us));

const orders: Record<WorkerSort, SortOrder<KnownWorker>> = {
  state: { key: ({ state }) => rank[state], isDescending: false },
  id: { key: () => null, isDescending: false },
  "-started": { key: ({ startedAtUs }) => time(startedAtUs), isDescending: true },
  "-running": {
    key: (worker) => worker.reportedRunning ?? jobsLockedBy(worker),
    isDescending: true,
  },
  "-done": { key: ({ donePerMin }) => donePerMin, isDescending: true },
};

const jobsLockedBy = ({ locks }: KnownWorker) => locks?.jobs ?? 0;

export interface WorkerPage {
  readonly workers: readonly ListedWorker[];
  readonly nextCursor: string | null;
  /** The number of workers in each state, on all pages of the list. */
  readonly counts: Readonly<Record<WorkerState, number>>;
}

export async function listWorkers(
  db: Database,
  request: PageRequest & { readonly sort: WorkerSort; readonly search: string },
  counted: CountedHolders | null = null,
): Promise<WorkerPage> {
  const known = await knownWorkers(db, request.search.trim(), counted);
  const { rows, nextCursor } = pageOf(known.workers, orders[request.sort], nameOf, request);
  const counts = { alive: 0, stale: 0, unknown: 0 };
  for (const { state } of known.workers) counts[state]++;
  return { workers: await listedWorkers(db, rows, known), nextCursor, counts };
}

/** Returns the worker; null if it has no heartbeat row and none of its locks was found. */
export async function getWorker(
  db: Database,
  workerId: string,
  counted: CountedHolders | null = null,
): Promise<ListedWorker | null> {
  const known = await knownWorkers(db, "", counted);
  const [worker] = await listedWorkers(
    db,
    known.workers.filter((one) => one.workerId === workerId),
    known,
  );
  return worker ?? null;
}

async function listedWorkers(
  db: Database,
  workers: readonly KnownWorker[],
  { locksBasis, nowUs }: KnownWorkers,
): Promise<ListedWorker[]> {
  const reports = await reportsOf(db, workers.map(nameOf));
  const locked = await lockedBy(db, workers.filter(isWithoutReport).map(nameOf));
  return workers.map((worker) => {
    const report = reports.get(worker.workerId) ?? workerReport(null);
    const locks = runningOf(worker, locksBasis, timeText(nowUs));
    const { running, fetched } = withinSlots(worker, locks, report);
    const longest = locked.get(worker.workerId) ?? [];
    const current = [
      ...report.current,
      ...(fetched === null ? longest : longest.slice(0, running.value)),
    ];
    const lockedJobs = locksBasis === "probe" ? jobsLockedBy(worker) : null;
    return { ...worker, report, running, fetched, lockedJobs, current };
  });
}

const nameOf = ({ workerId }: KnownWorker) => workerId;
const isWithoutReport = ({ reportedRunning }: KnownWorker) => reportedRunning === null;

function runningOf(worker: KnownWorker, basis: Basis | null, asOf: string): Value {
  const { reportedRunning, lastHeartbeatAtUs, locks } = worker;
  if (reportedRunning !== null && lastHeartbeatAtUs !== null) {
    return exactValue(reportedRunning, "heartbeat", timeText(lastHeartbeatAtUs));
  }
  const jobs = jobsLockedBy(worker);
  if (basis === "probe") return exactValue(jobs, basis, asOf);
  // Each locked queue counts as one running job. `jobs` comes from an earlier count, so it is an estimate.
  const queues = locks?.queues ?? 0;
  return basis === null
    ? cappedValue(queues, "probe", asOf)
    : estimatedValue(jobs, jobs, basis, asOf, queues);
}

/** A worker cannot run more jobs than it has slots, so further locked jobs are only fetched. */
function withinSlots(worker: KnownWorker, locks: Value, { slots, fetched }: WorkerReport) {
  if (!isWithoutReport(worker)) return { running: locks, fetched };
  if (slots === null || locks.precision !== "exact") return { running: locks, fetched: null };
  const running = Math.min(locks.value, slots);
  return { running: { ...locks, value: running }, fetched: locks.value - running };
}

/** The maximum number of locked jobs that are read in total, but at least JOBS_OF_EACH for each worker. */
const CURRENT_JOBS = 100;
const JOBS_OF_EACH = 5;

const lockedSql: Statement = (s) => `
  select locked.worker_id, locked.id, tasks.identifier as task, ${microseconds("locked.locked_at")} as since_us
  from (
    select ${lockHolder("jobs")} as worker_id, jobs.id, jobs.task_id, jobs.locked_at,
      pg_catalog.row_number() over (partition by ${lockHolder("jobs")} order by jobs.locked_at, jobs.id) as place
    from ${s}._private_jobs as jobs
    where ${lockHolder("jobs")} = any($1::text[]) and ${isLocked("jobs")}
  ) as locked
  left join ${s}._private_tasks as tasks on tasks.id = locked.task_id
  where locked.place <= $2::int
  order by locked.locked_at, locked.id`;

interface LockedRow {
  readonly worker_id: string;
  readonly id: string;
  readonly task: string | null;
  readonly since_us: string;
}

/** Returns the jobs with each worker's oldest locks; none if the table is large and lacks the index `running`. */
async function lockedBy(
  db: Database,
  workerIds: readonly string[],
): Promise<ReadonlyMap<string, readonly WorkerJob[]>> {
  if (workerIds.length === 0 || !(await reachOf(db)).findsLocked) return new Map();
  const ofEach = Math.max(JOBS_OF_EACH, Math.floor(CURRENT_JOBS / workerIds.length));
  const rows = await query<LockedRow>(db, lockedSql, [workerIds, ofEach]);
  const grouped = Map.groupBy(rows, (row) => row.worker_id);
  const jobs = (own: readonly LockedRow[]) =>
    own.map(({ id, task, since_us }) => ({ id, task, since: timeText(since_us) }));
  return new Map([...grouped].map(([id, own]) => [id, jobs(own)]));
}
