// A JobChange is what an action changes in the rows of jobs. A JobChange also determines which columns are stored for
// undo, and the condition under which an undo restores a job.
import { MARKED_FAILED } from "../../domain/words.ts";

export type AddParameter = (value: unknown, type: string) => string;

/**
 * Returns an empty list of values, and a function that adds a value and returns the placeholder. The statement must use
 * every added value, because PostgreSQL rejects unused values.
 */
export function parameters() {
  const values: unknown[] = [];
  const parameter: AddParameter = (value, type) => `$${values.push(value)}::${type}`;
  return { values, parameter };
}

/**
 * SQL for the row from which a new value is computed. In the change, this row is `jobs`. In the check before an undo,
 * it is the stored row, `batch`.
 */
export interface RowAt {
  readonly row: string;
  readonly id: string;
  /** The time of the change. */
  readonly now: string;
}

export interface JobChange {
  /** The new value of each column, as an SQL expression; null: the jobs are deleted. */
  readonly set: Readonly<Record<string, (at: RowAt, parameter: AddParameter) => string>> | null;
  /** Whether `set` also changes running jobs. Default: false. */
  readonly mayRun?: boolean;
  /** Whether jobs may become ready, so that an operation announces them to the workers. */
  readonly wakes?: boolean;
  /** Whether the jobs get a new `run_at`. */
  readonly moves?: boolean;
  /**
   * Returns common table expressions that act on running jobs, which `set` does not change. `ids`: a query for the
   * ids of these jobs. The expressions must not wait for rows that another session has locked.
   */
  readonly ofRunning?: (s: string, ids: string, parameter: AddParameter) => string;
}

/** The change that deletes the jobs. */
export const deletion: JobChange = { set: null };

export const isDeletion = ({ set }: JobChange): boolean => set === null;

const wholeRow = [
  ...["run_at", "created_at", "updated_at", "task_id", "job_queue_id", "revision", "attempts"],
  ...["max_attempts", "priority", "last_error", "payload", "key", "flags"],
];

/** Returns the columns to store for the undo, the check before the undo, and the receipt. */
export function storedColumns({ set, mayRun = false }: JobChange): string[] {
  if (set === null) return wholeRow;
  const own = mayRun ? ["key", "revision"] : [];
  return [...new Set(["updated_at", "task_id", "attempts", ...own, ...Object.keys(set)])];
}

/** Returns storedColumns(), each qualified with the name of a row. */
export const storedColumnsOf = (change: JobChange, row: string): string[] =>
  storedColumns(change).map((name) => `${row}.${name}`);

/** Returns the estimated size of a job's stored row, in bytes. */
export function storedBytes(
  change: JobChange,
  { payloadBytes, errorBytes }: { readonly payloadBytes: number; readonly errorBytes: number },
): number {
  const columns = storedColumns(change);
  const whole = columns.includes("payload") ? 110 + payloadBytes : 0;
  return 90 + whole + (columns.includes("last_error") ? errorBytes : 0);
}

/**
 * Returns the statement that changes `jobs`, up to its `where`. With `mayRun`, a locked job keeps its `updated_at`.
 * With a new `updated_at`, the job could be mistaken for a job that was removed while it was locked
 * (queue/settle/give-back.ts).
 */
export function changeStatement(
  s: string,
  { set, mayRun = false }: JobChange,
  parameter: AddParameter,
): string {
  if (set === null) return `delete from ${s}._private_jobs as jobs`;
  const at = { row: "jobs", id: "jobs.id", now: "pg_catalog.now()" };
  const values = Object.entries(set).map(([name, value]) => `${name} = ${value(at, parameter)}`);
  const updatedAt = mayRun
    ? `case when jobs.locked_at is null then ${at.now} else jobs.updated_at end`
    : at.now;
  return `update ${s}._private_jobs as jobs
    set
      ${[...values, `updated_at = ${updatedAt}`].join(",\n      ")}`;
}

/** Returns the assignments of an undo. */
export const restoredColumns = ({ set }: JobChange): string[] => [
  ...Object.keys(set ?? {}).map((name) => `${name} = batch.${name}`),
  "updated_at = case when jobs.updated_at = batch.left_at then batch.updated_at else jobs.updated_at end",
];

/**
 * Returns the condition under which an undo may restore a job. `jobs` is the job's row, `batch` its stored row. The
 * columns that the action set are compared, too, because Graphile workers and hand-written SQL may change a job without
 * a new `updated_at`.
 */
export function asLeftBy({ set, mayRun = false }: JobChange, parameter: AddParameter): string {
  const at = { row: "batch", id: "batch.job_id", now: "batch.left_at" };
  const same = Object.entries(set ?? {})
    .filter(([name]) => name !== "attempts")
    .map(([name, value]) => `jobs.${name} is not distinct from ${value(at, parameter)}`);
  const untouched = "jobs.updated_at = batch.left_at";
  const unlocked = [untouched, "jobs.attempts = batch.left_attempts"];
  return [...(mayRun ? mayHaveRun(untouched) : unlocked), ...same].join(" and ");
}

// The conditions for a job that may have run since the action. The key or the revision changes when the job is removed
// or replaced under its key.
const mayHaveRun = (untouched: string) => [
  "jobs.key is not distinct from batch.key",
  "jobs.revision = batch.revision",
  `(${untouched} or jobs.last_error is null or jobs.last_error !~ '${MARKED_FAILED}'::text)`,
];

/** The parts of the changing statement that storeRows() uses, in addition to the table `acted` of the changed jobs. */
export interface ChangeTables {
  /** The operation's id and the job's outcome, as SQL expressions on a row of `targets`. */
  readonly operation: string;
  readonly outcome: string;
  /** The names of two tables: the jobs to record, and the earlier rows of changed jobs. */
  readonly targets: string;
  readonly images: string;
}

/** Returns a statement that inserts a row for each job of `targets`. */
export function storeRows(
  s: string,
  change: JobChange,
  { operation, outcome, targets, images }: ChangeTables,
): string {
  const isDelete = isDeletion(change);
  const columns = storedColumnsOf(change, isDelete ? "acted" : "images");
  const names = [...storedColumns(change)];
  if (isDelete) {
    columns.push("tasks.identifier", "queues.queue_name");
    names.push("task_identifier", "queue_name");
  }
  return `insert into ${s}._private_operation_rows (
      operation_id, job_id, outcome, left_at, left_attempts,
      ${names.join(", ")}
    )
    select ${operation}, targets.id, ${outcome}::"char", acted.updated_at, acted.attempts,
      ${columns.join(", ")}
    from ${targets} as targets
    left join acted on acted.id = targets.id
    left join ${isDelete ? namesOfDeleted(s) : `${images} as images on images.id = acted.id`}`;
}

/** The names are stored in addition to the ids, because a task or queue without jobs may be deleted before the undo. */
const namesOfDeleted = (
  s: string,
): string => `${s}._private_tasks as tasks on tasks.id = acted.task_id
    left join ${s}._private_job_queues as queues on queues.id = acted.job_queue_id`;
