// The interface of a job queue in the suite's child process, for any implementation.

export interface EngineOptions {
  readonly url: string;
  readonly concurrency: number;
  readonly pollIntervalMs: number;
  readonly handler: (payload: unknown) => void | Promise<void>;
}

export interface RunningEngine {
  /** Ends the work under way and lets the connections go. */
  stop(): Promise<void>;
}

export interface Adder {
  /** As a web request does it, many at once. */
  one(payload: object): Promise<unknown>;
  many(payloads: readonly object[]): Promise<unknown>;
  /** null: there is no such way. */
  readonly bulk: ((payloads: readonly object[]) => Promise<unknown>) | null;
  end(): Promise<void>;
}

export interface Engine {
  start(options: EngineOptions): Promise<RunningEngine>;
  adder(url: string): Promise<Adder>;
}

/** This contender does not support the experiment: the row is marked rather than failed. */
export class NotBuilt extends Error {}
