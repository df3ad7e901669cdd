// The dispatcher wakes the fetchers, decides which of them may fetch, and detects when all jobs are done.
//
//   wake() ──▶ each fetcher in turn ──jobs──▶ slots ──results──▶ the fetcher of these jobs
//                    ▲                          │
//                    └──────── advance() ◀──────┘ once a turn of the event loop

import { type Clock, setImmediate } from "../../base/clock.ts";
import { nextRunAt } from "../../queue/fetch/next-run-at.ts";
import { allInFlight, type InFlight } from "../execute/in-flight.ts";
import type { JobExecutor } from "../execute/job-executor.ts";
import { type SlotCount, Slots } from "../execute/slots.ts";
import type { WorkerLease } from "../lease/worker-lease.ts";
import type { Fetcher, FetcherLink, PromptConnection } from "./fetcher.ts";
import { Wakeups } from "./wakeups.ts";

export interface DispatcherParts<E> {
  readonly concurrency: SlotCount;
  readonly clock: Clock;
  readonly pollIntervalMs: number;
  /** Returns the fetchers in the order in which they fetch after a wake-up. */
  fetchers(link: FetcherLink): readonly Fetcher<E>[];
  /** Called when a connection was lost. */
  connectionLost(): void;
  readonly lease: Pick<WorkerLease, "isGood">;
}

export class Dispatcher<E> {
  readonly #parts: DispatcherParts<E>;
  readonly #fetchers: readonly Fetcher<E>[];
  readonly #slots: Slots;
  readonly #wakeups: Wakeups;
  readonly #allDone = new Gate();
  #isFetching = true;
  #isAdvancing = false;

  constructor(parts: DispatcherParts<E>) {
    this.#parts = parts;
    const { clock, pollIntervalMs } = parts;
    this.#wakeups = new Wakeups({ clock, pollIntervalMs, wake: (count) => this.wake(count) });
    this.#slots = new Slots(parts.concurrency, () => this.#onChange());
    this.#fetchers = parts.fetchers({
      slots: this.#slots,
      mayFetch: (fetcher) => this.#mayFetch(fetcher),
      changed: () => this.#onChange(),
      jobsAnnounced: (payload) => this.jobsAnnounced(payload),
      resultsWritten: () => this.#onWritten(),
      wakeOthers: (fetcher) => this.#wakeOthers(fetcher),
      nothingReady: (atSeconds, connection) => this.#sleep(atSeconds, connection),
      connectionLost: () => parts.connectionLost(),
      inFlight: () => this.#inFlight(),
    });
  }

  get executors(): readonly JobExecutor<E>[] {
    return this.#fetchers.flatMap(({ executors }) => executors);
  }

  /** Whether certainly no job is locked under this session's id. */
  get holdsNothing(): boolean {
    const isCertain = !this.#fetchers.some(({ isUncertain }) => isUncertain);
    return isCertain && this.#inFlight().jobs.length === 0;
  }

  /** Starts the fetchers. If start() rejects, no job runs. */
  async start(): Promise<void> {
    for (const executor of this.executors) executor.begin();
    // The last fetcher starts first, because the others may leave jobs to it.
    for (const fetcher of this.#fetchers.toReversed()) await fetcher.start();
    this.#wakeups.start();
  }

  /** Wakes the fetchers, because jobs may have become ready. `count`: the number of announced jobs; 0: unknown. */
  wake(count = 0): void {
    for (const fetcher of this.#fetchers) fetcher.wake(count);
  }

  jobsAnnounced(payload: string): void {
    this.#wakeups.jobsAnnounced(payload);
  }

  /**
   * Resolves once no job is ready or running and no result is unconfirmed, or when `signal` aborts. After stop(), ready
   * jobs are not waited for.
   */
  async waitUntilDrained(signal: AbortSignal): Promise<void> {
    this.wake(0);
    while (!this.#isDone && !signal.aborted) await this.#allDone.pass(signal);
  }

  /**
   * Gives unstarted jobs back and continues to fetch. Resolves when none of the jobs that were fetched before the call
   * can still start.
   */
  async returnUnstarted(): Promise<void> {
    const returned = this.#fetchers.map((fetcher) => fetcher.returnUnstarted());
    await Promise.all([...returned, ...this.executors.map((one) => one.untilStarted())]);
  }

  /** Makes the fetchers write recorded results. */
  settle(): void {
    this.#onChange();
  }

  /** Ends fetching, and gives unstarted jobs back. */
  stop(): void {
    this.#isFetching = false;
    this.#wakeups.stop();
    for (const fetcher of this.#fetchers) fetcher.stop();
    this.#onChange();
  }

  abandon(): void {
    for (const fetcher of this.#fetchers) fetcher.abandon();
    this.#onChange();
  }

  prove(): void {
    for (const fetcher of this.#fetchers) fetcher.prove();
  }

  /** Closes the connections. */
  async close(): Promise<void> {
    this.#isFetching = false;
    this.#wakeups.stop();
    await Promise.all(this.#fetchers.map((fetcher) => fetcher.close()));
  }

  #sleep(atSeconds: number, connection: PromptConnection): void {
    if (!this.#isFetching) return;
    this.#wakeups.sleep(atSeconds, async (sinceSeconds) =>
      connection.isPrompt ? nextRunAt(connection.database, sinceSeconds) : null,
    );
  }

  get #isDone(): boolean {
    return this.#slots.isIdle && this.#fetchers.every(({ isIdle }) => isIdle);
  }

  /**
   * A fetcher waits while an earlier fetcher makes its first fetch for announced jobs: most of these jobs are for the
   * earlier fetcher.
   */
  #mayFetch(fetcher: Fetcher): boolean {
    if (!this.#isFetching || !this.#parts.lease.isGood) return false;
    for (const earlier of this.#fetchers) {
      if (earlier === fetcher) return true;
      if (earlier.isFetchingFirst) return false;
    }
    return true;
  }

  #wakeOthers(fetcher: Fetcher): void {
    for (const other of this.#fetchers) if (other !== fetcher) other.wakeForOthers();
  }

  /** A job that has just ended may have added jobs. */
  #onWritten(): void {
    if (this.#allDone.hasWaiting) this.wake(0);
  }

  #onChange(): void {
    if (this.#isAdvancing) return;
    this.#isAdvancing = true;
    setImmediate(() => {
      this.#isAdvancing = false;
      for (const fetcher of this.#fetchers) fetcher.advance();
      if (this.#allDone.hasWaiting && this.#isDone) this.#allDone.open();
    });
  }

  #inFlight(): InFlight {
    return allInFlight(this.#fetchers);
  }
}

class Gate {
  #waiting: (() => void)[] = [];

  get hasWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  async pass(signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    const onAbort = () => resolve();
    signal?.addEventListener("abort", onAbort, { once: true });
    await promise;
    signal?.removeEventListener("abort", onAbort);
  }

  open(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
