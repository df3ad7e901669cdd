// The operations on schedules, as methods of WorkerUtils.
import * as v from "valibot";
import { count, strict, validate } from "../base/validate.ts";
import { addNewSchedule } from "../commands/schedules/add-schedule.ts";
import { jobOfSchedule } from "../commands/schedules/manual-run.ts";
import {
  changeSchedule,
  pauseSchedule,
  removeSchedule,
  resumeSchedule,
} from "../commands/schedules/stored-schedules.ts";
import type { Database } from "../database/database.ts";
import type { CronTask } from "../domain/cron/cron-entry.ts";
import { type CronEntry, cronEntry } from "../domain/cron/cron-entry.ts";
import type { CronPattern } from "../domain/cron/cron-pattern.ts";
import {
  checkedSchedule,
  type ScheduleArguments,
  type ScheduleChanges,
  type ScheduleOptions,
  type ScheduleOverlap,
} from "../domain/cron/schedule.ts";
import { boundedText, type JobToAdd } from "../domain/job-spec.ts";
import { MAX_LISTED, readSchedule, readSchedules } from "../insight/read/list-schedules.ts";
import type { StoredSchedule } from "../queue/schedules/schedule-row.ts";

/** A schedule: a cron entry that is stored in the database. */
export interface Schedule {
  /** The identifier, unique in the schema. */
  readonly identifier: string;
  /** The identifier of the task whose jobs are added. */
  readonly task: string;
  /** The cron expression. */
  readonly pattern: string;
  /** The IANA time zone of the pattern. */
  readonly timeZone: string;
  /** The payload of each job, without the member `_cron` that a tick adds. Integers beyond 2^53 are bigints. */
  readonly payload: unknown;
  /** The payload's exact JSON text. */
  readonly payloadText: string;
  /**
   * The backfill period in milliseconds. A tick that was missed at most this long before a worker started, or before a
   * pause ended, still adds its job. 0: such ticks add no jobs.
   */
  readonly fillMs: number;
  /** The named queue of the jobs; null if the jobs have none. */
  readonly queueName: string | null;
  /** The maximum number of attempts of each job; null: 25. */
  readonly maxAttempts: number | null;
  /** The priority of each job; null: 0. */
  readonly priority: number | null;
  /** The job key of each job; null if the jobs have none. */
  readonly jobKey: string | null;
  /** What a tick does with a waiting job of the same key; null: `replace`. */
  readonly jobKeyMode: "replace" | "preserve_run_at" | null;
  /** The longest delay of a job after its tick, in milliseconds. */
  readonly jitterMs: number;
  /** What a tick does if the job of an earlier tick is unfinished; see ScheduleOverlap. */
  readonly overlap: ScheduleOverlap;
  /** The time at which the schedule was paused; null if the schedule is not paused. */
  readonly pausedAt: Date | null;
  /** The first tick that no worker has handled; null if the pattern matches no later time. */
  readonly nextAt: Date | null;
  /** The last tick that a worker has handled; null: none. A handled tick may have added no job. */
  readonly lastAt: Date | null;
  /** 1 for a new schedule; each change, pause and resume adds 1. */
  readonly revision: number;
}

/** A page of schedules, in the order of their identifiers. */
export interface SchedulePage {
  /** The schedules. */
  readonly schedules: readonly Schedule[];
  /** The cursor of the next page; null at the end. */
  readonly nextCursor: string | null;
}

/** Which schedules listSchedules() returns. */
export interface SchedulePageOptions {
  /** The maximum number of schedules on the page, 1–100, default 100. */
  readonly limit?: number | undefined;
  /** The `nextCursor` of the previous page. Default: the first page. */
  readonly cursor?: string | null | undefined;
}

/** The condition under which a call changes a schedule. */
export interface ExpectedRevision {
  /** If the schedule has another revision, the call changes nothing and rejects with `conflict`. Default: any. */
  readonly revision?: number | undefined;
}

/**
 * The operations on schedules. All reject with `extension_missing` until `worker migrate --with schedules` has been
 * run. Operations on one schedule reject with `not_found` if the schedule does not exist.
 */
