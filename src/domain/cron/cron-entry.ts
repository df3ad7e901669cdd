// An entry of a worker's timetable: which task, when, with what. Entries are plain data, whether an
// application builds them here or crontab.ts reads them from text.
import * as v from "valibot";
import { InputError } from "../../base/errors.ts";
import { strict, validate } from "../../base/validate.ts";
import {
  attemptLimit,
  boundedText,
  identifier,
  type JobToAdd,
  jobKey,
  smallint,
} from "../job-spec.ts";
import type { TaskLike } from "../typed-job.ts";
import { type JsonObject, jsonObject } from "./cron-payload.ts";
import { cronSchedule, MINUTE_MS } from "./cron-schedule.ts";

/** The schema's `unsafe_dedupe` is not among them: Graphile Worker's crontab has no use for it. */
export const cronJobKeyModes = ["replace", "preserve_run_at"] as const;

/** How far back a fill window reaches at most: bounds what a start after a long pause adds. */
export const LONGEST_FILL_MS = 366 * 24 * 60 * MINUTE_MS;

/** An entry of a timetable as plain data; make it with cronEntry() or parseCrontab(). */
export interface CronEntry {
  /** Under this name the database remembers the last tick; one per worker. 1–512 characters. */
  readonly identifier: string;
  readonly taskIdentifier: string;
  /** Five fields, UTC. */
  readonly expression: string;
  /** Each job gets it with `_cron: {ts, backfilled}` added. */
  readonly payload: JsonObject;
  /** Ticks missed at most this long before the start are made up for. 0 = none are. */
  readonly fillMs: number;
  readonly queueName?: string | undefined;
  readonly maxAttempts?: number | undefined;
  readonly priority?: number | undefined;
  readonly jobKey?: string | undefined;
  readonly jobKeyMode?: (typeof cronJobKeyModes)[number] | undefined;
}

/** What an entry may say besides its task and time. */
export interface CronEntryOptions {
  /** Unique in a worker; keep it when the expression changes. Default: the task's identifier. */
  readonly identifier?: string | undefined;
  /**
   * Makes up for the ticks of the last so many milliseconds when a worker starts: whole ones, at most
   * 366 days. Default 0: for none.
   */
  readonly fillMs?: number | undefined;
  /** Its jobs run one at a time with all others of that queue. 1–128 characters. */
  readonly queueName?: string | undefined;
  /** 1–32,767. Default 25. */
  readonly maxAttempts?: number | undefined;
  /** Lower runs earlier, smallint. Default 0. */
  readonly priority?: number | undefined;
  /** At most one waiting job has this key: jobs of ticks do not pile up. 1–512 characters. */
  readonly jobKey?: string | undefined;
  /**
   * `replace` (default): a job still waiting moves to the new tick. `preserve_run_at`: it keeps its
   * time, so that a worker that is behind still runs one. Needs `jobKey`.
   */
  readonly jobKeyMode?: (typeof cronJobKeyModes)[number] | undefined;
}

/** A task of defineTask(), or the identifier of one that another worker knows. */
export type CronTask<Payload> = string | TaskLike<Payload>;

/** What the entry has to give: the task's payload without what the tick adds. */
export type CronPayload<Payload> = unknown extends Payload
  ? object
  : Payload extends readonly unknown[]
    ? never
    : Omit<Payload, "_cron">;

/** The payload may be left out when nothing in it is required. */
export type CronRest<Payload> =
  Record<never, never> extends CronPayload<Payload>
    ? [options?: CronEntryOptions & { readonly payload?: CronPayload<Payload> }]
    : [options: CronEntryOptions & { readonly payload: CronPayload<Payload> }];

/**
 * Adds a job of `task` at every minute that the five-field expression matches, UTC: minute, hour,
 * day of the month, month, day of the week (0 or 7 = Sunday). Each field is a number, a range a-b,
 * `*`, a step of all (`*` + `/5`) or a list of these. Throws InputError with all problems.
 */
export function cronEntry<Payload>(
  expression: string,
  task: CronTask<Payload>,
  ...[options]: CronRest<Payload>
): CronEntry {
  return entryOf(expression, task, options ?? {});
}

