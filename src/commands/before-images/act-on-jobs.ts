// Acts on jobs by their ids, as the schema's functions for that do, and keeps what they were where that is
// asked for.
import type { Database } from "../../database/database.ts";
import type { Job } from "../../domain/job.ts";
import { checkedJobIds } from "../../domain/job-ids.ts";
import { actingQuery } from "../../queue/sql/contended-query.ts";
import { type JobRow, jobColumns, jobNames, toJob } from "../../queue/sql/job-row.ts";
import { isFree } from "../../queue/sql/lock.ts";
import { type ChangeKind, keptColumns, mayRun } from "./kept-columns.ts";
import { type Keeping, type KeptRow, keptStatement, keptValues } from "./kept-statement.ts";

export interface Acting {
  readonly kind: ChangeKind;
  /**
   * The statement's beginning, up to its `where`, for a schema: it changes `jobs`. Its values begin with $2.
   */
  readonly change: (schema: string) => string;
  readonly values: readonly unknown[];
}

/** The jobs that were changed, ascending by id, and what was kept of it. */
export interface Changed {
  readonly jobs: Job[];
  readonly operationId: string | null;
}

/** Throws InputError for a list that is empty, longer than 10,000 or holds something but job ids. */
export async function actOnJobs(
  db: Database,
  acting: Acting,
  ids: readonly string[],
  keeping: Keeping | null,
): Promise<Changed> {
  const given = [checkedJobIds(ids), ...acting.values];
  if (keeping === null) {
    const rows = await actingQuery<JobRow>(db, (s, of) => plainStatement(s, acting, of), given);
    return { jobs: rows.map(toJob), operationId: null };
  }
  const rows = await actingQuery<JobRow & KeptRow>(
    db,
    (s, of) => keptStatement(s, acting.kind, tablesOf(s, acting, of), given.length + 1),
    [...given, ...keptValues(keeping)],
  );
  return { jobs: rows.map(toJob), operationId: rows[0]?.operation_id ?? null };
}

/** A running job is left alone by most actions. */
const changed = (s: string, { kind, change }: Acting, ids: string) => `${change(s)}
    where jobs.id = any(${ids})${mayRun(kind) ? "" : ` and ${isFree}`}
    returning jobs.*`;

const plainStatement = (s: string, acting: Acting, ids: string) => `
  with jobs as (
    ${changed(s, acting, ids)}
  )
  select ${jobColumns}
  from jobs
  ${jobNames(s)}
  order by jobs.id`;

/** Locked first, so that what is kept is what the change finds. */
const tablesOf = (s: string, acting: Acting, ids: string): string => `was as materialized (
    select ${["jobs.id", ...(acting.kind === "delete" ? [] : keptColumns(acting.kind, "jobs"))].join(", ")}
    from ${s}._private_jobs as jobs
    where jobs.id = any(${ids})
    order by jobs.id
    for update
  ), acted as (
    ${changed(s, acting, "array(select was.id from was)")}
  ), met as materialized (
    select asked.id,
      case when acted.id is not null then 'd' when jobs.id is not null then 'l' else 'g' end as outcome
    from pg_catalog.unnest($1::bigint[]) as asked (id)
    left join acted on acted.id = asked.id
    left join ${s}._private_jobs as jobs on jobs.id = asked.id
  )`;
