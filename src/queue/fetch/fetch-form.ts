// The forms of a fetch's statement, and its parameters.

/** Each form is one prepared statement. */
export interface ReadyForm {
  /** Also jobs in named queues. */
  readonly queues: boolean;
  /** Skip jobs with a forbidden flag. Reads the heap, so only where there are such flags. */
  readonly flags: boolean;
  /** Leave out paused tasks. Only where the schema has the extension "controls". */
  readonly pauses: boolean;
  /** Which jobs without a queue. */
  readonly free: JobKind;
}

/**
 * All jobs, or only those of one mode if a worker has both. A job with a key is not for the fast mode:
 * adding another one with its key would wait for the row's lock. Nor is a row that has been locked before:
 * that attempt ended with its connection, perhaps with the whole process. The safe mode counts an attempt
 * before the job runs, so that a job that kills its process uses up its attempts.
 */
export type JobKind = "all" | "safe" | "fast";

/** A condition: the job is for the fast mode. xmax shows that a row has been locked, even after a rollback. */
export const isForFastMode = (job: string): string => `(${job}.key is null and ${job}.xmax = 0)`;

/** The statement's parameters, such as `$1`. */
export interface ReadyParameters {
  /** text[]: identifiers of the worker's tasks. */
  readonly identifiers: string;
  /** int: the maximum number of jobs. */
  readonly want: string;
  /**
   * smallint, float8: the fetch cursor. Jobs before (priority, run_at) are taken or will be soon. While an
   * old snapshot exists, the dead index entries of finished jobs stay; without the cursor each fetch would
   * scan all of them.
   */
  readonly priority: string;
  readonly runAt: string;
  /**
   * int: the maximum for one named queue (a queue run), unless there are so few queues that an equal share
   * of `want` is more. With queues only.
   */
  readonly run: string;
  /**
   * float8[]: which part of a run a job of each of `identifiers` takes, infinity = unknown. A run ends
   * before the job that would make the sum exceed 1; its first job is always taken. With queues only.
   */
  readonly shares: string;
  /** text[]: forbidden flags. With flags only. */
  readonly flags: string;
}

/** The number of jobs at the head of a priority that are searched for the safe mode's: no index contains the key. */
export const HEAD_JOBS = 2_000;
