// Ends a job inside a transaction of its task: the job's row is deleted if and only if that transaction commits.
import { WorkerError } from "../../base/errors.ts";
import { type Database, query } from "../../database/database.ts";

// The statement is a select, because some drivers return the rows of a `delete … returning` in another form than the
// rows of a select.
const completeSql = (s: string) => `
with done as (
  delete from ${s}._private_jobs j where j.id = $2::text::bigint and j.locked_by = $1::text returning 1
)
select 1 from done`;

/**
 * `db`: a client of the caller, in the caller's transaction. Throws WorkerError `conflict` if the job is no longer
 * locked for the worker. The caller must then roll the transaction back.
 */
export async function completeJobIn(db: Database, workerId: string, id: string): Promise<void> {
  const rows = await query(db, completeSql, [workerId, id]);
  if (rows.length > 0) return;
  throw new WorkerError(
    "conflict",
    `job ${id} is no longer locked for this worker: roll the transaction back; another worker may run the job`,
  );
}
