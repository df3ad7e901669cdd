// A cron entry adds jobs of a task at the times that a cron expression matches.
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
import { type CronPattern, every } from "./cron-pattern.ts";
import { type JsonObject, jsonObject } from "./cron-payload.ts";
import { cronSchedule, MINUTE_MS } from "./cron-schedule.ts";
import { timeZone, zoneHints } from "./time-zone.ts";

/** The job key modes of a cron entry. As in Graphile Worker's crontab, `unsafe_dedupe` is not one of them. */
export const cronJobKeyModes = ["replace", "preserve_run_at"] as const;

/** The longest `fillMs`. It limits the number of jobs that a worker adds at its start. */
export const MAX_FILL_MS = 366 * 24 * 60 * MINUTE_MS;

/** A cron entry as plain data. */
export interface CronEntry {
  /** The entry's identifier, unique in a worker, 1–512 characters. */
  readonly identifier: string;
  /** The identifier of the task whose jobs are added. */
  readonly taskIdentifier: string;
  /** The cron expression: five fields, or a macro such as `@daily`. */
  readonly expression: string;
  /** The IANA time zone of the expression. Default UTC. */
  readonly timeZone?: string | undefined;
  /** The payload of each job, to which `_cron: { ts, backfilled }` is added. */
  readonly payload: JsonObject;
  /** The backfill period in milliseconds: see CronEntryOptions. 0: no backfill. */
  readonly fillMs: number;
  /** The named queue of the jobs. */
  readonly queueName?: string | undefined;
  /** The maximum number of attempts of each job. */
  readonly maxAttempts?: number | undefined;
  /** The priority of each job: lower runs earlier. */
  readonly priority?: number | undefined;
  /** The job key of each job. */
  readonly jobKey?: string | undefined;
  /** What a tick does with an unlocked job of the same key: see CronEntryOptions. */
  readonly jobKeyMode?: (typeof cronJobKeyModes)[number] | undefined;
}

/** Options of a cron entry. */
export interface CronEntryOptions {
  /**
   * The entry's identifier, unique in a worker, 1–512 characters. The identifier of a schedule is unique in the schema,
   * and has 1–128 characters. The database stores the last tick under the identifier, so keep the identifier when the
   * expression changes. Default: the task identifier.
   */
  readonly identifier?: string | undefined;
  /**
   * The IANA time zone of the expression, such as `Europe/Berlin`. Default: the time zone of the pattern, or UTC if
   * the pattern has none.
   */
  readonly timeZone?: string | undefined;
  /**
   * The backfill period in milliseconds: a worker that starts also adds the jobs of missed ticks that were due at most
   * this long before its start. At most 366 days. Default 0: no backfill.
   */
  readonly fillMs?: number | undefined;
  /**
   * The named queue of the jobs: its jobs run in order, one at a time if no limit allows more. 1–128 characters.
   * Default: none.
   */
  readonly queueName?: string | undefined;
  /** The maximum number of attempts of each job, 1–32,767. Default 25. */
  readonly maxAttempts?: number | undefined;
  /** The priority of each job: lower runs earlier. -32,768 to 32,767, default 0. */
  readonly priority?: number | undefined;
  /**
   * The job key of each job. At most one unlocked job has this key, so the jobs of several ticks do not accumulate.
   * 1–512 characters. Default: none.
   */
  readonly jobKey?: string | undefined;
  /**
   * What a tick does with an unlocked job of the same key. `replace`: the job of the tick replaces that job.
   * `preserve_run_at`: the same, but a job that has had no attempt yet keeps its `run_at`, so that later ticks do not
   * postpone the job. Needs `jobKey`. Default `replace`.
   */
  readonly jobKeyMode?: (typeof cronJobKeyModes)[number] | undefined;
}

/** A task of defineTask(), or the identifier of any task. */
export type CronTask<Payload> = string | TaskLike<Payload>;

/** The payload that a cron entry takes: the task's payload without `_cron`. */
export type CronPayload<Payload> = unknown extends Payload
  ? object
  : Payload extends readonly unknown[]
    ? never
    : Omit<Payload, "_cron">;

/** The options and the payload of a cron entry. The payload may be omitted if none of its members is required. */
export type CronArguments<Payload> =
  Record<never, never> extends CronPayload<Payload>
    ? [options?: CronEntryOptions & { readonly payload?: CronPayload<Payload> }]
    : [options: CronEntryOptions & { readonly payload: CronPayload<Payload> }];

