// Finds, for each cron entry, the job that the last tick of the entry has added, if this job still waits. A job with a
// key is found by its key. A job without a key is found by its run_at, in the index from which workers fetch. The index
// begins with the priority, so it is searched once for each priority.
import type { Database, Statement } from "../../../database/database.ts";
import { query } from "../../../database/database.ts";
import { priorities } from "../../read/priorities.ts";

export interface LastTick {
  readonly identifier: string;
  readonly task: string | null;
  /** The run_at of the job that the tick added; null: no tick has added a job. */
  readonly runAtMs: number | null;
  readonly key: string | null;
}

/** Returns a map from identifiers of cron entries to ids of waiting jobs, without the entries that have no such job. */
export async function pendingTicks(
  db: Database,
  ticks: readonly LastTick[],
): Promise<ReadonlyMap<string, string>> {
  const entries = ticks.filter(
    ({ task, runAtMs }) => task !== null && runAtMs !== null && Math.abs(runAtMs) < LATEST_MS,
  );
  if (entries.length === 0) return new Map();
  const rows = await query<{ identifier: string; id: string }>(db, pendingSql, [
    entries.map(({ identifier }) => identifier),
    entries.map(({ task }) => task),
    entries.map(({ runAtMs }) => runAtMs),
    // A missing key becomes "". With array_nulls = off, PostgreSQL would read a null as the text NULL.
    entries.map(({ key }) => key ?? ""),
  ]);
  return new Map(rows.map(({ identifier, id }) => [identifier, id]));
}

/** The end of a Date's range. A time beyond it, such as PostgreSQL's infinity, is not a tick. */
const LATEST_MS = 8.64e15;

/** The most jobs with the same run_at and priority that are read. At midnight, for example, thousands may be due. */
const MAX_OF_A_TICK = 200;

const pendingSql: Statement = (s) => `
  with recursive ${priorities(s)}, tick as (
    select given.identifier, tasks.id as task_id, nullif(given.key, ''::text) as key,
      timestamptz 'epoch' + given.run_at_ms * interval '1 millisecond' as run_at
    from unnest($1::text[], $2::text[], $3::float8[], $4::text[])
      as given (identifier, task, run_at_ms, key)
    join ${s}._private_tasks as tasks on tasks.identifier = given.task
  )
  select tick.identifier, pg_catalog.min(found.id) as id
  from tick, lateral (
    select jobs.id from ${s}._private_jobs as jobs
    where tick.key is not null and jobs.key = tick.key and jobs.task_id = tick.task_id
      and jobs.is_available
    union all
    select same.id from priorities, lateral (
      select jobs.id, jobs.task_id from ${s}._private_jobs as jobs
      where jobs.is_available and jobs.priority = priorities.priority
        and jobs.run_at = tick.run_at
      limit ${MAX_OF_A_TICK}
    ) as same
    where tick.key is null and same.task_id = tick.task_id
  ) as found
  group by tick.identifier`;
