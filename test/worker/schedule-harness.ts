// Runs schedules without a worker, in real time or in the manual time of cron-harness.ts, and sets their next ticks.
import type pg from "pg";
import { Outage } from "../../src/base/outage.ts";
import { addSchedule } from "../../src/commands/schedules/stored-schedules.ts";
import { schemaName } from "../../src/database/schema-name.ts";
import { cronEntry } from "../../src/domain/cron/cron-entry.ts";
import { checkedSchedule, type ScheduleOptions } from "../../src/domain/cron/schedule.ts";
import type { CronTime } from "../../src/worker/cron/cron.ts";
import { Schedules } from "../../src/worker/cron/schedules.ts";
import { Hooks, type Plugin } from "../../src/worker/task/hooks.ts";
import { type LogLine, recorder } from "./worker-queue.ts";

export interface ScheduleRunner {
  readonly schedules: Schedules;
  readonly lines: LogLine[];
  /** `scheduled <schedule> <time>` or `backfilled <schedule> <time>` for each added job. */
  readonly events: string[];
}

export interface RunnerOptions {
  readonly pool: pg.Pool;
  readonly time?: CronTime;
  readonly plugins?: readonly Plugin[];
}

export function runner({ pool, time, plugins }: RunnerOptions): ScheduleRunner {
  const { lines, logger } = recorder();
  const hooks = new Hooks(logger, plugins);
  const events: string[] = [];
  hooks.on("cron:scheduled", ({ identifier, timestamp, backfilled }) => {
    events.push(`${backfilled ? "backfilled" : "scheduled"} ${identifier} ${timestamp.toJSON()}`);
  });
  const schedules = new Schedules({
    workerId: () => "w",
    db: { client: pool, schema: schemaName() },
    ...{ hooks, logger },
    outage: new Outage({ ...logger, debug() {} }),
    ...(time === undefined ? {} : { time }),
  });
  return { schedules, lines, events };
}

/** Adds the schedule `name`, whose next tick is at `next`. Its jobs have the task `name`. */
export async function insertSchedule(
  pool: pg.Pool,
  name: string,
  pattern: string,
  next: string,
  {
    jitterMs = 0,
    overlap = "allow",
    payload,
    ...options
  }: ScheduleOptions & { payload?: unknown } = {},
): Promise<void> {
  const db = { client: pool, schema: schemaName() };
  const entry = cronEntry(pattern, name, options);
  await addSchedule(db, checkedSchedule({ ...entry, payload, jitterMs, overlap }));
  await setNext(pool, name, next);
}

export async function setNext(pool: pg.Pool, name: string, next: string): Promise<void> {
  await pool.query("update worker._private_schedules set next_at = $2 where identifier = $1", [
    name,
    next,
  ]);
}
