// Adds, changes, pauses, resumes and removes schedules. A committed change takes effect at once: a worker adds the job
// of a tick only if the schedule's row still has the revision that the worker has read.

import { WorkerError } from "../../base/errors.ts";
import { inTransaction } from "../../database/connection/transaction.ts";
import { type Database, query, type Statement } from "../../database/database.ts";
import { requireTables, SCHEDULE_TABLES } from "../../database/schema/extensions/missing-tables.ts";
import { cronSchedule } from "../../domain/cron/cron-schedule.ts";
import {
  changedSchedule,
  type ScheduleChanges,
  type ScheduleDefinition,
} from "../../domain/cron/schedule.ts";
import { shellWord } from "../../domain/portable/shell-word.ts";
import { positionals, workerLine } from "../../domain/portable/worker-line.ts";
import { shortName } from "../../domain/words.ts";
import { noSchedule } from "../../insight/read/list-schedules.ts";
import {
  SCHEDULES,
  type ScheduleRow,
  type StoredSchedule,
  scheduleColumns,
  specText,
  storedSchedule,
  timeParameter,
} from "../../queue/schedules/schedule-row.ts";
import { milliseconds } from "../../queue/sql/moments.ts";

export const MAX_SCHEDULES = 10_000;

/**
 * Adds a schedule. Throws `extension_missing`, and `conflict` if the identifier exists, or if there are MAX_SCHEDULES
 * schedules.
 */
export async function addSchedule(
  db: Database,
  definition: ScheduleDefinition,
): Promise<StoredSchedule> {
  await requireTables(db, SCHEDULE_TABLES);
  return inTransaction(db, async (inside) => {
    const [before] = await query<{ now_ms: string; count: number; is_there: boolean }>(
      inside,
      beforeAddSql,
      [definition.entry.identifier],
    );
    if (before?.is_there === true) throw alreadyExists(db, definition);
    if ((before?.count ?? 0) >= MAX_SCHEDULES) {
      throw new WorkerError(
        "conflict",
        `there are ${MAX_SCHEDULES} schedules, which is the maximum; remove some`,
      );
    }
    const { entry, payloadText, jitterMs, overlap } = definition;
    const { identifier, taskIdentifier, expression, timeZone } = entry;
    const [row] = await query<ScheduleRow>(inside, addSql, [
      ...[identifier, taskIdentifier, expression, timeZone, payloadText, specText(definition)],
      ...[jitterMs, overlap, timeParameter(nextTick(definition, Number(before?.now_ms) + 1))],
    ]);
    if (row === undefined) throw alreadyExists(db, definition);
    return storedSchedule(row);
  });
}

function alreadyExists({ schema }: Database, { entry }: ScheduleDefinition): WorkerError {
  const [name, pattern] = [positionals([entry.identifier]), shellWord(entry.expression)];
  const command = workerLine(schema.name, `worker schedule change --pattern=${pattern} ${name}`);
  const sentence = `the schedule "${shortName(entry.identifier)}" already exists; change it ("${command}"), or use another identifier`;
  return new WorkerError("conflict", sentence);
}

/**
 * Changes a schedule. A new pattern or time zone moves the next tick, unless that tick is due and the schedule is not
 * paused. Throws `extension_missing`, `not_found`, InputError, and `conflict` if `revision` is given and the schedule
 * has another revision.
 */
export async function changeSchedule(
  db: Database,
  identifier: string,
  changes: ScheduleChanges,
  revision: number | null = null,
): Promise<StoredSchedule> {
  return withLocked(db, identifier, revision, async (inside, schedule, nowMs) => {
    const { definition } = schedule;
    const changed = changedSchedule(definition, changes);
    const { entry, payloadText, jitterMs, overlap } = changed;
    return update(inside, changeSql, [
      ...[identifier, entry.taskIdentifier, entry.expression, entry.timeZone, payloadText],
      ...[
        specText(changed),
        jitterMs,
        overlap,
        timeParameter(nextAfterChange(schedule, changed, nowMs)),
      ],
    ]);
  });
}

function nextAfterChange(
  { definition, pausedMs, nextMs }: StoredSchedule,
  changed: ScheduleDefinition,
  nowMs: number,
): number | null {
  const [before, after] = [definition.entry, changed.entry];
  const isSameTime = before.expression === after.expression && before.timeZone === after.timeZone;
  const isDue = pausedMs === null && nextMs !== null && nextMs <= nowMs;
  return isSameTime || isDue ? nextMs : nextTick(changed, nowMs + 1);
}

/** The result of pausing or resuming a schedule. */
export interface PausedSchedule {
  readonly schedule: StoredSchedule;
  /** False if the schedule already had the requested state. */
  readonly isChanged: boolean;
}

/** Pauses a schedule: its ticks add no jobs until it is resumed. */
export async function pauseSchedule(
  db: Database,
  identifier: string,
  revision: number | null = null,
): Promise<PausedSchedule> {
  return withLocked(db, identifier, revision, async (inside, schedule) => {
    if (schedule.pausedMs !== null) return { schedule, isChanged: false };
    return { schedule: await update(inside, pauseSql, [identifier]), isChanged: true };
  });
}

