// Renews the locks of jobs that run for hours, of their named queues, and of slots of queues. Graphile workers remove
// every lock older than 4 hours, and the schema's functions treat a job with such a lock as unlocked.
import { type Database, query, type Statement } from "../../database/database.ts";
import { hasLimits } from "../../database/schema/extensions/has-extension.ts";
import { lockBy } from "../sql/lock.ts";

// $1 text the worker's id  $2 bigint[] the ids of its running jobs; null: unknown  $3 float8 the age in milliseconds
// from which a lock is old
// `is_needed` is a cheap check of the running jobs. Only if a running job has an old lock, the tables are searched for
// all old locks of the worker. Unstarted jobs of a named queue may have old locks, too. Rows that other transactions
// have locked are skipped: the job is ending, or the next renewal renews the lock in time.
const renewSql =
  (slots: boolean): Statement =>
  (s) =>
    `
with is_needed as materialized (
  select 1 from ${s}._private_jobs
  where ($2::bigint[] is null or id = any($2::bigint[])) and ${isOld} limit 1
), job as materialized (
  select id from ${s}._private_jobs
  where exists (select from is_needed) and not is_available and ${isOld}
  order by id for update skip locked
), renewed as (
  update ${s}._private_jobs set ${lockBy("$1")}
  where id = any(array(select id from job))
  returning 1
), queue as materialized (
  select id from ${s}._private_job_queues
  where exists (select from is_needed) and ${isOld}
  order by id for update skip locked
), renewed_queue as (
  update ${s}._private_job_queues set ${lockBy("$1")}
  where id = any(array(select id from queue))
  returning 1
)${slots ? renewedSlots(s) : ""}
select (select pg_catalog.count(*)::int from renewed) as jobs,
  (select pg_catalog.count(*)::int from renewed_queue) as queues`;

const renewedSlots = (s: string) => `, slot as materialized (
  select queue_id, slot from ${s}._private_queue_slots
  where exists (select from is_needed) and ${isOld}
  order by queue_id, slot for update skip locked
), renewed_slot as (
  update ${s}._private_queue_slots as slots set ${lockBy("$1")}
  where (slots.queue_id, slots.slot) in (select slot.queue_id, slot.slot from slot)
)`;

const statements = { ofQueues: renewSql(false), ofSlots: renewSql(true) };

const isOld =
  "locked_by = $1::text and locked_at < pg_catalog.now() - $3::float8 * interval '1 millisecond'";

export interface RenewedLocks {
  readonly jobs: number;
  readonly queues: number;
}

/**
 * If a running job has a lock of the worker that is older than `olderThanMs`, renews all such locks. If `runningIds` is
 * null (unknown), such a lock of any job is enough. Renewed locks of slots are not counted.
 */
export async function renewLocks(
  db: Database,
  workerId: string,
  runningIds: readonly string[] | null,
  olderThanMs: number,
): Promise<RenewedLocks> {
  const values = [workerId, runningIds, olderThanMs];
  const statement = (await hasLimits(db)) ? statements.ofSlots : statements.ofQueues;
  const [row] = await query<RenewedLocks>(db, statement, values);
  return { jobs: row?.jobs ?? 0, queues: row?.queues ?? 0 };
}
