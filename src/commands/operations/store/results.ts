// Counts, by their present states, the jobs that an operation has changed. At most 20,000 jobs are counted: those with
// the lowest ids. A job that no longer exists counts as finished. After an operation that deletes jobs, a job counts as
// waiting if an undo would restore it, and otherwise as changed.
import { type Database, query } from "../../../database/database.ts";
import { errorLabel } from "../../../domain/error-group.ts";
import { isDeletion, type JobChange, parameters } from "../../before-images/job-change.ts";
import type { Changes } from "../../declare/job-action.ts";
import { changeOf, type OperationAction } from "../model/action.ts";
import type { OperationResults } from "../model/operation-store.ts";
import { FAILED_AGAIN } from "./receipt.ts";
import { rowsAfter } from "./rows-after.ts";
import { mayBeRestored } from "./undo-statement.ts";

const MAX_SCANNED = 20_000;
const MAX_ERRORS = 5;

interface ResultRow {
  readonly result: "finished" | "running" | "failed_again" | "waiting" | "changed";
  readonly restorable: boolean;
  readonly error: string | null;
  readonly count: number;
}

export async function resultsOf(
  db: Database,
  id: string,
  action: OperationAction,
  changes: Changes,
): Promise<OperationResults> {
  const { text, values } = resultsStatement(db.schema.quoted, id, changeOf(action, changes));
  const rows = await query<ResultRow>(db, () => text, [...values]);
  const sum = (some: readonly ResultRow[]) => some.reduce((all, { count }) => all + count, 0);
  const countOf = (result: ResultRow["result"]) => sum(rows.filter((row) => row.result === result));
  const errors = new Map<string, number>();
  for (const { error, count } of rows) {
    if (error === null) continue;
    const label = errorLabel(error);
    errors.set(label, (errors.get(label) ?? 0) + count);
  }
  return {
    scanned: sum(rows),
    finished: countOf("finished"),
    failedAgain: countOf("failed_again"),
    running: countOf("running"),
    waiting: countOf("waiting"),
    changed: countOf("changed"),
    restorable: sum(rows.filter(({ restorable }) => restorable)),
    errors: [...errors]
      .map(([label, count]) => ({ label, count }))
      .sort((a, b) => b.count - a.count)
      .slice(0, MAX_ERRORS),
  };
}

function resultsStatement(s: string, id: string, change: JobChange) {
  const { values, parameter } = parameters();
  const restorable = mayBeRestored(s, change, parameter);
  const operation = parameter(id, "bigint");
  const text = `
  with batch as materialized (
    select images.*
    from ${s}._private_operation_rows as images
    where ${rowsAfter("images", operation, "0::bigint")} and images.outcome = 'd'
    order by images.operation_id, images.job_id
    limit ${MAX_SCANNED}
  ), scanned as (
    select
      case${
        isDeletion(change)
          ? `
        when ${restorable} then 'waiting' when true then 'changed'`
          : ""
      }
        when jobs.id is null then 'finished'
        when jobs.locked_at is not null then 'running'
        when ${FAILED_AGAIN("batch")} then 'failed_again'
        when jobs.attempts = batch.left_attempts and jobs.updated_at = batch.left_at then 'waiting'
        else 'changed'
      end as result,
      coalesce(${restorable}, false) as restorable, pg_catalog.left(jobs.last_error, 300) as error
    from batch
    left join ${s}._private_jobs as jobs on jobs.id = batch.job_id
  )
  select result, restorable, case when result = 'failed_again' then error end as error,
    pg_catalog.count(*)::int as count
  from scanned
  group by 1, 2, 3`;
  return { text, values };
}
