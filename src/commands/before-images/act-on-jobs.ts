// Acts on jobs by their ids, as the schema's functions for that do, and keeps what they were where that is
// asked for.
import type { Database } from "../../database/database.ts";
import type { Job } from "../../domain/job.ts";
import { checkedJobIds } from "../../domain/job-ids.ts";
import { actingQuery } from "../../queue/sql/contended-query.ts";
import { type JobRow, jobColumns, jobNames, toJob } from "../../queue/sql/job-row.ts";
import { isFree } from "../../queue/sql/lock.ts";
import { changing, isDeletion, type JobChange, keptOf, parameters } from "./job-change.ts";
import { type Keeping, type KeptRow, keptStatement, keptValues } from "./kept-statement.ts";
import { untilNotFetched } from "./until-not-fetched.ts";

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
  if (mustWait(change)) await untilNotFetched(db, { ids: checkedJobIds(ids) });
  return actOnJobs(db, change, ids, keeping);
}

export const mustWait = (change: JobChange): boolean =>
  !isDeletion(change) && change.mayRun !== true;

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
