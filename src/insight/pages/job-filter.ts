// The validated filter of a list of jobs.
import * as v from "valibot";
import { strict, validate } from "../../base/validate.ts";
import { type JobState, jobStates } from "../../domain/job.ts";
import { boundedText } from "../../domain/job-spec.ts";
import { type JobSort, jobSorts } from "../walk/order.ts";

/** The filters, the order and the page of listJobs(). Jobs must match all filters; an empty text matches all jobs. */
export interface JobFilter {
  /** A query in the query language, such as `task:send is:failed`. */
  readonly q?: string | undefined;
  /** The state of the jobs. Default `all`. */
  readonly state?: JobState | "all" | undefined;
  /** The exact task identifier. */
  readonly identifier?: string | undefined;
  /** The exact name of the named queue. */
  readonly queue?: string | undefined;
  /** A job id, or text to be found in payload, last error, key, task, queue or worker. At most 256 characters. */
  readonly search?: string | undefined;
  /**
   * The order of the jobs. Default `id`. Some orders sort only some of the jobs; all other jobs follow by id. `due`,
   * `-due` and `priority` sort jobs that are neither locked nor failed. `running` sorts locked jobs by the time of the
   * lock, and is cheap with the optional index `running`. `-failed_at` sorts failed jobs by `updated_at`, latest first,
   * and is cheap with the optional index `failed`.
   */
  readonly sort?: JobSort | undefined;
  /** The number of jobs on a page, 0–500. A larger number counts as 500. Default 100. */
  readonly limit?: number | undefined;
  /** The number of matching jobs to skip. The cost grows with this number, so prefer `cursor`. Default 0. */
  readonly offset?: number | undefined;
  /** `nextCursor` of the previous page, with the same filter and order. */
  readonly cursor?: string | undefined;
}

/** The maximum number of jobs on a page. */
export const MAX_LIMIT = 500;
const DEFAULT_LIMIT = 100;

const count = v.pipe(
  v.number("must be a number"),
  v.check(
    (value) => Number.isSafeInteger(value) && value >= 0,
    "must be a whole number, 0 or more",
  ),
);

const filterSchema = strict({
  q: v.optional(v.string("must be a string"), ""),
  state: v.optional(
    v.picklist(["all", ...jobStates], `must be one of all, ${jobStates.join(", ")}`),
    "all",
  ),
  identifier: v.optional(boundedText(0, 128), ""),
  queue: v.optional(boundedText(0, 128), ""),
  search: v.optional(boundedText(0, 256), ""),
  sort: v.optional(v.picklist(jobSorts, `must be one of ${jobSorts.join(", ")}`), "id"),
  limit: v.optional(count, DEFAULT_LIMIT),
  offset: v.optional(count, 0),
  cursor: v.optional(v.string("must be a string"), ""),
});

export type CheckedFilter = v.InferOutput<typeof filterSchema>;

/** Checks a filter and fills in its defaults. Throws InputError if the filter is invalid. */
export function checkedFilter(filter: JobFilter): CheckedFilter {
  const checked = validate(filterSchema, filter);
  const limit = Math.min(checked.limit, MAX_LIMIT);
  return { ...checked, limit, search: checked.search.trim() };
}
