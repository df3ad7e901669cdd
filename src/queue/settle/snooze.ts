// Puts snoozed jobs back. The attempt does not count, and each job is due after its delay.
// A job that was removed while it ran has lost its key and has no attempts left. It is deleted instead of being put
// back: a snooze returns one attempt, so the job would run again.
import { type Database, idArray, parseIdArray, query } from "../../database/database.ts";
import { UNLOCK } from "../sql/lock.ts";
import { isOurs, type LockMode, type LostIds, lostIds } from "./fence.ts";
import { endOfAttempts } from "./retry-policy.ts";

export interface SnoozedJob {
  readonly id: string;
  readonly delayMs: number;
  /** Whether the job had a key when it was fetched. */
  readonly isKeyed: boolean;
  /** The JSON text of a new payload: the remaining items of a batch job. null: the payload does not change. */
  readonly payload: string | null;
}

// updated_at does not change: for a job that has failed before, it is the time of that failure.
const snoozeSql = (mode: LockMode) => (s: string) => {
  const isRemoved = "f.is_keyed and j.key is null and j.attempts >= j.max_attempts";
  const from =
    "unnest($1::bigint[], $2::float8[], $3::boolean[], $4::text[]) as f (id, delay_ms, is_keyed, payload)";
  const isMatch = `j.id = f.id and ${isOurs(mode, "j", "$5")}`;
  return `
with removed as (
  delete from ${s}._private_jobs j using ${from} where ${isMatch} and ${isRemoved} returning j.id
), snoozed as (
  update ${s}._private_jobs j set ${mode === "locked_by" ? "attempts = greatest(0, j.attempts - 1)," : ""}
    payload = coalesce(nullif(f.payload, ''::text)::json, j.payload),
    run_at = ${endOfAttempts(mode)} + f.delay_ms * interval '1 millisecond', ${UNLOCK}
  from ${from} where ${isMatch} and not (${isRemoved}) returning j.id
), ended as (select id from snoozed union all select id from removed)
select ${lostIds({ schema: s, mode, ids: "$1", workerId: "$5", by: "ended" })}`;
};

const statements = { locked_by: snoozeSql("locked_by"), row: snoozeSql("row") };

/** The jobs' named queues stay locked, as after a failure. Returns the ids of jobs whose lock the worker had lost. */
export async function snoozeJobs(
  db: Database,
  workerId: string,
  snoozes: readonly SnoozedJob[],
  mode: LockMode,
): Promise<string[]> {
  const [row] = await query<LostIds>(db, statements[mode], [
    idArray(snoozes.map(({ id }) => id)),
    snoozes.map(({ delayMs }) => delayMs),
    snoozes.map(({ isKeyed }) => isKeyed),
    snoozes.map(({ payload }) => payload ?? ""),
    ...(mode === "locked_by" ? [workerId] : []),
  ]);
  return parseIdArray(row?.lost);
}
