// What a listing of jobs may ask for, checked and with its names resolved to ids.
import * as v from "valibot";
import { strict, validate } from "../../base/validate.ts";
import type { Database, Statement } from "../../database/database.ts";
import { query } from "../../database/database.ts";
import { type JobState, jobStates } from "../../domain/job.ts";
import { boundedText } from "../../domain/job-spec.ts";
import { isReady } from "../sql/eligible.ts";
import { isFailed, isLocked, isScheduled } from "../sql/job-state.ts";
import { decodeCursor, type JobCursor, START } from "./job-cursor.ts";

/** An empty text is no filter. */
export interface JobFilter {
  /** Default `all`. */
  readonly state?: JobState | "all" | undefined;
  /** Exact task identifier. */
  readonly identifier?: string | undefined;
  /** Exact queue name. */
  readonly queue?: string | undefined;
  /** A job's id, or text to be found in payload, last error, key, task, queue or worker. ≤ 256. */
  readonly search?: string | undefined;
  /** Jobs on a page. Default 100; more than 500 is 500. */
  readonly limit?: number | undefined;
  /** Matching jobs to pass over. Default 0. Its cost grows with it: prefer `cursor`. */
  readonly offset?: number | undefined;
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
}

export interface ResolvedFilter {
  readonly state: JobState | "all";
  /** null = any. */
  readonly taskId: number | null;
  readonly queueId: number | null;
  /** Trimmed; null = none. */
  readonly search: string | null;
  readonly limit: number;
  readonly offset: number;
  readonly cursor: JobCursor;
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
  state: v.optional(
    v.picklist(["all", ...jobStates], `must be one of all, ${jobStates.join(", ")}`),
    "all",
  ),
  identifier: v.optional(boundedText(0, 128), ""),
  queue: v.optional(boundedText(0, 128), ""),
  search: v.optional(boundedText(0, 256), ""),
  limit: v.optional(count, DEFAULT_LIMIT),
  offset: v.optional(count, 0),
  cursor: v.optional(v.string("must be a string"), ""),
});

/** null when no job can match, because there is no such task or queue. Throws InputError. */
export async function resolveFilter(
  db: Database,
  filter: JobFilter,
): Promise<ResolvedFilter | null> {
  const { state, identifier, queue, search, limit, offset, cursor } = validate(
    filterSchema,
    filter,
  );
  const place = cursor === "" ? START : decodeCursor(cursor);
  let ids: IdRow = { task_id: null, queue_id: null };
  if (identifier !== "" || queue !== "") {
    [ids = ids] = await query<IdRow>(db, idsSql, [identifier, queue]);
    if (identifier !== "" && ids.task_id === null) return null;
    if (queue !== "" && ids.queue_id === null) return null;
  }
  return {
    state,
    taskId: ids.task_id,
    queueId: ids.queue_id,
    search: search.trim() === "" ? null : search.trim(),
    limit: Math.min(limit, MAX_LIMIT),
    offset,
    cursor: place,
  };
}

interface IdRow {
  readonly task_id: number | null;
  readonly queue_id: number | null;
}

const idsSql: Statement = (schema) => `
  select
    (select id from ${schema}._private_tasks where identifier = $1::text) as task_id,
    (select id from ${schema}._private_job_queues where queue_name = $2::text) as queue_id`;

/** The values of $1 to $4 in `filterCondition`. */
export function filterValues(filter: ResolvedFilter): unknown[] {
  return [filter.state, filter.taskId, filter.queueId, filter.cursor.after];
}

// PostgreSQL plans an unnamed statement with its values in hand and folds these conditions to the
// one or two that apply, so that one text serves all filters and still finds its index.
export const filterCondition = `
  jobs.id > $4::bigint
  and ($2::int is null or jobs.task_id = $2::int)
  and ($3::int is null or jobs.job_queue_id = $3::int)
  and ($1::text <> 'ready' or (${isReady("jobs")}))
  and ($1::text <> 'scheduled' or (${isScheduled("jobs")}))
  and ($1::text <> 'locked' or (${isLocked("jobs")}))
  and ($1::text <> 'failed' or (${isFailed("jobs")}))`;
