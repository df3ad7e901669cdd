// What a listing of jobs may ask for, checked.
import * as v from "valibot";
import { strict, validate } from "../../base/validate.ts";
import { type JobState, jobStates } from "../../domain/job.ts";
import { boundedText } from "../../domain/job-spec.ts";
import { type JobSort, jobSorts } from "../walk/order.ts";

/** All that is given must hold. An empty text is no filter. */
export interface JobFilter {
  /** A query, such as `task:send is:failed`. */
  readonly q?: string | undefined;
  /** Default `all`. */
  readonly state?: JobState | "all" | undefined;
  /** Exact task identifier. */
  readonly identifier?: string | undefined;
  /** Exact queue name. */
  readonly queue?: string | undefined;
  /** A job's id, or text to be found in payload, last error, key, task, queue or worker. ≤ 256. */
  readonly search?: string | undefined;
  /**
   * Default `id`. What a job does not have comes last: one that is locked or has failed waits for no
   * time, one that has not failed has no time of its failure. `-failed_at` goes by updated_at, which
   * an index may have: stock Graphile Worker leaves it as it was when a job fails.
   */
  readonly sort?: JobSort | undefined;
  /** Jobs on a page. Default 100; more than 500 is 500. */
  readonly limit?: number | undefined;
  /** Matching jobs to pass over. Default 0. Its cost grows with it: prefer `cursor`. */
  readonly offset?: number | undefined;
  /** `nextCursor` of the page before, with the same filter and sort. */
  readonly cursor?: string | undefined;
}

/** Most jobs on a page. */
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

/** Throws InputError. */
export function checkedFilter(filter: JobFilter): CheckedFilter {
  const checked = validate(filterSchema, filter);
  const limit = Math.min(checked.limit, MAX_LIMIT);
  return { ...checked, limit, search: checked.search.trim() };
}
