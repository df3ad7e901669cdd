// The option of a job that is added at most once in a period, and the answer to its add.
import { hash } from "node:crypto";
import * as v from "valibot";
import { strict } from "../../base/validate.ts";
import type { Job } from "../job.ts";
import type { JobSpec, JobToAdd } from "../job-spec.ts";
import { comparedText, comparedValues, type Keyed, milliseconds, type Unique } from "../unique.ts";

/** Adds a job at most once in a period. The period begins with each add that is not dropped. */
export interface Throttle {
  /** The length of the period in milliseconds, at most a year. */
  readonly periodMs: number;
  /** The values that are compared, as in `unique.by`; the task always counts. Default `["args"]`. */
  readonly by?: Unique["by"] | undefined;
}

/** The answer to an add with `throttle`. */
export type ThrottledAdd =
  | {
      readonly isThrottled: false;
      /** The end of the period, by the database's clock: equal jobs are dropped until then. */
      readonly until: Date;
      /** The added job. */
      readonly job: Job;
    }
  | {
      /** The job was dropped: an equal one was added within the period. */
      readonly isThrottled: true;
      /** The time from which an equal job is added, by the database's clock. */
      readonly until: Date;
      readonly job: null;
    };

/** Options of a job that is added at most once in a period. Not with `jobKey`, `unique` or `debounce`. */
export interface ThrottledSpec extends Omit<JobSpec, "throttle"> {
  /** The period, and which jobs are equal. */
  readonly throttle: Throttle;
}

/** A job with any options, `throttle` among them. */
export type AnyJob = Omit<JobToAdd, "spec"> & {
  readonly spec?: JobSpec | ThrottledSpec | undefined;
};

export const throttleSchema = strict({
  periodMs: milliseconds,
  by: v.optional(comparedValues),
});

/** A checked throttle. */
export interface ResolvedThrottle {
  /** `t:` and the SHA-256, in base64url, of the canonical JSON of [task, { value: its value }]. */
  readonly key: string;
  readonly periodMs: number;
}

/** Throws InputError if the payload lacks a member of `by`. */
export function resolveThrottle(
  job: Keyed,
  { by = ["args"], periodMs }: v.InferOutput<typeof throttleSchema>,
): ResolvedThrottle {
  const compared = comparedText(job, by, { option: "throttle", mayBeList: true });
  return { key: `t:${hash("sha256", compared, "base64url")}`, periodMs };
}
