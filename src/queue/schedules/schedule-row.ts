// A row of _private_schedules, and the schedule that it is.
import { InputError } from "../../base/errors.ts";
import { isAtMost, MAX_REASON_LENGTH, startOfText } from "../../database/unpacked.ts";
import {
  checkedSchedule,
  MAX_PAYLOAD_BYTES,
  payloadTooLarge,
  type ScheduleDefinition,
} from "../../domain/cron/schedule.ts";
import { RawJson } from "../../domain/payload.ts";
import { EARLIEST_MS, LATEST_MS, milliseconds } from "../sql/moments.ts";

/** The size of the options in the column `spec`: a queue and a key of at most 512 characters, and numbers. */
const MAX_SPEC_LENGTH = 8_192;

/** Workers listen on this channel, and read the schedules at once. */
export const SCHEDULES = "worker:schedules";

/** A schedule as it is stored. Times are milliseconds since the epoch. */
export interface StoredSchedule {
  readonly definition: ScheduleDefinition;
  readonly revision: number;
  readonly pausedMs: number | null;
  /** The first tick that is not handled; null without one. */
  readonly nextMs: number | null;
  /** The last tick that was handled; null before the first. */
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

/** The options; none where they are longer than this program writes, such as after a change by SQL. */
export const smallSpec = `case when ${isAtMost("spec", MAX_SPEC_LENGTH)} then spec else '{}'::jsonb end`;

/** A payload that is too large is null, and makes the row invalid. */
export const scheduleColumns = `
  identifier, ${startOfText("task")} as task, ${startOfText("pattern", MAX_REASON_LENGTH)} as pattern,
  ${startOfText("time_zone")} as time_zone,
  case when ${isAtMost("payload", MAX_PAYLOAD_BYTES)} then payload::text end as payload,
  (${smallSpec})::text as spec, jitter_ms, overlap, revision,
  ${milliseconds("paused_at")} as paused_ms, ${milliseconds("next_at")} as next_ms`;

/** Throws InputError for a row that is invalid: another version, or a user by SQL, may have written it. */
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

/** The options of a schedule that have no column, and its last tick. */
interface StoredOptions {
  readonly lastMs?: number | null;
  readonly fillMs?: number;
  readonly queueName?: string;
}

/** JSON for the column `spec`, without the last tick. */
export function specText({ entry }: ScheduleDefinition): string {
  const { fillMs, queueName, maxAttempts, priority, jobKey, jobKeyMode } = entry;
  return JSON.stringify({ fillMs, queueName, maxAttempts, priority, jobKey, jobKeyMode });
}

/**
 * The backfill period, at most a year; 0 for anything that this program does not write. For example, the cast of 1e999,
 * which a user may have written by SQL, would abort the whole statement.
 */
export const fillMs = `case when pg_catalog.jsonb_typeof(spec->'fillMs'::text) = 'number'::text
      and pg_catalog.length(spec->>'fillMs'::text) <= 25
    then least((spec->>'fillMs'::text)::float8, 31622400000::float8) else 0::float8 end`;

/**
 * Infinity is not a time. A time beyond RFC 3339, which a user may have written by SQL, becomes the nearest valid one: a
 * Date or a parameter cannot have it.
 */
export function msOf(ms: string | number | null): number | null {
  const value = ms === null ? Number.NaN : Number(ms);
  return Number.isFinite(value) ? Math.min(Math.max(value, EARLIEST_MS), LATEST_MS) : null;
}

/** RFC 3339 for a parameter; infinity for no time, because arrays may not contain null. */
export const timeParameter = (ms: number | null): string =>
  ms === null || !Number.isFinite(ms) ? "infinity" : new Date(ms).toISOString();
