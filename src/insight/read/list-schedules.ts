// Reads one schedule, a page of schedules, or the list of schedules without payloads.

import { InputError, WorkerError } from "../../base/errors.ts";
import { type Database, query, type Statement } from "../../database/database.ts";
import { hasSchedules } from "../../database/schema/extensions/has-extension.ts";
import { requireTables, SCHEDULE_TABLES } from "../../database/schema/extensions/missing-tables.ts";
import { MAX_REASON_LENGTH, startOfText } from "../../database/unpacked.ts";
import { shortName } from "../../domain/words.ts";
import {
  fillMs,
  isCut,
  msOf,
  type PagedRow,
  type ScheduleRow,
  type StoredSchedule,
  scheduleColumns,
  schedulePage,
  schedulesWithOptions,
  storedSchedule,
} from "../../queue/schedules/schedule-row.ts";
import { milliseconds } from "../../queue/sql/moments.ts";

/** The maximum number of schedules on a page. Each schedule has a payload of up to 64 KiB. */
export const MAX_LISTED = 100;
const MAX_IN_LIST = 10_000;

export const noSchedule = (identifier: string): WorkerError =>
  new WorkerError("not_found", `there is no schedule "${shortName(identifier)}"`);

/**
 * Returns a schedule. Throws WorkerError: `not_found`, `extension_missing`, or `conflict` if the schedule's row is
 * invalid.
 */
export async function readSchedule(db: Database, identifier: string): Promise<StoredSchedule> {
  const row = await readRow(db, identifier);
  try {
    return storedSchedule(row);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const message = `the row of the schedule "${shortName(identifier)}" is invalid: ${error.message}`;
    throw new WorkerError("conflict", message, { cause: error });
  }
}

/** Like readSchedule(), but returns null if the schedule's row is invalid. */
export async function readValidSchedule(
  db: Database,
  identifier: string,
): Promise<StoredSchedule | null> {
  return validSchedule(await readRow(db, identifier))[0] ?? null;
}

async function readRow(db: Database, identifier: string): Promise<ScheduleRow> {
  await requireTables(db, SCHEDULE_TABLES);
  const [row] = await query<ScheduleRow>(db, oneSql, [identifier]);
  if (row === undefined) throw noSchedule(identifier);
  return row;
}

/**
 * Returns at most `limit` schedules, ordered by identifier; fewer if the schedules are large. Invalid rows are left
 * out. The page begins after the identifier `after`. `nextAfter`: the value of `after` for the next page; null: no page
 * follows. Throws WorkerError `extension_missing`.
 */
export async function readSchedules(
  db: Database,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<{ readonly schedules: readonly StoredSchedule[]; readonly nextAfter: string | null }> {
  await requireTables(db, SCHEDULE_TABLES);
  const rows = await query<PagedRow>(db, pageSql, [after, limit + 1]);
  const shown = rows.slice(0, limit);
  const hasMore = rows.length > limit || isCut(rows);
  const nextAfter = hasMore ? (shown.at(-1)?.identifier ?? null) : null;
  return { schedules: shown.flatMap(validSchedule), nextAfter };
}

/** A schedule without its payload. `pausedMs`, `nextMs` and `lastMs` are milliseconds since the epoch. */
export interface ScheduleTimes {
  readonly identifier: string;
  readonly task: string;
  readonly pattern: string;
  readonly timeZone: string;
  readonly fillMs: number;
  readonly key: string | null;
  readonly jitterMs: number;
  readonly overlap: string;
  readonly revision: number;
  readonly pausedMs: number | null;
  readonly nextMs: number | null;
  readonly lastMs: number | null;
}

/** Returns at most 10,000 schedules, ordered by identifier. */
export async function listScheduleTimes(db: Database): Promise<ScheduleTimes[]> {
  if (!(await hasSchedules(db))) return [];
  const rows = await query<TimesRow>(db, timesSql);
  return rows.map((row) => ({
    ...{ identifier: row.identifier, task: row.task, pattern: row.pattern },
    ...{ timeZone: row.time_zone, fillMs: row.fill_ms, key: row.key, jitterMs: row.jitter_ms },
    ...{ overlap: row.overlap, revision: row.revision, pausedMs: msOf(row.paused_ms) },
    ...{ nextMs: msOf(row.next_ms), lastMs: msOf(row.last_ms) },
  }));
}

interface TimesRow {
  readonly identifier: string;
  readonly task: string;
  readonly pattern: string;
  readonly time_zone: string;
  readonly fill_ms: number;
  readonly key: string | null;
  readonly jitter_ms: number;
  readonly overlap: string;
  readonly revision: number;
  readonly paused_ms: string | null;
  readonly next_ms: string | null;
  readonly last_ms: string | null;
}

/** Returns those of the names that are identifiers of schedules. */
export async function scheduledNames(db: Database, names: readonly string[]): Promise<string[]> {
  if (names.length === 0 || !(await hasSchedules(db))) return [];
  const rows = await query<{ identifier: string }>(db, namesSql, [names]);
  return rows.map(({ identifier }) => identifier);
}

function validSchedule(row: ScheduleRow): StoredSchedule[] {
  try {
    return [storedSchedule(row)];
  } catch (error) {
    if (error instanceof InputError) return [];
    throw error;
  }
}

const oneSql: Statement = (s) => `
select ${scheduleColumns} from ${s}._private_schedules where identifier = $1::text`;

const pageSql: Statement = (s) =>
  schedulePage(s, {
    where: "($1::text is null or identifier > $1::text)",
    order: "identifier",
    limit: "$2::int",
  });

const timesSql: Statement = (s) => `
select identifier, ${startOfText("task")} as task, ${startOfText("pattern", MAX_REASON_LENGTH)} as pattern,
  ${startOfText("time_zone")} as time_zone, jitter_ms, overlap, revision,
  ${fillMs} as fill_ms, spec->>'jobKey'::text as key, (spec->>'lastMs'::text) as last_ms,
  ${milliseconds("paused_at")} as paused_ms, ${milliseconds("next_at")} as next_ms
from (${schedulesWithOptions(s, MAX_IN_LIST)}
  offset 0
) as schedules
order by identifier`;

const namesSql: Statement = (s) => `
select identifier from ${s}._private_schedules where identifier = any($1::text[])`;
