// Finds the workers that hold locks, even those without heartbeats. Locked jobs are read only if the table of jobs is
// small or has the optional index `running`. If not, the caller can pass the numbers of an earlier count.

import { type Database, query, type Statement } from "../../database/database.ts";
import { usableIndexes } from "../../database/schema/indexes/usable-indexes.ts";
import type { Basis } from "../../domain/value.ts";
import { isLocked } from "../../queue/sql/job-state.ts";
import { isLockedByWorker, lockHolder } from "../../queue/sql/lock.ts";
import { microseconds } from "../../queue/sql/moments.ts";
import { SMALL_TABLE_PAGES } from "../stats/count-query.ts";

export interface LockHolder {
  readonly workerId: string;
  /** The number of locked jobs; also 0 if unknown. */
  readonly jobs: number;
  readonly queues: number;
  /** The time of the oldest lock that was read, in microseconds since 1970. */
  readonly oldestLockUs: string | null;
}

export interface LockHolders {
  readonly holders: ReadonlyMap<string, LockHolder>;
  /** Whether `holders` includes every worker that had locked a job at the time of the read or count. */
  readonly isComplete: boolean;
  /** The source of the numbers of locked jobs; null: the numbers are unknown. */
  readonly basis: Basis | null;
}

/** The number of locked jobs of each worker, from a count of all jobs or of a sample. */
export interface CountedHolders {
  readonly basis: Basis;
  readonly tallies: { readonly holders: ReadonlyMap<string, number> };
  lockedBy(workerId: string): number;
}

const sizeSql: Statement = () => `
  select pg_catalog.pg_relation_size(pg_catalog.to_regclass($1::text)) / pg_catalog.current_setting('block_size')::int
    <= ${SMALL_TABLE_PAGES} as is_small`;

/** Returns what can be read quickly: the whole table of jobs (`isSmall`), the locked jobs (`findsLocked`). */
export async function reachOf(db: Database): Promise<{ isSmall: boolean; findsLocked: boolean }> {
  const table = `${db.schema.quoted}._private_jobs`;
  const [row] = await query<{ is_small: boolean }>(db, sizeSql, [table]);
  const isSmall = row?.is_small === true;
  return { isSmall, findsLocked: isSmall || (await usableIndexes(db)).has("running") };
}

const MAX_HOLDERS = 10_000;

const lockedQueues = (s: string) => `
    select ${lockHolder("queues")} as locked_by, locked_at, false as is_job
    from ${s}._private_job_queues as queues
    where locked_by is not null and ${isLockedByWorker("queues")}`;

const lockedJobs = (s: string) => `
    union all
    select ${lockHolder("jobs")}, locked_at, true
    from ${s}._private_jobs as jobs
    where jobs.locked_by is not null and ${isLocked("jobs")}`;

const holdersSql =
  (jobs: boolean): Statement =>
  (s) =>
    `
  select locked_by as worker_id,
    pg_catalog.count(*) filter (where is_job)::int as jobs,
    pg_catalog.count(*) filter (where not is_job)::int as queues,
    ${microseconds("pg_catalog.min(locked_at)")} as oldest_us
  from (${lockedQueues(s)}${jobs ? lockedJobs(s) : ""}
  ) as locks
  group by locked_by
  limit ${MAX_HOLDERS}`;

const statements = { all: holdersSql(true), queues: holdersSql(false) };

interface HolderRow {
  readonly worker_id: string;
  readonly jobs: number;
  readonly queues: number;
  readonly oldest_us: string;
}

/** Returns the workers that hold locks. `counted`: an earlier count, used if the locked jobs are not read. */
export async function lockHolders(
  db: Database,
  counted: CountedHolders | null = null,
): Promise<LockHolders> {
  const { findsLocked } = await reachOf(db);
  const rows = await query<HolderRow>(db, findsLocked ? statements.all : statements.queues);
  const holders = new Map(
    rows.map(({ worker_id: workerId, jobs, queues, oldest_us: oldestLockUs }) => {
      return [workerId, { workerId, jobs, queues, oldestLockUs }] as [string, LockHolder];
    }),
  );
  if (findsLocked) return { holders, isComplete: rows.length < MAX_HOLDERS, basis: "probe" };
  if (counted === null) return { holders, isComplete: false, basis: null };
  for (const workerId of counted.tallies.holders.keys()) {
    const { queues = 0, oldestLockUs = null } = holders.get(workerId) ?? {};
    holders.set(workerId, { workerId, jobs: counted.lockedBy(workerId), queues, oldestLockUs });
  }
  return { holders, isComplete: counted.basis !== "sample", basis: counted.basis };
}
