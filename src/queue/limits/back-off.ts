// Back-offs: a task, a queue or a limit whose jobs do not start until a time, because a job was told so (429, 503).
//
//   task, queue   a pause with the end of the back-off, which all workers obey as any pause; of a queue, stock ones too
//   limit         only the row of _private_back_offs, which this library's workers read with the limits
//
// A pause by a person wins: it is neither shortened nor replaced. The pause is that of a back-off if and only if a row
// of _private_back_offs has its scope, name and end.
import { type Database, query, type Statement } from "../../database/database.ts";
import { CONTROL } from "../pauses/pause.ts";
import { PAUSED } from "../sql/lock.ts";

export interface NewBackOff {
  readonly scope: "task" | "queue" | "limit";
  readonly name: string;
  readonly forMs: number;
  /** At most 200 characters. */
  readonly reason: string;
  readonly jobId: string;
  /** The identifier of the job's task. */
  readonly task: string;
}

/** What is kept: the back-offs of an hour, at most this many of each name. */
const MOST_KEPT = 100;

/**
 * Begins a back-off, or lengthens it. Returns false if nothing of this name is there: an unknown limit. Throws if the
 * schema has no tables for it.
 */
export async function beginBackOff(db: Database, given: NewBackOff): Promise<boolean> {
  const { scope, name, forMs, reason, jobId, task } = given;
  const statement = scope === "limit" ? limitSql : pauseSql;
  const values = [scope, name, forMs, reason, jobId, task];
  return (await query(db, statement, values)).length > 0;
}

/* $1 scope  $2 name  $3 float8 ms  $4 reason  $5 bigint job  $6 task. Each row of the answer announces it. */
const until = "pg_catalog.now() + $3::float8 * interval '1 millisecond'";

const recorded = (s: string, condition: string) => `forgotten as (
  delete from ${s}._private_back_offs as backs
  where scope = $1::text and name = $2::text and until < pg_catalog.now()
    and (began_at < pg_catalog.now() - interval '1 hour' or began_at < (
      select began_at from ${s}._private_back_offs as others
      where others.scope = $1::text and others.name = $2::text
      order by began_at desc offset ${MOST_KEPT - 1} limit 1))
), recorded as (
  insert into ${s}._private_back_offs as backs (scope, name, until, reason, job_id, task)
  select $1::text, $2::text, ${until}, $4::text, $5::bigint, $6::text ${condition}
  on conflict (scope, name, began_at) do update set until = greatest(backs.until, excluded.until)
  returning until
)`;

const announced = `pg_catalog.pg_notify('${CONTROL}', pg_catalog.random()::text)`;

const limitSql: Statement = (s) => `
with ${recorded(s, `where exists (select from ${s}._private_limits where name = $2::text)`)}
select ${announced} from recorded`;

const pauseSql: Statement = (s) => `
with ${recorded(s, "")}, paused as (
  insert into ${s}._private_pauses as pauses (scope, name, resume_at, reason)
  select $1::text, $2::text, until, $4::text from recorded
  on conflict (scope, name) do update set
    paused_at = excluded.paused_at, resume_at = excluded.resume_at, reason = excluded.reason, paused_by = null
  where pauses.resume_at < excluded.resume_at and (pauses.resume_at <= pg_catalog.now() or exists (
    select from ${s}._private_back_offs as backs
    where backs.scope = pauses.scope and backs.name = pauses.name and backs.until = pauses.resume_at))
  returning scope, name
), locked as (
  insert into ${s}._private_job_queues as queues (queue_name, locked_by, locked_at)
  select name, '${PAUSED}' || pg_catalog.left($4::text, 200), 'infinity' from paused where scope = 'queue'
  on conflict (queue_name) do update set locked_by = excluded.locked_by, locked_at = excluded.locked_at
)
select ${announced} from recorded`;
