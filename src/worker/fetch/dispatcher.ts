// Brings jobs to slots: it wakes the fetchers, says when they may fetch, and knows when all is done.
// What a fetcher is, and that there are two, it does not know.
//
//   wake() ──▶ each fetcher in turn ──jobs──▶ slots ──results──▶ the fetcher that took them
//                    ▲                          │
//                    └──────── advance() ◀──────┘ once a turn of the event loop

import { setImmediate } from "../../base/clock.ts";
import { allInFlight, type InFlight } from "../execute/in-flight.ts";
import type { JobExecutor } from "../execute/job-executor.ts";
import { Slots } from "../execute/slots.ts";
import type { WorkerLease } from "../lease/worker-lease.ts";
import type { Fetcher, FetcherLink } from "./fetcher.ts";
import type { Wakeups } from "./wakeups.ts";

export interface DispatcherParts<E> {
  readonly concurrency: number;
  readonly wakeups: Wakeups;
  /** In order: those before go first after a wake-up. */
  fetchers(link: FetcherLink): readonly Fetcher<E>[];
  /** A connection was lost: others may be dead without knowing it. */
  connectionLost(): void;
  readonly lease: Pick<WorkerLease, "isGood">;
}

export class Dispatcher<E> {
  readonly #parts: DispatcherParts<E>;
  readonly #fetchers: readonly Fetcher<E>[];
  readonly #slots: Slots;
  readonly #allDone = new Gate();
  #isFetching = true;
  #isAdvancing = false;

  constructor(parts: DispatcherParts<E>) {
    this.#parts = parts;
    this.#slots = new Slots(parts.concurrency, () => this.#changed());
    this.#fetchers = parts.fetchers({
      slots: this.#slots,
      mayFetch: (fetcher) => this.#mayFetch(fetcher),
      changed: () => this.#changed(),
      written: () => this.#written(),
      wakeOthers: (fetcher) => this.#wakeOthers(fetcher),
      nothingReady: (atSeconds) => {
        if (this.#isFetching) parts.wakeups.sleep(atSeconds);
      },
      connectionLost: () => parts.connectionLost(),
      inFlight: () => this.#inFlight(),
    });
  }

  get executors(): readonly JobExecutor<E>[] {
    return this.#fetchers.flatMap(({ executors }) => executors);
  }

  /** Nothing is locked for us, as far as we know, and no broken fetch makes that doubtful. */
  get holdsNothing(): boolean {
    const isCertain = !this.#fetchers.some(({ isInDoubt }) => isInDoubt);
    return isCertain && this.#inFlight().jobs.length === 0;
  }

  /** Rejects when the database cannot be had; nothing runs then. */
  async start(): Promise<void> {
    for (const executor of this.executors) executor.begin();
    // The last one first: what the others leave to it must find it there.
    for (const fetcher of this.#fetchers.toReversed()) await fetcher.start();
    this.#parts.wakeups.start();
  }

  /** Jobs may have become ready; `count`, where they were announced, 0 = perhaps some. */
  wake(count = 0): void {
    for (const fetcher of this.#fetchers) fetcher.wake(count);
  }

  /** Resolves once there is nothing to run, nothing running and nothing unconfirmed. */
  async drained(signal: AbortSignal): Promise<void> {
    this.wake(0);
    while (!this.#isDone && !signal.aborted) await this.#allDone.pass(signal);
  }

  /** Fetches nothing more and gives back what has not started. */
  stop(): void {
    this.#isFetching = false;
    this.#parts.wakeups.stop();
    for (const fetcher of this.#fetchers) fetcher.stop();
    this.#changed();
  }

  /** Waits no longer for running jobs: they have been given up. */
  abandon(): void {
    for (const fetcher of this.#fetchers) fetcher.abandon();
    this.#changed();
  }

  /** Every connection answers within seconds, or is given up. */
  prove(): void {
    for (const fetcher of this.#fetchers) fetcher.prove();
  }

  /** Lets the connections go. What is unconfirmed then stays locked until the lease is recovered. */
  async close(): Promise<void> {
    this.#isFetching = false;
    this.#parts.wakeups.stop();
    await Promise.all(this.#fetchers.map((fetcher) => fetcher.close()));
  }

  get #isDone(): boolean {
    return this.#slots.isIdle && this.#fetchers.every(({ isIdle }) => isIdle);
  }

  /** Not while one before it has just been woken: most jobs are for that one. */
  #mayFetch(fetcher: Fetcher): boolean {
    if (!this.#isFetching || !this.#parts.lease.isGood) return false;
    for (const one of this.#fetchers) {
      if (one === fetcher) return true;
      if (one.isFetchingFirst) return false;
    }
    return true;
  }

  #wakeOthers(fetcher: Fetcher): void {
    for (const one of this.#fetchers) if (one !== fetcher) one.wakeForOthers();
  }

  /** Who waits until all is done also waits for what the finished jobs have added. */
  #written(): void {
    if (this.#allDone.hasWaiting) this.wake(0);
  }

  /** Once a turn of the event loop, however many jobs end in it. */
  #changed(): void {
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

/** Where waits gather until all of them are let through. */
class Gate {
  #waiting: (() => void)[] = [];

  get hasWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Resolves at the next open(), or when `signal` aborts. */
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
