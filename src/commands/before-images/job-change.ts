// What an action does to the rows of jobs. One record changes jobs by their ids and by a query, names the columns
// that are kept before, and decides which jobs are untouched since, so that an undo may put those columns back.
// The columns of `_private_operation_rows` have the jobs' names.

export type AddParameter = (value: unknown, type: string) => string;

/** Numbers parameters as they are used: PostgreSQL refuses one that is not. */
export function parameters() {
  const values: unknown[] = [];
  const parameter: AddParameter = (value, type) => `$${values.push(value)}::${type}`;
  return { values, parameter };
}

/** Whose new value: `row` is `jobs` while it is changed, `batch` (what was kept) when that is undone. */
export interface RowAt {
  readonly row: string;
  /** The id of the job. */
  readonly id: string;
  /** The moment of the change. */
  readonly now: string;
}

export interface JobChange {
  /** The new value of each column, an expression; null: the jobs are deleted. */
  readonly set: Readonly<Record<string, (at: RowAt, parameter: AddParameter) => string>> | null;
  /** Running jobs are changed, too. */
  readonly mayRun?: boolean;
  /** Jobs may become ready by it, so workers are notified. */
  readonly wakes?: boolean;
  /** Each job gets another `run_at`: a rehearsal shows the first and the last. */
  readonly moves?: boolean;
}

/** The jobs are deleted. */
export const deletion: JobChange = { set: null };

export const isDeletion = ({ set }: JobChange): boolean => set === null;

const wholeRow = [
  ...["run_at", "created_at", "updated_at", "task_id", "job_queue_id", "revision", "attempts"],
  ...["max_attempts", "priority", "last_error", "payload", "key", "flags"],
];

/** The names of the columns that are kept: all that are overwritten, the task for the receipt, and no more. */
export function keptColumns({ set }: JobChange): string[] {
  if (set === null) return wholeRow;
  return [...new Set(["updated_at", "task_id", "attempts", ...Object.keys(set)])];
}

/** The same of a row. */
export const keptOf = (change: JobChange, row: string): string[] =>
  keptColumns(change).map((name) => `${row}.${name}`);

/** What is kept of a job, bytes. */
export function keptBytes(
  change: JobChange,
  { payloadBytes, errorBytes }: { readonly payloadBytes: number; readonly errorBytes: number },
): number {
  const columns = keptColumns(change);
  const whole = columns.includes("payload") ? 110 + payloadBytes : 0;
  return 90 + whole + (columns.includes("last_error") ? errorBytes : 0);
}

/** The statement's beginning, up to its `where`: it changes `jobs`. */
export function changing(s: string, { set }: JobChange, parameter: AddParameter): string {
  if (set === null) return `delete from ${s}._private_jobs as jobs`;
  const at = { row: "jobs", id: "jobs.id", now: "pg_catalog.now()" };
  const values = Object.entries(set).map(([name, value]) => `${name} = ${value(at, parameter)}`);
  return `update ${s}._private_jobs as jobs
    set
      ${[...values, "updated_at = pg_catalog.now()"].join(",\n      ")}`;
}

/** The columns that an undo puts back. A job that may have run since has another `updated_at`. */
export const restoredColumns = ({ set, mayRun = false }: JobChange): string[] => [
  ...Object.keys(set ?? {}),
  ...(mayRun ? [] : ["updated_at"]),
];

/**
 * A condition on `jobs` and what was kept of it, `batch`: not taken since (which counts an attempt), and not written
 * since. Stock workers, and SQL written by hand, leave updated_at as it is: all that would be overwritten is compared.
 */
export function asLeftBy({ set, mayRun = false }: JobChange, parameter: AddParameter): string {
  const at = { row: "batch", id: "batch.job_id", now: "batch.left_at" };
  const same = Object.entries(set ?? {})
    .filter(([name]) => name !== "attempts")
    .map(([name, value]) => `jobs.${name} is not distinct from ${value(at, parameter)}`);
  // One that may run may also have run since.
  const untouched = ["jobs.updated_at = batch.left_at", "jobs.attempts = batch.left_attempts"];
  return [...(mayRun ? [] : untouched), ...same].join(" and ");
}

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
  change: JobChange,
  { operation, outcome, met, was }: KeptOf,
): string {
  const isDelete = isDeletion(change);
  const columns = keptOf(change, isDelete ? "acted" : "was");
  const targets = [...keptColumns(change)];
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
