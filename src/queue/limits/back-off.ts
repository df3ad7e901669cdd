// Begins back-offs of tasks, named queues and limits. A back-off of a task or queue is also stored as a pause.
import { type Database, query, type Statement } from "../../database/database.ts";
import { announceControl } from "../pauses/pause.ts";
import { pausedBy, pauseOver } from "../pauses/paused-run.ts";

export type BackOffScope = "task" | "queue" | "limit";

export interface NewBackOff {
  readonly scope: BackOffScope;
  readonly name: string;
  /** How long the back-off lasts, in milliseconds. */
  readonly delayMs: number;
  readonly reason: string;
  /** The job that requests the back-off, and the job's task. */
  readonly jobId: string;
  readonly task: string;
}

/**
 * `kept`: a user has paused the task or queue, or a current back-off ends at the same time or later. `unknown`: there
 * is no limit with this name.
 */
export type BackOffBegun = "begun" | "kept" | "unknown";

/** Begins a back-off, or extends the current one. Throws if the schema has no tables of limits. */
export async function beginBackOff(db: Database, backOff: NewBackOff): Promise<BackOffBegun> {
  const { scope, name, delayMs, reason, jobId, task } = backOff;
  const values = [scope, name, Math.max(0, delayMs), reasonOf(reason), jobId, task];
  // If the statement waits for the commit of another back-off, the statement sees the new pause, but not the
  // new row of _private_back_offs. So the pause seems to be set by a user. The next attempt sees both.
  for (let left = MAX_ATTEMPTS; ; left--) {
    const [row] = await query<{ begun: boolean; known: boolean }>(db, statements[scope], values);
    if (row?.known !== true) return "unknown";
    if (row.begun || left === 1) return row.begun ? "begun" : "kept";
  }
}

const MAX_ATTEMPTS = 5;
const MAX_CHARACTERS = 200;
const startOf = (text: string): string => text.slice(0, 10 * MAX_CHARACTERS);

/** Returns the first line of a reason, at most 200 characters, without characters that PostgreSQL cannot store. */
export const reasonOf = (reason: string): string =>
  [...startOf(reason).replaceAll("\0", "").toWellFormed().trim().split(/\r?\n/, 1).join("")]
    .slice(0, MAX_CHARACTERS)
    .join("");

const END = "pg_catalog.now() + $3::float8 * interval '1 millisecond'";
const MAX_RECORDS = 100;

// Old rows of all names are deleted, because some names never have another back-off.
const recordSql = (s: string) => `recorded as (
  insert into ${s}._private_back_offs as backs (scope, name, began_at, until, reason, job_id, task)
  select $1::text, $2::text, began_at, until, $4::text, $5::bigint, $6::text from begun
  on conflict (scope, name, began_at) do update set
    until = excluded.until, reason = excluded.reason, job_id = excluded.job_id, task = excluded.task
  where backs.until < excluded.until
), old as materialized (
  (select scope, name, began_at from ${s}._private_back_offs
    where scope = $1::text and name = $2::text and until <= pg_catalog.now()
    order by began_at desc offset ${MAX_RECORDS - 1})
  union
  (select scope, name, began_at from ${s}._private_back_offs
    where until < pg_catalog.now() - interval '1 hour' limit ${MAX_RECORDS})
), locked as materialized (
  select backs.scope, backs.name, backs.began_at
  from ${s}._private_back_offs as backs join old using (scope, name, began_at)
  where exists (select from begun) for update of backs skip locked
), deleted as (
  delete from ${s}._private_back_offs as backs using locked
  where backs.scope = locked.scope and backs.name = locked.name and backs.began_at = locked.began_at
)`;

const answer = (known: string, changed: "all" | "pauses") => `
select exists (select from begun) as begun, ${known} as known,
  case when exists (select from begun) then ${announceControl(changed)} end`;

// A current pause belongs to a back-off if both have the same end. Any other current pause was set by a user, and is
// not changed.
const begunPause = (s: string) => `begun as (
  insert into ${s}._private_pauses as pauses (scope, name, paused_at, resume_at, reason)
  values ($1::text, $2::text, pg_catalog.now(), ${END}, $4::text)
  on conflict (scope, name) do update set
    paused_at = case when pauses.resume_at > pg_catalog.now() then pauses.paused_at else excluded.paused_at end,
    resume_at = excluded.resume_at, reason = excluded.reason, paused_by = null
  where pauses.resume_at <= pg_catalog.now() or pauses.resume_at < excluded.resume_at and exists (
    select from ${s}._private_back_offs as backs
    where backs.scope = pauses.scope and backs.name = pauses.name and backs.until = pauses.resume_at)
  returning paused_at as began_at, resume_at as until
)`;

const taskSql: Statement = (s) =>
  `with ${begunPause(s)}, ${recordSql(s)} ${answer("true", "pauses")}`;

// A pause of a queue replaces the lock of a worker or of a limit on the queue.
const queueSql: Statement = (s) => `
with ${begunPause(s)}, ${recordSql(s)}, paused as (
  insert into ${s}._private_job_queues as queues (queue_name, locked_by, locked_at)
  select $2::text, ${pausedBy("$4::text")}, 'infinity'::timestamptz from begun
  on conflict (queue_name) do update set ${pauseOver("queues")}
)
${answer("true", "pauses")}`;

const limitSql: Statement = (s) => `
with known as materialized (
  select name from ${s}._private_limits where name = $2::text
), present as materialized (
  select began_at, until from ${s}._private_back_offs
  where scope = $1::text and name = $2::text and until > pg_catalog.now()
  order by until desc limit 1
), begun as materialized (
  select coalesce(present.began_at, pg_catalog.now()) as began_at, ${END} as until
  from known left join present on true
  where present.until is null or present.until < ${END}
), ${recordSql(s)} ${answer("exists (select from known)", "all")}`;

const statements = { task: taskSql, queue: queueSql, limit: limitSql } as const;
