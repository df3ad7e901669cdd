// The ids under which a worker works: one at a time, and a new one when a lease was lost, because
// the worker was frozen or cut off for too long. What then still runs under the old id ends there:
// its outcomes count where the lock is still ours, and are reported as lost where it is not.
//
//   current ──lease lost──▶ ending (takes nothing; lost jobs are told to end) ──▶ gone
//      ▲                      a new one registers and starts, as often as it takes ─┐
//      └────────────────────────────────────────────────────────────────────────────┘
import { wait } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import { backoffDelay } from "../base/retry.ts";
import type { Hooks } from "./hooks.ts";
import type { Incarnation } from "./incarnation.ts";

/** Where an incarnation's lease comes from (recovery.ts). */
export interface Leases {
  begin(id: string): Promise<void>;
  release(id: string): Promise<void>;
  /** Those of these jobs that are no longer locked under this id. */
  lostJobs(id: string, jobIds: readonly string[]): Promise<readonly string[]>;
}

export interface IncarnationsParts {
  readonly hooks: Hooks;
  readonly logger: Logger;
  /** Aborts when the ends of jobs are not waited for any longer. */
  readonly givenUp: AbortSignal;
}

export class Incarnations<E> {
  readonly #make: () => Incarnation<E>;
  readonly #parts: IncarnationsParts;
  readonly #stop = new AbortController();
  readonly #ending = new Set<Incarnation<E>>();
  #current: Incarnation<E>;
  #succession: Promise<void> | null = null;

  constructor(make: () => Incarnation<E>, parts: IncarnationsParts) {
    this.#make = make;
    this.#parts = parts;
    this.#current = make();
  }

  get current(): Incarnation<E> {
    return this.#current;
  }

  get all(): readonly Incarnation<E>[] {
    return [...new Set([this.#current, ...this.#ending])];
  }

  /** Goes on under a new id, where it is the current one that was lost. */
  leaseLost(leases: Leases, id: string): void {
    const old = this.#current;
    if (id !== old.id || this.#succession !== null || this.#stop.signal.aborted) return;
    void this.#retire(leases, old);
    this.#succession = this.#succeed(leases, old).finally(() => {
      this.#succession = null;
    });
  }

  /** Resolves once there is nothing to run, nothing running and nothing unwritten. */
  async drained(signal: AbortSignal): Promise<void> {
    let current: Incarnation<E>;
    do {
      current = this.#current;
      await current.dispatcher.drained(signal);
      await this.#succession;
    } while (current !== this.#current && !signal.aborted);
  }

  /** At once nothing more is started. */
  stopTaking(): void {
    this.#stop.abort();
    for (const { dispatcher } of this.all) dispatcher.stopClaiming();
  }

  /** Lets all running jobs end. Gives the ids under which nothing is locked any more. */
  async end(): Promise<string[]> {
    this.stopTaking();
    await this.#succession;
    const ended = this.all;
    await Promise.all(ended.map((one) => one.end(this.#parts.givenUp)));
    return ended.filter(({ dispatcher }) => dispatcher.holdsNothing).map(({ id }) => id);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#succession;
    await Promise.all(this.all.map(({ dispatcher }) => dispatcher.close()));
  }

  async #succeed(leases: Leases, old: Incarnation<E>): Promise<void> {
    for (let attempt = 0; !this.#stop.signal.aborted; attempt++) {
      const next = this.#make();
      try {
        await leases.begin(next.id);
        await next.dispatcher.start();
        this.#current = next;
        this.#parts.hooks.emit("worker:leaseLost", { workerId: old.id, newWorkerId: next.id });
        return;
      } catch (error) {
        this.#parts.logger.debug({ error: messageOf(error) }, "cannot begin under a new id yet");
        await next.dispatcher.close();
        await leases.release(next.id);
        await wait(backoffDelay(attempt), this.#stop.signal);
      }
    }
  }

  async #retire(leases: Leases, old: Incarnation<E>): Promise<void> {
    this.#ending.add(old);
    const ended = old.end(this.#parts.givenUp);
    // What is lost needs no more work: nothing of it can be kept.
    const lost = await leases.lostJobs(old.id, old.runningIds).catch(() => []);
    old.abortJobs(new Error("the lease was lost: the job runs elsewhere"), new Set(lost));
    await ended;
    await old.dispatcher.close();
    if (this.#stop.signal.aborted) return;
    this.#ending.delete(old);
    await leases.release(old.id);
  }
}
