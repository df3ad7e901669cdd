// Gives back jobs that were fetched and never started. Only the safe mode needs this: the row locks of the fast mode
// end with their transaction. If a locked job is removed, or replaced under its key, the job loses its key and all
// attempts that were left. This file deletes such a job: after a return, it would have an attempt left, and would run.
import {
  type Database,
  idArray,
  parseIdArray,
  query,
  type Statement,
} from "../../database/database.ts";
import { isRefusedResult } from "../../database/errors/database-errors.ts";
import { changeUnrefused, type RefusedRow } from "../../database/refused-rows.ts";
import { hasLimits } from "../../database/schema/extensions/has-extension.ts";
import { endRuns } from "../pauses/paused-run.ts";
import { UNLOCK } from "../sql/lock.ts";
import { freeSlots, isSlotIn, splitLocks } from "../sql/slots.ts";
import { isOurs, type LostIds, lostIds } from "./fence.ts";

// The rows are locked before the update, so that the xmax of their new versions is not 0 and the fast mode does not
// fetch them (isForFastMode()). Such a job may have run in the fast mode before, on a lost connection, and must stay
// with the safe mode, which counts an attempt before the job runs. In the index that a fetch reads, an updated job may
// follow all other jobs with the same priority and run_at. So if such jobs exist, a returned job of a named queue keeps
// its place by a run_at that is some microseconds earlier.
const givenBack = (
  s: string,
  condition: string,
  isRemoved: string,
) => `locked_jobs as materialized (
  select j.id, j.run_at, ${isRemoved} as is_removed,
    j.job_queue_id is not null and exists (
      select from ${s}._private_jobs o
      where o.is_available and o.priority = j.priority and o.run_at = j.run_at) as has_equals
  from ${s}._private_jobs j
  where ${condition} and ${isOurs("locked_by", "j", "$1")} order by j.id for update
), placed as materialized (
  select id, case when has_equals
      then pg_catalog.row_number() over (order by run_at desc, id desc) else 0 end as from_last
  from locked_jobs where not is_removed
), removed as (
  delete from ${s}._private_jobs j using locked_jobs where j.id = locked_jobs.id and locked_jobs.is_removed returning j.id
), returned as (
  update ${s}._private_jobs j set attempts = greatest(0, j.attempts - 1), ${UNLOCK},
    run_at = j.run_at - placed.from_last::float8 * interval '1 microsecond'
  from placed where j.id = placed.id returning j.id
), ended as (select id from returned union all select id from removed)`;

const returnSql = (slots: boolean) => (s: string) =>
  `
with ${givenBack(s, "j.id = any($2::bigint[])", "j.key is null and j.id = any($4::bigint[])")}, unlocked as (
  ${endRuns(s, "id = any($3::int[])", "$1")}
)${slots ? freedSlots(s, isSlotIn("$5")) : ""}
select ${lostIds({ schema: s, mode: "locked_by", ids: "$2", workerId: "$1", by: "ended" })}`;

const freedSlots = (s: string, condition: string) => `, freed_slots as (
  ${freeSlots(s, `slots.locked_by = $1::text and ${condition}`)}
)`;

const returnStatements = { ofQueues: returnSql(false), ofSlots: returnSql(true) };

/**
 * Gives jobs back, and unlocks runs of named queues (`locks`) in the same statement: if a queue were unlocked before
 * its jobs, later jobs of the queue could start first. `keyed`: the ids of the jobs that had a key when they were
 * fetched. Returns the ids of the jobs whose lock the worker had lost.
 */
export async function returnJobs(
  db: Database,
  workerId: string,
  ids: readonly string[],
  locks: readonly number[] = [],
  keyed: readonly string[] = [],
): Promise<string[]> {
  const { queues, slots } = splitLocks(locks);
  const hasSlots = slots.length > 0;
  const values = [workerId, idArray(ids), queues, idArray(keyed), ...(hasSlots ? [slots] : [])];
  const statement = hasSlots ? returnStatements.ofSlots : returnStatements.ofQueues;
  const [row] = await query<LostIds>(db, statement, values);
  return parseIdArray(row?.lost);
}

// If a connection is lost during a fetch, it is unknown which jobs were locked, and which of them had a key. So a job
// counts as removed or replaced if it has no key and no attempts left, and its `updated_at` was written while the job
// was locked. An `updated_at` in the future proves nothing.
const REMOVED_SINCE = `j.key is null and j.attempts >= j.max_attempts
    and j.updated_at >= j.locked_at and j.updated_at <= pg_catalog.now()`;

const returnUnknownSql = (slots: boolean) => (s: string) =>
  `
with ${givenBack(s, IS_NOT_LISTED, REMOVED_SINCE)}, unlocked as (
  ${endRuns(s, "id <> all($4::int[])", "$1")}
)${slots ? freedSlots(s, `not ${isSlotIn("$5")}`) : ""}
select pg_catalog.count(*)::int as count from ended`;

const unknownStatements = { ofQueues: returnUnknownSql(false), ofSlots: returnUnknownSql(true) };

const IS_UNKNOWN = "not j.is_available and j.locked_at is not null";
// Jobs locked between $3 and now stay locked: they may be kept jobs of the fast mode.
const IS_NOT_LISTED = `${IS_UNKNOWN} and j.id <> all($2::bigint[])
    and j.locked_at not between pg_catalog.to_timestamp($3::float8) and pg_catalog.clock_timestamp()`;

const returnSomeSql: Statement = (s) => `
with ${givenBack(s, `${IS_UNKNOWN} and j.id = any($2::bigint[])`, REMOVED_SINCE)}
select pg_catalog.count(*)::int as count from ended`;

const unknownIdsSql: Statement = (s) => `
select j.id::text from ${s}._private_jobs j
where ${IS_NOT_LISTED} and ${isOurs("locked_by", "j", "$1")} order by j.id`;

/**
 * Gives back the worker's jobs that are not among `ids`, and unlocks its runs that are not among `locks`. Jobs that
 * were locked between `sinceMs` (milliseconds since the epoch) and now stay locked, and so do jobs whose update
 * PostgreSQL refuses. `db` must not be in a transaction, because a refusal would abort that transaction.
 */
export async function returnUnknownJobs(
  db: Database,
  workerId: string,
  ids: readonly string[],
  locks: readonly number[],
  sinceMs = Number.POSITIVE_INFINITY,
): Promise<{ readonly jobs: number; readonly refused: readonly RefusedRow[] }> {
  const { queues, slots } = splitLocks(locks);
  const hasSlots = await hasLimits(db);
  const statement = hasSlots ? unknownStatements.ofSlots : unknownStatements.ofQueues;
  const [since, others] = [sinceMs / 1_000, [queues, ...(hasSlots ? [slots] : [])]];
  const returnAll = (except: readonly string[]) =>
    countOf(db, statement, [workerId, idArray(except), since, ...others]);
  try {
    return { jobs: await returnAll(ids), refused: [] };
  } catch (error) {
    if (!isRefusedResult(error)) throw error;
  }
  const rows = await query<{ id: string }>(db, unknownIdsSql, [workerId, idArray(ids), since]);
  const unlisted = rows.map(({ id }) => id);
  const { changed, refused } = await changeUnrefused(db, unlisted, (some) =>
    countOf(db, returnSomeSql, [workerId, idArray(some)]),
  );
  const last = await returnAll([...ids, ...refused.map(({ id }) => id)]);
  return { jobs: changed + last, refused };
}

const countOf = async (db: Database, statement: Statement, values: unknown[]) =>
  (await query<{ count: number }>(db, statement, values))[0]?.count ?? 0;
