// Reads the workers that hold locks (holders), and what their heartbeat rows report: their jobs, and the locks and
// results that PostgreSQL refused. A holder without a heartbeat row may be a healthy Graphile worker, so its state is
// unknown.
import { type Database, query, type Statement } from "../../database/database.ts";
import { isJobId } from "../../domain/job-ids.ts";
import { dateOf, microseconds } from "../../queue/sql/moments.ts";
import { isNotResponding } from "../../queue/workers/stale-workers.ts";
import { LISTS_ALL } from "../expressions/condition.ts";
import { reportedWorkers } from "../expressions/reported-workers.ts";

export type HolderState = "alive" | "stale" | "unknown";

export interface Holder {
  readonly workerId: string;
  readonly state: HolderState;
  /** The time of its last heartbeat in milliseconds; null if no heartbeat row was found for it. */
  readonly lastHeartbeatMs: number | null;
  readonly host: string | null;
  /** The ids of running jobs that its last heartbeat lists, at most 1,000. */
  readonly runningJobIds: readonly string[];
  /** The ids of fetched, unstarted jobs that its last heartbeat lists, at most 1,000; null if it has no such list. */
  readonly fetchedJobIds: readonly string[] | null;
  /** Whether `runningJobIds` are all jobs that it ran at its last heartbeat. */
  readonly listsAll: boolean;
  /** The locks and results that PostgreSQL refused, as far as its last heartbeat lists them. */
  readonly unsettled: readonly UnsettledJob[];
}

/** A condition on a heartbeat row `workers`: the lease is valid, and no sweep has recovered the worker's jobs. */
export const isAlive = `(not ${isNotResponding})`;

/**
 * Returns the holders by id. Each given id has an entry, whose state is `unknown` if there is no heartbeat row.
 * `hasWorkers`: whether the table of heartbeat rows exists.
 */
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
  readonly unsettled: string | null;
}

const holdersSql: Statement = (s) => `
  select id, ${isAlive} as is_alive, ${microseconds("last_heartbeat_at")} as heard_us,
    pg_catalog.left(metadata ->> 'host'::text, 256) as host, metadata ->> 'running_job_ids'::text as running_job_ids,
    metadata ->> 'fetched_job_ids'::text as fetched_job_ids, ${LISTS_ALL} as lists_all, ${UNSETTLED} as unsettled
  from ${reportedWorkers(s, "workers.id = any($1::text[])")} as workers`;

/**
 * Whether the worker is alive and its last heartbeat lists all jobs that it ran, but not this one. The job may have
 * started since that heartbeat.
 */
export const isUnreportedBy = (
  { state, listsAll, runningJobIds }: Holder,
  jobId: string,
): boolean => state === "alive" && listsAll && !runningJobIds.includes(jobId);

const MAX_RUNNING = 1_000;

/** Returns up to 1,000 valid ids in a JSON array. Any session may write a heartbeat row, so invalid ids are ignored. */
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
  /** The message of PostgreSQL. */
  readonly error: string;
  /** True: the job has ended and its result was refused, so it stays locked. False: the lock was refused. */
  readonly isLocked: boolean;
}

/** `text`: a sentence on why a worker leaves a due job out of its fetches. `error`: PostgreSQL's error. */
export interface LockRefusal {
  readonly text: string;
  readonly error: string;
}

/** Returns the refusal to lock the job, otherwise the refusal to lock its queue; null if no worker reports either. */
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
    text: `PostgreSQL refused to lock ${what}, so the worker that failed to lock it leaves it out for 5 minutes`,
    error,
  };
}

const MAX_UNSETTLED = 100;
const MAX_ERROR_LENGTH = 1_024;

/** An expression on a heartbeat row: the JSON text of its unsettled jobs, cut at 65,536 characters; null if none. */
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

/** Returns the valid entries of a JSON array. Any session may write a heartbeat row, so invalid entries are ignored. */
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
