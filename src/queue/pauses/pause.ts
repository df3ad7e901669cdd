// Pausing a queue, a task or everything, and resuming it.
//
//   queue        its row is locked at infinity by `paused:<reason>`: every worker obeys, stock ones too. A worker
//                that holds the lock now loses it; its running job ends and does not free the queue.
//   task, all    a row of _private_pauses, which the fetches of this library's workers read
import { WorkerError } from "../../base/errors.ts";
import { type Database, query, type Statement } from "../../database/database.ts";
import { hasControls } from "../../database/schema/extensions/has-controls.ts";
import { workerLine } from "../../domain/portable/worker-line.ts";
import { isLocked } from "../sql/job-state.ts";
import { isPausedQueue, PAUSED, UNLOCK } from "../sql/lock.ts";
import { announceJobs } from "../sql/notify.ts";

export const pauseScopes = ["all", "queue", "task"] as const;
/** What is paused: one named queue, the jobs of one task, or all jobs. */
export type PauseScope = (typeof pauseScopes)[number];

/** What is paused; the name of `all` is ALL. */
export interface PauseTarget {
  readonly scope: PauseScope;
  readonly name: string;
}

export const ALL = "*";

/** Workers listen on this channel and read the pauses at once. */
export const CONTROL = "worker:control";

export interface NewPause {
  readonly reason: string | null;
  readonly pausedBy: string | null;
  /** Resumes at this time, or after this many milliseconds by the database's clock; both null: by hand alone. */
  readonly resumeAt: string | null;
  readonly forMs: number | null;
}

/** Throws `extension_missing` where there is no table for pauses and cancellations. `what` needs it: `a pause`. */
export async function requireControls(db: Database, what: string): Promise<void> {
  if (await hasControls(db)) return;
  const { name } = db.schema;
  const command = workerLine(name, "worker migrate --with controls");
  const sentence = `${what} needs tables that the schema ${name} does not have: "${command}" adds them`;
  throw new WorkerError("extension_missing", sentence);
}

/** Pauses, or changes the reason and the end of a pause. False: no task or queue has had this name yet. */
export async function setPause(
  db: Database,
  target: PauseTarget,
  pause: NewPause,
): Promise<boolean> {
  await requireControls(db, "a pause");
  const { reason, pausedBy, resumeAt, forMs } = pause;
  const statement = target.scope === "queue" ? pauseQueueSql : pauseTaskSql;
  const values = [target.scope, target.name, reason, resumeAt, forMs, pausedBy];
  const [row] = await query<{ is_known: boolean }>(db, statement, values);
  return target.scope === "all" || row?.is_known === true;
}

const noted = (s: string) => `noted as (
  insert into ${s}._private_pauses as pauses (scope, name, paused_at, resume_at, reason, paused_by)
  values ($1::text, $2::text, pg_catalog.now(),
    coalesce($4::timestamptz, pg_catalog.now() + $5::float8 * interval '1 millisecond'), $3::text, $6::text)
  on conflict (scope, name) do update set
    paused_at = excluded.paused_at, resume_at = excluded.resume_at,
    reason = excluded.reason, paused_by = excluded.paused_by
  returning 1
)`;

const announced = `pg_catalog.pg_notify('${CONTROL}', pg_catalog.random()::text)`;

const pauseTaskSql: Statement = (s) => `
with ${noted(s)}
select exists (select from ${s}._private_tasks where identifier = $2::text) as is_known, ${announced} from noted`;

// A lock that a worker holds is overwritten: it releases only what its own id has locked.
const pauseQueueSql: Statement = (s) => `
with ${noted(s)}, paused as (
  insert into ${s}._private_job_queues as queues (queue_name, locked_by, locked_at)
  values ($2::text, '${PAUSED}' || pg_catalog.left(coalesce($3::text, ''), 200), 'infinity')
  on conflict (queue_name) do update set locked_by = excluded.locked_by, locked_at = excluded.locked_at
  returning 1
)
select exists (select from ${s}._private_job_queues where queue_name = $2::text) as is_known, ${announced}
from noted, paused`;

