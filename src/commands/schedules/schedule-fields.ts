// Shared by the commands on schedules: their fields, the changes that a request makes, their answer, and parts of their
// messages.
import { InputError, type Problem } from "../../base/errors.ts";
import { cronJobKeyModes } from "../../domain/cron/cron-entry.ts";
import { overlaps, type ScheduleChanges } from "../../domain/cron/schedule.ts";
import { rawJson } from "../../domain/payload.ts";
import { momentText, shortName } from "../../domain/words.ts";
import type { StoredSchedule } from "../../queue/schedules/schedule-row.ts";
import { jsonOf } from "../declare/command.ts";
import {
  choice,
  duration,
  type Input,
  json,
  maxAttempts,
  name,
  optional,
  priority,
  revision,
  text,
} from "../declare/field.ts";

export const identifier = name(["Name", "name of the schedule"], 128);
export const expected = optional(revision);

export const task = name(["Task", "task whose jobs are added"], 128);
export const pattern = text(
  ["Pattern", "cron expression of five fields, or a macro such as @daily"],
  1,
  512,
  { example: "30 2 * * *", optionAliases: ["cron"] },
);

export const optionFields = {
  time_zone: optional(
    text(["Time zone", "time zone of the pattern, such as Europe/Berlin"], 1, 128, {
      example: "Europe/Berlin",
    }),
    { default: "UTC" },
  ),
  payload: optional(json(["Payload", "JSON object, to which each tick adds _cron"]), {
    default: "{}",
  }),
  backfill_secs: optional(
    duration(["Backfill", "add the jobs of ticks that were missed within this time"], {
      option: "backfill",
    }),
    { default: "0" },
  ),
  jitter_secs: optional(
    duration(["Jitter", "longest delay of a job after its tick, at most a day"], {
      option: "jitter",
      max: 86_400,
    }),
    { default: "0" },
  ),
  overlap: optional(
    choice(["Overlap", "what a tick does if the job of an earlier tick is unfinished"], overlaps),
    { default: "allow" },
  ),
  queue: optional(text(["Queue", "queue of the jobs; empty: none"], 0, 128)),
  max_attempts: optional(maxAttempts, { default: "25" }),
  priority: optional(priority, { default: "0" }),
  key: optional(text(["Job key", "key of the jobs; empty: none"], 0, 512)),
  job_key_mode: optional(
    choice(
      ["If the key exists", "what a tick does with a waiting job that has the key"],
      cronJobKeyModes.map((mode) => mode.replaceAll("_", "-")),
    ),
    { option: "key-mode", default: "replace" },
  ),
};

type Options = Input<typeof optionFields> & {
  readonly task?: string | undefined;
  readonly pattern?: string | undefined;
};

/**
 * Returns the changes that `input` requests. An empty queue or key removes the stored queue or key. Omitted options
 * stay unchanged.
 */
export function changesOf(input: Options): ScheduleChanges {
  const { time_zone, payload, backfill_secs, jitter_secs, overlap, queue, key } = input;
  const { task, pattern, priority, max_attempts, job_key_mode } = input;
  const mode = job_key_mode?.replaceAll("-", "_") as ScheduleChanges["jobKeyMode"];
  return {
    ...{ task, pattern, overlap, priority, maxAttempts: max_attempts, timeZone: time_zone },
    ...(payload === undefined ? {} : { payload: rawJson(payload) }),
    fillMs: milliseconds(backfill_secs),
    jitterMs: milliseconds(jitter_secs),
    queueName: queue === "" ? null : queue,
    ...(key === "" ? { jobKey: null, jobKeyMode: null } : { jobKey: key, jobKeyMode: mode }),
  };
}

const milliseconds = (secs: number | undefined) =>
  secs === undefined ? undefined : Math.round(secs * 1_000);

const wireNames: Readonly<Record<string, string>> = {
  ...{ taskIdentifier: "task", timeZone: "time_zone" },
  ...{ fillMs: "backfill_secs", jitterMs: "jitter_secs", queueName: "queue" },
  ...{ maxAttempts: "max_attempts", jobKey: "key", jobKeyMode: "job_key_mode" },
};

/**
 * Returns the result of `step`. If `step` throws InputError, throws this error with the field names of the HTTP API.
 */
export function inWireNames<T>(step: () => T): T {
  try {
    return step();
  } catch (error) {
    throw withWireNames(error);
  }
}

export function withWireNames(error: unknown): unknown {
  if (!(error instanceof InputError)) return error;
  return new InputError(
    error.problems.map(({ path, message }) => ({
      path: wireNames[path] ?? (/^column \d/.test(path) ? "pattern" : path),
      message: /^column \d/.test(path) ? `${path}: ${message}` : message,
    })),
  );
}

/** Returns the problems of the InputError that `step` throws; an empty list if it throws nothing. */
export function problemsIn(step: () => unknown): readonly Problem[] {
  try {
    inWireNames(step);
    return [];
  } catch (error) {
    if (error instanceof InputError) return error.problems;
    throw error;
  }
}

export const answer = { identifier: "string", revision: "integer", next_execution: "time?" };

export function members({ definition, revision: number, ...rest }: StoredSchedule) {
  const next_execution = nextMs(rest) === null ? null : new Date(nextMs(rest) ?? 0).toISOString();
  return jsonOf({ identifier: definition.entry.identifier, revision: number, next_execution });
}

/** Returns the time of the next tick; null if the schedule is paused or has no further tick. */
const nextMs = ({ pausedMs, nextMs }: Pick<StoredSchedule, "pausedMs" | "nextMs">) =>
  pausedMs === null ? nextMs : null;

/** Returns a text such as `the schedule nightly`. */
export const scheduleText = (given: string): string => `the schedule ${shortName(given)}`;

/** Returns a text such as `; the next tick is at 2026-01-31T02:30:00Z`; empty if there is no next tick. */
export function nextText(schedule: StoredSchedule): string {
  const ms = nextMs(schedule);
  return ms === null ? "" : `; the next tick is at ${momentText(ms)}`;
}
