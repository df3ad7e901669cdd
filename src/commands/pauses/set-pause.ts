// Sets and ends pauses of a queue, of a task or of all jobs.

import type { Database, Statement } from "../../database/database.ts";
import { CONTROL_TABLES, requireTables } from "../../database/schema/extensions/missing-tables.ts";
import {
  announceControl,
  announceResumed,
  isBusy,
  type PauseScope,
  type PauseTables,
  type PauseTarget,
  pauseTables,
  resumeAssignments,
} from "../../queue/pauses/pause.ts";
import { pausedBy, pauseOver } from "../../queue/pauses/paused-run.ts";
import { contendedQuery } from "../../queue/sql/contended-query.ts";
import { isPausedQueue } from "../../queue/sql/lock.ts";

export interface NewPause {
  readonly reason: string | null;
  readonly pausedBy: string | null;
  /** The time at which the pause ends; null: `forMs` determines the end. */
  readonly resumeAt: string | null;
  /** The duration in milliseconds. If `forMs` and `resumeAt` are null, only a resume ends the pause. */
  readonly forMs: number | null;
}

/** Pauses the target, or replaces its pause. Returns false if the paused task or queue does not exist yet. */
export async function setPause(
  db: Database,
  target: PauseTarget,
  pause: NewPause,
): Promise<boolean> {
  await requireTables(db, CONTROL_TABLES, "a pause");
  const { reason, pausedBy, resumeAt, forMs } = pause;
  const statement = target.scope === "queue" ? pauseQueueSql : pauseTaskSql;
  const values = [target.scope, target.name, reason, resumeAt, forMs, pausedBy];
  const [row] = await contendedQuery<{ is_known: boolean }>(db, statement, values);
  return target.scope === "all" || row?.is_known === true;
}

const storePause = (s: string) => `stored as (
  insert into ${s}._private_pauses as pauses (scope, name, paused_at, resume_at, reason, paused_by)
  values ($1::text, $2::text, pg_catalog.now(),
    coalesce($4::timestamptz, pg_catalog.now() + $5::float8 * interval '1 millisecond'), $3::text, $6::text)
  on conflict (scope, name) do update set
    paused_at = excluded.paused_at, resume_at = excluded.resume_at,
    reason = excluded.reason, paused_by = excluded.paused_by
  returning 1
)`;

const announce = announceControl("pauses");

const pauseTaskSql: Statement = (s) => `
with ${storePause(s)}
select exists (select from ${s}._private_tasks where identifier = $2::text) as is_known, ${announce} from stored`;

// If a worker has locked the queue, the lock of the pause replaces the worker's lock and contains the worker's id. The
// row of a pause is always locked before the row of its queue, to avoid deadlocks.
const pauseQueueSql: Statement = (s) => `
with ${storePause(s)}, paused as (
  insert into ${s}._private_job_queues as queues (queue_name, locked_by, locked_at)
  select $2::text, ${pausedBy("pg_catalog.left(coalesce($3::text, ''), 200)")}, 'infinity'::timestamptz from stored
  on conflict (queue_name) do update set ${pauseOver("queues")}
  returning 1
)
select exists (select from ${s}._private_job_queues where queue_name = $2::text) as is_known, ${announce} from paused`;

/** The result of a resume. */
export interface ResumeResult {
  /** Whether the target was paused. */
  readonly wasPaused: boolean;
  /** Whether a job of the queue that started before the pause still runs. When that job ends, the queue continues. */
  readonly waitsForJob: boolean;
}

/** Ends the pause of the target. */
export const endPause = (db: Database, { scope, name }: PauseTarget): Promise<ResumeResult> =>
  endPauses(db, scope, [name]);

/** Ends the pauses with these names. Each member of the result is true if it is true for at least one target. */
export async function endPauses(
  db: Database,
  scope: PauseScope,
  names: readonly string[],
): Promise<ResumeResult> {
  await requireTables(db, CONTROL_TABLES, "a pause");
  const statement = scope === "queue" ? resumeQueuesSql(await pauseTables(db)) : resumeTasksSql;
  const [row] = await contendedQuery<ResumedRow>(db, statement, [scope, names]);
  return { wasPaused: row?.was_paused === true, waitsForJob: row?.waits === true };
}

interface ResumedRow {
  readonly was_paused: boolean;
  readonly waits: boolean;
}

const news = `${announceResumed}, ${announce}`;

const resumeTasksSql: Statement = (s) => `
with ended as (
  delete from ${s}._private_pauses where scope = $1::text and name = any($2::text[])
  returning resume_at is null or resume_at > pg_catalog.now() as is_paused
)
select pg_catalog.bool_or(is_paused) as was_paused, false as waits, ${news}
from ended having pg_catalog.count(*) > 0`;

// If a job of the queue still runs, the queue stays locked, so that the next job does not start. The end of the pause
// is set to now, so that endDuePauses() ends the pause after the running job. The queue's `locked_at` changes from
// infinity to now, so that Graphile workers can unlock the queue after 4 hours.
const resumeQueuesSql =
  (tables: PauseTables): Statement =>
  (s) =>
    `
with pause as materialized (
  select scope from ${s}._private_pauses where scope = $1::text and name = any($2::text[])
  order by name for update
), queue as materialized (
  select queues.id, queues.queue_name, queues.locked_by from ${s}._private_job_queues as queues
  where (select pg_catalog.count(*) from pause) >= 0
  and queues.queue_name = any($2::text[]) and ${isPausedQueue("queues")}
  order by queues.id for update
), busy as materialized (
  select id, queue_name from queue where ${isBusy(s, "queue", tables)}
), unlocked as (
  update ${s}._private_job_queues${tables.slots ? " as queues" : ""} set ${resumeAssignments(s, tables)}
  where id in (select id from queue) and id not in (select id from busy)
  returning 1
), dated as (
  update ${s}._private_job_queues set locked_at = pg_catalog.now()
  where id in (select id from busy)
), due as (
  insert into ${s}._private_pauses as pauses (scope, name, resume_at)
  select $1::text, queue_name, pg_catalog.now() from busy
  on conflict (scope, name) do update set resume_at = excluded.resume_at
), ended as (
  delete from ${s}._private_pauses
  where scope = $1::text and name = any($2::text[]) and name not in (select queue_name from busy)
)
select exists (select from queue) as was_paused, exists (select from busy) as waits, ${news}`;
