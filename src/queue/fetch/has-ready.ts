// Finds the tasks that may have a ready job. The query locks no job, so a worker needs no permit or token for it.
import { type Database, query } from "../../database/database.ts";
import { isPausedTask, isReady } from "../sql/eligible.ts";
import { priorityLevels } from "./jobs-without-queue.ts";

/** The maximum number of ready jobs that are read. If so many are read, each task may have one. */
const MAX_SCANNED = 100_000;

/** Returns which of the tasks are not paused and may have a ready job. `pauses`: whether the schema has pauses. */
export async function tasksMaybeReady(
  db: Database,
  tasks: readonly string[],
  pauses: boolean,
): Promise<ReadonlySet<string>> {
  const [row] = await query<{ tasks: string }>(db, pauses ? withPauses : plain, [tasks]);
  return new Set(JSON.parse(row?.tasks ?? "[]") as string[]);
}

const readySql = (pauses: boolean) => (s: string) =>
  `
with recursive ${priorityLevels(s, true, "'-32768'")}, scanned as materialized (
  select f.task_id from level cross join lateral (
    select j.task_id from ${s}._private_jobs j where ${isReady("j")} and j.priority = level.priority
    order by j.run_at limit ${MAX_SCANNED}) f
  where level.priority is not null limit ${MAX_SCANNED}
)
select pg_catalog.json_agg(t.identifier)::text as tasks from ${s}._private_tasks t
where t.identifier = any($1::text[])${pauses ? ` and not ${isPausedTask(s, "t.identifier")}` : ""}
  and ((select pg_catalog.count(*) from scanned) >= ${MAX_SCANNED} or t.id in (select task_id from scanned))`;

const plain = readySql(false);
const withPauses = readySql(true);
