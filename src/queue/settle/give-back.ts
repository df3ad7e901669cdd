// Gives jobs back that were taken and never started. Their attempt never began, so it does not count
// towards max_attempts. Only where locked_by has them: row locks end with their transaction, which
// gives back what it has not written.
import { type Database, query } from "../../database/database.ts";
import { UNLOCK, unlockQueues } from "../sql/lock.ts";
import { idArray, isOurs, type LostIds, lostIds, parseIdArray } from "./fence.ts";

// Locked first: a row that its transaction has locked before it writes it keeps the mark of the lock. A job
// that has come from a dead fast lane stays with the safe mode so, which counts before it runs.
const givenBack = (s: string, condition: string) => `held as materialized (
  select j.id from ${s}._private_jobs j
  where ${condition} and ${isOurs("locked_by", "j", "$1")} order by j.id for update
), returned as (
  update ${s}._private_jobs j set attempts = greatest(0, j.attempts - 1), ${UNLOCK}
  from held where j.id = held.id returning j.id
)`;

const returnSql = (s: string) => `
with ${givenBack(s, "j.id = any($2::bigint[])")}, freed as (
  ${unlockQueues(s, "id = any($3::int[]) and locked_by = $1::text")}
)
select ${lostIds("$2", "returned")}`;

/**
 * Gives jobs back, and lets go of the named queues `queueIds` with them: were a queue free before, what
 * is behind these jobs could start first. Gives the ids that were no longer ours.
 */
export async function returnJobs(
  db: Database,
  workerId: string,
  ids: readonly string[],
  queueIds: readonly number[] = [],
): Promise<string[]> {
  const [row] = await query<LostIds>(db, returnSql, [workerId, idArray(ids), queueIds]);
  return parseIdArray(row?.lost);
}

// After a connection was lost in the middle of a claim nobody knows whether it had committed: jobs
// that are locked by us and that we never received are given back. No index has locked_by, so this
// is a scan, and only runs after such a loss.
const returnUnknownSql = (s: string) => `
with ${givenBack(s, "not j.is_available and j.id <> all($2::bigint[])")}, freed as (
  ${unlockQueues(s, "locked_by = $1::text and id <> all($3::int[])")}
)
select pg_catalog.count(*)::int as count from returned`;

/** Gives back what is locked by this worker but is not among `ids`; gives their number. */
export async function returnUnknownJobs(
  db: Database,
  workerId: string,
  ids: readonly string[],
  queueIds: readonly number[],
): Promise<number> {
  const values = [workerId, idArray(ids), queueIds];
  const [row] = await query<{ count: number }>(db, returnUnknownSql, values);
  return row?.count ?? 0;
}
