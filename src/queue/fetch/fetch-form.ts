// The forms of the statement that fetches jobs, and the parameters of this statement.

/** A form of the statement. Each form is one prepared statement. */
export interface ReadyForm {
  /** Whether jobs in named queues are fetched, too. */
  readonly queues: boolean;
  /** Whether jobs with a forbidden flag are skipped. No index has the flags, so the check has to read the table. */
  readonly flags: boolean;
  /** Whether jobs of paused tasks are left out. Set only if the schema has the extension "controls". */
  readonly pauses: boolean;
  /** Whether jobs in queues under a limit are left out. Set only if there are limits of queues. Default: false. */
  readonly limits?: boolean;
  /** Whether the result shows if any named queue is unlocked. Default: true. */
  readonly findsFreeQueue?: boolean;
  /** Whether the jobs and queues of the parameter `excluded` are left out. Default: false. */
  readonly excluded?: boolean;
  readonly free: JobKind;
}

/**
 * Which jobs without a named queue are fetched: all, or, if the worker has both modes, only those for one mode. Two
 * kinds of jobs are not for the fast mode: a job with a key, because an add with the same key would wait for the row's
 * lock; and a job whose row has been locked before, because the job may have killed the process that ran it. The safe
 * mode counts an attempt before the job runs, so a job that kills its process uses up its attempts.
 */
export type JobKind = "all" | "safe" | "fast";

/** Returns the condition that a job is for the fast mode. A lock sets xmax; a rollback does not set it back to 0. */
export const isForFastMode = (job: string): string => `(${job}.key is null and ${job}.xmax = 0)`;

/** The places of the statement's parameters, such as `$1`. */
export interface ReadyParameters {
  /** text[]: the identifiers of the worker's tasks. */
  readonly identifiers: string;
  /** int: the maximum number of jobs. */
  readonly want: string;
  /**
   * `priority` (smallint) and `runAt` (float8) are the fetch cursor. For jobs of named queues only `priority` applies.
   * Jobs before the cursor are not read: they are taken already, or a later fetch without a cursor takes them. The
   * cursor is useful while an old snapshot exists: the index then keeps the dead entries of finished jobs, and
   * without the cursor each fetch would scan them all.
   */
  readonly priority: string;
  readonly runAt: string;
  /** int: the maximum number of jobs in a run of a queue; higher if a fetch locks few queues (queued-jobs.ts). */
  readonly run: string;
  /**
   * float8[]: for each task in `identifiers`, the average time of its jobs as a fraction of the longest time of a run;
   * infinity if unknown. A job after the first is in a run only if the fractions up to this job sum to at most 1.
   */
  readonly shares: string;
  /** text[]: the forbidden flags. Used only in forms with flags. */
  readonly flags: string;
  /** text[]: patterns of the queues that are left out. Used only in forms with queues and limits. */
  readonly limited?: string;
  /** bigint[]: the ids of jobs and, negated, of queues that PostgreSQL refuses to lock. Used only with `excluded`. */
  readonly excluded?: string;
}

/**
 * The number of jobs without a queue, in each priority, that a fetch of the safe mode searches if the worker also has a
 * fast mode. The index that fetches read does not show whether a job is for the safe mode, so a complete search would
 * read all jobs from the table.
 */
export const HEAD_JOBS = 2_000;
