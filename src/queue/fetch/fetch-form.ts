// The forms of a fetch's statement, and its parameters.

/** A form of the statement. Each form is one prepared statement. */
export interface ReadyForm {
  /** Whether jobs in named queues are fetched, too. */
  readonly queues: boolean;
  /**
   * Whether jobs with a forbidden flag are skipped. That reads the heap, so it is set only if the worker forbids flags.
   */
  readonly flags: boolean;
  /** Whether jobs of paused tasks are left out. Set only if the schema has the extension "controls". */
  readonly pauses: boolean;
  /** Whether jobs in queues under a limit are left out. Set only if there are limits of queues. Default: false. */
  readonly limits?: boolean;
  /** Whether the result shows if any named queue is unlocked. Default: true. */
  readonly findsFreeQueue?: boolean;
  /** Whether the jobs and queues of the parameter `excluded` are left out. Default: false. */
  readonly excluded?: boolean;
  /** Which jobs without a queue are fetched. */
  readonly free: JobKind;
}

/**
 * The jobs without a queue: all, or those of one mode if the worker has both. Two kinds of jobs are not for the fast
 * mode. The first is a job with a key: an add with the same key would wait for the row's lock. The second is a job
 * whose row has been locked before: that attempt ended with its connection, perhaps with the whole process. The safe
 * mode counts an attempt before the job runs, so that a job that kills its process uses up its attempts.
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
   * smallint and float8: the fetch cursor (priority, run_at; for queued jobs only the priority). Jobs before it are not
   * read: they are taken already, or a later fetch without a cursor takes them. As long as an old snapshot exists, the
   * index keeps dead entries of finished jobs; without the cursor each fetch would scan all of them.
   */
  readonly priority: string;
  readonly runAt: string;
  /**
   * int: the maximum number of jobs from one named queue (a queue run). If there are so few queues that an equal share
   * of `want` is more, the share is the limit. Used only in forms with queues.
   */
  readonly run: string;
  /**
   * float8[]: for each of `identifiers`, which part of a run one of its jobs takes; infinity: unknown. A run ends
   * before the job with which the sum would exceed 1; its first job is always taken. Used only in forms with queues.
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
 * If the worker also has a fast mode, its safe mode searches only this many first jobs of each priority for jobs that
 * the fast mode does not take. The index that fetches read lacks the key, so a complete search would read all jobs.
 */
export const HEAD_JOBS = 2_000;
