// Manages the sessions of a worker: the current session, and sessions that end because their lease was lost, for
// example while the worker was frozen. An ending session still writes the results of jobs whose locks it holds.
//
//   current ──lease lost──▶ ending (fetches nothing; jobs whose locks are lost are aborted) ──▶ ended
//      ▲                  a new session registers and starts; retried after errors ─┐
//      └────────────────────────────────────────────────────────────────────────────┘
import type { Outage } from "../base/outage.ts";
import { NEW_JOBS } from "../queue/sql/notify.ts";
import type { Leases } from "./lease/leases.ts";
import type { Session } from "./session.ts";
import type { Hooks, LeaseLoss } from "./task/hooks.ts";

export interface SessionsParts {
  readonly hooks: Hooks;
  readonly outage: Outage;
  /** Aborts when a stop waits for nothing more, not even for the write of results. */
  readonly givenUp: AbortSignal;
}

export class Sessions<E> {
  readonly #make: () => Session<E>;
  readonly #parts: SessionsParts;
  readonly #stop = new AbortController();
  readonly #ending = new Set<Session<E>>();
  #current: Session<E>;
  /** The session that is starting, and becomes the current session if its start succeeds. */
  #next: Session<E> | null = null;
  #succession: Promise<void> | null = null;
  /** Whether the lease of `#next` was lost while `#next` started. Recorded, because a loss is reported only once. */
  #isNextLost = false;

  constructor(make: () => Session<E>, parts: SessionsParts) {
    this.#make = make;
    this.#parts = parts;
    this.#current = make();
  }

  get current(): Session<E> {
    return this.#current;
  }

  get all(): readonly Session<E>[] {
    const next = this.#next === null ? [] : [this.#next];
    return [...new Set([this.#current, ...next, ...this.#ending])];
  }

  /** If the session `id` is the current one, the worker continues in a new session, unless a stop has begun. */
  leaseLost(leases: Leases, id: string, reason: LeaseLoss): void {
    const old = this.#current;
    if (id === this.#next?.id) this.#isNextLost = true;
    if (id !== old.id || this.#succession !== null || this.#stop.signal.aborted) return;
    void this.#retire(leases, old);
    this.#succession = this.#succeed(leases, old, reason).finally(() => {
      this.#succession = null;
    });
  }

  get channels(): Readonly<Record<string, (payload: string) => void>> {
    return { [NEW_JOBS]: (payload) => this.#current.dispatcher.jobsAnnounced(payload) };
  }

  /** `grownBy`: the number of added slots; negative if slots were removed. */
  slotsChanged(grownBy: number): void {
    if (grownBy > 0) this.#current.dispatcher.wake();
    if (grownBy < 0) for (const { dispatcher } of this.all) void dispatcher.returnUnstarted();
  }

  /** Resolves once no job is ready or running and no result is unconfirmed, or when `signal` aborts. */
  async waitUntilDrained(signal: AbortSignal): Promise<void> {
    let current: Session<E>;
    do {
      current = this.#current;
      await current.dispatcher.waitUntilDrained(signal);
      await this.#succession;
    } while (current !== this.#current && !signal.aborted);
  }

  /** Ends fetching in all sessions. After this call, a lost lease begins no new session. */
  stopTaking(): void {
    this.#stop.abort();
    for (const { dispatcher } of this.all) dispatcher.stop();
  }

  /** Stops all sessions. Resolves to the ids of the sessions that lock no job and whose leases have not ended. */
  async stop(): Promise<string[]> {
    this.stopTaking();
    await this.#succession;
    const ended = this.all;
    await Promise.all(ended.map((one) => one.stop(this.#parts.givenUp)));
    return ended.filter(({ leavesLease }) => leavesLease).map(({ id }) => id);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#succession;
    await Promise.all(this.all.map(({ dispatcher }) => dispatcher.close()));
  }

  async #succeed(leases: Leases, old: Session<E>, reason: LeaseLoss): Promise<void> {
    const { hooks, outage } = this.#parts;
    await outage.runWithRetries(
      "lease",
      async (succeeded) => {
        const next = this.#make();
        this.#next = next;
        this.#isNextLost = false;
        try {
          await leases.begin(next.id);
          await next.dispatcher.start();
          if (this.#isNextLost) throw new Error("the new lease was lost before its first use");
        } catch (error) {
          await next.dispatcher.close();
          await leases.release(next.id, { mayHold: this.#isNextLost });
          throw error;
        } finally {
          this.#next = null;
        }
        this.#current = next;
        hooks.emit("worker:leaseLost", { workerId: old.id, newWorkerId: next.id, reason });
        succeeded();
      },
      { signal: this.#stop.signal },
    );
  }

  async #retire(leases: Leases, old: Session<E>): Promise<void> {
    this.#ending.add(old);
    const ended = old.stop(this.#parts.givenUp);
    // The results of jobs whose locks are lost cannot be written.
    const lost = await leases.lostJobs(old.id, old.runningIds).catch(() => []);
    old.abortJobs(new Error("the lease was lost: another worker may run the job"), new Set(lost));
    await ended;
    await old.dispatcher.close();
    if (this.#stop.signal.aborted) return;
    this.#ending.delete(old);
    await leases.release(old.id, { mayHold: true });
  }
}
