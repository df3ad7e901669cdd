// Ends jobs that succeeded: their rows are deleted.
import { builtOnce, type Database, idArray, parseIdArray, query } from "../../database/database.ts";
import { unlockQueues } from "../sql/lock.ts";
import { isOurs, type LockMode, type LostIds, lostIds } from "./fence.ts";

/** The delete, for a common table expression; also a part of the fetch. */
export const finishedJobs = (s: string, mode: LockMode, ids: string, workerId: string): string =>
  `delete from ${s}._private_jobs j where j.id = any(${ids}::bigint[]) and ${isOurs(mode, "j", workerId)}
  returning j.id`;

// Named queues are let go with it only where locked_by has them: row locks end with the transaction.
const freedQueues = (s: string) => `, freed as (
  ${unlockQueues(s, "id = any($3::int[]) and locked_by = $2::text")}
)`;

const finishSql = (mode: LockMode) => (s: string) =>
  `
with done as (
  ${finishedJobs(s, mode, "$1", "$2")}
)${mode === "locked_by" ? freedQueues(s) : ""}
select ${lostIds({ schema: s, mode, ids: "$1", workerId: "$2", by: "done" })}`;

const statements = {
  locked_by: builtOnce(finishSql("locked_by")),
  row: builtOnce(finishSql("row")),
};

/**
 * Deletes finished jobs that the worker has by `mode`, and lets go of the named queues `queueIds`,
 * which only `locked_by` has. Gives the ids that were no longer ours.
 */
export async function finishJobs(
  db: Database,
  workerId: string,
  ids: readonly string[],
  mode: LockMode,
  queueIds: readonly number[] = [],
): Promise<string[]> {
  const values = [idArray(ids), ...(mode === "locked_by" ? [workerId, queueIds] : [])];
  const [row] = await query<LostIds>(db, statements[mode], values);
  return parseIdArray(row?.lost);
}