/** What resuming has done. */
export interface Resumed {
  /** It was paused. */
  readonly wasPaused: boolean;
  /** A job that had started before the pause still runs: the queue goes on when that ends. */
  readonly waitsForJob: boolean;
}

/** Ends a pause. */
export async function endPause(db: Database, { scope, name }: PauseTarget): Promise<Resumed> {
  await requireControls(db, "a pause");
  const statement = scope === "queue" ? resumeQueueSql : resumeTaskSql;
  const [row] = await query<ResumedRow>(db, statement, [scope, name]);
  return { wasPaused: row?.was_paused === true, waitsForJob: row?.waits === true };
}

interface ResumedRow {
  readonly was_paused: boolean;
  readonly waits: boolean;
}

const news = `${announceJobs("1")}, ${announced}`;

const resumeTaskSql: Statement = (s) => `
with ended as (
  delete from ${s}._private_pauses where scope = $1::text and name = $2::text
  returning resume_at is null or resume_at > pg_catalog.now() as is_paused
)
select is_paused as was_paused, false as waits, ${news} from ended`;

/** A condition: a job of this queue is locked, so it runs. */
const isBusy = (s: string, queueId: string) => `exists (
    select from ${s}._private_jobs as jobs
    where jobs.job_queue_id = ${queueId} and not jobs.is_available and ${isLocked("jobs")})`;

// While a job of the queue runs, the pause stays and is due (endDuePauses): freed now, its next job would run beside
// that one. Its lock is dated, so that where only stock workers run, they free it after 4 hours.
const resumeQueueSql: Statement = (s) => `
with queue as materialized (
  select queues.id from ${s}._private_job_queues as queues
  where queues.queue_name = $2::text and ${isPausedQueue("queues")} for update
), busy as materialized (
  select id from queue where ${isBusy(s, "queue.id")}
), freed as (
  update ${s}._private_job_queues set ${UNLOCK}
  where id in (select id from queue) and id not in (select id from busy)
  returning 1
), dated as (
  update ${s}._private_job_queues set locked_at = pg_catalog.now()
  where id in (select id from busy)
), due as (
  insert into ${s}._private_pauses as pauses (scope, name, resume_at)
  select $1::text, $2::text, pg_catalog.now() from busy
  on conflict (scope, name) do update set resume_at = excluded.resume_at
), ended as (
  delete from ${s}._private_pauses
  where scope = $1::text and name = $2::text and not exists (select from busy)
)
select exists (select from queue) as was_paused, exists (select from busy) as waits, ${news}`;

/** Frees queues whose pause is over, and forgets pauses that are. Returns their number. */
export async function endDuePauses(db: Database): Promise<number> {
  const [row] = await query<{ ended: number }>(db, endDueSql);
  return row?.ended ?? 0;
}

const endDueSql: Statement = (s) => `
with due as materialized (
  select scope, name from ${s}._private_pauses
  where resume_at <= pg_catalog.now() order by scope, name for update skip locked
), paused as materialized (
  select queues.id, queues.queue_name, ${isBusy(s, "queues.id")} as is_busy
  from ${s}._private_job_queues as queues
  where queues.queue_name in (select name from due where scope = 'queue') and ${isPausedQueue("queues")}
  order by queues.id for update
), freed as (
  update ${s}._private_job_queues set ${UNLOCK}
  where id in (select id from paused where not is_busy)
), ended as (
  delete from ${s}._private_pauses as pauses using due
  where pauses.scope = due.scope and pauses.name = due.name
  and (due.scope <> 'queue' or due.name not in (select queue_name from paused where is_busy))
  returning 1
)
select pg_catalog.count(*)::int as ended, case when pg_catalog.count(*) > 0 then ${announceJobs("1")} end from ended`;
