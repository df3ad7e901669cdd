// What a worker does for the locks in the database beside its jobs: it keeps its own lease, sweeps
// workers that let theirs run out, and resets locks older than 4 hours.
import type pg from "pg";
import { codeOf } from "../base/errors.ts";
import type { Database } from "../database/database.ts";
import type { ReadySchema } from "../database/schema-state.ts";
import { type Maintenance, maintenance } from "./connection.ts";
import type { Hooks } from "./hooks.ts";
import type { Incarnations } from "./incarnations.ts";
import { LockReset } from "./lock-reset.ts";
import { Recovery } from "./recovery.ts";
import type { WorkerConfig } from "./worker-options.ts";

const OFF = "recovery is off: should this worker die, its jobs stay locked for 4 hours";
const NO_TABLE = 'the schema has no table of heartbeats; "worker migrate" adds it';
const NO_RIGHTS = "the database role may not write to the table _private_workers";
const INSUFFICIENT_PRIVILEGE = "42501";

export class Upkeep<E> {
  readonly #config: WorkerConfig<E>;
  readonly #maintenance: Maintenance;
  readonly #lockReset: LockReset;
  readonly #recovery: Recovery | null;
  #isRecovering = false;

  constructor(
    config: WorkerConfig<E>,
    parts: {
      readonly connection: pg.ClientConfig;
      readonly hooks: Hooks;
      incarnations(): Incarnations<E>;
    },
  ) {
    const { connection, hooks, incarnations } = parts;
    const { logger } = config;
    this.#config = config;
    this.#maintenance = maintenance(connection, config.schema, logger);
    const pulse = (): void => incarnations().current.dispatcher.pulse();
    const { database } = this.#maintenance;
    const interval_ms = config.resetLocksInterval_ms;
    const mayForget = (): boolean => this.#isRecovering && this.#recovery?.isCertain === true;
    this.#lockReset = new LockReset({ database, interval_ms, logger, mayForget, pulse });
    this.#recovery =
      config.recovery === null
        ? null
        : new Recovery({
            config: config.recovery,
            connection,
            maintenance: this.#maintenance,
            hooks,
            logger,
            describe: () => ({
              concurrency: config.concurrency,
              taskIdentifiers: [...config.tasks.keys()],
              cronIdentifiers: config.cron?.entries.map(({ identifier }) => identifier) ?? [],
              runningJobIds: incarnations().all.flatMap(({ runningIds }) => runningIds),
            }),
            leaseLost: (id) => {
              if (this.#recovery !== null) incarnations().leaseLost(this.#recovery, id);
            },
            pulse,
          });
  }

  /** Before the first job is taken: its lock must be under a lease. */
  async start(db: Database, schema: ReadySchema, id: string): Promise<void> {
    if (this.#recovery !== null) {
      const reason = await this.#begin(this.#recovery, db, schema, id);
      if (reason !== null) this.#config.logger.info({ reason }, OFF);
    }
    this.#lockReset.start();
  }

  /** null, or why there can be no heartbeats here. */
  async #begin(
    recovery: Recovery,
    db: Database,
    schema: ReadySchema,
    id: string,
  ): Promise<string | null> {
    if (!schema.objects.has("_private_workers")) return NO_TABLE;
    this.#isRecovering = true;
    try {
      await recovery.start(db, id);
      return null;
    } catch (error) {
      this.#isRecovering = false;
      if (codeOf((error as Error).cause) !== INSUFFICIENT_PRIVILEGE) throw error;
      return NO_RIGHTS;
    }
  }

  /** Whether jobs may be taken: the lease is good, or there are no leases here. */
  mayTake(): boolean {
    return !this.#isRecovering || this.#recovery?.mayTake() !== false;
  }

  /** `endLeaseIds`: those under which nothing is locked. Never rejects. */
  async stop(endLeaseIds: readonly string[]): Promise<void> {
    await this.#lockReset.stop();
    if (this.#isRecovering) await this.#recovery?.stop(endLeaseIds);
    await this.#maintenance.end();
  }
}
