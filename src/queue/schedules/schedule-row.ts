// SQL that reads rows of _private_schedules, and functions that convert between a row and a schedule. The SQL limits
// how many bytes are decompressed (see unpacked.ts), because a user's SQL may have written values of any size.
import { InputError } from "../../base/errors.ts";
import {
  isAtMost,
  isNameSize,
  MAX_REASON_LENGTH,
  packedBytes,
  startOfText,
} from "../../database/unpacked.ts";
import {
  checkedSchedule,
  MAX_PAYLOAD_BYTES,
  payloadTooLarge,
  type ScheduleDefinition,
} from "../../domain/cron/schedule.ts";
import { RawJson } from "../../domain/payload.ts";
import { EARLIEST_MS, LATEST_MS, microseconds, milliseconds } from "../sql/moments.ts";

/** The maximum size in bytes of a `spec` (the options of a schedule as JSON) that is read. */
const MAX_SPEC_LENGTH = 8_192;

/** The channel on which changes of schedules are announced to workers. */
export const SCHEDULES = "worker:schedules";

/** A schedule as it is stored. Times are milliseconds since the epoch. */
export interface StoredSchedule {
  readonly definition: ScheduleDefinition;
  readonly revision: number;
  readonly pausedMs: number | null;
  /** The first tick that has not been handled; null: no tick follows. */
  readonly nextMs: number | null;
  /** The last tick that was handled; null: none. */
  readonly lastMs: number | null;
}

export interface ScheduleRow {
  readonly identifier: string;
  readonly task: string;
  readonly pattern: string;
  readonly time_zone: string;
  readonly payload: string | null;
  readonly spec: string;
  readonly jitter_ms: number;
  readonly overlap: string;
  readonly revision: number;
  readonly paused_ms: string | null;
  readonly next_ms: string | null;
}

export interface PagedRow extends ScheduleRow {
  readonly next_us: string;
  /** The most bytes that can result from decompressing the values of this row and of the rows before it on the page. */
  readonly page_bytes: string;
}

/** An expression: the options in `spec`; `{}` if they are too long. */
const smallSpec = `case when ${isAtMost("spec", MAX_SPEC_LENGTH)} then spec else '{}'::jsonb end`;

const specBytes = packedBytes("spec", MAX_SPEC_LENGTH);

/** The columns of a ScheduleRow. If the payload is too large, `payload` is null, and storedSchedule() throws. */
export const scheduleColumns = `
  identifier, ${startOfText("task")} as task, ${startOfText("pattern", MAX_REASON_LENGTH)} as pattern,
  ${startOfText("time_zone")} as time_zone,
  case when ${isAtMost("payload", MAX_PAYLOAD_BYTES)} then payload::text end as payload,
  (${smallSpec})::text as spec, jitter_ms, overlap, revision,
  ${milliseconds("paused_at")} as paused_ms, ${milliseconds("next_at")} as next_ms`;

/** A page of schedules ends with the row whose `page_bytes` reaches this number. */
const PAGE_BYTES = 16 * 1_048_576;
const rowBytes = `${packedBytes("payload", MAX_PAYLOAD_BYTES)} + ${specBytes}`;

/**
 * Returns a query for a page of schedules. The page may have fewer rows than `limit` although more rows follow: see
 * isCut(). Rows whose identifier has more than 4,096 bytes are left out.
 */
export const schedulePage = (
  s: string,
  {
    where,
    order,
    limit,
  }: { readonly where: string; readonly order: string; readonly limit: string },
): string => `
  select ${scheduleColumns}, ${microseconds("next_at")} as next_us, page_bytes from (
    select stored.*, pg_catalog.sum(${rowBytes}) over (order by ${order} rows unbounded preceding)::bigint as page_bytes
    from (
      select * from ${s}._private_schedules where ${isNameSize("identifier")} and ${where}
      order by ${order} limit ${limit}
    ) as stored
  ) as schedules
  where page_bytes - (${rowBytes}) < ${PAGE_BYTES}::bigint
  order by ${order}`;

