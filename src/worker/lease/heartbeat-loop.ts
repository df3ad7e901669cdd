// Renews a worker's leases by heartbeats, on a connection of its own. Some heartbeats also search for stale workers.
// The loop usually runs in a thread of its own, so the loop and the worker exchange only commands, reports and two
// shared buffers.
import pg from "pg";
import {
  type Moment,
  momentNow,
  monotonic,
  now,
  sharedMonotonicUs,
  wait,
} from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { runWithRetries } from "../../base/retry.ts";
import { Client } from "../../database/connection/client.ts";
import { boundedQueryable } from "../../database/connection/pool.ts";
import type { Database } from "../../database/database.ts";
import type { SchemaName } from "../../database/schema-name.ts";
import {
  type HeartbeatAnswer,
  type LeaseMark,
  type LeaseRow,
  sendHeartbeat,
} from "../../queue/workers/lease.ts";
import { renewLocks } from "../../queue/workers/renew-locks.ts";
import type { LeaseLoss } from "../task/hooks.ts";

/** A lease to renew, with the LeaseMark of its registration. */
export interface Lease extends LeaseMark {
  readonly id: string;
}

/** Data that can be sent to a thread. If the loop runs in the worker's thread, `connection` may also have functions. */
export interface HeartbeatSettings {
  readonly connection: pg.ClientConfig;
  readonly schema: SchemaName;
  readonly leases: readonly Lease[];
  readonly intervalMs: number;
  readonly sweepIntervalMs: number;
  readonly longestGapMs: number;
  readonly statementTimeoutMs: number;
  readonly renewLocksEveryMs: number;
  /** Two 64-bit cells: when the last successful heartbeat or registration was sent (writeMoment). */
  readonly lastHeartbeat: SharedArrayBuffer;
  /** A 64-bit cell: when the worker's thread last received a report (sharedMonotonicUs). */
  readonly lastTurn: SharedArrayBuffer;
}

/** What the worker writes about itself into the row of one of its leases. */
export interface HeartbeatDescription {
  readonly command: "metadata";
  readonly id: string;
  readonly text: string;
  /** Whether a heartbeat is sent at once to write the text. */
  readonly isUrgent: boolean;
}

export type HeartbeatCommand =
  /** The leases to renew. The worker fetches jobs under the first lease. */
  | { readonly command: "leases"; readonly leases: readonly Lease[] }
  | HeartbeatDescription
  | { readonly command: "password"; readonly password: string }
  | { readonly command: "stop" };

export type HeartbeatReport =
  | {
      readonly report: "heartbeat";
      /** The time of the heartbeat, by the database's clock. */
      readonly nowMs: number;
      /** How long heartbeats have succeeded without a gap, in milliseconds. */
      readonly uptimeMs: number;
      /** How far this machine's clock is ahead of the database's. */
      readonly aheadMs: number;
    }
  /** Other workers are stale. */
  | { readonly report: "stale"; readonly ids: readonly string[] }
  | { readonly report: "lost"; readonly id: string; readonly reason: LeaseLoss }
  | { readonly report: "failed"; readonly error: string }
  /** The worker's thread is blocked, and the worker's locks could not be renewed. */
  | { readonly report: "unrenewed"; readonly error: string }
  | { readonly report: "password" };

/** The reports that recovery.ts handles. */
export type HeartbeatNews = Exclude<
  HeartbeatReport,
  { report: "failed" | "unrenewed" | "password" }
>;

/** An unanswered heartbeat ends this long after its time limit. */
const GRACE_MS = 500;

/**
 * The longest pause between attempts in the first minute of an outage. The pause is short, because most outages are
 * restarts of the database.
 */
const EAGER_MS = 400;
const EAGER_FOR_MS = 60_000;

/** The pause after a failed renewal of locks is the usual interval of renewals divided by this number. */
const RETRIES = 60;

