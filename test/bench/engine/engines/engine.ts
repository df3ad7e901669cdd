// The interface through which a child process (child.ts) uses a contender. A contender is an implementation of a job
// queue that the benchmark measures.
import type { Duty } from "../duty.ts";

export interface EngineOptions {
  readonly url: string;
  readonly concurrency: number;
  readonly pollIntervalMs: number;
  /** Whether there is a second task, `beside`, whose jobs take 100 ms. */
  readonly beside?: boolean;
  readonly handler: (payload: unknown) => void | Promise<void>;
}

export interface RunningEngine {
  /** Waits for running jobs, and closes the connections. */
  stop(): Promise<void>;
}

export interface Adder {
  /** Adds one job, as a web request does. Many calls run at the same time. */
  one(payload: object): Promise<unknown>;
  many(payloads: readonly object[]): Promise<unknown>;
  /** Adds all jobs at once by the fastest way; null if the engine has no faster way than many(). */
  readonly bulk: ((payloads: readonly object[]) => Promise<unknown>) | null;
  end(): Promise<void>;
}

export interface Engine {
  start(options: EngineOptions): Promise<RunningEngine>;
  adder(url: string, key?: Duty["key"]): Promise<Adder>;
}

/**
 * Thrown if a contender does not support an experiment, or is not installed. Then the experiment has no figures for the
 * contender.
 */
export class NotBuilt extends Error {}
