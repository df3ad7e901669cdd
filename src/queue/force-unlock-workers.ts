// Takes away the locks of workers that are known to be gone.
import * as v from "valibot";
import { validate } from "../base/validate.ts";
import type { Database, Statement } from "../database/database.ts";
import { contendedQuery } from "./contended-query.ts";
import { workerId } from "./worker-table.ts";

export interface UnlockedCounts {
  readonly jobs: number;
  readonly queues: number;
}

const workerIdsSchema = v.pipe(
  v.array(workerId, "must be a list of worker ids"),
  v.minLength(1, "must list at least one worker id"),
  v.maxLength(1_000, "must have at most 1,000 worker ids; split them into several calls"),
);

/**
 * Unlocks every job and queue held by these ids and counts them. A job that a living worker still
 * runs will run a second time: only name workers that are gone.
 * Throws InputError unless there are 1 to 1,000 ids.
 */
export async function forceUnlockWorkers(
  db: Database,
  workerIds: readonly string[],
): Promise<UnlockedCounts> {
  const ids = validate(workerIdsSchema, workerIds);
  const [row] = await contendedQuery<{ jobs: string; queues: string }>(db, unlockSql, [ids]);
  return { jobs: Number(row?.jobs ?? 0), queues: Number(row?.queues ?? 0) };
}

// What the schema's function force_unlock_workers does, but counted: that one returns nothing.
// "not is_available" lets the optional index on locked jobs serve (see list-locked-workers).
const unlockSql: Statement = (schema) => `
  with jobs as (
    update ${schema}._private_jobs
    set locked_at = null, locked_by = null
    where locked_by = any($1::text[]) and locked_at is not null and not is_available
    returning 1
  ), queues as (
    update ${schema}._private_job_queues
    set locked_at = null, locked_by = null
    where locked_by = any($1::text[])
    returning 1
  )
  select (select count(*) from jobs) as jobs, (select count(*) from queues) as queues`;