/** Adds a job of `task` every minute. Throws InputError with all problems. */
export function everyMinute<Payload>(
  task: CronTask<Payload>,
  ...[options]: CronRest<Payload>
): CronEntry {
  return entryOf("* * * * *", task, options ?? {});
}

/**
 * Adds a job of `task` every `minutes` minutes, counted from the full hour. Throws InputError unless
 * that comes out even: 1, 2, 3, 4, 5, 6, 10, 12, 15, 20 or 30.
 */
export function everyMinutes<Payload>(
  minutes: number,
  task: CronTask<Payload>,
  ...[options]: CronRest<Payload>
): CronEntry {
  if (!(Number.isInteger(minutes) && minutes >= 1 && minutes < 60 && 60 % minutes === 0)) {
    const message = `must be 1, 2, 3, 4, 5, 6, 10, 12, 15, 20 or 30, for an hour has to hold a whole number of them; for others write an expression with cronEntry()`;
    throw new InputError([{ path: "minutes", message }]);
  }
  return entryOf(`*/${minutes} * * * *`, task, options ?? {});
}

function entryOf<Payload>(
  expression: string,
  task: CronTask<Payload>,
  options: CronEntryOptions & { readonly payload?: unknown },
): CronEntry {
  const { identifier, fillMs = 0, payload, ...rest } = options;
  if (typeof task !== "string" && task?.kind === "batch") {
    const message = "a batch task needs a list as its payload; an entry's payload is an object";
    throw new InputError([{ path: "task", message }]);
  }
  const taskIdentifier = typeof task === "string" ? task : task?.identifier;
  const given = { identifier: identifier ?? taskIdentifier, taskIdentifier, expression, fillMs };
  return checkedEntry({ ...given, ...rest, payload: payload as JsonObject });
}

export const entryIdentifier = boundedText(1, 512);

const expression = v.pipe(
  v.string("must be a string"),
  v.rawCheck(({ dataset, addIssue }) => {
    const message = dataset.typed ? refusal(() => cronSchedule(dataset.value)) : null;
    if (message !== null) addIssue({ message });
  }),
);

const payload = v.pipe(
  v.unknown(),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    let value: JsonObject | undefined;
    const message = refusal(() => {
      value = jsonObject(dataset.value);
    });
    if (message !== null) addIssue({ message });
    return value ?? NEVER;
  }),
);

/** The message of the InputError that `step` throws, or null. */
function refusal(step: () => unknown): string | null {
  try {
    step();
    return null;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return error.message.replace(/^payload: /, "");
  }
}

const FORMER = "say fillMs, in milliseconds";

const entrySchema = v.pipe(
  strict(
    {
      identifier: entryIdentifier,
      taskIdentifier: identifier,
      expression,
      payload: v.optional(payload, {}),
      fillMs: v.pipe(
        v.number("must be a number"),
        v.check((ms) => Number.isInteger(ms) && ms >= 0, "must be a whole number, not negative"),
        v.maxValue(LONGEST_FILL_MS, "must be at most 366 days"),
      ),
      queueName: v.optional(boundedText(1, 128)),
      maxAttempts: v.optional(attemptLimit),
      priority: v.optional(smallint),
      jobKey: v.optional(jobKey),
      jobKeyMode: v.optional(
        v.picklist(cronJobKeyModes, `must be one of ${cronJobKeyModes.join(", ")}`),
      ),
    },
    { fill_minutes: FORMER, fill_hours: FORMER },
  ),
  v.forward(
    v.check(
      ({ jobKeyMode, jobKey }) => jobKeyMode === undefined || jobKey !== undefined,
      "needs a jobKey",
    ),
    ["jobKeyMode"],
  ),
);

/** The entry with everything in it checked. Throws InputError with all problems. */
export function checkedEntry(entry: CronEntry): CronEntry {
  return Object.freeze(validate(entrySchema, entry));
}

/** The job that `entry` adds at a tick. */
export function cronJob(entry: CronEntry, tickMs: number, backfilled: boolean): JobToAdd {
  const { queueName, maxAttempts, priority, jobKey, jobKeyMode } = entry;
  const ts = new Date(tickMs).toISOString();
  return {
    identifier: entry.taskIdentifier,
    payload: { ...entry.payload, _cron: { ts, backfilled } },
    spec: { queueName, maxAttempts, priority, jobKey, jobKeyMode, runAt: ts },
  };
}
