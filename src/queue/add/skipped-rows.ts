// Triggers of the application's that skip rows: a row trigger before the insert or update that returns null.
import { WorkerError } from "../../base/errors.ts";
import { type Database, query, type Statement } from "../../database/database.ts";
import { workerLine } from "../../domain/portable/worker-line.ts";

/** The error of an add of which fewer jobs were stored than sent: none of them is. */
export function skippedRows(
  { schema }: Database,
  sent: number,
  { stored, cause }: { stored?: number; cause?: unknown },
) {
  const what =
    stored === undefined
      ? `${sent === 1 ? "the job was" : `some of ${sent} jobs were`} not stored`
      : `only ${stored} of ${sent} jobs were stored`;
  const all = sent === 1 ? "" : ", so none of this call is";
  const message = `${what}${all}: a trigger on the table _private_jobs skips rows; "${workerLine(schema.name, "worker doctor")}" names it`;
  return new WorkerError("database_error", message, { cause });
}

/** Whether a trigger can skip rows. */
export async function maySkipRows(db: Database): Promise<boolean> {
  const [row] = await query<{ may: boolean }>(db, maySkipSql, [
    `${db.schema.quoted}._private_jobs`,
  ]);
  return row?.may === true;
}

// Bits of tgtype: 1 for each row, 2 before. (PostgreSQL documentation, pg_trigger.)
const maySkipSql: Statement = () => `
  select exists (
    select from pg_catalog.pg_trigger
    where tgrelid = $1::text::regclass::oid and not tgisinternal and tgenabled <> 'D'
    and tgtype & 3::int2 = 3::int2
  ) as may`;
