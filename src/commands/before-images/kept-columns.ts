// What of a job is kept before it is changed: all that the change overwrites, so that an undo can put it
// back, its task for the receipt, and no more. The columns of `_private_operation_rows` have the jobs' names.

/** What is done to a job: it is deleted, failed, gets other times and numbers, or no further attempts. */
export type ChangeKind = "delete" | "fail" | "reschedule" | "limit";

/** Running jobs are left alone by all others. */
export const mayRun = (kind: ChangeKind): boolean => kind === "limit";

const names: Readonly<Record<ChangeKind, readonly string[]>> = {
  delete: [
    ...["run_at", "created_at", "updated_at", "task_id", "job_queue_id", "revision", "attempts"],
    ...["max_attempts", "priority", "last_error", "payload", "key", "flags"],
  ],
  fail: ["updated_at", "task_id", "attempts", "last_error"],
  reschedule: ["run_at", "updated_at", "task_id", "attempts", "max_attempts", "priority"],
  limit: ["updated_at", "task_id", "attempts", "max_attempts"],
};

/** Of the row of this name. */
export const keptColumns = (kind: ChangeKind, row: string): string[] =>
  names[kind].map((name) => `${row}.${name}`);

/** Where an insert of kept rows finds what it keeps: names of the statement's tables. */
export interface KeptOf {
  /** The id of the operation, and what became of the job: expressions, on `met`. */
  readonly operation: string;
  readonly outcome: string;
  /** All jobs that were met; of those that are changed what they were. `acted` has them changed. */
  readonly met: string;
  readonly was: string;
}

/** Keeps a row for each job that was met; deleted jobs are `acted` as they were. */
export function keepRows(
  s: string,
  kind: ChangeKind,
  { operation, outcome, met, was }: KeptOf,
): string {
  const isDelete = kind === "delete";
  const columns = keptColumns(kind, isDelete ? "acted" : "was");
  const targets = columns.map((column) => column.replace(/^\w+\./, ""));
  if (isDelete) {
    columns.push("tasks.identifier", "queues.queue_name");
    targets.push("task_identifier", "queue_name");
  }
  return `insert into ${s}._private_operation_rows (
      operation_id, job_id, outcome, left_at, left_attempts,
      ${targets.join(", ")}
    )
    select ${operation}, met.id, ${outcome}::"char", acted.updated_at, acted.attempts,
      ${columns.join(", ")}
    from ${met} as met
    left join acted on acted.id = met.id
    left join ${isDelete ? namesOfDeleted(s) : `${was} as was on was.id = acted.id`}`;
}

/** Names beside ids: a task or queue that no job has any more may be cleaned up before the undo. */
const namesOfDeleted = (
  s: string,
): string => `${s}._private_tasks as tasks on tasks.id = acted.task_id
    left join ${s}._private_job_queues as queues on queues.id = acted.job_queue_id`;
