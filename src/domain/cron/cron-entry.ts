// An entry of a worker's timetable: which task, when, with which payload. Entries are plain data, built by
// an application or read from text by crontab.ts.
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

/** Without the schema's `unsafe_dedupe`, which Graphile Worker's crontab does not accept either. */
export const cronJobKeyModes = ["replace", "preserve_run_at"] as const;

/** The longest fill window: it limits how many jobs a start after a long pause adds. */
export const LONGEST_FILL_MS = 366 * 24 * 60 * MINUTE_MS;

/** An entry of a timetable. Create it with cronEntry() or parseCrontab(). */
export interface CronEntry {
  /** The name under which the database stores the last tick. Unique in a worker, 1–512 characters. */
  readonly identifier: string;
  readonly taskIdentifier: string;
  /** Five fields, UTC. */
  readonly expression: string;
  /** Each job's payload is this with `_cron: {ts, backfilled}` added. */
  readonly payload: JsonObject;
  /** Ticks missed at most this long before the start are made up for. 0 = none. */
  readonly fillMs: number;
  readonly queueName?: string | undefined;
  readonly maxAttempts?: number | undefined;
  readonly priority?: number | undefined;
  readonly jobKey?: string | undefined;
  readonly jobKeyMode?: (typeof cronJobKeyModes)[number] | undefined;
}

/** Options of an entry. */
export interface CronEntryOptions {
  /** Unique in a worker. Keep it when the expression changes. Default: the task's identifier. */
  readonly identifier?: string | undefined;
  /**
   * When a worker starts, it makes up for the ticks missed in this many milliseconds. Whole, at most 366
   * days. Default 0: none.
   */
  readonly fillMs?: number | undefined;
  /** The entry's jobs run one at a time with all other jobs of this queue. 1–128 characters. */
  readonly queueName?: string | undefined;
  /** 1–32,767. Default 25. */
  readonly maxAttempts?: number | undefined;
  /** Lower runs earlier, smallint. Default 0. */
  readonly priority?: number | undefined;
  /** At most one waiting job has this key, so that jobs of missed ticks do not pile up. 1–512 characters. */
  readonly jobKey?: string | undefined;
  /**
   * `replace` (default): a waiting job moves to the new tick. `preserve_run_at`: it keeps its time, so that
   * a worker that is behind still runs it. Needs `jobKey`.
   */
  readonly jobKeyMode?: (typeof cronJobKeyModes)[number] | undefined;
}

/** A task of defineTask(), or the identifier of a task of another worker. */
export type CronTask<Payload> = string | TaskLike<Payload>;

/** The payload of an entry: the task's payload without `_cron`, which the tick adds. */
export type CronPayload<Payload> = unknown extends Payload
  ? object
  : Payload extends readonly unknown[]
    ? never
    : Omit<Payload, "_cron">;

/** The payload is optional if all its members are. */
export type CronRest<Payload> =
  Record<never, never> extends CronPayload<Payload>
    ? [options?: CronEntryOptions & { readonly payload?: CronPayload<Payload> }]
    : [options: CronEntryOptions & { readonly payload: CronPayload<Payload> }];

/**
 * Adds a job of `task` at every minute that the five-field expression matches, in UTC: minute, hour, day of
 * the month, month, day of the week (0 or 7 = Sunday). Each field is a number, a range a-b, `*`, a step of
 * all (`*` + `/5`) or a list of these. Throws InputError with all problems.
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
 * `minutes` divides an hour: 1, 2, 3, 4, 5, 6, 10, 12, 15, 20 or 30.
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

const FORMER = "use fillMs, in milliseconds";

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

/** Returns the entry with every field checked. Throws InputError with all problems. */
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
