// Derives job keys from the values of jobs, so that equal jobs have the same key. Also checks the options `unique` and
// `debounce`, and which options can be combined.
import { hash } from "node:crypto";
import * as v from "valibot";
import { now } from "../base/clock.ts";
import { InputError } from "../base/errors.ts";
import { boundedList, strict } from "../base/validate.ts";
import { canonicalText, type ExactJson, exactJson, memberOf } from "./exact/canonical-json.ts";

export const uniqueWhiles = ["waiting", "unfinished", "failed_too"] as const;
/**
 * How long a job prevents other jobs with its key. `waiting`: while the job waits for its first attempt or a retry;
 * another add changes the waiting job. The time at which the job is due changes only if the add has `runAt` or
 * `debounce`, or if an attempt of the job has counted. `unfinished`: until the job has completed or failed for good.
 * `failed_too`: until the job has completed or is deleted. If an add with `unfinished` or `failed_too` adds no job, the
 * add changes only `revision` and `updated_at` of the existing job.
 */
export type UniqueWhile = (typeof uniqueWhiles)[number];

/** What makes two jobs of one task equal, and how long a job prevents equal jobs. */
export interface Unique {
  /**
   * 1 to 16 values that are compared. Each is the whole payload (`args`), a member of the payload (`args.userId`,
   * `args.user.id`) or the name of the queue (`queue`). The task is always compared.
   */
  readonly by: readonly ("args" | `args.${string}` | "queue")[];
  /**
   * The length in milliseconds of the period within which jobs are compared, at most a year. Periods begin at multiples
   * of this length since 1970, by the clock of the process that adds the job. Default: no period.
   */
  readonly periodMs?: number | undefined;
  /** How long a job prevents other jobs with its key; see UniqueWhile. */
  readonly while: UniqueWhile;
}

/** How long a job waits for further adds with its key. Each further add makes the job wait again. */
export interface Debounce {
  /** How long after the last add the job is due, in milliseconds, at most a year. */
  readonly waitMs: number;
  /**
   * How long after the first add the job is due at the latest, in milliseconds, at least `waitMs`, at most a year. If
   * an attempt of the job has counted, the next add counts as the first add.
   */
  readonly maxWaitMs: number;
}

const YEAR_MS = 31_536_000_000;

/** A duration of 1 ms to a year. */
export const milliseconds = v.pipe(
  v.number("must be a number of milliseconds"),
  v.check(
    (ms) => Number.isInteger(ms) && ms >= 1 && ms <= YEAR_MS,
    "must be from 1 ms to 365 days, in whole milliseconds",
  ),
);

const MAX_VALUES = 16;
const MAX_VALUE_LENGTH = 512;

const byMember = /^(?:queue|args(?:\.[^.]+)*)$/s;
const value = v.pipe(
  v.string("must be a string"),
  v.check(
    (text) => text.length <= MAX_VALUE_LENGTH && byMember.test(text),
    'must be "args", a member such as "args.userId", or "queue"',
  ),
);

/** The schema of the option `by`. */
export const comparedValues = v.pipe(
  boundedList(value, "must be a list of values", MAX_VALUES),
  v.minLength(1, 'must list at least one value, such as "args"'),
);

export const uniqueSchema = strict({
  by: comparedValues,
  periodMs: v.optional(milliseconds),
  while: v.picklist(uniqueWhiles, `must be one of ${uniqueWhiles.join(", ")}`),
});

export const debounceSchema = v.pipe(
  strict({ waitMs: milliseconds, maxWaitMs: milliseconds }),
  v.forward(
    v.check(({ waitMs, maxWaitMs }) => maxWaitMs >= waitMs, "must be at least as long as the wait"),
    ["maxWaitMs"],
  ),
);

/** The parts of a job that determine its key. */
export interface KeyParts {
  readonly identifier: string;
  /** The payload as JSON text. */
  readonly payload: string;
  readonly queueName: string | null;
}

/**
 * Returns a key: `u:` and the SHA-256, in base64url, of the canonical JSON of [task, {name in `by`: value}, start of
 * the period in milliseconds or null]. Throws InputError as comparedText() does.
 */
export function uniqueKey(
  job: KeyParts,
  { by, periodMs, while: lasting }: v.InferOutput<typeof uniqueSchema>,
  nowMs: number = now(),
): string {
  const period = periodMs === undefined ? null : Math.floor(nowMs / periodMs) * periodMs;
  const mayBeList = lasting !== "waiting";
  const compared = comparedText(job, by, { option: "unique", mayBeList });
  return `u:${hash("sha256", `${compared.slice(0, -1)},${period}]`, "base64url")}`;
}

