// The automatic sweep: frees what dead workers have locked. (sweep-stale-workers.ts is the manual
// one, which knows only one threshold and also takes locks of holders that never had a heartbeat.)
//
//   alive ──threshold──▶ ordinary jobs freed, row marked ──resilient threshold──▶ all freed, row gone
//     ▲                                   │
//     └ beat: keeps what is not freed ────┘  (and goes on under a new id, see worker/incarnations.ts)
//
// The marked row stays for a while on purpose: a claim that the dead worker had sent may commit
// after the first pass, and the second finds its locks.
import { type Database, query, type Statement } from "../database/database.ts";

/** What the sweeper knows about itself. After an outage of the database everybody looks dead. */
export interface Certainty {
  /** For how long its own beats have gone through without a gap, by the database's clock. */
  readonly steady_ms: number;
  /** Workers that were heard of within this time need no closer look. */
  readonly silence_ms: number;
}

export interface Recovery {
  readonly deadWorkerIds: readonly string[];
  /** Per dead worker: what becomes last_error instead of the usual sentence, or null. */
  readonly messages: readonly (string | null)[];
  /** A freed job runs no sooner than this from now. */
  readonly delay_ms: number;
  readonly steady_ms: number;
  /** When our own last beat was, by the database's clock, and how old that may be. */
  readonly beatAt_ms: number;
  readonly longestGap_ms: number;
}

export interface Recovered {
  readonly workerIds: readonly string[];
  readonly jobs: number;
  readonly queues: number;
}

/** The sweep's mark in a worker's metadata. */
export const isRecovered = "workers.metadata ? 'recovered_at'";

// A lease is as long as its holder says: workers of one fleet may be set up differently, and those
// of graphile_worker_rs, who say nothing, beat once a minute and are given 300 s as they are there.
const FOREIGN_LEASE_MS = 300_000;
const declared = (name: string) => `case when jsonb_typeof(workers.metadata -> '${name}') = 'number'
      then (workers.metadata ->> '${name}')::float8 else ${FOREIGN_LEASE_MS} end`;
const THRESHOLD = declared("threshold_ms");
const RESILIENT = declared("resilient_threshold_ms");
const AGE = "(extract(epoch from now() - workers.last_heartbeat_at)::float8 * 1000)";
const MOST_AT_ONCE = 100;

/*
 * Whose time is up. The first condition lets the index on last_heartbeat_at answer for everybody
 * who is well. The last one: whoever judges must have been heard himself for as long as the other
 * has been silent in vain.
 */
export const dueWorkers = (s: string, steady: string, silence: string) => `
  select workers.id from ${s}._private_workers as workers
  where workers.last_heartbeat_at < now() - ${silence}::float8 * interval '1 millisecond'
  and ${isDue(steady)}
  order by workers.last_heartbeat_at limit ${MOST_AT_ONCE}`;

const isDue = (steady: string) =>
  `${AGE} > case when ${isRecovered} then ${RESILIENT} else ${THRESHOLD} end
  and ${steady}::float8 >= ${THRESHOLD}`;

/*
 * One statement, one transaction, so it is right behind a transaction pooler, too.
 *
 * `turn`: one sweeper at a time; another finds nothing left to do, so nobody waits.
 * `dead`: asked once more under the row's lock. A late beat either has committed, and saves its
 *   worker, or waits for us, and finds the mark. A row that is locked at this moment is beating.
 *   Our own last beat must be recent by the same clock: if that has jumped, or we slept, we know
 *   nothing about others.
 * `held`, `due`: locks are taken in id order and never waited for. What somebody else is working on
 *   is left, and then its worker stays unmarked for the next sweep.
 * `queue`: a queue stays with a resilient job of the same holder: its order would break.
 * `freed`: attempts stay. The interrupted one counts, or a job that kills its worker would never
 *   exhaust. run_at: behind what is ready now, so that such a job is not the first that each
 *   worker takes after its start. In a named queue it keeps its place: those behind it may have
 *   been locked with it, and none of them may be overtaken.
 */
