// The duty that a child process (child.ts) of the benchmark performs, and the figures that it returns.
export interface Duty {
  readonly kind: "drain" | "latency" | "scheduled" | "idle" | "add" | "soak";
  readonly engine: string;
  readonly url: string;
  readonly postmaster: number;
  /** The number of jobs that exist, or are to be added. */
  readonly jobs: number;
  /**
   * In milliseconds. For a `drain`: the time after which it ends even if jobs are left. For a `soak`: its duration. For
   * other kinds: the longest wait for a job or a batch.
   */
  readonly limitMs: number;
  readonly way?: "one" | "many" | "bulk";
  readonly batch?: number;
  /** How added jobs get their key: see specOf() in engines/ours.ts. Default: no key. */
  readonly key?: "given" | "given, kept" | "unique" | "unique, unfinished";
  /** The directory of another build of the library, instead of this one. */
  readonly build?: string;
  /** Whether the answer has all runs of this process, so that their order and how many overlap can be checked. */
  readonly watched?: boolean;
  /**
   * How long a watched job takes, in milliseconds. Default: one turn of the event loop. If given, and the jobs are not
   * shared, the process ends only after it has run `jobs` jobs, or at `limitMs`.
   */
  readonly ms?: number;
  /** Whether the worker also has the task `beside`, whose jobs take 100 ms. */
  readonly beside?: boolean;
  /** Whether several processes share the jobs. If so, each process ends when no job is left in the table. */
  readonly shared?: boolean;
}

export type Sample = Record<string, number>;

/** The run of a watched job: queue, number in the order of adding, start and end (monotonic). */
export type Run = readonly [queue: number, id: number, startMs: number, endMs: number];

export interface Answer {
  readonly sample?: Sample;
  readonly runs?: readonly Run[];
  /** Why there is no sample, if the contender does not support the duty or is not installed. */
  readonly notBuilt?: string;
  /** Why there is no sample, if another error has occurred. */
  readonly failed?: string;
}
