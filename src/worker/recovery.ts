// Recovery: this worker's lease on its jobs, and the sweep of those that let theirs run out. It asks
// the application before it frees anything, and tells it afterwards.

import type pg from "pg";
import { sharedMonotonic_us, wait } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import type { Database } from "../database/database.ts";
import { recoverDeadWorkers } from "../queue/recover-dead-workers.ts";
import { endLeases, lostJobs, registerLease } from "../queue/worker-lease.ts";
import type { Maintenance } from "./connection.ts";
import { Heartbeat, longestGap } from "./heartbeat.ts";
import type { HeartbeatReport } from "./heartbeat-loop.ts";
import { metadataText, type WorkerDescription } from "./heartbeat-metadata.ts";
import type { Hooks, Verdict } from "./hooks.ts";
import type { Leases } from "./incarnations.ts";
import type { RecoveryConfig } from "./recovery-options.ts";

export interface RecoveryParts {
  readonly config: RecoveryConfig;
  readonly connection: pg.ClientConfig;
  readonly maintenance: Maintenance;
  readonly hooks: Hooks;
  readonly logger: Logger;
  describe(): WorkerDescription;
  /** Somebody has swept this lease. */
  leaseLost(id: string): void;
  /** Jobs may be ready, or may be taken again. */
  pulse(): void;
}

/** Beats between two looks at what the worker would say about itself. */
const BEATS_PER_DESCRIPTION = 5;
const STOP_LIMIT_MS = 2_000;

export class Recovery implements Leases {
  readonly #parts: RecoveryParts;
  readonly #heartbeat: Heartbeat;
  #leaseIds: readonly string[] = [];
  #description = "";
  #describing: NodeJS.Timeout | undefined;
  #isOff = false;
  #wasRefused = false;
  #sweeping: Promise<void> | null = null;
  /** What our last beat says about ourselves. */
  #steady_ms = 0;
  #beatAt_ms = 0;
  /** Dead workers that an interceptor wants left alone. */
  #skipped: ReadonlySet<string> = new Set();

