// Finds the jobs that the last ticks of cron entries have added and that still wait. A job with a key is found by its
// key. Any other job is found by its run_at, in the index from which workers fetch, one priority after another.
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

/** Returns a map from the identifiers of entries to the ids of waiting jobs. Entries without such a job are missing. */
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
    // "" and not null: with array_nulls = off a null would become text.
    entries.map(({ key }) => key ?? ""),
  ]);
  return new Map(rows.map(({ identifier, id }) => [identifier, id]));
}

/** The end of a Date's range. A time beyond it, such as PostgreSQL's infinity, is not a tick. */
const LATEST_MS = 8.64e15;

/** The maximum number of jobs of one run_at and priority that are read, because thousands may be due at midnight. */
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
