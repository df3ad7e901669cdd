// Checks whether a job of the given tasks may be ready. It locks nothing, so a worker without a permit can do it, too.
import { type Database, query } from "../../database/database.ts";
import { isOfKnownTask, isReady } from "../sql/eligible.ts";
import { priorityLevels } from "./jobs-without-queue.ts";

/** The number of ready jobs that are scanned. If there are as many, a job of the tasks is assumed to be ready. */
const MAX_SCANNED = 10_000;

/** Returns false if no job of the tasks is ready. `identifiers`: text[] in PostgreSQL's format. */
export async function mayHaveReady(
  db: Database,
  identifiers: string,
  pauses: boolean,
): Promise<boolean> {
  const [row] = await query<{ may_have: boolean }>(db, pauses ? withPauses : plain, [identifiers]);
  return row?.may_have !== false;
}

const hasReadySql = (pauses: boolean) => (s: string) =>
  `
with recursive ${priorityLevels(s, true, "'-32768'")}, scanned as materialized (
  select f.task_id from level cross join lateral (
    select j.task_id from ${s}._private_jobs j where ${isReady("j")} and j.priority = level.priority
    order by j.run_at limit ${MAX_SCANNED}) f
  where level.priority is not null limit ${MAX_SCANNED}
)
select exists (select from scanned j where ${isOfKnownTask(s, "j", { identifiers: "$1", pauses })})
  or (select pg_catalog.count(*) from scanned) >= ${MAX_SCANNED} as may_have`;

const plain = hasReadySql(false);
const withPauses = hasReadySql(true);
