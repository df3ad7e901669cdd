// The duty that a child process (child.ts) of the benchmark performs, and the figures that it returns.
export interface Duty {
  readonly kind: "drain" | "latency" | "scheduled" | "idle" | "add" | "soak";
  readonly engine: string;
  readonly url: string;
  readonly postmaster: number;
  /** The number of jobs that exist, or are to be added. */
  readonly jobs: number;
  /** The end of a `drain` with jobs left, the duration of a `soak`; else the longest wait for a job or a batch. */
  readonly limitMs: number;
  readonly way?: "one" | "many" | "bulk";
  readonly batch?: number;
  /** How added jobs get their key: see specOf() in engines/ours.ts. Default: no key. */
  readonly key?: "given" | "given, kept" | "unique" | "unique, unfinished";
  /** The directory of another build of the library, instead of this one. */
  readonly build?: string;
  /** Whether the answer has all runs, to check their order and how many there were at once. */
  readonly watched?: boolean;
  /**
   * How long a watched job takes. If given, the process does not end when no job is left, but at `limitMs`. Default:
   * one turn of the event loop.
   */
  readonly ms?: number;
  /** Whether the worker also has the task `beside`, whose jobs take 100 ms. */
  readonly beside?: boolean;
  /** Whether several processes share the jobs: then each ends when none is left. */
  readonly shared?: boolean;
}

export type Sample = Record<string, number>;

/** The run of a watched job: queue, number in the order of adding, start and end (monotonic). */
export type Run = readonly [queue: number, id: number, startMs: number, endMs: number];

export interface Answer {
  readonly sample?: Sample;
  readonly runs?: readonly Run[];
  /** The reason if there is no sample because the contender does not support the duty, or is not installed. */
  readonly notBuilt?: string;
  /** The reason if there is no sample because of another error. */
  readonly failed?: string;
}