export interface ScheduleOperations<Added> {
  /**
   * Adds a schedule. The arguments are those of cronEntry(), with the further options `jitterMs` and `overlap`. At each
   * tick a worker of this library adds a job of `task`. The default identifier is the task identifier. Rejects with
   * `conflict` if a schedule or a cron entry of a running worker already has the identifier, or if there are 10,000
   * schedules. Rejects with InputError for invalid values.
   */
  addSchedule<Payload>(
    pattern: string | CronPattern,
    task: CronTask<Payload>,
    ...[options]: ScheduleArguments<Payload>
  ): Promise<Schedule>;
  /**
   * Changes a schedule; omitted options stay as they are. If a tick is due and its job has not been added yet, the job
   * gets the new options. Rejects with InputError for invalid values.
   */
  changeSchedule(
    identifier: string,
    changes: ScheduleChanges,
    expected?: ExpectedRevision,
  ): Promise<Schedule>;
  /** Pauses a schedule: its ticks add no jobs until it is resumed. */
  pauseSchedule(identifier: string, expected?: ExpectedRevision): Promise<Schedule>;
  /** Ends the pause of a schedule. Missed ticks within the backfill period (`fillMs` of Schedule) add jobs. */
  resumeSchedule(identifier: string, expected?: ExpectedRevision): Promise<Schedule>;
  /**
   * Adds a job of the schedule, even while the schedule is paused or an earlier job is unfinished. The job is due now,
   * has no job key, and its payload has `_cron: { ts, manual: true }`. The schedule's next tick does not change.
   */
  runSchedule(identifier: string): Promise<Added>;
  /** Removes a schedule. Jobs that it has added stay. */
  removeSchedule(identifier: string, expected?: ExpectedRevision): Promise<void>;
  /** Returns the schedule with this identifier. */
  getSchedule(identifier: string): Promise<Schedule>;
  /** Returns a page of schedules. Rejects with InputError for an invalid limit or cursor. */
  listSchedules(options?: SchedulePageOptions): Promise<SchedulePage>;
}

const expectedSchema = strict({ revision: v.optional(count(2_147_483_647)) });
const pageSchema = strict({
  limit: v.optional(count(MAX_LISTED), 100),
  cursor: v.nullish(boundedText(1, 512), null),
});

const nameSchema = v.string("the identifier of a schedule must be a string");
const named = (name: string) => validate(nameSchema, name);
const optionsSchema = v.looseObject({}, "the options of a schedule must be an object");

/** Returns the operations on schedules. `add`: the addJob() that runSchedule() calls. */
export function scheduleOperations(db: Database, add: (job: JobToAdd) => Promise<unknown>) {
  const expected = (given: ExpectedRevision = {}) =>
    validate(expectedSchema, given).revision ?? null;
  return {
    addSchedule: async (
      pattern: string | CronPattern,
      task: CronTask<unknown>,
      options: ScheduleOptions & { readonly payload?: unknown } = {},
    ) => {
      validate(optionsSchema, options);
      const { jitterMs = 0, overlap = "allow", payload, ...rest } = options;
      const entry: CronEntry = cronEntry(pattern, task, rest);
      return publicSchedule(
        await addNewSchedule(db, checkedSchedule({ ...entry, payload, jitterMs, overlap })),
      );
    },
    changeSchedule: async (name: string, changes: ScheduleChanges, given?: ExpectedRevision) =>
      publicSchedule(await changeSchedule(db, named(name), changes, expected(given))),
    pauseSchedule: async (name: string, given?: ExpectedRevision) =>
      publicSchedule((await pauseSchedule(db, named(name), expected(given))).schedule),
    resumeSchedule: async (name: string, given?: ExpectedRevision) =>
      publicSchedule((await resumeSchedule(db, named(name), expected(given))).schedule),
    runSchedule: async (name: string) => add(await jobOfSchedule(db, named(name))),
    removeSchedule: async (name: string, given?: ExpectedRevision) => {
      await removeSchedule(db, named(name), expected(given));
    },
    getSchedule: async (name: string) => publicSchedule(await readSchedule(db, named(name))),
    listSchedules: async (options: SchedulePageOptions = {}) => {
      const { limit, cursor } = validate(pageSchema, options);
      const { schedules, nextAfter } = await readSchedules(db, { limit, after: cursor });
      return { schedules: schedules.map(publicSchedule), nextCursor: nextAfter };
    },
  };
}

function publicSchedule({ definition, revision, ...times }: StoredSchedule): Schedule {
  const { entry, payloadText, jitterMs, overlap } = definition;
  return {
    identifier: entry.identifier,
    task: entry.taskIdentifier,
    pattern: entry.expression,
    timeZone: entry.timeZone,
    ...{ payload: entry.payload, payloadText, fillMs: entry.fillMs },
    queueName: entry.queueName ?? null,
    maxAttempts: entry.maxAttempts ?? null,
    priority: entry.priority ?? null,
    jobKey: entry.jobKey ?? null,
    jobKeyMode: entry.jobKeyMode ?? null,
    ...{ jitterMs, overlap, revision },
    pausedAt: dateOrNull(times.pausedMs),
    nextAt: dateOrNull(times.nextMs),
    lastAt: dateOrNull(times.lastMs),
  };
}

const dateOrNull = (ms: number | null): Date | null => (ms === null ? null : new Date(ms));
