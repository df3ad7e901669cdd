// The statement with which a worker fetches ready jobs in the safe mode.
import type { Statement } from "../../database/database.ts";
import { lostIds } from "../settle/fence.ts";
import { finishedJobs } from "../settle/finish.ts";
import { lockBy, takeBy } from "../sql/lock.ts";
import { readyJobs, readyName } from "./eligible-jobs.ts";
import type { ReadyForm, ReadyParameters } from "./fetch-form.ts";
import { type FetchedColumns, fetchedColumns, fetchedSource } from "./job-columns.ts";

/** The row that the statement returns. */
export interface TakeAnswer extends FetchedColumns {
  /** The database's time at the fetch, in seconds since the epoch. */
  readonly now_s: number;
  /** Whether any named queue is unlocked; null if this form of the statement does not check the queues. */
  readonly queues: boolean | null;
  /** The ids of the jobs of $4 whose lock this worker had lost, such as `{1,2}`; null if there are none. */
  readonly lost: string | null;
}

/*
 * $1 text[] identifiers of this worker's tasks
 * $2 int maximum number of jobs
 * $3 text the worker's id
 * $4 bigint[] ids of jobs that this worker has finished. The statement deletes those that the worker still has locked.
 * $5 smallint, $6 float8: the fetch cursor (`priority` and `runAt` of ReadyParameters)
 * $7 int, $8 float8[]: `run` and `shares` of ReadyParameters (only in the form with queues)
 * then text[] forbidden flags (only in the form with flags)
 * then text[] the name patterns of limits of queues (only in the form with queues and limits)
 * then bigint[] ids of jobs, and negated ids of queues, that are left out (only in the form with excluded jobs)
 */
const parametersOf = (form: ReadyForm): ReadyParameters => {
  const afterRuns = form.queues ? 9 : 7;
  const afterFlags = form.flags ? afterRuns + 1 : afterRuns;
  return {
    identifiers: "$1",
    want: "$2",
    priority: "$5",
    runAt: "$6",
    run: "$7",
    shares: "$8",
    flags: `$${afterRuns}`,
    limited: `$${afterFlags}`,
    excluded: `$${form.limits === true ? afterFlags + 1 : afterFlags}`,
  };
};

const takeSql = (s: string, form: ReadyForm) => `
with recursive done as (
  ${finishedJobs(s, "locked_by", "$4", "$3")}
), ${readyJobs(s, form, parametersOf(form))}, taken as (
  update ${s}._private_jobs j
  set ${takeBy("$3", "j")}
  where j.ctid = any(array(select ctid from ${readyName(form)}))
  returning ${fetchedSource("j.attempts")}
)${form.queues ? queuesTaken(s) : ""}
select pg_catalog.date_part('epoch', pg_catalog.now()) as now_s,
  ${form.findsFreeQueue === false ? "null::boolean" : `exists (select from ${s}._private_job_queues where is_available)`} as queues,
  ${lostIds({ schema: s, mode: "locked_by", ids: "$4", workerId: "$3", by: "done" })},
  ${fetchedColumns(s, form)}
from taken j`;

// Locks a queue only if `taken` has locked one of its jobs. Without a job, there is no run whose end unlocks the queue.
const queuesTaken = (s: string) => `, queue_taken as (
  update ${s}._private_job_queues set ${lockBy("$3")}
  where id = any(array(select job_queue_id from taken where job_queue_id is not null))
)`;

export function takeStatement(form: ReadyForm): Statement {
  return (schema) => takeSql(schema, form);
}

/**
 * Returns a statement for a fetch that PostgreSQL has refused. The statement locks the same jobs, and selects the id of
 * one job and the negated id of its queue. PostgreSQL requires that all parameters are used, so there are conditions on
 * $3 and $4.
 */
export function headStatement(form: ReadyForm): Statement {
  return (s) => `
with recursive ${readyJobs(s, form, parametersOf(form))}
select j.id::text, (-j.job_queue_id)::text as queue from ${s}._private_jobs j
where j.ctid = any(array(select ctid from ${readyName(form)}))
and $3::text is not null and $4::bigint[] is not null
limit 1`;
}
