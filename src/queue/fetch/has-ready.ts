// Whether a job of some tasks may be ready. The check locks nothing, so a worker without a permit can do it, too.
import { type Database, query, type Statement } from "../../database/database.ts";
import { isOfKnownTask, isReady } from "../sql/eligible.ts";

/** The number of ready jobs that are scanned. If there are more, a job of these tasks is assumed among them. */
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

const hasReadySql =
  (pauses: boolean): Statement =>
  (s) =>
    `
with scanned as materialized (
  select j.task_id from ${s}._private_jobs j where ${isReady("j")}
  order by j.priority, j.run_at limit ${MAX_SCANNED}
)
select exists (select from scanned j where ${isOfKnownTask(s, "j", { identifiers: "$1", pauses })})
  or (select pg_catalog.count(*) from scanned) >= ${MAX_SCANNED} as may_have`;

const plain = hasReadySql(false);
const withPauses = hasReadySql(true);
