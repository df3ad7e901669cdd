// The fast mode's way to take jobs: by row locks of an open transaction instead of an update. A third
// of the WAL, half the work. They are free the moment the connection is gone, and nobody but the
// holder sees that they are taken. For short jobs without a key or a named queue.
import { type Database, idArray, query, type Statement } from "../../database/database.ts";
import { takeBy } from "../sql/lock.ts";
import type { ReadyForm, ReadyParameters } from "./fetch-form.ts";
import { fetchedColumns, fetchedSource } from "./job-columns.ts";
import { jobsWithoutQueue, priorityLevels } from "./jobs-without-queue.ts";

/*
 * $1 text[] tasks  $2 int most jobs  $3 smallint $4 float8 fetch cursor
 * $5 text[] forbidden flags (only in the form with flags)
 *
 * `attempts + 1` is what the attempt is told; it is stored only if it fails.
 */
export function lockStatement({ flags }: Pick<ReadyForm, "flags">): Statement {
  const form: ReadyForm = { queues: false, flags, free: "fast" };
  const $: ReadyParameters = {
    identifiers: "$1",
    want: "$2",
    priority: "$3",
    runAt: "$4",
    run: "null",
    shares: "null",
    flags: "$5",
  };
  const source = fetchedSource("j.attempts + 1");
  return (s) => `
with recursive ${priorityLevels(s, form, $)}, taken as materialized (${jobsWithoutQueue(s, form, $, source)})
select ${fetchedColumns(s, form)} from taken j`;
}

const keepSql: Statement = (s) => `
update ${s}._private_jobs j set ${takeBy("$1", "j")} where j.id = any($2::bigint[])`;

/** Locks jobs by `locked_by`: those that take longer than a transaction should, which has their rows. */
export async function keepJobs(
  db: Database,
  workerId: string,
  ids: readonly string[],
): Promise<void> {
  await query(db, keepSql, [workerId, idArray(ids)]);
}
