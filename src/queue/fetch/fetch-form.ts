// The forms of a fetch's statement, and its parameters.

/** A form of the statement. Each form is one prepared statement. */
export interface ReadyForm {
  /** Whether jobs in named queues are fetched, too. */
  readonly queues: boolean;
  /** Whether jobs with a forbidden flag are skipped. The check reads the heap, so it is made only if needed. */
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
 * Which jobs without a queue: all of them, or if the worker has both modes, those of one mode. Two kinds of them are
 * not for the fast mode. The first is a job with a key, because an add with the same key would wait for the row's
 * lock. The second is a job whose row has been locked before, because the job may have killed the process that ran
 * it. The safe mode counts an attempt before the job runs, so that such a job uses up its attempts.
 */
export type JobKind = "all" | "safe" | "fast";

/** Returns a condition: the job is for the fast mode. xmax shows that a row has been locked, even after a rollback. */
export const isForFastMode = (job: string): string => `(${job}.key is null and ${job}.xmax = 0)`;

/** The places of the statement's parameters, such as `$1`. */
export interface ReadyParameters {
  /** text[]: the identifiers of the worker's tasks. */
  readonly identifiers: string;
  /** int: the maximum number of jobs. */
  readonly want: string;
  /**
   * smallint and float8: the fetch cursor, a priority and a run_at. For jobs of named queues only the priority
   * applies. Jobs before the cursor are not read: they are taken already, or a later fetch without a cursor takes
   * them. While an old snapshot exists, the index keeps dead entries of finished jobs. Without the cursor each fetch
   * would scan them all.
   */
  readonly priority: string;
  readonly runAt: string;
  /** int: the maximum number of jobs in a run of a queue, unless there are too few locked queues to fill the fetch. */
  readonly run: string;
  /**
   * float8[]: for each of `identifiers`, the part of a run's time that one of its jobs takes on average; infinity if
   * this part is unknown. A run ends before the job with which the sum would exceed 1.
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
 * If the worker also has a fast mode, its safe mode takes jobs without a queue only from the first jobs of each
 * priority: this many. Whether a job is for the safe mode is not in the index that fetches read, so a complete search
 * would read all jobs from the table.
 */
export const HEAD_JOBS = 2_000;
