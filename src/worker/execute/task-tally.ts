// What has become of a worker's jobs, task by task: plain numbers that its heartbeat row and its
// metrics are made of. Counting is all that a job pays; how long jobs take is only measured once
// somebody has asked for it.
import type { Task } from "../task/task.ts";

/** Upper bounds in seconds: from the quick job to the one that runs for an hour. */
export const BOUNDS: readonly number[] = [
  0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 120, 600, 3_600,
];

/** Durations counted in buckets, as Prometheus has them: no object for each. */
export class Durations {
  /** How many were at most as long as each bound, and longer than the one before; last the rest. */
  readonly counts = new Float64Array(BOUNDS.length + 1);
  sumSeconds = 0;

  add(seconds: number): void {
    let bucket = 0;
    while (bucket < BOUNDS.length && seconds > (BOUNDS[bucket] as number)) bucket++;
    this.counts[bucket] = (this.counts[bucket] as number) + 1;
    this.sumSeconds += seconds;
  }
}

export interface Timing {
  /** From a job's start to its end. */
  readonly runs: Durations;
  /** From the moment at which a job became due to the one at which it was fetched. Shared by all tasks. */
  readonly waits: Durations;
}

/** Of what counts for the mean. A longer job counts less: mostly the process had to pause. */
const WEIGHT = { shorter: 1 / 8, longer: 1 / 64 };

export class TaskTally {
  done = 0;
  failed = 0;
  /** Done by the word of an interceptor, without a run. */
  skipped = 0;
  /** null until somebody asks. */
  timing: Timing | null = null;
  /** The mean duration of its jobs in named queues, the last ones most; null = none has run. */
  meanMs: number | null = null;

  /** A job of a named queue has run for so long. */
  ran(durationMs: number): void {
    const before = this.meanMs ?? durationMs;
    const weight = durationMs < before ? WEIGHT.shorter : WEIGHT.longer;
    this.meanMs = before + (durationMs - before) * weight;
  }
}

/** A task, and what has become of its jobs in all sessions of this worker. */
export interface TalliedTask<E> {
  readonly task: Task<unknown, E>;
  readonly tally: TaskTally;
}

export type TalliedTasks<E> = ReadonlyMap<string, TalliedTask<E>>;

/** With every count at 0. */
export function tallied<E>(tasks: ReadonlyMap<string, Task<unknown, E>>): TalliedTasks<E> {
  const entries = [...tasks].map(
    ([name, task]) => [name, { task, tally: new TaskTally() }] as const,
  );
  return new Map(entries);
}
