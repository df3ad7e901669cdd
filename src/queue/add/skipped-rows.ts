// The error of an add if a trigger of the application has skipped some rows of the add. Such a trigger is called for
// each row before the insert or update, and returns null for the rows that it skips.
import { WorkerError } from "../../base/errors.ts";
import type { Database } from "../../database/database.ts";
import { readSkippers } from "../../database/skipped-rows.ts";
import { workerLine } from "../../domain/portable/worker-line.ts";

/** `stored`: how many of the `sent` jobs were stored, if known. `isUndone`: whether the whole add was rolled back. */
export function skippedRows(
  { schema }: Database,
  sent: number,
  { stored, cause, isUndone = true }: { stored?: number; cause?: unknown; isUndone?: boolean },
) {
  const what =
    stored === undefined
      ? `${sent === 1 ? "the job was" : `some of ${sent} jobs were`} not stored`
      : `only ${stored} of ${sent} jobs were stored`;
  const all = sent > 1 && isUndone ? ", so the whole call was rolled back" : "";
  const message = `${what}${all}: a trigger on the table _private_jobs skips rows; "${workerLine(schema.name, "worker doctor")}" reports it`;
  return new WorkerError("database_error", message, { cause });
}

/** Whether the table of jobs has a trigger that can skip rows of an add. */
export const maySkipRows = async (db: Database): Promise<boolean> =>
  (await readSkippers(db, "add")).length > 0;
