// A schedule is a cron entry that is a row in the database instead of a part of a program.
import { createHash } from "node:crypto";
import * as v from "valibot";
import { now } from "../../base/clock.ts";
import { InputError, type Problem } from "../../base/errors.ts";
import { checkAll, strict, validate } from "../../base/validate.ts";
import { identifier, type JobSpec, type JobToAdd } from "../job-spec.ts";
import { payloadText, RawJson, rawJson } from "../payload.ts";
import {
  type CronEntry,
  type CronEntryOptions,
  type CronPayload,
  checkedEntry,
} from "./cron-entry.ts";
import { type JsonObject, jsonObject } from "./cron-payload.ts";
import { cronSchedule } from "./cron-schedule.ts";

export const overlaps = ["allow", "skip", "replace"] as const;
/**
 * What a tick does if the job of an earlier tick is unfinished. `allow`: the tick adds a job. `skip`: the tick adds no
 * job, even if the earlier job is running. `replace`: the tick replaces the earlier job; if a worker has locked the
 * earlier job, the tick adds another job.
 */
export type ScheduleOverlap = (typeof overlaps)[number];

/** Options of a schedule, without its payload. */
export interface ScheduleOptions extends CronEntryOptions {
  /**
   * The longest delay of a job after its tick, in milliseconds, at most a day. Jobs of schedules with the same pattern
   * usually have different delays. Default 0: no delay.
   */
  readonly jitterMs?: number | undefined;
  /**
   * What a tick does if the job of an earlier tick is unfinished: see ScheduleOverlap. Default `allow`, the only value
   * that can be combined with `jobKey`.
   */
  readonly overlap?: ScheduleOverlap | undefined;
}

/** The options and the payload of a schedule. The payload may be omitted if none of its members is required. */
export type ScheduleArguments<Payload> =
  Record<never, never> extends CronPayload<Payload>
    ? [options?: ScheduleOptions & { readonly payload?: CronPayload<Payload> | RawJson }]
    : [options: ScheduleOptions & { readonly payload: CronPayload<Payload> | RawJson }];

/** The new values of a schedule's options. null restores the default; omitted options stay as they are. */
export interface ScheduleChanges {
  /** The identifier of the task whose jobs are added. */
  readonly task?: string | undefined;
  /** The cron expression. */
  readonly pattern?: string | undefined;
  /** The IANA time zone of the pattern. */
  readonly timeZone?: string | null | undefined;
  /** The payload of each job, a JSON object. */
  readonly payload?: unknown;
  /** The backfill period in milliseconds: see Schedule. */
  readonly fillMs?: number | null | undefined;
  /** The named queue of the jobs. */
  readonly queueName?: string | null | undefined;
  /** The maximum number of attempts of each job. */
  readonly maxAttempts?: number | null | undefined;
  /** The priority of each job. */
  readonly priority?: number | null | undefined;
  /** The job key of each job. */
  readonly jobKey?: string | null | undefined;
  /** What a tick does with an unlocked job of the same key: see CronEntryOptions. */
  readonly jobKeyMode?: "replace" | "preserve_run_at" | null | undefined;
  /** The longest delay of a job after its tick, in milliseconds. */
  readonly jitterMs?: number | null | undefined;
  /** What a tick does if the job of an earlier tick is unfinished: see ScheduleOverlap. */
  readonly overlap?: ScheduleOverlap | null | undefined;
}

/** A checked schedule. */
export interface ScheduleDefinition {
  readonly entry: CronEntry & { readonly timeZone: string };
  /** The payload as JSON text. The text of a RawJson is kept byte for byte. */
  readonly payloadText: string;
  readonly jitterMs: number;
  readonly overlap: ScheduleOverlap;
}

const MAX_JITTER_MS = 86_400_000;
export const MAX_PAYLOAD_BYTES = 65_536;
export const payloadTooLarge: Problem = {
  path: "payload",
  message: `must have at most ${MAX_PAYLOAD_BYTES} bytes; store larger data elsewhere, and put a reference to it into the payload`,
};

const ownSchema = strict({
  identifier,
  jitterMs: v.pipe(
    v.number("must be a number"),
    v.check((ms) => Number.isInteger(ms) && ms >= 0, "must be a whole number, not negative"),
    v.maxValue(MAX_JITTER_MS, "must be at most a day"),
  ),
  overlap: v.picklist(overlaps, `must be one of ${overlaps.join(", ")}`),
});

interface ScheduleInput extends Omit<CronEntry, "payload"> {
  readonly payload?: unknown;
  readonly jitterMs: number;
  readonly overlap: ScheduleOverlap;
}

