// SQL with which the fast mode locks jobs: by row locks of an open transaction. Row locks cost a third of the WAL and
// half the work of an update. The locks end with the transaction, also if the connection is lost.
import { type Database, idArray, query, type Statement } from "../../database/database.ts";
import { lockBy, takeBy } from "../sql/lock.ts";
import type { ReadyForm, ReadyParameters } from "./fetch-form.ts";
import { fetchedColumns, fetchedSource } from "./job-columns.ts";
import { jobsWithoutQueue, priorityLevels } from "./jobs-without-queue.ts";

/*
 * $1 text[] tasks  $2 int maximum number of jobs  $3 smallint, $4 float8: the priority and time where the fetch starts
 * $5 text[] forbidden flags (only in the form with flags)
 * The attempt has the number `attempts + 1`, which is stored only if the attempt fails or keepJobs() locks the job.
 */
export function lockStatement({ flags, pauses }: Pick<ReadyForm, "flags" | "pauses">): Statement {
  const form: ReadyForm = { queues: false, flags, pauses, free: "fast" };
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
with recursive ${priorityLevels(s, form.queues, $.priority)}, taken as materialized (${jobsWithoutQueue(s, form, $, source)})
select ${fetchedColumns(s, form)} from taken j`;
}

const keepSql: Statement = (s) => `
update ${s}._private_jobs j set ${takeBy("$1", "j", "statement_timestamp")} where j.id = any($2::bigint[])`;

const keepQueueSql: Statement = (s) => `
update ${s}._private_job_queues set ${lockBy("$1")} where id = -$2::bigint`;

const keepSlotSql: Statement = (s) => `
update ${s}._private_queue_slots set ${lockBy("$1")}
where queue_id = -$2::bigint and slot = (
  select pg_catalog.min(slot) from ${s}._private_queue_slots where queue_id = -$2::bigint and locked_by is null)`;

/** Locks a queue, or a free slot of a queue with a limit, to test whether the lock is refused. `queue`: negated id. */
export const keepQueue = (db: Database, workerId: string, queue: string, isManaged: boolean) =>
  query(db, isManaged ? keepSlotSql : keepQueueSql, [workerId, queue]);

/** Locks kept jobs by `locked_by`, or one job, to test whether PostgreSQL refuses the update. */
export async function keepJobs(
  db: Database,
  workerId: string,
  ids: readonly string[],
): Promise<void> {
  await query(db, keepSql, [workerId, idArray(ids)]);
}
