// Exchanges permits between a session and the database, for each limit of tasks that has a concurrency. In an exchange,
// the session reports how many permits it uses and wants. The answer contains the session's new permits and share.
//
//   demand changes, permits announced ──▶ exchange, usually at most one in 500 ms ──▶ permits, share
//                                              └ still short of permits: again after 500 ms
//   the limit applies to no task of the session any more ──▶ permits are given back
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Database } from "../../database/database.ts";
import { exchangePermits, returnPermits } from "../../queue/limits/permits.ts";
import type { WorkerLease } from "../lease/worker-lease.ts";
import type { HeldLimit } from "./held-limit.ts";

const EVERY_MS = 500;

export interface PermitLeasesParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly workerId: string;
  readonly database: Database;
  readonly lease: Pick<WorkerLease, "hasHeartbeats">;
  /** How many jobs the session could run at once under the limit now, running ones included. */
  demandOf(limit: HeldLimit): number;
  /** Called when permits may have changed. */
  changed(): void;
}

interface Lease {
  lastMs: number;
  /** The number of the last exchange; 0: there was none. */
  number: number;
  reported: { inUse: number; wanted: number; revision: number };
  isUnderWay: boolean;
  /** Whether the last exchange has failed, so that the number of permits is unknown. */
  isUncertain: boolean;
  othersAreShort: boolean;
  cancelTimer: (() => void) | null;
}

const NO_HEARTBEATS =
  "jobs under a limit of concurrency do not run in this worker: without heartbeats its permits would stay taken after a crash";

export class PermitLeases {
  readonly #parts: PermitLeasesParts;
  readonly #leases = new Map<HeldLimit, Lease>();
  #isClosed = false;
  #exchanges = 0;
  #hasWarned = false;
  #failure: string | null = null;

  constructor(parts: PermitLeasesParts) {
    this.#parts = parts;
  }

  /** Called when permits of the limit are free (`areFree`), or when a worker wants more permits than it has. */
  permitsAnnounced(limitId: number, areFree: boolean): void {
    for (const [limit, lease] of this.#leases) {
      if (limit.id !== limitId) continue;
      // If another session wants permits, the exchange follows half a second later: sessions share permits only after a
      // session has been short of permits for this time.
      if (areFree) lease.lastMs = Number.NEGATIVE_INFINITY;
      else if (!lease.othersAreShort) lease.lastMs = this.#parts.clock.monotonic();
      if (areFree || !lease.othersAreShort) this.#cancelWait(lease);
      if (!areFree) lease.othersAreShort = true;
      this.consider(limit);
    }
  }

  /** Exchanges permits if an exchange could change anything: at once, or up to 500 ms later. */
  consider(limit: HeldLimit): void {
    if (limit.id === null || limit.concurrency === null || this.#isClosed) return;
    if (!this.#parts.lease.hasHeartbeats) {
      this.#warn();
      return;
    }
    const lease = this.#leaseOf(limit);
    if (lease.isUnderWay) return;
    const wanted = this.#demand(limit);
    if (!this.#isDue(limit, lease, wanted)) return;
    const { clock } = this.#parts;
    const hasShrunk = limit.permits > limit.share && limit.running <= limit.share;
    const waitMs = hasShrunk ? 0 : lease.lastMs + EVERY_MS - clock.monotonic();
    if (waitMs <= 0) {
      this.#cancelWait(lease);
      void this.#exchange(limit, lease, wanted);
      return;
    }
    lease.cancelTimer ??= clock.after(waitMs, () => {
      lease.cancelTimer = null;
      void this.#exchange(limit, lease, this.#demand(limit));
    });
  }

  /** Gives back the permits of a limit that applies to no task of the session any more. */
  release(limit: HeldLimit): void {
    const lease = this.#leases.get(limit);
    if (lease === undefined) return;
    this.#leases.delete(limit);
    this.#cancelWait(lease);
    if (!lease.isUnderWay) this.#return(limit, lease);
  }

  #cancelWait(lease: Lease): void {
    lease.cancelTimer?.();
    lease.cancelTimer = null;
  }

  close(): void {
    this.#isClosed = true;
    for (const { cancelTimer } of this.#leases.values()) cancelTimer?.();
  }

  #demand(limit: HeldLimit): number {
    return Math.min(this.#parts.demandOf(limit), limit.concurrency ?? 0);
  }

  #return(limit: HeldLimit, { number }: Lease): void {
    const { database, workerId } = this.#parts;
    if (limit.id === null || number === 0 || this.#isClosed) return;
    const returned = returnPermits(database, { limitId: limit.id, workerId, number });
    // If the return fails, the permits are released at the end of the session.
    void returned.catch((error: unknown) => this.#log(error));
  }

  #isDue(limit: HeldLimit, lease: Lease, wanted: number): boolean {
    if (wanted > limit.permits || lease.isUncertain) return true;
    if (lease.othersAreShort && limit.permits > 0) return true;
    const { inUse, wanted: before, revision } = lease.reported;
    // After a new definition, permits may have to be returned.
    if (limit.permits > 0 && revision !== limit.revision) return true;
    // Pages and commands show the reported number of running jobs.
    if (limit.permits > 0 && inUse !== limit.running) return true;
    // While a session wants permits, other sessions get smaller shares.
    return before > 0 !== wanted > 0;
  }

  async #exchange(limit: HeldLimit, lease: Lease, wanted: number): Promise<void> {
    const { clock, workerId, database, changed } = this.#parts;
    if (this.#isClosed || limit.id === null) return;
    lease.isUnderWay = true;
    lease.lastMs = clock.monotonic();
    lease.number = ++this.#exchanges;
    const inUse = limit.running;
    lease.reported = { inUse, wanted, revision: limit.revision };
    const before = limit.permits;
    // The exchange may give back all permits that no job uses, so these permits are not used before the answer.
    limit.permits = Math.min(before, Math.max(inUse, 0));
    try {
      const exchange = { limitId: limit.id, workerId, inUse, wanted, number: lease.number };
      const answer = await exchangePermits(database, exchange);
      // Null: the limit was removed or has no concurrency any more, but may get one again.
      limit.permits = answer.permits ?? before;
      if (answer.permits !== null) limit.share = answer.share;
      limit.isShort = limit.permits < wanted;
      lease.othersAreShort = answer.othersAreShort;
      lease.isUncertain = false;
      this.#failure = null;
    } catch (error) {
      // Whether the exchange was committed or not, the session has the permits that its jobs use.
      limit.share = limit.permits;
      lease.isUncertain = true;
      this.#log(error);
    }
    lease.isUnderWay = false;
    if (this.#isClosed) return;
    if (this.#leases.get(limit) !== lease) {
      this.#return(limit, lease);
      return;
    }
    changed();
    this.consider(limit);
  }

  #leaseOf(limit: HeldLimit): Lease {
    let lease = this.#leases.get(limit);
    if (lease === undefined) {
      lease = {
        lastMs: Number.NEGATIVE_INFINITY,
        ...{ number: 0, reported: { inUse: 0, wanted: 0, revision: 0 } },
        ...{ isUnderWay: false, isUncertain: false, othersAreShort: false, cancelTimer: null },
      };
      this.#leases.set(limit, lease);
    }
    return lease;
  }

  #warn(): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#parts.logger.warn({}, NO_HEARTBEATS);
  }

  #log(error: unknown): void {
    const message = messageOf(error);
    // After close(), an exchange may fail, because the session loses its lease.
    if (this.#isClosed || message === this.#failure) return;
    this.#failure = message;
    this.#parts.logger.warn({ error: message }, "permits of a limit could not be exchanged");
  }
}
