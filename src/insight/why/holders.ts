// Reads the workers that hold locks (holders) and their heartbeat rows. A holder without a heartbeat row may be a
// healthy Graphile worker.
import { type Database, query, type Statement } from "../../database/database.ts";
import { isJobId } from "../../domain/job-ids.ts";
import { dateOf, microseconds } from "../../queue/sql/moments.ts";
import { isNotResponding } from "../../queue/workers/stale-workers.ts";
import { LISTS_ALL } from "../expressions/condition.ts";
import { reportedWorkers } from "../expressions/reported-workers.ts";
import { type WorkerReport, workerReport } from "../read/worker-report.ts";

export type HolderState = "alive" | "stale" | "unknown";

export interface Holder {
  readonly workerId: string;
  readonly state: HolderState;
  /** Milliseconds since 1970; null without a heartbeat row. */
  readonly lastHeartbeatMs: number | null;
  readonly host: string | null;
  /** The ids of running jobs that the last heartbeat lists, at most 1,000. */
  readonly runningJobIds: readonly string[];
  /** The ids of fetched jobs that the last heartbeat lists, at most 1,000; null if there is no list. */
  readonly fetchedJobIds: readonly string[] | null;
  /** Whether `runningJobIds` has all jobs that the holder ran at the last heartbeat. */
  readonly listsAll: boolean;
  /** The running jobs that started first. */
  readonly current: WorkerReport["current"];
  readonly unsettled: readonly UnsettledJob[];
}

/** A condition on a heartbeat row `workers`: the lease is valid, and the worker's jobs were not recovered. */
export const isAlive = `(not ${isNotResponding})`;

/** Returns a holder for each given id. `hasWorkers`: whether the table of heartbeat rows exists. */
export async function readHolders(
  db: Database,
  hasWorkers: boolean,
  ids: readonly string[],
): Promise<Map<string, Holder>> {
  const holders = new Map(ids.map((id) => [id, unknownHolder(id)]));
  if (!hasWorkers || ids.length === 0) return holders;
  for (const row of await query<HolderRow>(db, holdersSql, [ids])) {
    holders.set(row.id, {
      workerId: row.id,
      state: row.is_alive ? "alive" : "stale",
      lastHeartbeatMs: dateOf(row.heard_us).getTime(),
      host: row.host,
      runningJobIds: idsOf(row.running_job_ids),
      fetchedJobIds: row.fetched_job_ids === null ? null : idsOf(row.fetched_job_ids),
      listsAll: row.lists_all,
      current: workerReport(`{"running":${row.running ?? "[]"}}`).current,
      unsettled: unsettledIn(row.unsettled),
    });
  }
  return holders;
}

export function unknownHolder(workerId: string): Holder {
  return {
    workerId,
    state: "unknown",
    lastHeartbeatMs: null,
    host: null,
    runningJobIds: [],
    fetchedJobIds: null,
    listsAll: false,
    current: [],
    unsettled: [],
  };
}

interface HolderRow {
  readonly id: string;
  readonly is_alive: boolean;
  readonly heard_us: string;
  readonly host: string | null;
  readonly running_job_ids: string | null;
  readonly fetched_job_ids: string | null;
  readonly lists_all: boolean;
  readonly running: string | null;
  readonly unsettled: string | null;
}

const holdersSql: Statement = (s) => `
  select id, ${isAlive} as is_alive, ${microseconds("last_heartbeat_at")} as heard_us,
    pg_catalog.left(metadata ->> 'host'::text, 256) as host, metadata ->> 'running_job_ids'::text as running_job_ids,
    metadata ->> 'fetched_job_ids'::text as fetched_job_ids, metadata ->> 'running'::text as running,
    ${LISTS_ALL} as lists_all, ${UNSETTLED} as unsettled
  from ${reportedWorkers(s, "workers.id = any($1::text[])")} as workers`;

/** Whether a living worker's full list of running jobs lacks this job. The job may have started after the heartbeat. */
export const isUnreportedBy = (
  { state, listsAll, runningJobIds }: Holder,
  jobId: string,
): boolean => state === "alive" && listsAll && !runningJobIds.includes(jobId);

const MAX_RUNNING = 1_000;

/** Any session may write a heartbeat row, so invalid ids are ignored. */
function idsOf(text: string | null): string[] {
  try {
    const list: unknown = JSON.parse(text ?? "[]");
    if (!Array.isArray(list)) return [];
    return list.map(String).filter(isJobId).slice(0, MAX_RUNNING);
  } catch {
    return [];
  }
}

/** An entry of a heartbeat row: PostgreSQL refused to lock this job or queue, or refused the result of this job. */
export interface UnsettledJob {
  /** The id of the job; for a queue, `-` followed by the queue's id. */
  readonly id: string;
  readonly error: string;
  /** True: the result of the job was refused, so the job stays locked. False: the lock was refused. */
  readonly isLocked: boolean;
}

/** Why a worker leaves a due job out of its fetches. `error`: PostgreSQL's error. */
export interface LockRefusal {
  readonly text: string;
  readonly error: string;
}

/** Returns the refusal to lock the job, or else the refusal to lock its queue; null without either. */
export function lockRefusalOf(
  { id, queueId }: { readonly id: string; readonly queueId: number | null },
  unsettled: readonly UnsettledJob[],
): LockRefusal | null {
  const errorOf = (wanted: string) =>
    unsettled.find((one) => !one.isLocked && one.id === wanted)?.error;
  const ofJob = errorOf(id);
  const error = ofJob ?? errorOf(`-${queueId}`);
  if (error === undefined) return null;
  const what = ofJob === undefined ? "its queue" : "it";
  return {
    text: `PostgreSQL refused to lock ${what}, so the worker that tried skips it for 5 minutes`,
    error,
  };
}

const MAX_UNSETTLED = 100;
const MAX_ERROR_LENGTH = 1_024;

const UNSETTLED = "pg_catalog.left(metadata ->> 'unsettled'::text, 65536)";

const unsettledSql: Statement = (s) => `
  select ${UNSETTLED} as unsettled, ${isAlive} as is_alive from ${reportedWorkers(s)} as workers
  where metadata ? 'unsettled'::text limit ${MAX_UNSETTLED}`;

interface UnsettledRow {
  readonly unsettled: string | null;
  readonly is_alive: boolean;
}

/**
 * Reads up to 100 unsettled jobs of all workers. Locks that PostgreSQL refused to a stale worker are left out, because
 * other workers may get these locks.
 */
export async function readUnsettledJobs(db: Database): Promise<UnsettledJob[]> {
  const rows = await query<UnsettledRow & Record<string, unknown>>(db, unsettledSql, []);
  return rows
    .flatMap(({ unsettled, is_alive: isAlive }) =>
      unsettledIn(unsettled).filter(({ isLocked }) => isLocked || isAlive),
    )
    .slice(0, MAX_UNSETTLED);
}

function unsettledIn(text: string | null): UnsettledJob[] {
  try {
    const list: unknown = JSON.parse(text ?? "[]");
    if (!Array.isArray(list)) return [];
    return list.flatMap((one) => {
      const { id, error, is_locked } = (one ?? {}) as Record<string, unknown>;
      const isLocked = is_locked !== false;
      const isId = typeof id === "string" && isJobId(isLocked ? id : id.replace(/^-/, ""));
      const isUsable = isId && typeof error === "string";
      return isUsable ? [{ id, error: error.slice(0, MAX_ERROR_LENGTH), isLocked }] : [];
    });
  } catch {
    return [];
  }
}
