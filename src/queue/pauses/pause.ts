// How a pause is stored and announced, and how it ends by itself. Each pause is a row of _private_pauses.
//
//   queue        The queue's row has locked_by `paused:<reason>` and locked_at infinity. Graphile workers respect this
//                lock. A worker that holds the queue's lock loses it, but its running job continues (paused-run.ts).
//   task, all    Each fetch of this library's workers reads the pauses. Graphile workers ignore them.
import { type Database, query, type Statement } from "../../database/database.ts";
import { hasLimits, hasWorkerTable } from "../../database/schema/extensions/has-extension.ts";
import { isLocked } from "../sql/job-state.ts";
import { isPausedQueue, UNLOCK } from "../sql/lock.ts";
import { NEW_JOBS } from "../sql/notify.ts";
import { hasSlots, manageAgain } from "../sql/slots.ts";
import { isRecovered } from "../workers/stale-workers.ts";
import { pausedRun } from "./paused-run.ts";

export const pauseScopes = ["all", "queue", "task"] as const;
/** What is paused: one named queue, the jobs of one task, or all jobs. */
export type PauseScope = (typeof pauseScopes)[number];

/** If the scope is `all`, the name is ALL. */
export interface PauseTarget {
  readonly scope: PauseScope;
  readonly name: string;
}

export const ALL = "*";

/** The channel for announcements of changed pauses and limits, and of requests to cancel. */
export const CONTROL = "worker:control";

/** What may have changed, according to an announcement on CONTROL. `all`: anything, for example a limit. */
export type Control = "all" | "cancel" | "pauses";

const CANCEL_OF = "cancel ";

/**
 * Returns what a payload announces; null if the announcement concerns only another worker. `isOwn`: whether this worker
 * locks jobs under the id.
 */
export const controlOf = (
  payload: string,
  isOwn: (workerId: string) => boolean,
): Control | null => {
  if (!payload.startsWith(CANCEL_OF)) return payload === "pauses" ? payload : "all";
  const workerId = payload.slice(CANCEL_OF.length);
  return workerId === "" || isOwn(workerId) ? "cancel" : null;
};

/** Returns an expression that announces a change on CONTROL. */
export const announceControl = (what: "all" | "pauses"): string =>
  `pg_catalog.pg_notify('${CONTROL}', '${what}')`;

/**
 * Returns an expression that announces a cancellation to the worker `lockedBy` (an SQL expression), or to all workers
 * if `lockedBy` is null.
 */
export const announceCancel = (lockedBy: string): string =>
  `pg_catalog.pg_notify('${CONTROL}', '${CANCEL_OF}'::text || coalesce(pg_catalog.left(${lockedBy}, 1000), ''::text))`;

const RESUMED = '"resumed":true';

/** An expression that announces jobs that are no longer paused. */
export const announceResumed = `pg_catalog.pg_notify('${NEW_JOBS}', pg_catalog.format('{"r":%s,"count":1,${RESUMED}}', pg_catalog.random()))`;

/** Whether this payload announces jobs that are no longer paused. */
export const isOfResumed = (payload: string): boolean => payload.includes(RESUMED);

/** Whether the schema has the tables of workers' heartbeats, and of the slots of queues under a limit. */
export interface PauseTables {
  readonly heartbeats: boolean;
  readonly slots: boolean;
}

export const pauseTables = async (db: Database): Promise<PauseTables> => ({
  heartbeats: await hasWorkerTable(db),
  slots: await hasLimits(db),
});

/**
 * Returns a condition on a paused queue: a run that began before the pause still continues. The id of a worker that has
 * no heartbeats or was recovered may remain in the lock of the pause after the run. So for such a worker the condition
 * searches for a locked job of the queue, and may have to read all jobs. A queue with slots is never busy, because its
 * runs lock slots instead of the queue.
 */
export const isBusy = (s: string, queue: string, { heartbeats, slots }: PauseTables) =>
  `${slots ? `not ${hasSlots(s, `${queue}.id`)} and ` : ""}case
    when ${pausedRun(queue)} is null then false${heartbeats ? `\n    when ${hasLease(s, queue)} then true` : ""}
    else exists (select from ${s}._private_jobs as jobs
      where jobs.job_queue_id = ${queue}.id and not jobs.is_available and ${isLocked("jobs")}) end`;

const hasLease = (s: string, queue: string) => `exists (select from ${s}._private_workers as workers
      where workers.id = ${pausedRun(queue)} and not coalesce(${isRecovered}, false))`;

/** Returns the assignments that end the pause of a queue, for an update of its row `queues`. */
export const resumeAssignments = (s: string, { slots }: PauseTables) =>
  slots ? manageAgain(s, "queues") : UNLOCK;

/**
 * Deletes the pauses whose time is over, ends their locks of queues, and returns the number of deleted pauses. If a run
 * that began before the pause still continues, the pause and its lock stay, and only `locked_at` of the queue is set to
 * the present time.
 */
export async function endDuePauses(db: Database): Promise<number> {
  const [row] = await query<{ ended: number }>(db, endDueSql(await pauseTables(db)));
  return row?.ended ?? 0;
}

const endDueSql =
  (tables: PauseTables): Statement =>
  (s) =>
    `
with due as materialized (
  select scope, name from ${s}._private_pauses
  where resume_at <= pg_catalog.now() order by scope, name for update skip locked
), paused as materialized (
  select queues.id, queues.queue_name, ${isBusy(s, "queues", tables)} as is_busy
  from ${s}._private_job_queues as queues
  where queues.queue_name in (select name from due where scope = 'queue') and ${isPausedQueue("queues")}
  order by queues.id for update
), unlocked as (
  update ${s}._private_job_queues${tables.slots ? " as queues" : ""} set ${resumeAssignments(s, tables)}
  where id in (select id from paused where not is_busy)
), dated as (
  update ${s}._private_job_queues set locked_at = pg_catalog.now()
  where id in (select id from paused where is_busy) and locked_at = 'infinity'::timestamptz
), ended as (
  delete from ${s}._private_pauses as pauses using due
  where pauses.scope = due.scope and pauses.name = due.name
  and (due.scope <> 'queue' or due.name not in (select queue_name from paused where is_busy))
  returning 1
)
select pg_catalog.count(*)::int as ended, case when pg_catalog.count(*) > 0 then ${announceResumed} end from ended`;