/** Resumes a schedule. Ticks during the pause still add their jobs if they are within the backfill period. */
export async function resumeSchedule(
  db: Database,
  identifier: string,
  revision: number | null = null,
): Promise<PausedSchedule> {
  return withLocked(db, identifier, revision, async (inside, schedule, nowMs) => {
    if (schedule.pausedMs === null) return { schedule, isChanged: false };
    const { definition, nextMs } = schedule;
    const sinceMs = Math.max(nextMs ?? nowMs, nowMs - definition.entry.fillMs);
    const next = timeParameter(nextTick(definition, Math.min(sinceMs, nowMs)));
    return { schedule: await update(inside, resumeSql, [identifier, next]), isChanged: true };
  });
}

/** Removes a schedule and returns it. The jobs that the schedule has added stay. */
export async function removeSchedule(
  db: Database,
  identifier: string,
  revision: number | null = null,
): Promise<StoredSchedule> {
  return withLocked(db, identifier, revision, async (inside, schedule) => {
    await query(inside, removeSql, [identifier]);
    return schedule;
  });
}

/** Returns the first tick at or after `fromMs`; null if there is none. */
const nextTick = ({ entry }: ScheduleDefinition, fromMs: number): number | null =>
  cronSchedule(entry.expression, entry.timeZone).next(fromMs);

interface LockedRow extends ScheduleRow {
  readonly now_ms: string;
}

/** Calls `work` in a transaction that has locked the schedule's row. */
async function withLocked<T>(
  db: Database,
  identifier: string,
  revision: number | null,
  work: (inside: Database, schedule: StoredSchedule, nowMs: number) => Promise<T>,
): Promise<T> {
  await requireTables(db, SCHEDULE_TABLES);
  return inTransaction(db, async (inside) => {
    const [row] = await query<LockedRow>(inside, lockSql, [identifier]);
    if (row === undefined) throw noSchedule(identifier);
    if (revision !== null && row.revision !== revision) {
      const sentence = `the schedule "${shortName(identifier)}" has revision ${row.revision}, not ${revision}: it was changed after you read it; read it again before you repeat the change`;
      throw new WorkerError("conflict", sentence);
    }
    return work(inside, storedSchedule(row), Number(row.now_ms));
  });
}

async function update(
  db: Database,
  statement: Statement,
  values: unknown[],
): Promise<StoredSchedule> {
  const [row] = await query<ScheduleRow>(db, statement, values);
  if (row === undefined) throw noSchedule(String(values[0]));
  return storedSchedule(row);
}

const now = milliseconds("pg_catalog.clock_timestamp()");
const announced = `pg_catalog.pg_notify('${SCHEDULES}', pg_catalog.random()::text)`;

const beforeAddSql: Statement = (s) => `
select ${now} as now_ms, exists (select from ${s}._private_schedules where identifier = $1::text) as is_there,
  (select pg_catalog.count(*)::int from (select from ${s}._private_schedules limit ${MAX_SCHEDULES}) as first) as count`;

/** The statement is a select, because some drivers return the rows of a plain update in another form. */
const written =
  (write: Statement): Statement =>
  (s) =>
    `
with written as (
  ${write(s)}
  returning *
)
select ${scheduleColumns}, ${announced} from written`;

const addSql = written(
  (s) => `insert into ${s}._private_schedules
  (identifier, task, pattern, time_zone, payload, spec, jitter_ms, overlap, next_at)
values ($1::text, $2::text, $3::text, $4::text, $5::text::json, $6::text::jsonb, $7::int, $8::text, $9::text::timestamptz)
on conflict (identifier) do nothing`,
);

const lockSql: Statement = (s) => `
select ${scheduleColumns}, ${now} as now_ms
from ${s}._private_schedules where identifier = $1::text for update`;

// Keeps the last tick (`lastMs` of spec).
const changeSql = written(
  (s) => `update ${s}._private_schedules as schedule set
  task = $2::text, pattern = $3::text, time_zone = $4::text, payload = $5::text::json,
  spec = $6::text::jsonb || case when spec->'lastMs'::text is null then '{}'::jsonb
    else pg_catalog.jsonb_build_object('lastMs', spec->'lastMs'::text) end,
  jitter_ms = $7::int, overlap = $8::text, next_at = $9::text::timestamptz, revision = revision + 1
where identifier = $1::text`,
);

const pauseSql = written(
  (s) => `update ${s}._private_schedules set paused_at = pg_catalog.now(), revision = revision + 1
where identifier = $1::text`,
);

const resumeSql = written(
  (s) => `update ${s}._private_schedules set
  paused_at = null, next_at = $2::text::timestamptz, revision = revision + 1
where identifier = $1::text`,
);

const removeSql: Statement = (s) => `
delete from ${s}._private_schedules where identifier = $1::text`;
