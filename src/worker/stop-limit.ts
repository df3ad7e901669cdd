// Limits the duration of a worker's stop, in these steps:
//
//   waiting ──stopTimeoutMs or abort()──▶ aborting ──abortGraceMs──▶ abandoned ──1 s──▶ given up
//
// aborting   The signals of running jobs abort.
// abandoned  The attempts of running jobs fail, and results are written.
// given up   The database does not answer. Jobs whose results are not written may stay locked.
import { unlessAborted, wait } from "../base/clock.ts";

/** A session to stop. */
export interface StoppableSession {
  readonly runningIds: readonly string[];
  /** Aborts the signals of all running jobs, and of jobs that start later. */
  abort(reason: Error): void;
  /** Stops waiting for running jobs. Their attempts fail. */
  abandon(reason: string): void;
}

export interface StopTimes {
  /** How long a stop waits before it aborts the signals of running jobs; 0: without a limit. */
  readonly stopTimeoutMs: number;
  readonly abortGraceMs: number;
}

const LAST_WRITES_MS = 1_000;

export class StopLimit {
  readonly #times: StopTimes;
  readonly #parts: () => readonly StoppableSession[];
  readonly #wait: typeof wait;
  /** Aborts when the stop has ended or was given up. */
  readonly #over = new AbortController();
  readonly #givenUp = new AbortController();
  #aborted: Promise<void> | null = null;
  #hasAbandoned = false;

  constructor(
    times: StopTimes,
    parts: () => readonly StoppableSession[],
    sleep: typeof wait = wait,
  ) {
    this.#times = times;
    this.#parts = parts;
    this.#wait = sleep;
  }

  /** Aborts when the stop is given up, and no longer waits for the writes of results. */
  get givenUp(): AbortSignal {
    return this.#givenUp.signal;
  }

  /** Whether attempts were abandoned, or the stop was given up. */
  get hasGivenUp(): boolean {
    return this.#hasAbandoned || this.#givenUp.signal.aborted;
  }

  /** Starts the time limits of `stop`. Resolves when `stop` has ended, or is given up. */
  async waitFor(stop: Promise<void>, reason: string): Promise<void> {
    void this.#abortLate(reason);
    await unlessAborted(stop, this.givenUp);
    this.#over.abort();
  }

  /** Aborts the signals of running jobs, without waiting for stopTimeoutMs. */
  abort(reason: string): void {
    this.#aborted ??= this.#abort(reason);
  }

  async #abortLate(reason: string): Promise<void> {
    const { stopTimeoutMs } = this.#times;
    if (stopTimeoutMs === 0 || !(await this.#wait(stopTimeoutMs, this.#over.signal))) return;
    this.abort(`${reason}; not done after ${stopTimeoutMs} ms`);
  }

  async #abort(reason: string): Promise<void> {
    const { signal } = this.#over;
    const error = new Error(`the worker was stopped: ${reason}`);
    for (const part of this.#parts()) part.abort(error);
    // If no attempt runs, the stop usually waits only for the database.
    if (this.#isRunning && !(await this.#wait(this.#times.abortGraceMs, signal))) return;
    this.#hasAbandoned = this.#isRunning;
    for (const part of this.#parts())
      part.abandon(`interrupted: the worker was stopped (${reason})`);
    if (await this.#wait(LAST_WRITES_MS, signal)) this.#givenUp.abort();
  }

  get #isRunning(): boolean {
    return this.#parts().some(({ runningIds }) => runningIds.length > 0);
  }
}
