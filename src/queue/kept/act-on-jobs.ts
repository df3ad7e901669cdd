// Acts on jobs by their ids, through one of the schema's functions for that, and keeps what they were
// where that is asked for.
import type { Database } from "../../database/database.ts";
import { assertOwnFunctions, isOwnFunction } from "../../database/own-functions.ts";
import type { Job } from "../../domain/job.ts";
import { checkedJobIds } from "../../domain/job-ids.ts";
import { actingQuery } from "../sql/contended-query.ts";
import { type JobRow, jobColumns, jobNames, toJob } from "../sql/job-row.ts";
import { type ChangeKind, keptColumns } from "./kept-columns.ts";
import { type Keeping, type KeptRow, keptStatement, keptValues } from "./kept-statement.ts";

export interface Acting {
  readonly kind: ChangeKind;
  readonly function: Parameters<typeof isOwnFunction>[1];
  /** The function's call, for a schema and for what gives the ids; its other values begin with $2. */
  readonly call: (schema: string, ids: string) => string;
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
    if (rows.length === 0) await assertOwnFunctions(db);
    return { jobs: rows.map(toJob), operationId: null };
  }
  const rows = await actingQuery<JobRow & KeptRow>(
    db,
    (s, of) => keptStatement(s, acting.kind, tablesOf(s, acting, of), given.length + 1),
    [...given, ...keptValues(keeping)],
  );
  if (rows.length === 0) await assertOwnFunctions(db);
  return { jobs: rows.map(toJob), operationId: rows[0]?.operation_id ?? null };
}

const plainStatement = (s: string, acting: Acting, ids: string) => `
  select ${jobColumns}
  from ${acting.call(s, ids)} as jobs
  ${jobNames(s)}
  where ${isOwnFunction(s, acting.function)}
  order by jobs.id`;

/** Locked first, so that what is kept is what the function finds. */
const tablesOf = (
  s: string,
  { kind, function: name, call }: Acting,
  ids: string,
): string => `was as materialized (
    select ${["jobs.id", ...(kind === "delete" ? [] : keptColumns(kind, "jobs"))].join(", ")}
    from ${s}._private_jobs as jobs
    where jobs.id = any(${ids})
    order by jobs.id
    for update
  ), acted as materialized (
    select * from ${call(s, "array(select was.id from was)")}
    where ${isOwnFunction(s, name)}
  ), met as materialized (
    select asked.id,
      case when acted.id is not null then 'd' when jobs.id is not null then 'l' else 'g' end as outcome
    from pg_catalog.unnest($1::bigint[]) as asked (id)
    left join acted on acted.id = asked.id
    left join ${s}._private_jobs as jobs on jobs.id = asked.id
  )`;
