// The instructions for a child process of the suite, and its answers: numbers by name.
export interface Duty {
  readonly kind: "drain" | "latency" | "scheduled" | "idle" | "add" | "soak";
  readonly engine: string;
  readonly url: string;
  readonly postmaster: number;
  /** The number of jobs that exist, or are to be added. */
  readonly jobs: number;
  /** A contender that has not finished after this time is measured by the jobs that it has done. */
  readonly limitMs: number;
  readonly priority?: number;
  readonly way?: "one" | "many" | "bulk";
  readonly batch?: number;
  /** How added jobs get their key. Default: none. */
  readonly key?: "given" | "given, kept" | "unique" | "unique, unfinished";
  /** The directory of another build of the library, instead of this one. */
  readonly build?: string;
  /** Whether the answer has all runs, to check their order and how many there were at once. */
  readonly watched?: boolean;
  /** How long a watched job takes. If given, the process ends at `limitMs`. Default: one turn of the event loop. */
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
  /** The reason if there is no sample. */
  readonly notBuilt?: string;
  readonly failed?: string;
}