const recoverSql: Statement = (s) => `
with turn as materialized (
  select pg_try_advisory_xact_lock(hashtextextended($1::text, 0)) as is_ours
), dead as materialized (
  select workers.id, ${AGE} > ${RESILIENT} as is_final, asked.message,
    coalesce(${isRecovered}, false) as is_known
  from ${s}._private_workers as workers
  join unnest($2::text[], $3::text[]) as asked (id, message) on asked.id = workers.id
  where (select is_ours from turn) and ${isDue("$5")}
  and abs(extract(epoch from now())::float8 * 1000 - $6::float8) < $7::float8
  order by workers.id for update of workers skip locked
), held as materialized (
  select jobs.id, jobs.job_queue_id, jobs.locked_by,
    dead.is_final or not coalesce(jobs.flags ? 'infrastructure_resilient', false) as is_due
  from ${s}._private_jobs as jobs join dead on dead.id = jobs.locked_by
  where not jobs.is_available
), due as materialized (
  select id from ${s}._private_jobs
  where id = any(array(select id from held where is_due))
  and locked_by = any(array(select id from dead))
  order by id for update skip locked
), freed as (
  update ${s}._private_jobs as jobs
  set locked_at = null, locked_by = null, updated_at = now(),
    run_at = case when jobs.job_queue_id is null or $4::float8 > 0
      then greatest(jobs.run_at, now() + $4::float8 * interval '1 millisecond')
      else jobs.run_at end,
    last_error = coalesce(dead.message, format(
      'Recovered: worker %s stopped without finishing attempt %s', jobs.locked_by, jobs.attempts))
  from due, dead where jobs.id = due.id and dead.id = jobs.locked_by
  returning 1
), held_queue as materialized (
  select queues.id, queues.locked_by from ${s}._private_job_queues as queues
  join dead on dead.id = queues.locked_by
  where not exists (
    select from held where held.job_queue_id = queues.id and not held.is_due
  )
), queue as materialized (
  select id from ${s}._private_job_queues
  where id = any(array(select id from held_queue))
  and locked_by = any(array(select id from dead))
  order by id for update skip locked
), freed_queue as (
  update ${s}._private_job_queues set locked_at = null, locked_by = null
  where id = any(array(select id from queue))
  returning 1
), unfinished as materialized (
  select locked_by from held where is_due and id not in (select id from due)
  union select locked_by from held_queue where id not in (select id from queue)
), marked as (
  update ${s}._private_workers as workers
  set metadata = case when jsonb_typeof(metadata) = 'object' then metadata else '{}' end
    || jsonb_build_object('recovered_at', now())
  from dead where workers.id = dead.id and not dead.is_final
  and dead.id not in (select locked_by from unfinished)
), forgotten as (
  delete from ${s}._private_workers as workers using dead
  where workers.id = dead.id and dead.is_final
  and dead.id not in (select locked_by from unfinished)
), total as (
  select (select count(*)::int from freed) as jobs, (select count(*)::int from freed_queue) as queues
)
select total.jobs, total.queues,
  (select coalesce(json_agg(id order by id), '[]')::text from dead
    where not is_known or id in (select locked_by from held)) as workers,
  case when total.jobs + total.queues > 0 then pg_notify(
    'jobs:insert', json_build_object('r', random(), 'count', greatest(total.jobs, 1))::text) end
from total`;

/** Frees what is locked by those of the asked that are dead indeed, and says what that was. */
export async function recoverDeadWorkers(db: Database, asked: Recovery): Promise<Recovered> {
  const { deadWorkerIds, messages, delay_ms, steady_ms, beatAt_ms, longestGap_ms } = asked;
  const [row] = await query<{ jobs: number; queues: number; workers: string }>(db, recoverSql, [
    `worker recovery ${db.schema.name}`,
    deadWorkerIds,
    messages,
    delay_ms,
    steady_ms,
    beatAt_ms,
    longestGap_ms,
  ]);
  return {
    workerIds: JSON.parse(row?.workers ?? "[]") as string[],
    jobs: row?.jobs ?? 0,
    queues: row?.queues ?? 0,
  };
}
