// How long a stop may take, and what becomes of jobs that take longer.
//
//   waiting ──stopTimeoutMs──▶ aborting: signals abort ──abortGraceMs──▶ abandoned: what still runs has
//      │                          ▲   └── no job runs: at once ──▶       failed, and is to be written
//      └───────── abort() ────────┘                                         └── a second ──▶ given up
//
// The last step is for a database that is away: what could not be written stays locked until the lease
// is swept. Whatever the network does, a stop ends by then.
import { once } from "node:events";
import { wait } from "../base/clock.ts";

/** What is stopped (session.ts). */
export interface StoppableSession {
  /** Jobs whose handlers have been called and have not ended. */
  readonly runningIds: readonly string[];
  /** Tells all jobs to end. */
  abort(reason: Error): void;
  /** Gives up on what still runs. */
  abandon(reason: string): void;
}

export interface StopTimes {
  /** 0: no limit. */
  readonly stopTimeoutMs: number;
  readonly abortGraceMs: number;
}

/** For results, after all jobs have been given up. */
const LAST_WRITES_MS = 1_000;

export class StopLimit {
  readonly #times: StopTimes;
  readonly #parts: () => readonly StoppableSession[];
  readonly #wait: typeof wait;
  /** Aborts when the stop is over, whichever way it ended. */
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

  /** Aborts when nothing is waited for any more, not even for results to be written. */
  get givenUp(): AbortSignal {
    return this.#givenUp.signal;
  }

  /** Some job still ran when it was given up, or its result could not be written. */
  get hasGivenUp(): boolean {
    return this.#hasAbandoned || this.#givenUp.signal.aborted;
  }

  /** Resolves when `stop` has ended, or was given up. */
  async hold(stop: Promise<void>, reason: string): Promise<void> {
    void this.#abortLate(reason);
    const { signal } = this.#givenUp;
    await Promise.race([stop, signal.aborted ? undefined : once(signal, "abort")]);
    this.#over.abort();
  }

  /** Goes on at once with what would come after stopTimeoutMs. */
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
    for (const one of this.#parts()) one.abort(error);
    // Without a running job there is nobody to be given a grace: only the database is waited for.
    if (this.#isRunning && !(await this.#wait(this.#times.abortGraceMs, signal))) return;
    this.#hasAbandoned = this.#isRunning;
    for (const one of this.#parts()) one.abandon(`interrupted: the worker was stopped (${reason})`);
    if (await this.#wait(LAST_WRITES_MS, signal)) this.#givenUp.abort();
  }

  get #isRunning(): boolean {
    return this.#parts().some(({ runningIds }) => runningIds.length > 0);
  }
}