/** Writes a moment to two cells, one by one. A thread that reads between the two writes computes too long an age. */
export function writeMoment(cells: BigInt64Array, [monotonicUs, epochMs]: Moment): void {
  Atomics.store(cells, 0, monotonicUs);
  Atomics.store(cells, 1, epochMs);
}

export class HeartbeatLoop {
  readonly #settings: HeartbeatSettings;
  readonly #report: (report: HeartbeatReport) => void;
  readonly #lastHeartbeat: BigInt64Array;
  readonly #lastTurn: BigInt64Array;
  readonly #stop = new AbortController();
  readonly #pool: pg.Pool;
  readonly #db: Database;
  #leaseIds: readonly string[] = [];
  readonly #lost = new Set<string>();
  /** The LeaseMark of each lease after its last heartbeat or its registration. */
  readonly #left = new Map<string, LeaseMark>();
  #metadata: Omit<HeartbeatDescription, "command"> | null = null;
  #pause = new AbortController();
  #sweptAtMs = 0;
  #isBroken = false;
  /** The next renewal of locks is due `renewLocksEveryMs` after this time. */
  #renewedAtMs = Number.NEGATIVE_INFINITY;
  /** The leases whose locks must still be renewed. */
  #toRenew: readonly string[] = [];

  constructor(
    settings: HeartbeatSettings,
    report: (report: HeartbeatReport) => void,
    password?: () => Promise<string>,
  ) {
    this.#settings = settings;
    this.#report = report;
    this.#lastHeartbeat = new BigInt64Array(settings.lastHeartbeat);
    this.#lastTurn = new BigInt64Array(settings.lastTurn);
    this.#renew(settings.leases);
    const { connection, schema, statementTimeoutMs } = settings;
    this.#pool = new pg.Pool({
      ...connection,
      ...(password === undefined ? {} : { password }),
      Client,
      max: 1,
      idleTimeoutMillis: 0,
      connectionTimeoutMillis: statementTimeoutMs,
      keepAlive: true,
      application_name: "worker heartbeat",
    });
    this.#pool.on("error", () => {}); // The next heartbeat connects again, or fails and is reported.
    const limits = { statementTimeoutMs, lockTimeoutMs: statementTimeoutMs, graceMs: GRACE_MS };
    this.#db = { client: boundedQueryable(this.#pool, { ...limits, readOnly: false }), schema };
  }

  /** Sends heartbeats until stop() is called. Never rejects. */
  async run(): Promise<void> {
    const { intervalMs } = this.#settings;
    const { signal } = this.#stop;
    let heartbeatAtMs = monotonic();
    await runWithRetries(
      async (succeeded) => {
        while (!signal.aborted) {
          const startedAtMs = monotonic();
          await this.#sendHeartbeat();
          heartbeatAtMs = monotonic();
          succeeded();
          if (this.#metadata?.isUrgent === true || signal.aborted) continue;
          this.#pause = new AbortController();
          await wait(Math.max(0, intervalMs - (monotonic() - startedAtMs)), this.#pause.signal);
        }
      },
      {
        signal,
        onError: (error) => this.#onFailure(error),
        firstMs: Math.min(100, intervalMs),
        longestMs: () =>
          monotonic() - heartbeatAtMs < EAGER_FOR_MS ? Math.min(EAGER_MS, intervalMs) : intervalMs,
      },
    );
  }

  take(command: Exclude<HeartbeatCommand, { command: "password" | "stop" }>): void {
    if (command.command === "metadata") this.#describe(command);
    else this.#renew(command.leases);
  }

  #describe({ id, text, isUrgent }: HeartbeatDescription): void {
    this.#metadata = { id, text, isUrgent: isUrgent || this.#metadata?.isUrgent === true };
    if (isUrgent) this.#pause.abort();
  }

  #renew(leases: readonly Lease[]): void {
    this.#leaseIds = leases.map(({ id }) => id);
    for (const { id, ...mark } of leases) if (!this.#left.has(id)) this.#left.set(id, mark);
  }

  /** Stops run(), whose promise is `running`. Resolves when the connection is closed. */
  async stop(running: Promise<void>): Promise<void> {
    this.#stop.abort();
    this.#pause.abort();
    await running;
    await this.#pool.end();
  }

  async #sendHeartbeat(): Promise<void> {
    const metadata = this.#metadata;
    const sentAt = momentNow();
    const answer = await sendHeartbeat(this.#db, {
      leaseIds: this.#leaseIds,
      metadata,
      silenceMs: this.#isTimeToSweep() ? this.#settings.intervalMs : null,
      isBroken: this.#isBroken,
      longestGapMs: this.#settings.longestGapMs,
    });
    this.#isBroken = false;
    if (this.#metadata === metadata) this.#metadata = null;
    this.#onConfirmed(answer, sentAt);
    await this.#renewForBlocked();
  }

  /**
   * Renews the worker's locks while a handler blocks the worker's thread for long. After each heartbeat, the locks of
   * only one lease are renewed, so that the next heartbeat is not late.
   */
  async #renewForBlocked(): Promise<void> {
    const { renewLocksEveryMs: everyMs } = this.#settings;
    const blockedMs = Number(sharedMonotonicUs() - Atomics.load(this.#lastTurn, 0)) / 1_000;
    if (blockedMs < everyMs) return;
    if (monotonic() - this.#renewedAtMs >= everyMs) {
      this.#renewedAtMs = monotonic();
      this.#toRenew = this.#leaseIds;
    }
    const [id, ...others] = this.#toRenew;
    this.#toRenew = others;
    if (id === undefined) return;
    try {
      // A lock younger than half the interval is skipped: at the next renewal, it is not yet old enough to be removed.
      await renewLocks(this.#db, id, null, everyMs / 2);
    } catch (error) {
      this.#renewedAtMs = monotonic() - everyMs + everyMs / RETRIES;
      this.#report({ report: "unrenewed", error: messageOf(error) });
    }
  }

  #onFailure(error: unknown): void {
    this.#isBroken = true;
    this.#report({ report: "failed", error: messageOf(error) });
  }

  #isTimeToSweep(): boolean {
    const { sweepIntervalMs, intervalMs } = this.#settings;
    const nowMs = monotonic();
    // Heartbeats are not exactly on time, so a search is due half an interval early.
    if (nowMs - this.#sweptAtMs < sweepIntervalMs - intervalMs / 2) return false;
    this.#sweptAtMs = nowMs;
    return true;
  }

  #onConfirmed(answer: HeartbeatAnswer, sentAt: Moment): void {
    const { now_ms: nowMs, uptimeMs, leases, staleWorkerIds } = answer;
    for (const id of this.#leaseIds) this.#check(id, leases.get(id), nowMs);
    // After the loss of the current lease, `#lastHeartbeat` is not updated, so that the worker soon stops fetching.
    const [current] = this.#leaseIds;
    if (current !== undefined && !this.#lost.has(current)) {
      writeMoment(this.#lastHeartbeat, sentAt);
    }
    this.#report({ report: "heartbeat", nowMs, uptimeMs, aheadMs: now() - nowMs });
    if (staleWorkerIds.length > 0) {
      this.#report({ report: "stale", ids: staleWorkerIds });
    }
  }

  #check(id: string, lease: LeaseRow | undefined, nowMs: number): void {
    if (this.#lost.has(id)) return;
    if (lease === undefined) this.#lose(id, "removed");
    else if (lease.isRecovered) this.#lose(id, "recovered");
    else if (this.#isRestored(id, lease)) this.#lose(id, "restored");
    else this.#left.set(id, { table: lease.table, renewed_ms: nowMs });
  }

  #lose(id: string, reason: LeaseLoss): void {
    this.#lost.add(id);
    this.#report({ report: "lost", id, reason });
  }

  /** Whether the database was restored to an earlier state. */
  #isRestored(id: string, { table, renewed_ms }: LeaseRow): boolean {
    const last = this.#left.get(id);
    return last !== undefined && (table !== last.table || renewed_ms < last.renewed_ms);
  }
}
