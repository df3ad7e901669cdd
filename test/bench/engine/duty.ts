// The instructions for a child process of the suite, and its answers: numbers by name.
export interface Duty {
  readonly kind: "drain" | "latency" | "scheduled" | "idle" | "add" | "soak";
  readonly engine: string;
  readonly url: string;
  readonly postmaster: number;
  /** Jobs that are there, or to be added. */
  readonly jobs: number;
  /** A contender that has not done its jobs by then is measured by what it has done. */
  readonly limitMs: number;
  readonly priority?: number;
  readonly way?: "one" | "many" | "bulk";
  readonly batch?: number;
  /** Watch that jobs of a queue run in order and one at a time. */
  readonly watched?: boolean;
  /** Several processes share the jobs: each ends when none is left. */
  readonly shared?: boolean;
}

export type Sample = Record<string, number>;

/** When and where a watched job ran: queue, number in the order added, start and end (monotonic). */
export type Run = readonly [queue: number, id: number, startMs: number, endMs: number];

export interface Answer {
  readonly sample?: Sample;
  readonly runs?: readonly Run[];
  /** Why there is no sample. */
  readonly notBuilt?: string;
  readonly failed?: string;
}