/**
 * Returns the canonical JSON of [task, {name in `by`: value}]. `option` is the name of the option that has `by`. Throws
 * InputError if the payload is not JSON, is nested too deeply, is a list although `mayBeList` is false, or lacks a
 * member that `by` names.
 */
export function comparedText(
  job: KeyParts,
  by: readonly string[],
  { option, mayBeList }: { readonly option: string; readonly mayBeList: boolean },
): string {
  try {
    const payload = exactJson(job.payload);
    if (!mayBeList && Array.isArray(payload)) throw new InputError([LIST]);
    const values = by.map((name, place): [string, ExactJson] => [
      name,
      name === "queue" ? job.queueName : valueAt(payload, name, `spec.${option}.by[${place}]`),
    ]);
    return canonicalText([job.identifier, Object.fromEntries(values)]);
  } catch (error) {
    if (error instanceof InputError) throw error;
    const isDeep = error instanceof RangeError;
    const message = isDeep ? `is nested too deeply for ${option}` : "is not JSON";
    throw new InputError([{ path: "payload", message }]);
  }
}

const LIST = {
  path: "payload",
  message:
    'must not be a list if unique has while: "waiting", because each add would append its items to the list of the waiting job; use an object, or while: "unfinished"',
};

/** Returns the value of a name such as `args.user.id`. */
function valueAt(payload: ExactJson, name: string, path: string): ExactJson {
  let found = payload;
  for (const step of name.split(".").slice(1)) {
    const member = memberOf(found, step);
    // Without this error, all jobs without the member would be equal.
    if (member === undefined) {
      const message = `the payload has no member ${JSON.stringify(name.slice("args.".length))}`;
      throw new InputError([{ path, message }]);
    }
    found = member;
  }
  return found;
}

/**
 * Whether a key has the form that uniqueKey() returns. A job may have both `unique` and such a key, because
 * jobForInterceptors() sets the key.
 */
export const isUniqueKey = (key: string): boolean => /^u:[\w-]{43}$/.test(key);

interface KeyOptions {
  readonly jobKey?: string | undefined;
  readonly jobKeyMode?: string | undefined;
  readonly runAt?: string | undefined;
  readonly unique?: { readonly while: UniqueWhile } | undefined;
  readonly debounce?: Debounce | undefined;
  readonly throttle?: object | undefined;
}

/** A job without these options breaks none of the rules below. */
export const KEY_OPTIONS = ["jobKey", "jobKeyMode", "unique", "debounce", "throttle"] as const;

interface Rule {
  readonly path: keyof KeyOptions;
  readonly message: string;
  isBroken(options: KeyOptions): boolean;
}

const rules: readonly Rule[] = [
  {
    path: "jobKey",
    message: "use either this or unique, not both",
    isBroken: ({ jobKey, unique }) => areGiven(jobKey, unique) && !isUniqueKey(jobKey ?? ""),
  },
  {
    path: "jobKeyMode",
    message: "use either this or unique, not both",
    isBroken: ({ jobKeyMode, unique }) => areGiven(jobKeyMode, unique),
  },
  {
    path: "jobKeyMode",
    message: "needs a jobKey",
    isBroken: ({ jobKeyMode, jobKey, unique }) =>
      areGiven(jobKeyMode) && !areGiven(jobKey) && !areGiven(unique),
  },
  {
    path: "jobKeyMode",
    message: "use either this or debounce, not both: debounce replaces the waiting job",
    isBroken: ({ jobKeyMode, debounce }) =>
      areGiven(jobKeyMode, debounce) && jobKeyMode !== "replace",
  },
  {
    path: "runAt",
    message: "use either this or debounce, not both",
    isBroken: ({ runAt, debounce }) => areGiven(runAt, debounce),
  },
  {
    path: "debounce",
    message: "needs a job key or unique",
    isBroken: ({ debounce, jobKey, unique }) =>
      areGiven(debounce) && !areGiven(jobKey) && !areGiven(unique),
  },
  {
    path: "debounce",
    message: 'needs unique with while: "waiting", because it replaces the waiting job',
    isBroken: ({ debounce, unique }) => areGiven(debounce, unique) && unique?.while !== "waiting",
  },
  {
    path: "throttle",
    message: "use either this or jobKey, unique or debounce: a throttled job has no key",
    isBroken: ({ throttle, jobKey, unique, debounce }) =>
      areGiven(throttle) && [jobKey, unique, debounce].some((one) => areGiven(one)),
  },
];

const areGiven = (...options: readonly unknown[]): boolean =>
  options.every((option) => option !== undefined);

/** Returns the rules that a job's options break. */
export const keyProblems = (options: KeyOptions): readonly Omit<Rule, "isBroken">[] =>
  rules.filter(({ isBroken }) => isBroken(options));