/** Whether a page of schedulePage() ends because it has reached PAGE_BYTES. */
export const isCut = (rows: readonly PagedRow[]): boolean =>
  Number(rows.at(-1)?.page_bytes ?? 0) >= PAGE_BYTES;

const LIST_BYTES = 4 * 1_048_576;

/**
 * Returns a query for the first `limit` rows in the order of their identifiers. `spec` is `{}` if the options are too
 * long, or if the decompressed options of the rows up to this one could have more than LIST_BYTES.
 */
export const schedulesWithOptions = (s: string, limit: number): string => `
  select identifier, task, pattern, time_zone, jitter_ms, overlap, revision, paused_at, next_at,
    case when list_bytes <= ${LIST_BYTES}::bigint then ${smallSpec} else '{}'::jsonb end as spec
  from (
    select stored.*, pg_catalog.sum(${specBytes}) over (order by identifier rows unbounded preceding)::bigint as list_bytes
    from (
      select * from ${s}._private_schedules where ${isNameSize("identifier")} order by identifier limit ${limit}
    ) as stored
  ) as summed`;

/**
 * Returns the schedule that a row stores. Throws InputError if the schedule is invalid for this version of the library.
 */
export function storedSchedule(row: ScheduleRow): StoredSchedule {
  if (row.payload === null) throw new InputError([payloadTooLarge]);
  const { lastMs = null, ...options } = (JSON.parse(row.spec) ?? {}) as StoredOptions;
  const definition = checkedSchedule({
    ...{ fillMs: 0, ...options },
    identifier: row.identifier,
    taskIdentifier: row.task,
    expression: row.pattern,
    timeZone: row.time_zone,
    payload: new RawJson(row.payload),
    jitterMs: row.jitter_ms,
    overlap: row.overlap as ScheduleDefinition["overlap"],
  });
  const { revision, paused_ms, next_ms } = row;
  return {
    ...{ definition, revision },
    ...{ pausedMs: msOf(paused_ms), nextMs: msOf(next_ms), lastMs: msOf(lastMs) },
  };
}

/** Some members of the column `spec`. */
interface StoredOptions {
  readonly lastMs?: number | null;
  readonly fillMs?: number;
  readonly queueName?: string;
}

/** Returns the JSON of a schedule's options for the column `spec`, without the last tick. */
export function specText({ entry }: ScheduleDefinition): string {
  const { fillMs, queueName, maxAttempts, priority, jobKey, jobKeyMode } = entry;
  return JSON.stringify({ fillMs, queueName, maxAttempts, priority, jobKey, jobKeyMode });
}

/**
 * An expression: the backfill period in milliseconds, at most 366 days; 0 if the stored value is not a number or has
 * more than 25 characters. A user's SQL may have written 1e999, which float8 cannot represent.
 */
export const fillMs = `case when pg_catalog.jsonb_typeof(spec->'fillMs'::text) = 'number'::text
      and pg_catalog.length(spec->>'fillMs'::text) <= 25
    then least((spec->>'fillMs'::text)::float8, 31622400000::float8) else 0::float8 end`;

/**
 * Returns a condition: the next tick is not earlier than `time` minus the backfill period. The options are read only if
 * the tick is earlier than `time`.
 */
export const isSince = (time: string): string => `case when next_at >= ${time} then true
      else next_at >= ${time} - (select ${fillMs} from (select ${smallSpec} as spec offset 0) as options) * interval '1 millisecond' end`;

/**
 * Returns a time in milliseconds as a number; null if the time is null or infinite. A time outside the years 1 to 9999
 * becomes the nearest time within these years.
 */
export function msOf(ms: string | number | null): number | null {
  const value = ms === null ? Number.NaN : Number(ms);
  return Number.isFinite(value) ? Math.min(Math.max(value, EARLIEST_MS), LATEST_MS) : null;
}

/**
 * Returns a time as RFC 3339 text for a parameter; `infinity`, not null, if there is no time: some parameters are
 * arrays, and the text of an array cannot contain nulls if PostgreSQL's setting array_nulls is off.
 */
export const timeParameter = (ms: number | null): string =>
  ms === null || !Number.isFinite(ms) ? "infinity" : new Date(ms).toISOString();
