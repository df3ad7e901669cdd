// What a pause of a queue, a task or everything is, and how it ends by itself.
//
//   queue        its row is locked at infinity by `paused:<reason>`: every worker obeys, stock ones too. A worker
//                that holds the lock now loses it; its running job ends and does not free the queue.
//   task, all    a row of _private_pauses, which the fetches of this library's workers read
import { type Database, query, type Statement } from "../../database/database.ts";
import { hasLimits } from "../../database/schema/extensions/has-extension.ts";
import { isLocked } from "../sql/job-state.ts";
import { isPausedQueue, UNLOCK } from "../sql/lock.ts";
import { announceJobs } from "../sql/notify.ts";
import { hasSlots, manageAgain } from "../sql/slots.ts";

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

/** A condition on a paused queue: a job of it is locked, so it runs. Running jobs of a managed queue hold its slots. */
export const isBusy = (s: string, queueId: string, slots: boolean) =>
  `${slots ? `not ${hasSlots(s, queueId)} and ` : ""}exists (
    select from ${s}._private_jobs as jobs
    where jobs.job_queue_id = ${queueId} and not jobs.is_available and ${isLocked("jobs")})`;

/** Assignments that end the pause of a row `queues`. A queue with slots is managed again. */
export const resumed = (s: string, slots: boolean) => (slots ? manageAgain(s, "queues") : UNLOCK);

/** Frees queues whose pause is over, and forgets pauses that are. Returns their number. */
export async function endDuePauses(db: Database): Promise<number> {
  const statement = (await hasLimits(db)) ? statements.withSlots : statements.without;
  const [row] = await query<{ ended: number }>(db, statement);
  return row?.ended ?? 0;
}

const endDueSql =
  (slots: boolean): Statement =>
  (s) =>
    `
with due as materialized (
  select scope, name from ${s}._private_pauses
  where resume_at <= pg_catalog.now() order by scope, name for update skip locked
), paused as materialized (
  select queues.id, queues.queue_name, ${isBusy(s, "queues.id", slots)} as is_busy
  from ${s}._private_job_queues as queues
  where queues.queue_name in (select name from due where scope = 'queue') and ${isPausedQueue("queues")}
  order by queues.id for update
), freed as (
  update ${s}._private_job_queues${slots ? " as queues" : ""} set ${resumed(s, slots)}
  where id in (select id from paused where not is_busy)
), ended as (
  delete from ${s}._private_pauses as pauses using due
  where pauses.scope = due.scope and pauses.name = due.name
  and (due.scope <> 'queue' or due.name not in (select queue_name from paused where is_busy))
  returning 1
)
select pg_catalog.count(*)::int as ended, case when pg_catalog.count(*) > 0 then ${announceJobs("1")} end from ended`;

const statements = { without: endDueSql(false), withSlots: endDueSql(true) };
