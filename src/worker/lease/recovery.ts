// Recovery: unlocks the jobs of stale workers, so that other workers can run them.
//
//  1. Before its first fetch a worker inserts its heartbeat row, which is its lease. The row contains `thresholdMs`:
//     how long the lease lasts after the last heartbeat, by default 7 s.
//  2. A heartbeat updates the row, by default every 2 s (heartbeat-loop.ts). When a search for stale workers is due,
//     the answer to the heartbeat also lists workers whose lease has expired.
//  3. After an outage of the database every worker looks stale. So the answer lists a stale worker only if heartbeats
//     have succeeded without a gap for as long as the lease of the stale worker lasts. A new worker copies the start
//     of this time from the rows of workers with a recent heartbeat, so short-lived workers can recover jobs, too.
//  4. The interceptors of `jobRecovery` may skip a stale worker, or set the error of its jobs.
//  5. One statement, the sweep, recovers the jobs of the remaining stale workers (queue/workers/recover-statement.ts):
//     it checks the leases again, unlocks jobs and queues, ends the workers' open transactions of the fast mode, and
//     marks the workers' rows. An interrupted attempt in the safe mode counts. After an interrupted attempt in the fast
//     mode, the safe mode runs the job. So a job that kills its workers fails in the end.
//  6. Jobs with the flag `infrastructure_resilient` stay locked until the last heartbeat of their worker is
//     `resilientThresholdMs` old, by default 60 s. At that age, a sweep recovers these jobs, too, and deletes the
//     worker's row, unless a job or queue of the worker stays locked.
//  7. If a stale worker was only frozen, its next heartbeat detects that its row is marked or missing, and the worker
//     continues under a new id (sessions.ts). The result of a job that was locked by `locked_by` is written only if
//     `locked_by` still contains the id under which the job ran.
import type pg from "pg";
import { clearInterval, momentNow, monotonic, now, setInterval, wait } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Outage } from "../../base/outage.ts";
import type { Database } from "../../database/database.ts";
import { returnUnknownJobs } from "../../queue/settle/give-back.ts";
import { endLeases, lostJobs, registerLease } from "../../queue/workers/lease.ts";
import { recoverStaleWorkers } from "../../queue/workers/recover-jobs.ts";
import type { RecoveryConfig } from "../options/recovery-options.ts";
import { verdictOf } from "../task/call-interceptors.ts";
import type { Hooks, LeaseLoss, Verdict } from "../task/hooks.ts";
import { ExcludedJobs } from "./excluded-jobs.ts";
import { Heartbeat, longestGap, proofWithin } from "./heartbeat.ts";
import type { HeartbeatNews, Lease } from "./heartbeat-loop.ts";
import { fetchedIds, HeartbeatMetadata, type WorkerDescription } from "./heartbeat-metadata.ts";
import type { Leases } from "./leases.ts";
import type { LeaseKeeper, WorkerLease } from "./worker-lease.ts";

export interface RecoveryParts {
  readonly config: RecoveryConfig;
  readonly renewLocksEveryMs: number;
  readonly connection: pg.ClientConfig;
  readonly database: Database;
  readonly patient: Database; // Has a longer time limit, for statements that may have to read all jobs.
  readonly hooks: Hooks;
  readonly logger: Logger;
  readonly outage: Outage;
  readonly lease: WorkerLease;
  describe(): WorkerDescription;
  /** Called when a lease was lost. */
  leaseLost(id: string, reason: LeaseLoss): void;
  /** Called when jobs may have become ready, or when the worker may fetch again. */
  wake(): void;
  /** Closes every connection of the worker that does not answer within seconds. */
  prove(): void;
}

/** The interval between two reports of what the worker runs, in heartbeat intervals. */
const BEATS_PER_DESCRIPTION = 2;
/** The rate limit of periodic reports, in characters per millisecond. */
const MAX_BYTES_A_MS = 0.5;
const SWEEP_WAIT_MS = 500;

export class Recovery implements Leases, LeaseKeeper {
  readonly #parts: RecoveryParts;
  readonly #heartbeat: Heartbeat;
  #leases: readonly Lease[] = [];
  readonly #metadata: HeartbeatMetadata;
  #text = "";
  #mayDescribeAtMs = 0;
  #describing: NodeJS.Timeout | undefined;
  #wasRefused = false;
  #sweeping: Promise<void> | null = null;
  /** How long heartbeats have succeeded without a gap: see step 3 above. */
  #uptimeMs = 0;
  /** The time of the last heartbeat, by the database's clock. */
  #heartbeatAtMs = 0;
  aheadMs = 0;
  /** Stale workers that an interceptor has skipped. */
  #skipped: ReadonlySet<string> = new Set();
  readonly #excluded = new ExcludedJobs();