  constructor(parts: RecoveryParts) {
    this.#parts = parts;
    const { connection, config, logger, maintenance } = parts;
    this.#heartbeat = new Heartbeat({
      connection,
      schema: maintenance.database.schema,
      config,
      logger,
      report: (report) => this.#receive(report),
    });
  }

  /** The first lease. Before any job is taken: a sweep only touches ids that had a row. */
  async start(db: Database, id: string): Promise<void> {
    await this.#register(db, id);
    await this.#heartbeat.start(this.#leaseIds);
    const { heartbeatInterval_ms } = this.#parts.config;
    const every_ms = BEATS_PER_DESCRIPTION * heartbeatInterval_ms;
    this.#describing = setInterval(() => this.#describe(), every_ms).unref();
  }

  /** A lease beside the ones there are, under which jobs are taken from now on. */
  async begin(id: string): Promise<void> {
    await this.#register(this.#parts.maintenance.database, id);
    this.#heartbeat.renew(this.#leaseIds);
  }

  /** Ends a lease under which nothing is locked any more. */
  async release(id: string): Promise<void> {
    this.#leaseIds = this.#leaseIds.filter((one) => one !== id);
    this.#heartbeat.renew(this.#leaseIds);
    // Without the database it runs out by itself.
    await endLeases(this.#parts.maintenance.database, [id]).catch(() => {});
  }

  /** Those of these jobs that are no longer locked under this id. */
  lostJobs(id: string, jobIds: readonly string[]): Promise<string[]> {
    return lostJobs(this.#parts.maintenance.database, id, jobIds);
  }

  /**
   * Whether jobs may be taken: not when the lease may have run out. The clock says so even before
   * the thread could tell, after a worker was frozen.
   */
  mayTake(): boolean {
    const { threshold_ms, heartbeatInterval_ms } = this.#parts.config;
    const isSafe = this.#isOff || this.#heartbeat.age_ms < threshold_ms - heartbeatInterval_ms;
    this.#wasRefused ||= !isSafe;
    return isSafe;
  }

  /** Whether this worker may judge others: its own beats go through, and for long enough. */
  get isCertain(): boolean {
    return !this.#isOff && this.mayTake() && this.#steady_ms >= this.#parts.config.threshold_ms;
  }

  /** `endLeaseIds`: those under which nothing is locked. Never rejects. */
  async stop(endLeaseIds: readonly string[]): Promise<void> {
    clearInterval(this.#describing);
    await this.#heartbeat.stop(endLeaseIds);
    // A sweep that waits for an interceptor, or for a frozen database, is left behind.
    const over = new AbortController();
    await Promise.race([this.#sweeping, wait(STOP_LIMIT_MS, over.signal)]);
    over.abort();
  }

  async #register(db: Database, id: string): Promise<void> {
    const sentAt_us = sharedMonotonic_us();
    this.#description = metadataText(this.#parts.describe(), this.#parts.config);
    await registerLease(db, id, this.#description);
    this.#heartbeat.registered(sentAt_us);
    this.#leaseIds = [id, ...this.#leaseIds];
  }

  #describe(): void {
    const text = metadataText(this.#parts.describe(), this.#parts.config);
    const [id] = this.#leaseIds;
    if (text === this.#description || id === undefined) return;
    this.#description = text;
    this.#heartbeat.describe(id, text);
  }

  #receive(report: Exclude<HeartbeatReport, { report: "failed" | "password" }>): void {
    const { logger, leaseLost, pulse } = this.#parts;
    switch (report.report) {
      case "beat":
        this.#steady_ms = report.steady_ms;
        this.#beatAt_ms = report.now_ms;
        if (this.#wasRefused) {
          this.#wasRefused = false;
          pulse();
        }
        return;
      case "dead":
        this.#sweeping ??= this.#sweep(report.ids).finally(() => {
          this.#sweeping = null;
        });
        return;
      case "lost":
        leaseLost(report.id);
        return;
      case "impossible":
        logger.error({ error: report.error }, "recovery is off: there is nowhere to beat");
        this.#isOff = true;
        void this.stop([]);
        pulse();
        return;
      default:
        report satisfies never;
    }
  }

  async #sweep(ids: readonly string[]): Promise<void> {
    const { config, maintenance, hooks, logger, pulse } = this.#parts;
    try {
      const asked = await this.#ask(ids);
      if (asked.size === 0) return;
      const { workerIds, jobs, queues } = await recoverDeadWorkers(maintenance.database, {
        deadWorkerIds: [...asked.keys()],
        messages: [...asked.values()],
        delay_ms: config.delay_ms,
        steady_ms: this.#steady_ms,
        beatAt_ms: this.#beatAt_ms,
        longestGap_ms: longestGap(config),
      });
      if (workerIds.length === 0) return;
      const workerId = this.#leaseIds[0] ?? "";
      hooks.emit("worker:recovered", { workerId, deadWorkerIds: workerIds, jobs });
      if (jobs + queues > 0) pulse();
    } catch (error) {
      // They are still dead at the next look.
      logger.warn({ error: messageOf(error) }, "dead workers could not be swept");
    }
  }

  /** Dead worker → the message of an interceptor's `fail`, or null; without those to be skipped. */
  async #ask(ids: readonly string[]): Promise<Map<string, string | null>> {
    const asked = new Map<string, string | null>();
    const skipped = new Set<string>();
    for (const deadWorkerId of ids) {
      const verdict = this.#skipped.has(deadWorkerId) ? SKIP : await this.#verdict(deadWorkerId);
      if (verdict === null) continue;
      if (verdict?.action === "skip") skipped.add(deadWorkerId);
      else asked.set(deadWorkerId, verdict?.action === "fail" ? verdict.message : null);
    }
    this.#skipped = skipped;
    return asked;
  }

  /** The first word of an interceptor that does not just continue; null when one threw. */
  async #verdict(deadWorkerId: string): Promise<Verdict | undefined | null> {
    const { hooks, logger } = this.#parts;
    try {
      for (const interceptor of hooks.interceptors("jobRecovery")) {
        const verdict = await interceptor({ deadWorkerId });
        if (verdict !== undefined && verdict.action !== "continue") return verdict;
      }
      return undefined;
    } catch (error) {
      const fields = { dead_worker_id: deadWorkerId, error: messageOf(error) };
      logger.error(fields, "an interceptor threw; the dead worker is left to the next look");
      return null;
    }
  }
}

const SKIP: Verdict = { action: "skip" };
