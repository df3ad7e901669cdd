// The duty that a child process of the benchmark (child.ts) performs, and the answer that the process returns.
export interface Duty {
  readonly kind: "drain" | "latency" | "scheduled" | "idle" | "add" | "soak";
  readonly engine: string;
  readonly url: string;
  readonly postmaster: number;
  /** The number of jobs that exist, or are to be added. */
  readonly jobs: number;
  /**
   * `drain`: the time after which the drain ends even if jobs are left. `soak`: the duration of the soak. `latency`,
   * `scheduled` and `idle`: the longest wait for a job or a batch of jobs.
   */
  readonly limitMs: number;
  readonly way?: "one" | "many" | "bulk";
  readonly batch?: number;
  /** How added jobs get their key: see specOf() in engines/ours.ts. Default: no key. */
  readonly key?: "given" | "given, kept" | "unique" | "unique, unfinished";
  /** The directory of the build of our library that is used. Default: `dist`. */
  readonly build?: string;
  /** Whether the answer contains all runs of this process, which show the order and the overlaps of jobs. */
  readonly watched?: boolean;
  /** How long a watched job takes, in milliseconds. Default: one turn of the event loop. */
  readonly ms?: number;
  /** Whether the worker also has the task `beside`, whose jobs take 100 ms. */
  readonly beside?: boolean;
  /**
   * A drain ends when this process has run `jobs` jobs, or after `limitMs`. If `shared` is true, or if `watched` is
   * true without `ms`, the drain also ends when no job of the task `bench` is left in the table. This is for processes
   * that share the jobs, because each of these processes usually runs fewer than `jobs` jobs.
   */
  readonly shared?: boolean;
}

export type Sample = Record<string, number>;

/**
 * The run of a watched job: the number of its named queue, the job's number in the order of adding, and when the run
 * started and ended, by the machine's monotonic clock.
 */
export type Run = readonly [queue: number, id: number, startMs: number, endMs: number];

export interface Answer {
  readonly sample?: Sample;
  readonly runs?: readonly Run[];
  /** Why there is no sample, if the engine does not support the duty or is not installed. */
  readonly notBuilt?: string;
  /** Why there is no sample, if another error has occurred. */
  readonly failed?: string;
}
