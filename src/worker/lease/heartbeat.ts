// Starts and stops a worker's heartbeats, passes on their reports, and computes the age of the last heartbeat that
// has succeeded.
//
//   new ──start()──▶ beating in a thread of its own ──stop()──▶ stopped
//                    │ that thread cannot start, or has ended      ▲
//                    └─▶ beating in the worker's thread ─stop()────┘
import type pg from "pg";
import { type Moment, msSince, sharedMonotonicUs } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Outage } from "../../base/outage.ts";
import type { SchemaName } from "../../database/schema-name.ts";
import { portable } from "../connection/connection-config.ts";
import type { RecoveryConfig } from "../options/recovery-options.ts";
import { beatHere, beatInThread, type HeartbeatHost } from "./heartbeat-host.ts";
import {
  type HeartbeatDescription,
  type HeartbeatNews,
  type HeartbeatReport,
  type HeartbeatSettings,
  type Lease,
  writeMoment,
} from "./heartbeat-loop.ts";

export interface HeartbeatParts {
  readonly connection: pg.ClientConfig;
  readonly schema: SchemaName;
  readonly config: RecoveryConfig;
  readonly renewLocksEveryMs: number;
  readonly logger: Logger;
  readonly outage: Outage;
  report(news: HeartbeatNews): void;
  /** Called when heartbeats begin to fail, and when they succeed again: the worker's other connections may be lost. */
  onTrouble(): void;
}

const STOP_LIMIT_MS = 800;
const CONNECTION = "heartbeat";

export class Heartbeat {
  readonly #parts: HeartbeatParts;
  readonly #lastHeartbeat = new BigInt64Array(new SharedArrayBuffer(16));
  readonly #lastTurn = new BigInt64Array(new SharedArrayBuffer(8));
  #host: HeartbeatHost | null = null;
  #leases: readonly Lease[] = [];
  /** For #fallBack(): the thread may end before a heartbeat has written the description. */
  #description: HeartbeatDescription | null = null;
  #isStopping = false;
  #isFailing = false;

  constructor(parts: HeartbeatParts) {
    this.#parts = parts;
  }

  /**
   * The milliseconds since the last successful heartbeat was sent, including time in which this thread was blocked or
   * this machine was suspended.
   */
  get ageMs(): number {
    return msSince([Atomics.load(this.#lastHeartbeat, 0), Atomics.load(this.#lastHeartbeat, 1)]);
  }

  /** Counts the registration of a lease, sent at `sentAt`, as a successful heartbeat. */
  recordRegistration(sentAt: Moment): void {
    writeMoment(this.#lastHeartbeat, sentAt);
  }

  /** Starts to renew these leases. The worker fetches jobs under the first lease. */
  async start(leases: readonly Lease[]): Promise<void> {
    const { connection, logger } = this.#parts;
    this.#leases = leases;
    this.#takeTurn();
    const plain = portable(connection);
    if (plain === null) {
      this.#fallBack("the pool's options cannot be sent to a thread");
      return;
    }
    try {
      this.#host = await beatInThread(
        this.#settings(),
        plain,
        connection.password,
        (report) => this.#receive(report),
        (error) => this.#fallBack(messageOf(error)),
      );
      logger.debug({}, "the heartbeat runs in its own thread");
    } catch (error) {
      this.#fallBack(messageOf(error));
    }
  }

  renew(leases: readonly Lease[]): void {
    this.#leases = leases;
    this.#host?.send({ command: "leases", leases });
  }

  /** Writes `text` into the row of the lease with the next heartbeat. If `isUrgent`, this heartbeat is sent at once. */
  describe(id: string, text: string, isUrgent: boolean): void {
    this.#description = { command: "metadata", id, text, isUrgent };
    this.#host?.send(this.#description);
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#host?.stop(STOP_LIMIT_MS);
    this.#host = null;
  }

  /** Ends the wait of a running or later stop(). */
  cut(): void {
    this.#host?.cut();
  }

  #settings(): Omit<HeartbeatSettings, "connection"> {
    const { schema, config, renewLocksEveryMs } = this.#parts;
    const { heartbeatIntervalMs, thresholdMs, sweepIntervalMs } = config;
    return {
      schema,
      leases: this.#leases,
      intervalMs: heartbeatIntervalMs,
      sweepIntervalMs,
      longestGapMs: longestGap(config),
      statementTimeoutMs: Math.max(1_000, thresholdMs / 2),
      renewLocksEveryMs,
      lastHeartbeat: this.#lastHeartbeat.buffer,
      lastTurn: this.#lastTurn.buffer,
    };
  }

  #fallBack(reason: string): void {
    if (this.#isStopping) return;
    const { logger, connection } = this.#parts;
    logger.warn(
      { reason },
      "heartbeats are sent from the worker's own thread: if a handler blocks this thread for too long, the lease expires",
    );
    this.#host = beatHere({ ...this.#settings(), connection }, (report) => this.#receive(report));
    if (this.#description !== null) this.#host.send(this.#description);
  }

  #takeTurn(): void {
    Atomics.store(this.#lastTurn, 0, sharedMonotonicUs());
  }

  #receive(report: HeartbeatReport): void {
    this.#takeTurn();
    if (this.#isStopping || report.report === "password") return;
    const { outage, logger } = this.#parts;
    if (report.report === "unrenewed") {
      logger.warn(
        { error: report.error },
        "locks of jobs that run for hours could not be renewed yet",
      );
      return;
    }
    if (report.report === "failed") {
      outage.reportLost(CONNECTION, report.error);
      if (!this.#isFailing) this.#parts.onTrouble();
      this.#isFailing = true;
      return;
    }
    if (report.report === "heartbeat" && this.#isFailing) {
      this.#isFailing = false;
      outage.reportBack(CONNECTION);
      this.#parts.onTrouble();
    }
    this.#parts.report(report);
  }
}

/**
 * Returns the longest normal time between two heartbeats of a worker, in milliseconds. After a longer time, the leases
 * of other workers may have expired because of an outage.
 */
export function longestGap({ thresholdMs, heartbeatIntervalMs }: RecoveryConfig): number {
  return thresholdMs - 1.25 * heartbeatIntervalMs;
}

/**
 * Returns the age, in milliseconds, up to which a heartbeat of another worker is recent for a new worker. Since such a
 * heartbeat, an outage can have lasted at most `thresholdMs` minus two heartbeat intervals. So the outage has made no
 * worker stale, even if a worker's heartbeats came one interval before the outage and one interval after it.
 */
export function proofWithin({ thresholdMs, heartbeatIntervalMs }: RecoveryConfig): number {
  return Math.min(1.5 * heartbeatIntervalMs, thresholdMs - 2 * heartbeatIntervalMs);
}