/** Checks the input and returns the definition. Throws InputError for invalid values. */
export function checkedSchedule({
  payload,
  jitterMs,
  overlap,
  ...given
}: ScheduleInput): ScheduleDefinition {
  const [own, entry, text] = checkAll(
    () => validate(ownSchema, { identifier: given.identifier, jitterMs, overlap }),
    () => checkedEntry({ ...given, payload: {} }),
    () => boundedPayload(payload),
  );
  const problems: Problem[] = [];
  if (entry.jobKey !== undefined && own.overlap !== "allow") {
    const message = `cannot be combined with overlap ${own.overlap}, which sets a key of its own`;
    problems.push({ path: "jobKey", message });
  }
  const timeZone = entry.timeZone ?? "UTC";
  if (cronSchedule(entry.expression, timeZone).next(now()) === null) {
    problems.push({ path: "pattern", message: "matches no time" });
  }
  if (problems.length > 0) throw new InputError(problems);
  const checked = { ...entry, timeZone, payload: text.value };
  return { entry: checked, payloadText: text.text, jitterMs: own.jitterMs, overlap: own.overlap };
}

function boundedPayload(payload: unknown): { readonly text: string; readonly value: JsonObject } {
  const value = jsonObject(payload);
  const text = payload instanceof RawJson ? payloadText(payload) : payloadText(value);
  if (Buffer.byteLength(text) <= MAX_PAYLOAD_BYTES) return { text, value };
  throw new InputError([payloadTooLarge]);
}

/** Returns the definition with the changes. Throws InputError for invalid values. */
export function changedSchedule(
  { entry, payloadText: text, jitterMs, overlap }: ScheduleDefinition,
  changes: ScheduleChanges,
): ScheduleDefinition {
  const before = { ...entry, payload: new RawJson(text), jitterMs, overlap };
  const { task, pattern, ...rest } = validate(changesSchema, changes);
  const names = { taskIdentifier: task, expression: pattern, ...rest };
  const set = Object.entries(names).flatMap(([name, value]) => {
    if (value === undefined) return [];
    return [[name, value === null ? defaults[name] : value] as const];
  });
  return checkedSchedule({ ...before, ...Object.fromEntries(set) });
}

/** The defaults, other than undefined, that null restores. */
const defaults: Readonly<Record<string, unknown>> = { fillMs: 0, jitterMs: 0, overlap: "allow" };

// Only the names of the options are checked here; checkedSchedule() checks the values.
const any = v.optional(v.unknown());
const changesSchema = strict({
  ...{ task: any, pattern: any, timeZone: any, payload: any, fillMs: any, queueName: any },
  ...{ maxAttempts: any, priority: any, jobKey: any, jobKeyMode: any, jitterMs: any, overlap: any },
});

/** Returns the job of a tick. With `isWhole`, the payload is an object, which interceptors can change. */
export function scheduledJob(
  { entry, payloadText: text, jitterMs, overlap }: ScheduleDefinition,
  tickMs: number,
  { isBackfill, isWhole }: { readonly isBackfill: boolean; readonly isWhole: boolean },
): JobToAdd {
  const runAt = new Date(tickMs + jitterOf(entry.identifier, tickMs, jitterMs)).toISOString();
  const stamp = { ts: new Date(tickMs).toISOString(), backfilled: isBackfill };
  const payload = isWhole ? { ...entry.payload, _cron: stamp } : addStamp(text, stamp);
  const spec = { ...jobOptions(entry), ...keyOptions(entry.identifier, overlap), runAt };
  return { identifier: entry.taskIdentifier, payload, spec };
}

/** Returns the job that a user adds by hand from a schedule: due at once, and without the schedule's job key. */
export function manualJob(
  { entry, payloadText: text }: ScheduleDefinition,
  atMs: number,
): JobToAdd {
  const payload = addStamp(text, { ts: new Date(atMs).toISOString(), manual: true });
  const { jobKey: _, jobKeyMode: __, ...spec } = jobOptions(entry);
  return { identifier: entry.taskIdentifier, payload, spec };
}

function jobOptions(entry: CronEntry): JobSpec {
  const { queueName, maxAttempts, priority, jobKey, jobKeyMode } = entry;
  return { queueName, maxAttempts, priority, jobKey, jobKeyMode };
}

/** Returns the key of the jobs of the schedule `name` if its overlap is `skip` or `replace`. */
export const overlapKey = (name: string): string => `schedule:${name}`;

function keyOptions(name: string, overlap: ScheduleOverlap): JobSpec {
  if (overlap === "allow") return {};
  const jobKeyMode = overlap === "skip" ? "unsafe_dedupe" : "replace";
  return { jobKey: overlapKey(name), jobKeyMode };
}

/** Adds `_cron` at the end of an object's text. Of two members `_cron`, JSON.parse() and PostgreSQL use the last. */
function addStamp(text: string, stamp: object): RawJson {
  const whole = text.trimEnd();
  const members = whole.slice(0, -1).trimEnd();
  return rawJson(
    `${members}${members.trimStart() === "{" ? "" : ","}"_cron":${JSON.stringify(stamp)}}`,
  );
}

/** Returns the delay of a job after its tick, in milliseconds: the same delay in every process. */
export function jitterOf(name: string, tickMs: number, jitterMs: number): number {
  if (jitterMs === 0) return 0;
  const digest = createHash("sha256").update(`${tickMs} ${name}`).digest();
  return digest.readUIntBE(0, 6) % jitterMs;
}
