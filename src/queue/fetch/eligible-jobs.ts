// Finds the jobs that a fetch of the safe mode may take, and locks their rows. sql/eligible.ts has the conditions that
// all workers on the schema must share. jobs-without-queue.ts and queued-jobs.ts have the parts, with their reasons.
import type { ReadyForm, ReadyParameters } from "./fetch-form.ts";
import { jobsWithoutQueue, priorityLevels } from "./jobs-without-queue.ts";
import { queuedJobs } from "./queued-jobs.ts";

/** Returns the name of the common table expression with the `ctid` of each job to be taken. */
export function readyName(form: ReadyForm): "picked" | "without_queue" {
  return form.queues ? "picked" : "without_queue";
}

/** Returns the common table expressions for `with recursive`. Their rows are locked until the transaction ends. */
export function readyJobs(s: string, form: ReadyForm, $: ReadyParameters): string {
  // The columns of the order are needed only if queued jobs are fetched, too.
  const columns = form.queues ? "j.ctid, j.id, j.job_queue_id, j.priority, j.run_at" : "j.ctid";
  return `${priorityLevels(s, form.queues, $.priority)}, without_queue as materialized (${jobsWithoutQueue(
    s,
    form,
    $,
    columns,
  )})${form.queues ? queuedJobs(s, form, $) : ""}`;
}
