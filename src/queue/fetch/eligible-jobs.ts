// Finds the jobs that the fetch of the safe mode may take and locks their rows. What it must agree on with every other worker on the schema
// is sql/eligible.ts; why it is shaped like this, and what it costs, stands with its parts.
import type { ReadyForm, ReadyParameters } from "./fetch-form.ts";
import { jobsWithoutQueue, priorityLevels } from "./jobs-without-queue.ts";
import { queuedJobs } from "./queued-jobs.ts";

/** The name of the expression that has the `ctid` of each job to be taken. */
export function readyName(form: ReadyForm): "picked" | "without_queue" {
  return form.queues ? "picked" : "without_queue";
}

/** Common table expressions for `with recursive`. Their rows are locked until the transaction ends. */
export function readyJobs(s: string, form: ReadyForm, $: ReadyParameters): string {
  // Without queued jobs beside them nobody asks for their order.
  const columns = form.queues ? "j.ctid, j.id, j.job_queue_id, j.priority, j.run_at" : "j.ctid";
  return `${priorityLevels(s, form, $)}, without_queue as materialized (${jobsWithoutQueue(
    s,
    form,
    $,
    columns,
  )})${form.queues ? queuedJobs(s, form, $) : ""}`;
}
