// Beats: renews leases every few seconds on a connection of its own, and with each beat looks for
// workers that let theirs run out. Runs in the heartbeat thread (heartbeat-thread.ts), or in the
// worker's own where that is not possible; so it only takes commands and gives reports.
import pg from "pg";
import { monotonic, sharedMonotonic_us, wait } from "../base/clock.ts";
import { messageOf, WorkerError } from "../base/errors.ts";
import { backoffDelay } from "../base/retry.ts";
import type { Database } from "../database/database.ts";
import { boundedQueryable } from "../database/pool.ts";
import type { SchemaName } from "../database/schema-name.ts";
import type { Certainty } from "../queue/recover-dead-workers.ts";
import { type BeatAnswer, beat, endLeases } from "../queue/worker-lease.ts";
import { Continuity } from "./continuity.ts";

/** Plain data: it crosses into the thread. */
export interface HeartbeatSettings {
  readonly connection: pg.ClientConfig;
  readonly schema: SchemaName;
  readonly leaseIds: readonly string[];
  readonly interval_ms: number;
  readonly sweepInterval_ms: number;
  readonly longestGap_ms: number;
  readonly statementTimeout_ms: number;
  /** One 64-bit cell: when the last beat that went through was sent, by sharedMonotonic_us. */
  readonly lastBeat: SharedArrayBuffer;
}

export type HeartbeatCommand =
  /** What to renew; the first is the lease under which the worker takes jobs. */
  | { readonly command: "leases"; readonly ids: readonly string[] }
  | { readonly command: "metadata"; readonly id: string; readonly text: string }
  | { readonly command: "password"; readonly password: string }
  /** Ends these leases, if that takes one statement, and then everything. */
  | { readonly command: "stop"; readonly endLeaseIds: readonly string[] };

export type HeartbeatReport =
  /** One went through at this moment of the database's clock, without a gap for so long. */
  | { readonly report: "beat"; readonly now_ms: number; readonly steady_ms: number }
  /** Others look dead to us. */
  | { readonly report: "dead"; readonly ids: readonly string[] }
  /** Somebody has swept this lease. */
  | { readonly report: "lost"; readonly id: string }
  | { readonly report: "failed"; readonly error: string }
  /** The table is gone, or out of our reach: no beat will ever go through again. */
  | { readonly report: "impossible"; readonly error: string }
  | { readonly report: "password" };

export class HeartbeatLoop {
  readonly #settings: HeartbeatSettings;
  readonly #report: (report: HeartbeatReport) => void;
  readonly #continuity: Continuity;
  readonly #lastBeat: BigInt64Array;
  readonly #stop = new AbortController();
  readonly #pool: pg.Pool;
  readonly #db: Database;
  #leaseIds: readonly string[];
  /** Leases whose loss has been reported. */
  readonly #lost = new Set<string>();
  #metadata: { id: string; text: string } | null = null;
  #lookedAt_ms = 0;

  constructor(
    settings: HeartbeatSettings,
    report: (report: HeartbeatReport) => void,
    password?: () => Promise<string>,
  ) {
    this.#settings = settings;
    this.#report = report;
    this.#continuity = new Continuity(settings.longestGap_ms);
    this.#lastBeat = new BigInt64Array(settings.lastBeat);
    this.#leaseIds = settings.leaseIds;
    const { connection, schema, statementTimeout_ms } = settings;
    this.#pool = new pg.Pool({
      ...connection,
      ...(password === undefined ? {} : { password }),
      max: 1,
      idleTimeoutMillis: 0,
      connectionTimeoutMillis: statementTimeout_ms,
      keepAlive: true,
      application_name: "worker heartbeat",
    });
    this.#pool.on("error", () => {}); // The next beat finds out.
    const bounds = { statementTimeout_ms, lockTimeout_ms: statementTimeout_ms, readOnly: false };
    this.#db = { client: boundedQueryable(this.#pool, bounds), schema };
  }

  /** Beats until it is stopped. Never rejects. */
  async run(): Promise<void> {
    const { interval_ms } = this.#settings;
    const backoff = { first_ms: Math.min(100, interval_ms), longest_ms: interval_ms };
    for (let failures = 0; !this.#stop.signal.aborted; ) {
      const startedAt_ms = monotonic();
      failures = (await this.#beat()) ? 0 : failures + 1;
      const spent_ms = monotonic() - startedAt_ms;
      const pause_ms =
        failures === 0 ? Math.max(0, interval_ms - spent_ms) : backoffDelay(failures - 1, backoff);
      await wait(pause_ms, this.#stop.signal);
    }
  }

  take(command: Exclude<HeartbeatCommand, { command: "password" | "stop" }>): void {
    if (command.command === "metadata") this.#metadata = command;
    else this.#leaseIds = command.ids;
  }

  /** Resolves when the connection is closed; the caller bounds the wait. */
  async stop(running: Promise<void>, endLeaseIds: readonly string[]): Promise<void> {
    this.#stop.abort();
    await running;
    // One try: without the database the leases run out by themselves.
    if (endLeaseIds.length > 0) await endLeases(this.#db, endLeaseIds).catch(() => {});
    await this.#pool.end();
  }

  async #beat(): Promise<boolean> {
    const metadata = this.#metadata;
    const sentAt_us = sharedMonotonic_us();
    try {
      const answer = await beat(this.#db, {
        leaseIds: this.#leaseIds,
        metadata,
        look: this.#look(),
      });
      if (this.#metadata === metadata) this.#metadata = null;
      this.#confirmed(answer, sentAt_us);
      return true;
    } catch (error) {
      this.#continuity.break();
      const isFinal = error instanceof WorkerError && error.code === "schema_missing";
      this.#report({ report: isFinal ? "impossible" : "failed", error: messageOf(error) });
      return false;
    }
  }

  #look(): Certainty | null {
    const { sweepInterval_ms, interval_ms } = this.#settings;
    const { steady_ms } = this.#continuity;
    const now_ms = monotonic();
    // A beat is never on time to the millisecond: half an interval early is time for a look.
    if (steady_ms === 0 || now_ms - this.#lookedAt_ms < sweepInterval_ms - interval_ms / 2) {
      return null;
    }
    this.#lookedAt_ms = now_ms;
    return { steady_ms, silence_ms: interval_ms };
  }

  #confirmed({ now_ms, leases, deadWorkerIds }: BeatAnswer, sentAt_us: bigint): void {
    this.#continuity.confirm(now_ms);
    const { steady_ms } = this.#continuity;
    for (const id of this.#leaseIds) this.#check(id, leases.get(id));
    // Under a lease that is lost no more jobs are taken.
    const [current] = this.#leaseIds;
    if (current !== undefined && !this.#lost.has(current)) {
      Atomics.store(this.#lastBeat, 0, sentAt_us);
    }
    this.#report({ report: "beat", now_ms, steady_ms });
    // A gap that only this beat has shown makes its look worthless.
    if (steady_ms > 0 && deadWorkerIds.length > 0) {
      this.#report({ report: "dead", ids: deadWorkerIds });
    }
  }

  #check(id: string, lease: { readonly isRecovered: boolean } | undefined): void {
    if (this.#lost.has(id) || lease?.isRecovered === false) return;
    this.#lost.add(id);
    this.#report({ report: "lost", id });
  }
}
