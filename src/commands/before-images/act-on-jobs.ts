// Acts on jobs by their ids, as the schema's functions for that do, and keeps what they were where that is
// asked for.
import { monotonic, wait } from "../../base/clock.ts";
import { type Database, query, type Statement } from "../../database/database.ts";
import type { Job } from "../../domain/job.ts";
import { checkedJobIds } from "../../domain/job-ids.ts";
import { isUnreported } from "../../queue/sql/condition.ts";
import { actingQuery } from "../../queue/sql/contended-query.ts";
import { type JobRow, jobColumns, jobNames, toJob } from "../../queue/sql/job-row.ts";
import { isFree } from "../../queue/sql/lock.ts";
import { hasWorkerTable } from "../../queue/workers/worker-table.ts";
import { changing, isDeletion, type JobChange, keptOf, parameters } from "./job-change.ts";
import { type Keeping, type KeptRow, keptStatement, keptValues } from "./kept-statement.ts";

/** The jobs that were changed, ascending by id, and what was kept of it. */
export interface Changed {
  readonly jobs: Job[];
  readonly operationId: string | null;
}

/**
 * The same after a wait, of up to a second, for jobs that a worker has fetched and not started. Deletions and changes of
 * running jobs need none.
 */
export async function actOnJobsInTurn(
  db: Database,
  change: JobChange,
  ids: readonly string[],
  keeping: Keeping | null,
): Promise<Changed> {
  await untilMayChange(db, change, ids);
  return actOnJobs(db, change, ids, keeping);
}

export async function untilMayChange(
  db: Database,
  change: JobChange,
  ids: readonly string[],
): Promise<void> {
  if (mustWait(change)) await untilNotFetched(db, { ids: checkedJobIds(ids) });
}

const mustWait = (change: JobChange): boolean => !isDeletion(change) && change.mayRun !== true;

/** Throws InputError for a list that is empty, longer than 10,000 or holds something but job ids. */
export async function actOnJobs(
  db: Database,
  change: JobChange,
  ids: readonly string[],
  keeping: Keeping | null,
): Promise<Changed> {
  const { values, parameter } = parameters();
  parameter(checkedJobIds(ids), "bigint[]");
  const head = changing(db.schema.quoted, change, parameter);
  const changed: Changing = (of) => `${head}
    where jobs.id = any(${of})${change.mayRun === true ? "" : ` and ${isFree}`}
    returning jobs.*`;
  if (keeping === null) {
    const rows = await actingQuery<JobRow>(db, (s, of) => plainStatement(s, changed(of)), values);
    return { jobs: rows.map(toJob), operationId: null };
  }
  const first = values.length + 1;
  const rows = await actingQuery<JobRow & KeptRow>(
    db,
    (s, of) => keptStatement(s, change, tablesOf(s, change, of, changed), first),
    [...values, ...keptValues(keeping)],
  );
  return { jobs: rows.map(toJob), operationId: rows[0]?.operation_id ?? null };
}

/** The changing statement for an expression of ids. A running job is left alone by most actions. */
type Changing = (ids: string) => string;

const plainStatement = (s: string, changed: string) => `
  with jobs as (
    ${changed}
  )
  select ${jobColumns}
  from jobs
  ${jobNames(s)}
  order by jobs.id`;

/** Locked first, so that what is kept is what the change finds. */
const tablesOf = (
  s: string,
  change: JobChange,
  ids: string,
  changed: Changing,
): string => `was as materialized (
    select ${["jobs.id", ...(isDeletion(change) ? [] : keptOf(change, "jobs"))].join(", ")}
    from ${s}._private_jobs as jobs
    where jobs.id = any(${ids})
    order by jobs.id
    for update
  ), acted as (
    ${changed("array(select was.id from was)")}
  ), met as materialized (
    select asked.id,
      case when acted.id is not null then 'd' when jobs.id is not null then 'l' else 'g' end as outcome
    from pg_catalog.unnest($1::bigint[]) as asked (id)
    left join acted on acted.id = asked.id
    left join ${s}._private_jobs as jobs on jobs.id = asked.id
  )`;

// Jobs that may be fetched and not started: locked by a worker that reports what it runs, and not among that. A
// worker gives back within 250 ms what it has fetched and cannot start, so an action on such jobs waits for that.

/** Which jobs: by their ids, or by a key. */
export type Wanted = { readonly ids: readonly string[] } | { readonly key: string };

/** How long an action waits. */
const PATIENCE_MS = 1_000;
const STEP_MS = 40;

const lockedSql: Statement = (s) => `
  select j.id::text from ${s}._private_jobs j
  where (j.id = any($1::bigint[]) or j.key = $2::text) and j.locked_at is not null`;

const fetchedSql: Statement = (s) => `
  select j.id::text from ${s}._private_jobs j
  join ${s}._private_workers workers on workers.id = j.locked_by
  where j.id = any($1::bigint[]) and j.locked_at is not null and ${isUnreported("j")}`;

/** Waits until none of these jobs is fetched any more, a second at most. */
export async function untilNotFetched(db: Database, wanted: Wanted): Promise<void> {
  const values = "ids" in wanted ? [wanted.ids, null] : ["{}", wanted.key];
  let ids = idsOf(await query<Row>(db, lockedSql, values));
  if (ids.length === 0 || !(await hasWorkerTable(db))) return;
  const endsAtMs = monotonic() + PATIENCE_MS;
  for (;;) {
    ids = idsOf(await query<Row>(db, fetchedSql, [ids]));
    if (ids.length === 0 || monotonic() >= endsAtMs) return;
    await wait(STEP_MS, NEVER);
  }
}

interface Row {
  readonly id: string;
}

const idsOf = (rows: readonly Row[]) => rows.map(({ id }) => id);
const NEVER = new AbortController().signal;
