// A worker's upkeep: renews its lease and its locks, recovers the jobs of stale workers, resets stale locks, and reads
// pauses, requests to cancel, and limits.
import type pg from "pg";
import { codeOf } from "../base/errors.ts";
import type { Outage } from "../base/outage.ts";
import type { Database } from "../database/database.ts";
import type { ReadySchema } from "../database/schema/schema-state.ts";
import { workerLine } from "../domain/portable/worker-line.ts";
import { type Maintenance, maintenance, PATIENT_BOUNDS } from "./connection/connection-config.ts";
import { ControlWatch } from "./control-watch.ts";
import type { SlotCount } from "./execute/slots.ts";
import type { TalliedTasks } from "./execute/task-tally.ts";
import type { CronTick } from "./lease/heartbeat-metadata.ts";
import { LockRenewal, renewalIntervalMs } from "./lease/lock-renewal.ts";
import { LockReset } from "./lease/lock-reset.ts";
import { Recovery } from "./lease/recovery.ts";
import type { WorkerLease } from "./lease/worker-lease.ts";
import { LimitWatch } from "./limits/limit-watch.ts";
import type { WorkerConfig } from "./options/worker-options.ts";
import type { Sessions } from "./sessions.ts";
import type { Hooks } from "./task/hooks.ts";

const OFF =
  "recovery is off: if this worker crashes, its jobs of the safe mode stay locked until their locks are stale (option staleLockThresholdMs)";
const noTable = (schema: string) =>
  `the schema has no table of heartbeats; "${workerLine(schema, "worker migrate")}" adds it`;
const NO_RIGHTS = "the database role may not write to the table _private_workers";
const INSUFFICIENT_PRIVILEGE = "42501";

export class Upkeep<E> {
  readonly #config: WorkerConfig<E>;
  readonly #maintenance: Maintenance;
  /** A connection for statements that may take long. */
  readonly #patient: Maintenance;
  readonly #lockReset: LockReset;
  readonly #lockRenewal: LockRenewal;
  readonly #recovery: Recovery | null;
  readonly controls: ControlWatch;
  readonly limits: LimitWatch;
  readonly #lease: WorkerLease;

  constructor(
    config: WorkerConfig<E>,
    parts: {
      readonly connection: pg.ClientConfig;
      readonly hooks: Hooks;
      readonly tasks: TalliedTasks<E>;
      readonly concurrency: SlotCount;
      readonly outage: Outage;
      readonly lease: WorkerLease;
      sessions(): Sessions<E>;
      cron(): readonly CronTick[];
      /** Proves the connections of the fetchers and of the listener. */
      prove(): void;
    },
  ) {
    const { connection, hooks, tasks, concurrency, outage, lease, sessions, cron, prove } = parts;
    const { logger } = config;
    this.#config = config;
    this.#lease = lease;
    this.#maintenance = maintenance(connection, config.schema, logger);
    this.#patient = maintenance(connection, config.schema, logger, PATIENT_BOUNDS);
    const wake = (): void => sessions().current.dispatcher.wake();
    this.limits = new LimitWatch(logger, (isOther) => {
      for (const session of sessions().all) session.limitsChanged(isOther);
    });
    const { limits } = this;
    const { database } = this.#maintenance;
    const { database: patient } = this.#patient;
    this.controls = new ControlWatch({
      ...{ logger, wake, limits, patient },
      database: () => sessions().current.database,
      returnUnstarted: async () => {
        await Promise.all(sessions().all.map(({ dispatcher }) => dispatcher.returnUnstarted()));
      },
      acknowledge: () => {
        if (lease.hasHeartbeats) this.#recovery?.reportFetched();
      },
      jobs: () => sessions().all.flatMap(({ cancellable }) => cancellable),
      isOwn: (workerId) => sessions().all.some(({ id }) => id === workerId),
      cancel: (job) => sessions().all.some((session) => session.cancel(job)),
    });
    const { resetLocksIntervalMs: intervalMs, staleLockThresholdMs } = config;
    const hasHeartbeats = (): boolean => lease.hasHeartbeats;
    this.#lockReset = new LockReset({
      ...{ database: patient, intervalMs, staleLockThresholdMs, logger, hasHeartbeats, wake },
    });
    const running = () => sessions().all;
    this.#lockRenewal = new LockRenewal({ database, staleLockThresholdMs, logger, running });
    this.#recovery =
      config.recovery === null
        ? null
        : new Recovery({
            config: config.recovery,
            renewLocksEveryMs: renewalIntervalMs(staleLockThresholdMs),
            connection,
            database,
            patient,
            hooks,
            logger,
            outage,
            lease,
            describe: () => ({
              concurrency: concurrency.value,
              tasks,
              cron: cron(),
              running: sessions().all.flatMap(({ running }) => running),
              unstarted: sessions().all.flatMap(({ unstarted }) => unstarted),
              unsettled: sessions().all.flatMap(({ unsettled }) => unsettled),
              pausesApplied: this.controls.appliedPauses,
            }),
            leaseLost: (id, reason) => {
              if (this.#recovery !== null) sessions().leaseLost(this.#recovery, id, reason);
            },
            wake,
            prove,
          });
  }

  /** The handlers of notifications, by channel. */
  get channels(): Readonly<Record<string, (payload: string) => void>> {
    return { ...this.controls.channels, ...this.limits.channels };
  }

  /**
   * Called before the first fetch, so that a worker with heartbeats has its lease before it locks jobs, and no job
   * starts before pauses and limits were read.
   */
  async start(db: Database, schema: ReadySchema, id: string): Promise<void> {
    if (this.#recovery !== null) {
      const reason = await this.#begin(this.#recovery, db, schema, id);
      if (reason !== null) this.#config.logger.warn({ reason }, OFF);
    }
    await this.controls.start(db);
    this.#lockReset.start();
    this.#lockRenewal.start();
  }

  /** Resolves to null, or to the reason why no heartbeats can be sent. */
  async #begin(
    recovery: Recovery,
    db: Database,
    schema: ReadySchema,
    id: string,
  ): Promise<string | null> {
    if (!schema.objects.has("_private_workers")) return noTable(db.schema.name);
    this.#lease.setKeeper(recovery);
    try {
      await recovery.start(db, id);
      return null;
    } catch (error) {
      this.#lease.setKeeper(null);
      if (codeOf((error as Error).cause) !== INSUFFICIENT_PRIVILEGE) throw error;
      return NO_RIGHTS;
    }
  }

  /** Stops the upkeep. Ends the leases of `endLeaseIds`, under which no job is locked. Never rejects. */
  async stop(endLeaseIds: readonly string[]): Promise<void> {
    await Promise.all([this.controls.stop(), this.#lockReset.stop(), this.#lockRenewal.stop()]);
    if (this.#lease.hasHeartbeats) await this.#recovery?.stop(endLeaseIds);
    await Promise.all([this.#maintenance.close(), this.#patient.close()]);
  }

  /** Closes the connections, so that the process can end. Called if the database does not respond during a stop. */
  cut(): void {
    this.#maintenance.cut();
    this.#patient.cut();
    this.#recovery?.cut();
  }
}
