// For tests of cron entries: a scheduler with manual time, and functions that read the jobs that were added.

import { randomUUID } from "node:crypto";
import type pg from "pg";
import { Outage } from "../../src/base/outage.ts";
import { schemaName } from "../../src/database/schema-name.ts";
import type { CronEntry } from "../../src/domain/cron/cron-entry.ts";
import { Cron, type CronTime } from "../../src/worker/cron/cron.ts";
import { Hooks, type Plugin } from "../../src/worker/task/hooks.ts";
import { type LogLine, recorder } from "./worker-queue.ts";

interface Sleeper {
  readonly untilMs: number;
  wake(): void;
}

/** Manual time for any number of schedulers. */
export class ManualTime implements CronTime {
  nowMs: number;
  readonly waitsMs: number[] = [];
  readonly #sleepers = new Set<Sleeper>();
  #watchers: { readonly count: number; resolve(): void }[] = [];

  constructor(iso: string) {
    this.nowMs = Date.parse(iso);
  }

  now(): Promise<number> {
    return Promise.resolve(this.nowMs);
  }

  wait(ms: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    this.waitsMs.push(ms);
    return new Promise((resolve) => {
      const end = (passed: boolean) => {
        this.#sleepers.delete(sleeper);
        signal.removeEventListener("abort", abort);
        resolve(passed);
      };
      const abort = () => end(false);
      const sleeper = { untilMs: this.nowMs + ms, wake: () => end(true) };
      signal.addEventListener("abort", abort, { once: true });
      this.#sleepers.add(sleeper);
      for (const { resolve } of this.#watchers.filter(({ count }) => count === this.#sleepers.size))
        resolve();
    });
  }

  /** Resolves when exactly `count` schedulers sleep. */
  async resting(count = 1): Promise<void> {
    if (this.#sleepers.size === count) return;
    await new Promise<void>((resolve) => this.#watchers.push({ count, resolve }));
    this.#watchers = [];
  }

  /**
   * Sets the time, and wakes the schedulers whose sleep is then over. Before and after, waits until `count` schedulers
   * sleep.
   */
  async goTo(iso: string, count = 1): Promise<void> {
    await this.resting(count);
    this.nowMs = Date.parse(iso);
    this.wake();
    await this.resting(count);
  }

  /** Wakes the schedulers whose sleep is over. `all`: wakes all schedulers, as if their timers fired too early. */
  wake(all = false): void {
    for (const sleeper of [...this.#sleepers]) {
      if (all || sleeper.untilMs <= this.nowMs) sleeper.wake();
    }
  }
}

export interface Scheduler {
  readonly cron: Cron;
  readonly hooks: Hooks;
  readonly lines: LogLine[];
  /** The events in order: `scheduled <entry> <time>`, `backfilled <entry> <time>`, `tick <time> <tasks>`. */
  readonly events: string[];
}

export interface SchedulerOptions {
  readonly pool: pg.Pool;
  readonly entries: readonly CronEntry[];
  readonly time?: CronTime;
  readonly plugins?: readonly Plugin[];
  readonly schema?: string;
}

export function scheduler(options: SchedulerOptions): Scheduler {
  const { lines, logger } = recorder();
  const hooks = new Hooks(logger, options.plugins);
  const events: string[] = [];
  hooks.on("cron:scheduled", ({ identifier, timestamp, backfilled }) => {
    events.push(`${backfilled ? "backfilled" : "scheduled"} ${identifier} ${timestamp.toJSON()}`);
  });
  hooks.on("cron:tick", ({ timestamp, taskIdentifiers }) => {
    events.push(`tick ${timestamp.toJSON()} ${taskIdentifiers}`);
  });
  const cron = new Cron(
    { entries: options.entries, crontabFile: null },
    {
      workerId: () => "w",
      db: { client: options.pool, schema: schemaName(options.schema) },
      hooks,
      logger,
      outage: new Outage({ ...logger, debug() {} }),
      taskIdentifiers: new Set(options.entries.map(({ taskIdentifier }) => taskIdentifier)),
      ...(options.time === undefined ? {} : { time: options.time }),
    },
  );
  return { cron, hooks, lines, events };
}

/** Returns `name` with a random end. */
export const unique = (name: string) => `${name}_${randomUUID().slice(0, 8)}`;

export interface StoredJob {
  readonly task_identifier: string;
  readonly run_at: string;
  readonly payload: string;
  readonly queue_name: string | null;
  readonly priority: number;
  readonly max_attempts: number;
  readonly key: string | null;
}

/** Returns the jobs of tasks whose identifiers start with `prefix`, ordered by `run_at`. */
export async function jobsOf(pool: pg.Pool, prefix: string): Promise<StoredJob[]> {
  const { rows } = await pool.query<StoredJob>(
    `select task_identifier, to_char(v.run_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SSZ') as run_at,
       j.payload::text as payload, queue_name, v.priority, v.max_attempts, v.key
     from worker.jobs v join worker._private_jobs j using (id)
     where starts_with(task_identifier, $1)
     order by v.run_at, v.id`,
    [prefix],
  );
  return rows;
}

/** Returns the times at which the jobs of jobsOf() are due, as `HH:MM` in UTC. */
export async function timesOf(pool: pg.Pool, prefix: string): Promise<string[]> {
  return (await jobsOf(pool, prefix)).map(({ run_at }) => run_at.slice(11, 16));
}
