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
 * Which jobs without a named queue are fetched: all, or only the jobs for one mode, if the worker has both modes. A job
 * with a key is not for the fast mode, because an add with the same key would wait for the job's row lock. A job whose
 * row was locked before is not for the fast mode either, because the job may have killed the process that ran it. In
 * the safe mode such a job uses up its attempts, because an attempt counts before the job runs.
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
   * Jobs before the cursor are not read: they are already taken, or a later fetch without a cursor takes them. While an
   * old snapshot exists, the index keeps the entries of finished jobs. Without the cursor, each fetch would scan them.
   */
  readonly priority: string;
  readonly runAt: string;
  /** int: the most jobs in a run. If `want` / (number of queues that the fetch locks) is more, that number applies. */
  readonly run: string;
  /**
   * float8[]: for each task in `identifiers`, the average time of its jobs as a fraction of the maximum time of a run;
   * infinity if unknown. The fractions of the jobs in a run sum to at most 1, unless the run has only one job.
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
 * How many jobs without a named queue a fetch of the safe mode checks in each priority, if the worker also has the fast
 * mode. The index does not show which mode a job is for. So without this limit, a fetch could read all jobs from the
 * table.
 */
export const HEAD_JOBS = 2_000;
