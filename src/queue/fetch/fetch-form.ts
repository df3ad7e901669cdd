// What a fetch may ask for: the form of its statement, and where that has its parameters.

/** Which form of the expressions is needed; each form is one prepared statement. */
export interface ReadyForm {
  /** Also jobs in named queues. */
  readonly queues: boolean;
  /** Skip jobs with a forbidden flag. Reads the heap, so only where there are such flags. */
  readonly flags: boolean;
  /** Which of the jobs without a queue. */
  readonly free: JobKind;
}

/**
 * All jobs, or only those of one mode where a worker has both. A job with a key is not for the fast
 * mode: adding another one with its key would wait for the row's lock. Nor is a row that has been
 * locked before: that attempt ended with its connection, perhaps with the whole process. The safe mode
 * counts an attempt before the job runs, so that a job that kills its process uses its attempts up.
 */
export type JobKind = "all" | "safe" | "fast";

/** A condition: the job is for the fast mode. xmax keeps the mark of a lock, also after a rollback. */
export const isForFastMode = (job: string): string => `(${job}.key is null and ${job}.xmax = 0)`;

/** Where the statement has its parameters, as `$1`. */
export interface ReadyParameters {
  /** text[]: identifiers of the tasks that the worker knows. */
  readonly identifiers: string;
  /** int: most jobs. */
  readonly want: string;
  /**
   * smallint, float8: the fetch cursor. Jobs before (priority, run_at) are taken or taken soon. Under
   * a held xmin the dead index entries of finished jobs stay; without the cursor each fetch would
   * walk over all of them.
   */
  readonly priority: string;
  readonly runAt: string;
  /**
   * int: most jobs of one named queue (a queue run), unless there are so few queues that an equal
   * share of `want` is more. With queues only.
   */
  readonly run: string;
  /**
   * float8[]: which part of a run a job of each of `identifiers` takes up, infinity = unknown. A run ends
   * before the job with which it would be more than 1; its first job is always taken. With queues only.
   */
  readonly shares: string;
  /** text[]: forbidden flags. With flags only. */
  readonly flags: string;
}

/** Jobs at the head of a priority in which those of the safe mode are looked for: no index has the key. */
export const HEAD_JOBS = 2_000;