  constructor(parts: RecoveryParts) {
    this.#parts = parts;
    const { connection, config, renewLocksEveryMs, logger, outage, database } = parts;
    this.#metadata = new HeartbeatMetadata(config);
    this.#heartbeat = new Heartbeat({
      connection,
      schema: database.schema,
      config,
      renewLocksEveryMs,
      logger,
      outage,
      report: (report) => this.#receive(report),
      onTrouble: () => parts.prove(),
    });
  }

  /** Registers the first lease. Called before any fetch: other workers recover only the jobs of workers with a row. */
  async start(db: Database, id: string): Promise<void> {
    await this.#register(db, id);
    await this.#heartbeat.start(this.#leases);
    const { heartbeatIntervalMs } = this.#parts.config;
    const everyMs = BEATS_PER_DESCRIPTION * heartbeatIntervalMs;
    this.#describing = setInterval(() => this.#describe(), everyMs).unref();
  }

  /** Registers a further lease, under which jobs are fetched from now on. */
  async begin(id: string): Promise<void> {
    await this.#register(this.#parts.database, id);
    this.#heartbeat.renew(this.#leases);
  }

  async release(id: string, { mayHold }: { readonly mayHold: boolean }): Promise<void> {
    this.#leases = this.#leases.filter((one) => one.id !== id);
    this.#heartbeat.renew(this.#leases);
    const { database, patient, logger, wake } = this.#parts;
    try {
      const left = mayHold ? await returnUnknownJobs(patient, id, [], []) : null;
      if ((left?.jobs ?? 0) > 0) wake();
      // If a job stays locked, the lease is left to expire, so that other workers recover the job.
      if (!left?.refused.length) await endLeases(database, [id]);
    } catch (error) {
      logger.debug({ lease: id, error: messageOf(error) }, NOT_ENDED);
    }
  }

  lostJobs(id: string, jobIds: readonly string[]): Promise<string[]> {
    return lostJobs(this.#parts.database, id, jobIds);
  }

  /** Whether jobs may be fetched and started. If not, the next heartbeat that succeeds calls wake(). */
  get isInTime(): boolean {
    const { thresholdMs, heartbeatIntervalMs } = this.#parts.config;
    const isSafe = this.#heartbeat.ageMs < thresholdMs - heartbeatIntervalMs;
    this.#wasRefused ||= !isSafe;
    return isSafe;
  }

  get heartbeatAgeMs(): number {
    return this.#heartbeat.ageMs;
  }

  /** Stops the heartbeats and ends the leases `endLeaseIds`, under which nothing is locked. Never rejects. */
  async stop(endLeaseIds: readonly string[]): Promise<void> {
    clearInterval(this.#describing);
    await Promise.all([this.#heartbeat.stop(), this.#end(endLeaseIds)]);
    // A sweep may wait long for an interceptor or a frozen database.
    const over = new AbortController();
    await Promise.race([this.#sweeping, wait(SWEEP_WAIT_MS, over.signal)]);
    over.abort();
  }

  /** Ends the wait of stop() for the last heartbeat. */
  cut(): void {
    this.#heartbeat.cut();
  }

  async #end(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await endLeases(this.#parts.database, ids).catch(() => {}); // If this fails, the leases expire.
  }

  async #register(db: Database, id: string): Promise<void> {
    const sentAt = momentNow();
    this.#text = this.#metadata.text(this.#parts.describe(), [], this.aheadMs);
    this.#parts.lease.listed = new Set();
    const proofWithinMs = proofWithin(this.#parts.config);
    const { uptimeMs, ...mark } = await registerLease(db, id, this.#text, proofWithinMs);
    [this.#uptimeMs, this.aheadMs] = [uptimeMs, now() - mark.renewed_ms];
    this.#heartbeat.recordRegistration(sentAt);
    this.#leases = [{ id, ...mark }, ...this.#leases];
  }

  reportFetched(): void {
    this.#write({ ...this.#parts.describe(), unstarted: [] }, true);
  }

  #describe(): void {
    if (monotonic() >= this.#mayDescribeAtMs) this.#write(this.#parts.describe());
  }

  #write(description: WorkerDescription, isNews = false): void {
    const fetched = fetchedIds(description);
    const text = this.#metadata.text(description, fetched, this.aheadMs);
    const id = this.#leases[0]?.id;
    if (text === this.#text || id === undefined) return;
    // The start of a job writes a report only if `lease.listed` has the job, and each report replaces this list. So if
    // the list has jobs, a new report is sent at once. Otherwise, the row could list started jobs as fetched for long.
    const { lease } = this.#parts;
    const isUrgent = isNews || lease.listed.size > 0;
    this.#text = text;
    lease.listed = new Set(fetched);
    this.#mayDescribeAtMs = monotonic() + text.length / MAX_BYTES_A_MS;
    this.#heartbeat.describe(id, text, isUrgent);
  }

  #receive(report: HeartbeatNews): void {
    const { leaseLost, wake } = this.#parts;
    switch (report.report) {
      case "heartbeat":
        this.#uptimeMs = report.uptimeMs;
        this.#heartbeatAtMs = report.nowMs;
        this.aheadMs = report.aheadMs;
        if (this.#wasRefused) {
          this.#wasRefused = false;
          wake();
        }
        return;
      case "stale":
        this.#sweeping ??= this.#sweep(report.ids).finally(() => {
          this.#sweeping = null;
        });
        return;
      case "lost":
        leaseLost(report.id, report.reason);
        return;
      default:
        report satisfies never;
    }
  }

  async #sweep(ids: readonly string[]): Promise<void> {
    const { config, patient, hooks, logger, wake } = this.#parts;
    try {
      const toRecover = await this.#workersToRecover(ids);
      if (toRecover.size === 0) return;
      const found = await recoverStaleWorkers(patient, {
        staleWorkerIds: [...toRecover.keys()],
        messages: [...toRecover.values()],
        delayMs: config.delayMs,
        uptimeMs: this.#uptimeMs,
        heartbeatAtMs: this.#heartbeatAtMs,
        longestGapMs: longestGap(config),
        excludedIds: this.#excluded.ids(),
      });
      const { workerIds, jobs, queues, refused, failure } = found;
      if (failure !== undefined) logger.warn({ error: messageOf(failure) }, NOT_RECOVERED);
      for (const { id, error } of refused) {
        const fields = { job_id: id, error: messageOf((error as Error).cause ?? error) };
        logger.error(fields, STAYS_LOCKED);
        this.#excluded.add(id, fields.error);
      }
      if (workerIds.length === 0) return;
      const workerId = this.#leases[0]?.id ?? "";
      hooks.emit("worker:recovered", { workerId, staleWorkerIds: workerIds, jobs });
      if (jobs + queues > 0) wake();
    } catch (error) {
      // The answer to a later heartbeat lists the stale workers again.
      logger.warn({ error: messageOf(error) }, NOT_RECOVERED);
    }
  }

  /** Returns the workers to recover, each with the message of an interceptor's `fail`; null without one. */
  async #workersToRecover(ids: readonly string[]): Promise<Map<string, string | null>> {
    const toRecover = new Map<string, string | null>();
    const skipped = new Set<string>();
    for (const staleWorkerId of ids) {
      const verdict = this.#skipped.has(staleWorkerId) ? SKIP : await this.#verdict(staleWorkerId);
      if (verdict === null) continue;
      if (verdict?.action === "skip") skipped.add(staleWorkerId);
      else toRecover.set(staleWorkerId, verdict?.action === "fail" ? verdict.message : null);
    }
    this.#skipped = skipped;
    return toRecover;
  }

  /** Returns the first verdict other than `continue`; undefined if there is none; null if an interceptor threw. */
  async #verdict(staleWorkerId: string): Promise<Verdict | undefined | null> {
    const { hooks, logger } = this.#parts;
    try {
      return await verdictOf(hooks, "jobRecovery", { staleWorkerId });
    } catch (error) {
      const fields = { stale_worker_id: staleWorkerId, error: messageOf(error) };
      logger.error(
        fields,
        "an interceptor threw; the stale worker is checked again at the next search for stale workers",
      );
      return null;
    }
  }
}

const SKIP: Verdict = { action: "skip" };
const STAYS_LOCKED = "a job stays locked by a stale worker: PostgreSQL refuses to change it";
const NOT_ENDED = "a lease could not be ended and will expire";
const NOT_RECOVERED = "the jobs of stale workers could not be recovered";
