// The forms of the statement that fetches jobs, and the parameters of this statement.

/** A form of the statement. */
export interface ReadyForm {
  /** Whether jobs in named queues are fetched, too. */
  readonly queues: boolean;
  /** Whether jobs with a forbidden flag are skipped. */
  readonly flags: boolean;
  /** Whether jobs of paused tasks are left out. Requires the extension "controls". */
  readonly pauses: boolean;
  /** Whether jobs in queues under a limit are left out. Default: false. */
  readonly limits?: boolean;
  /** Whether the result shows if any named queue is unlocked. Default: true. */
  readonly findsFreeQueue?: boolean;
  /** Whether the jobs and queues of the parameter `excluded` are left out. Default: false. */
  readonly excluded?: boolean;
  readonly free: JobKind;
}

/**
 * Which jobs without a named queue are fetched: all, or only the jobs for one mode. A job with a key is for the safe
 * mode, because an add with the same key would wait for a row lock. If the row of a job was locked before, the
 * job may have killed its worker. So it is for the safe mode, which counts an attempt before the job runs.
 */
export type JobKind = "all" | "safe" | "fast";

/** Returns the condition that a job is for the fast mode. A lock sets xmax; a rollback does not set it back to 0. */
export const isForFastMode = (job: string): string => `(${job}.key is null and ${job}.xmax = 0)`;

/** SQL for the statement's parameters: a place such as `$1`, or a constant. */
export interface ReadyParameters {
  /** text[]: the identifiers of the worker's tasks. */
  readonly identifiers: string;
  /** int: the maximum number of jobs. */
  readonly want: string;
  /**
   * `priority` (smallint) and `runAt` (float8) are the fetch cursor. For jobs of named queues only `priority` applies.
   * Jobs before the cursor are taken already, or are left to a fetch without a cursor. The cursor saves time, because
   * before it the index may have the entries of many finished jobs.
   */
  readonly priority: string;
  readonly runAt: string;
  /** int: the maximum number of jobs in a run, or `want` / (number of queues that the fetch locks) if that is more. */
  readonly run: string;
  /**
   * float8[]: for each task in `identifiers`, the average time of its jobs as a fraction of the maximum time of a run;
   * infinity if unknown.
   */
  readonly shares: string;
  /** text[]: the forbidden flags. */
  readonly flags: string;
  /** text[]: patterns of the queues that are left out. */
  readonly limited?: string;
  /** bigint[]: the ids of jobs and, negated, of queues that PostgreSQL refuses to lock. */
  readonly excluded?: string;
}

/**
 * How many jobs without a named queue a fetch of the safe mode checks in each priority, if the worker also has the fast
 * mode. No index shows the mode of a job, so without this limit a fetch could read all jobs.
 */
export const HEAD_JOBS = 2_000;
