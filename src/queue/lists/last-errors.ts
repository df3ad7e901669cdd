// The error that each of some tasks left last, where it is cheap to read: of a small table that of any job,
// else that of a failed job, by the index on them. The newest failures are gone through by their keys alone, and only of one for
// each task is the error read.
import { type Database, query, type Statement } from "../../database/database.ts";
import { usableIndexes } from "../../database/schema/indexes/usable-indexes.ts";
import { unlessLate } from "../../database/unless-late.ts";
import { failedAt } from "../settle/retry-policy.ts";
import { isFailed } from "../sql/job-state.ts";

/** A task that last failed before so many others is said to have failed, not with what. */
const NEWEST = 2_000;

/** The first line by the task's id. */
export async function lastErrors(
  db: Database,
  taskIds: readonly number[],
  isSmall: boolean,
): Promise<ReadonlyMap<number, string>> {
  const isCheap = taskIds.length > 0 && (isSmall || (await usableIndexes(db)).has("failed"));
  const read = isSmall ? lastOfAll : lastOfFailed;
  const rows = isCheap ? await unlessLate(read(db, taskIds)) : null;
  return new Map((rows ?? []).map(({ task_id, start }) => [task_id, firstLine(start)]));
}

const lastOfAll = (db: Database, taskIds: readonly number[]) =>
  query<ErrorRow>(db, lastOfAllSql, [taskIds]);

/** Quick with the index on failed jobs alone. */
export const lastOfFailed = (db: Database, taskIds: readonly number[]): Promise<ErrorRow[]> =>
  query<ErrorRow>(db, lastOfFailedSql, [taskIds]);

interface ErrorRow {
  readonly task_id: number;
  readonly start: string;
}

const firstLine = (text: string) => text.split(/[\r\n]/, 1)[0] ?? "";

const lastOfAllSql: Statement = (s) => `
  select distinct on (jobs.task_id) jobs.task_id, pg_catalog.left(jobs.last_error, 300) as start
  from ${s}._private_jobs as jobs
  where jobs.task_id = any ($1::int[]) and jobs.last_error is not null
  order by jobs.task_id, ${failedAt("jobs")} desc, jobs.id desc`;

const lastOfFailedSql: Statement = (s) => `
  with newest as materialized (
    select jobs.id, jobs.task_id, jobs.updated_at
    from ${s}._private_jobs as jobs
    where ${isFailed("jobs")}
    order by jobs.updated_at desc, jobs.id desc
    limit ${NEWEST}
  ), last as (
    select distinct on (newest.task_id) newest.id
    from newest
    where newest.task_id = any ($1::int[])
    order by newest.task_id, newest.updated_at desc, newest.id desc
  )
  select jobs.task_id, pg_catalog.left(jobs.last_error, 300) as start
  from last join ${s}._private_jobs as jobs on jobs.id = last.id
  where jobs.last_error is not null`;
