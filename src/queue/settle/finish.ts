// Ends jobs that succeeded or were skipped: deletes their rows. Also releases the locks of ended runs of named queues.
import { builtOnce, type Database, idArray, parseIdArray, query } from "../../database/database.ts";
import { endRuns } from "../pauses/paused-run.ts";
import { freeSlots, isSlotIn, splitLocks } from "../sql/slots.ts";
import { isOurs, type LockMode, type LostIds, lostIds } from "./fence.ts";

/** Returns the statement that deletes the jobs, for a common table expression. A fetch uses it, too (take-jobs.ts). */
export const finishedJobs = (s: string, mode: LockMode, ids: string, workerId: string): string =>
  `delete from ${s}._private_jobs j where j.id = any(${ids}::bigint[]) and ${isOurs(mode, "j", workerId)}
  returning j.id`;

// Used only in the safe mode, because the fast mode fetches no jobs of named queues.
const unlockedQueues = (s: string) => `, unlocked as (
  ${endRuns(s, "id = any($3::int[])", "$2")}
)`;

const freedSlots = (s: string) => `, freed_slots as (
  ${freeSlots(s, `${isSlotIn("$4")} and slots.locked_by = $2::text`)}
)`;

const finishSql = (mode: LockMode, slots: boolean) => (s: string) =>
  `
with done as (
  ${finishedJobs(s, mode, "$1", "$2")}
)${mode === "locked_by" ? unlockedQueues(s) : ""}${slots ? freedSlots(s) : ""}
select ${lostIds({ schema: s, mode, ids: "$1", workerId: "$2", by: "done" })}`;

const statements = {
  locked_by: builtOnce(finishSql("locked_by", false)),
  row: builtOnce(finishSql("row", false)),
  slots: builtOnce(finishSql("locked_by", true)),
};

const NO_LOCKS = { queues: [], slots: [] };

/**
 * `locks`: the locks of ended runs of named queues, as numbers (sql/slots.ts); used only in the mode `locked_by`.
 * Returns the ids of the jobs whose lock the worker had lost.
 */
export async function finishJobs(
  db: Database,
  workerId: string,
  ids: readonly string[],
  mode: LockMode,
  locks: readonly number[] = [],
): Promise<string[]> {
  const { queues, slots } = locks.length === 0 ? NO_LOCKS : splitLocks(locks);
  const hasSlots = slots.length > 0;
  const held = mode === "locked_by" ? [workerId, queues] : [];
  const values = [idArray(ids), ...held, ...(hasSlots ? [slots] : [])];
  const [row] = await query<LostIds>(db, statements[hasSlots ? "slots" : mode], values);
  return parseIdArray(row?.lost);
}
