// A worker's counters of jobs by task, for the worker's heartbeat row and metrics.
import type { Task } from "../task/task.ts";

/** The upper bounds of a histogram's buckets, in seconds. */
export const BOUNDS: readonly number[] = [
  0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 120, 600, 3_600,
];

/** A histogram of durations, for Prometheus. */
export class Durations {
  /** The number of durations in each bucket; the last bucket has no upper bound. */
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
  /** Durations from a job's start to its end. */
  readonly runs: Durations;
  /** Durations until a job's fetch, from the later of its due time and its creation. All tasks share this histogram. */
  readonly waits: Durations;
}

/** A duration above the mean has less weight, because the process may have been stopped for a part of this duration. */
const WEIGHT = { shorter: 1 / 8, longer: 1 / 64 };

export class TaskTally {
  done = 0;
  failed = 0;
  /** Jobs that an interceptor skipped. */
  skipped = 0;
  /** The histograms; null until the first scrape of the metrics. */
  timing: Timing | null = null;
  /** The moving mean duration of the task's jobs in named queues, in milliseconds. */
  meanMs: number | null = null;

  /** Adds the duration of a job of a named queue to `meanMs`. */
  addDuration(durationMs: number): void {
    const before = this.meanMs ?? durationMs;
    const weight = durationMs < before ? WEIGHT.shorter : WEIGHT.longer;
    this.meanMs = before + (durationMs - before) * weight;
  }
}

/** A task with its counters, which all sessions of this worker share. */
export interface TalliedTask<E> {
  readonly task: Task<unknown, E>;
  readonly tally: TaskTally;
}

export type TalliedTasks<E> = ReadonlyMap<string, TalliedTask<E>>;

/** Returns the tasks with new counters. */
export function withTallies<E>(tasks: ReadonlyMap<string, Task<unknown, E>>): TalliedTasks<E> {
  const entries = [...tasks].map(
    ([name, task]) => [name, { task, tally: new TaskTally() }] as const,
  );
  return new Map(entries);
}
