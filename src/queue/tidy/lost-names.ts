// Restores deleted rows of tasks and named queues to which jobs still refer. An add of a job does not lock the rows of
// its task and named queue, so they may be deleted before the add is committed. Without these rows, no worker of this
// library fetches the job.
import { type Database, query, type Statement } from "../../database/database.ts";
import { contendedQuery } from "../sql/contended-query.ts";
import type { NameColumn } from "../sql/names.ts";
import { announceJobs } from "../sql/notify.ts";

/** The table of each kind of name, and the column by which jobs refer to this table. */
export const NAMES = {
  identifier: { table: "_private_tasks", reference: "task_id" },
  queue_name: { table: "_private_job_queues", reference: "job_queue_id" },
} as const satisfies Record<NameColumn, { table: string; reference: string }>;

export interface LostName {
  readonly id: number;
  readonly name: string;
}

/**
 * Restores those rows of `names` that were deleted, with their old ids. If `all` is false, only rows to which jobs
 * refer are restored. If a name already has a new row, jobs that refer to the old id get the new row's id. Returns how
 * many rows were restored.
 */
export async function putBackNames(
  db: Database,
  column: NameColumn,
  names: readonly LostName[],
  { all }: { readonly all: boolean },
): Promise<number> {
  if (names.length === 0) return 0;
  const idsAndNames = [names.map(({ id }) => id), names.map(({ name }) => name)];
  const statement = statements[column];
  const [back] = await contendedQuery<{ rows: number; taken: number }>(db, statement.putBack, [
    ...idsAndNames,
    all,
  ]);
  if ((back?.taken ?? 0) > 0) {
    if (column === "queue_name") await contendedQuery(db, renameRecoveredSql, idsAndNames);
    await contendedQuery(db, statement.moveJobs, idsAndNames);
  }
  return back?.rows ?? 0;
}

const DELETED =
  "rows from (pg_catalog.unnest($1::int[]), pg_catalog.unnest($2::text[])) as deleted (id, name)";

// `taken`: how many rows were not restored, because another row has the same name or id.
const putBackSql =
  (column: NameColumn): Statement =>
  (s) => {
    const { table, reference } = NAMES[column];
    return `
  with lost as materialized (
    select deleted.id, deleted.name
    from ${DELETED}
    where not exists (
      select from ${s}.${table} as names where names.id = deleted.id and names.${column} = deleted.name
    )
  ), used as materialized (
    select distinct jobs.${reference} as id
    from ${s}._private_jobs as jobs
    where not $3::boolean and exists (select from lost)
    and jobs.${reference} = any(array(select id from lost))
  ), due as materialized (
    select id, name from lost where $3::boolean or id in (select id from used)
  ), back as (
    insert into ${s}.${table} (id, ${column}) overriding system value
    select id, name from due order by name
    on conflict do nothing
    returning id
  ), total as (
    select (select pg_catalog.count(*)::int from back) as rows,
      (select pg_catalog.count(*)::int from due where id not in (select id from back)) as taken
  )
  select total.rows, total.taken, case when total.rows + total.taken > 0 then ${announceJobs("1")} end
  from total`;
  };

const moveJobsSql =
  (column: NameColumn): Statement =>
  (s) => {
    const { table, reference } = NAMES[column];
    return `
  update ${s}._private_jobs as jobs
  set ${reference} = names.id
  from ${DELETED}
  join ${s}.${table} as names on names.${column} = deleted.name
  where jobs.${reference} = deleted.id and names.id <> deleted.id`;
  };

const renameRecoveredSql: Statement = (s) => `
  update ${s}._private_job_queues as queues
  set queue_name = deleted.name
  from ${DELETED}
  where queues.id = deleted.id and queues.queue_name = ${recoveredName("deleted.id")}
  and not exists (
    select from ${s}._private_job_queues as others where others.queue_name = deleted.name
  )`;

const statements = {
  identifier: { putBack: putBackSql("identifier"), moveJobs: moveJobsSql("identifier") },
  queue_name: { putBack: putBackSql("queue_name"), moveJobs: moveJobsSql("queue_name") },
};

const recoveredName = (id: string) => `('recovered-queue-' || ${id}::text)`;

/** The jobs that refer to deleted rows. */
export interface LostNames {
  /** The ids of deleted queues that jobs refer to, at most 10,000. */
  readonly queues: readonly number[];
  /** The number of jobs that refer to `queues`. */
  readonly queuedJobs: number;
  /** The number of jobs whose task has no row. */
  readonly tasklessJobs: number;
}

/** Finds the jobs that refer to a deleted row. Reads all jobs. */
export async function readLostNames(db: Database): Promise<LostNames> {
  const [row] = await query<{ queues: string; queued_jobs: number; taskless_jobs: number }>(
    db,
    lostSql,
  );
  return {
    queues: JSON.parse(row?.queues ?? "[]") as number[],
    queuedJobs: row?.queued_jobs ?? 0,
    tasklessJobs: row?.taskless_jobs ?? 0,
  };
}

const lostQueues = (s: string) => `
    select jobs.job_queue_id as id, pg_catalog.count(*)::int as jobs
    from ${s}._private_jobs as jobs
    where jobs.job_queue_id is not null and not exists (
      select from ${s}._private_job_queues as queues where queues.id = jobs.job_queue_id
    )
    group by jobs.job_queue_id
    limit 10000`;

const lostSql: Statement = (s) => `
  with lost_queue as materialized (${lostQueues(s)}
  )
  select
    (select coalesce(pg_catalog.json_agg(id order by id), '[]')::text from lost_queue) as queues,
    (select coalesce(pg_catalog.sum(jobs), 0)::int from lost_queue) as queued_jobs,
    (select pg_catalog.count(*)::int from ${s}._private_jobs as jobs where not exists (
      select from ${s}._private_tasks as tasks where tasks.id = jobs.task_id
    )) as taskless_jobs`;

/** Returns how many rows of queues have been deleted, according to PostgreSQL's statistics: a bigint, as text. */
export async function countDeletedQueues(db: Database): Promise<string> {
  const [row] = await query<{ deleted: string }>(db, deletedSql, [
    `${db.schema.quoted}._private_job_queues`,
  ]);
  return row?.deleted ?? "0";
}

const deletedSql: Statement = () =>
  "select pg_catalog.pg_stat_get_tuples_deleted($1::text::regclass)::text as deleted";

/**
 * Creates the missing rows of up to 10,000 queues that jobs refer to, with the names `recovered-queue-<id>`. Reads all
 * jobs. Returns how many rows were created.
 */
export async function recoverLostQueues(db: Database): Promise<number> {
  const [row] = await contendedQuery<{ rows: number }>(db, recoverSql, []);
  return row?.rows ?? 0;
}

const recoverSql: Statement = (s) => `
  with lost_queue as materialized (${lostQueues(s)}
  ), back as (
    insert into ${s}._private_job_queues (id, queue_name) overriding system value
    select lost.id, ${recoveredName("lost.id")}
    from lost_queue as lost
    order by lost.id
    on conflict do nothing
    returning id
  ), total as (
    select pg_catalog.count(*)::int as rows from back
  )
  select total.rows, case when total.rows > 0 then ${announceJobs("1")} end
  from total`;