/**
 * Returns a cron entry that adds a job of `task` at every minute that the pattern matches. The pattern is made by
 * daily() or every(), or is an expression of five fields: minute, hour, day of the month, month, day of the week (0 or
 * 7 = Sunday). A field is a number, a name (`jan`, `mon`), a range a-b, `*`, a range or `*` with a step (`5-50/5`),
 * `L` (the last day of the month), or a list of these. `@hourly`, `@daily`, `@weekly`, `@monthly` and `@yearly`
 * replace all five fields. Throws InputError for invalid arguments.
 */
export function cronEntry<Payload>(
  pattern: string | CronPattern,
  task: CronTask<Payload>,
  ...[options]: CronArguments<Payload>
): CronEntry {
  return entryOf(pattern, task, options ?? {});
}

/** Returns a cron entry that adds a job of `task` every minute. Throws InputError for invalid arguments. */
export function everyMinute<Payload>(
  task: CronTask<Payload>,
  ...[options]: CronArguments<Payload>
): CronEntry {
  return entryOf("* * * * *", task, options ?? {});
}

/**
 * Returns a cron entry that adds a job of `task` every `minutes` minutes, counted from the full hour. `minutes` must
 * divide an hour: 1, 2, 3, 4, 5, 6, 10, 12, 15, 20 or 30. Throws InputError for invalid arguments.
 */
export function everyMinutes<Payload>(
  minutes: number,
  task: CronTask<Payload>,
  ...[options]: CronArguments<Payload>
): CronEntry {
  return entryOf(every({ minutes }), task, options ?? {});
}

function entryOf<Payload>(
  pattern: string | CronPattern,
  task: CronTask<Payload>,
  options: CronEntryOptions & { readonly payload?: unknown },
): CronEntry {
  if (typeof task !== "string" && task?.kind === "batch") {
    const message = "a batch task needs a list as its payload; an entry's payload is an object";
    throw new InputError([{ path: "task", message }]);
  }
  const taskIdentifier = typeof task === "string" ? task : task?.identifier;
  const time = typeof pattern === "object" && pattern !== null ? pattern : { expression: pattern };
  if (time.timeZone !== undefined && options.timeZone !== undefined) {
    const message = "is set twice; set it either in the pattern or in the entry";
    throw new InputError([{ path: "timeZone", message }]);
  }
  const { identifier, fillMs = 0, payload, timeZone = time.timeZone, ...rest } = options;
  const given = { identifier: identifier ?? taskIdentifier, taskIdentifier, ...time, fillMs };
  const zone = timeZone === undefined ? {} : { timeZone };
  return checkedEntry({ ...given, ...rest, ...zone, payload: payload as JsonObject });
}

export const entryIdentifier = boundedText(1, 512);

const expression = v.pipe(
  v.string(
    'must be a cron pattern such as "30 2 * * *" or "@daily", or what daily() or every() returns',
  ),
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

/** Returns the message of the InputError that `step` throws; null if it throws none. */
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
      timeZone: v.optional(timeZone),
      payload: v.optional(payload, {}),
      fillMs: v.pipe(
        v.number("must be a number"),
        v.check((ms) => Number.isInteger(ms) && ms >= 0, "must be a whole number, not negative"),
        v.maxValue(MAX_FILL_MS, "must be at most 366 days"),
      ),
      queueName: v.optional(boundedText(1, 128)),
      maxAttempts: v.optional(attemptLimit),
      priority: v.optional(smallint),
      jobKey: v.optional(jobKey),
      jobKeyMode: v.optional(
        v.picklist(cronJobKeyModes, `must be one of ${cronJobKeyModes.join(", ")}`),
      ),
    },
    { fill_minutes: FORMER, fill_hours: FORMER, ...zoneHints },
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
  try {
    return Object.freeze(validate(entrySchema, entry));
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    // cronEntry() and addSchedule() call this argument `pattern`.
    throw new InputError(
      error.problems.map((one) => (one.path === "expression" ? { ...one, path: "pattern" } : one)),
    );
  }
}

/** Returns the job that `entry` adds at a tick. */
export function cronJob(entry: CronEntry, tickMs: number, backfilled: boolean): JobToAdd {
  const { queueName, maxAttempts, priority, jobKey, jobKeyMode } = entry;
  const ts = new Date(tickMs).toISOString();
  return {
    identifier: entry.taskIdentifier,
    payload: { ...entry.payload, _cron: { ts, backfilled } },
    spec: { queueName, maxAttempts, priority, jobKey, jobKeyMode, runAt: ts },
  };
}
