// The duty that a child process of the benchmark (child.ts) performs, and the answer that the process returns.
export interface Duty {
  readonly kind: "drain" | "latency" | "scheduled" | "idle" | "add" | "soak";
  readonly engine: string;
  readonly url: string;
  readonly postmaster: number;
  /** The number of jobs that exist, or are to be added. */
  readonly jobs: number;
  /**
   * `drain`: the longest duration. `soak`: the duration. `latency`, `scheduled` and `idle`: the longest wait for a job
   * or a batch of jobs.
   */
  readonly limitMs: number;
  readonly way?: "one" | "many" | "bulk";
  readonly batch?: number;
  /** How added jobs get their key: see specOf() in engines/ours.ts. Default: no key. */
  readonly key?: "given" | "given, kept" | "unique" | "unique, unfinished";
  /** The directory of our library's build. Default: `dist`. */
  readonly build?: string;
  /** Whether the answer contains all runs of this process. */
  readonly watched?: boolean;
  /** How long a watched job takes, in milliseconds. Default: one turn of the event loop. */
  readonly ms?: number;
  /** Whether the worker also has the task `beside`, whose jobs take 100 ms. */
  readonly beside?: boolean;
  /**
   * Whether other processes run some of the `jobs` jobs. If so, a drain also ends when no job of the task `bench` is
   * left.
   */
  readonly shared?: boolean;
}

export type Sample = Record<string, number>;

/**
 * The run of a watched job. `id`: the job's number in the order of adding. The clock is the machine's monotonic clock.
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
