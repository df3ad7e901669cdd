// SQL that finds the jobs that a fetch of the safe mode may take, and locks their rows.
import type { ReadyForm, ReadyParameters } from "./fetch-form.ts";
import { jobsWithoutQueue, priorityLevels } from "./jobs-without-queue.ts";
import { queuedJobs } from "./queued-jobs.ts";

/** Returns the name of the common table expression of readyJobs() that has the `ctid` of each job to be taken. */
export function readyName(form: ReadyForm): "picked" | "without_queue" {
  return form.queues ? "picked" : "without_queue";
}

/** Returns common table expressions for `with recursive`. They lock the rows of the jobs to be taken. */
export function readyJobs(s: string, form: ReadyForm, $: ReadyParameters): string {
  // In the form with queues, jobs with and without a queue are sorted together, which needs more columns.
  const columns = form.queues ? "j.ctid, j.id, j.job_queue_id, j.priority, j.run_at" : "j.ctid";
  return `${priorityLevels(s, form.queues, $.priority)}, without_queue as materialized (${jobsWithoutQueue(
    s,
    form,
    $,
    columns,
  )})${form.queues ? queuedJobs(s, form, $) : ""}`;
}
