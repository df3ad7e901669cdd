// Reads the jobs of a receipt: for each job its task and the first line of its error. If the job still exists, both
// are read from the job's row, and otherwise from the row that the operation has stored.
import { type Database, query, type Statement } from "../../../database/database.ts";
import type { ReceiptJob } from "../model/operation-store.ts";

interface Row {
  readonly id: string;
  readonly task_identifier: string | null;
  readonly error: string | null;
}

/** Returns the jobs with these ids, ascending by id. `operationId`: the operation of the receipt. */
export async function receiptJobs(
  db: Database,
  operationId: string,
  ids: readonly string[],
): Promise<ReceiptJob[]> {
  if (ids.length === 0) return [];
  const rows = await query<Row>(db, keptSql, [ids, operationId]);
  return rows.map((row) => ({
    id: row.id,
    taskIdentifier: row.task_identifier,
    errorLine: row.error?.split(/[\r\n]/, 1)[0] ?? null,
  }));
}

// The name of a task has at most 128 characters. The column of stored names does not ensure this, so the query cuts
// the names.
const keptSql: Statement = (s) => `
  select targets.id, coalesce(tasks.identifier, pg_catalog.left(images.task_identifier, 128)) as task_identifier,
    pg_catalog.left(case when jobs.id is null then images.last_error else jobs.last_error end, 300) as error
  from pg_catalog.unnest($1::bigint[]) as targets (id)
  left join ${s}._private_jobs as jobs on jobs.id = targets.id
  left join ${s}._private_operation_rows as images
    on images.operation_id = $2::bigint and images.job_id = targets.id
  left join ${s}._private_tasks as tasks on tasks.id = coalesce(jobs.task_id, images.task_id)
  order by targets.id`;
