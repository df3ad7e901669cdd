// The fields that set the options `unique`, `debounce` and `throttle` of a new job.
import { InputError, type Problem } from "../../base/errors.ts";
import type { AnyJob, ThrottledSpec } from "../../domain/job-spec.ts";
import { type JobSpec, resolveJob } from "../../domain/job-spec.ts";
import type { Throttle } from "../../domain/limits/throttle.ts";
import type { Unique } from "../../domain/unique.ts";
import { choice, duration, type Input, list, optional, text } from "../declare/field.ts";

export const keyFields = {
  unique_by: optional(
    list(
      ["Unique by", "values that make two jobs of the task equal: args, args.userId, queue"],
      text(["Value", "args, args.NAME or queue"], 1, 512),
      16,
    ),
    { option: "unique", optionAliases: ["unique-by"] },
  ),
  unique_while: optional(
    choice(
      ["Unique while", "how long the job prevents equal jobs"],
      ["waiting", "unfinished", "failed-too"],
    ),
  ),
  unique_period_secs: optional(
    duration(["Unique period", "jobs in different periods of this length are not equal"]),
    { option: "unique-period" },
  ),
  debounce_secs: optional(
    duration(["Debounce", "the job is due this long after the last add of its key"]),
    { option: "debounce" },
  ),
  debounce_max_secs: optional(
    duration(["Debounce at most", "the job is due this long after the first add at the latest"]),
    { option: "debounce-max" },
  ),
  throttle_secs: optional(
    duration(["Throttle", "the job is dropped if an equal job was added within this time"]),
    { option: "throttle" },
  ),
  throttle_by: optional(
    list(
      ["Throttle by", "values that make two jobs of the task equal: args, args.userId, queue"],
      text(["Value", "args, args.NAME or queue"], 1, 512),
      16,
    ),
    { default: "args" },
  ),
};

type KeyInput = Input<typeof keyFields>;

/** Returns the options that the fields set. They may be incomplete or invalid: keyProblems() reports that. */
export function keyOptions(
  input: KeyInput,
): Pick<JobSpec, "unique" | "debounce"> & Partial<Pick<ThrottledSpec, "throttle">> {
  const { unique_by: by, unique_while: whileState, unique_period_secs: period } = input;
  const { debounce_secs: wait, debounce_max_secs: maxWait } = input;
  const unique = {
    by: by as Unique["by"],
    // A value has dashes in the field and underscores in the library: `failed-too` and `failed_too`.
    while: typeof whileState === "string" ? whileState.replaceAll("-", "_") : whileState,
    periodMs: inMs(period),
  } as Unique;
  const debounce = { waitMs: inMs(wait) as number, maxWaitMs: inMs(maxWait) as number };
  const throttle = {
    periodMs: inMs(input.throttle_secs) as number,
    by: input.throttle_by as Throttle["by"],
  };
  const isGiven = (options: object) => Object.values(options).some((one) => one !== undefined);
  return {
    ...(isGiven(unique) ? { unique } : {}),
    ...(isGiven(debounce) ? { debounce } : {}),
    ...(isGiven(throttle) ? { throttle } : {}),
  };
}

const inMs = (seconds: number | undefined) =>
  seconds === undefined ? undefined : Math.round(seconds * 1_000);

/**
 * Returns all problems of a job that has at least one of these options. A job without these options is not checked
 * here. If a problem's path begins with one of `fieldsOfPaths`, that beginning is replaced by the field's name.
 */
export function keyProblems(job: AnyJob): readonly Problem[] {
  const { unique, debounce, throttle } = job.spec ?? {};
  if ([unique, debounce, throttle].every((one) => one === undefined)) return [];
  try {
    resolveJob(job);
    return [];
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return error.problems.map(({ path, message }) => ({ path: fieldOf(path), message }));
  }
}

const fieldsOfPaths: readonly (readonly [path: string, field: string])[] = [
  ["spec.unique.while", "unique_while"],
  ["spec.unique.periodMs", "unique_period_secs"],
  ["spec.unique.by", "unique_by"],
  ["spec.unique", "unique_by"],
  ["spec.debounce.maxWaitMs", "debounce_max_secs"],
  ["spec.debounce.waitMs", "debounce_secs"],
  ["spec.debounce", "debounce_secs"],
  ["spec.throttle.by", "throttle_by"],
  ["spec.throttle.periodMs", "throttle_secs"],
  ["spec.throttle", "throttle_secs"],
  ["spec.jobKeyMode", "job_key_mode"],
  ["spec.jobKey", "key"],
  ["spec.runAt", "run_at"],
];

function fieldOf(path: string): string {
  const [option, field] = fieldsOfPaths.find(([start]) => path.startsWith(start)) ?? ["", ""];
  return `${field}${path.slice(option.length)}`;
}
