// Writes a page of jobs as JSON. jobPageJson() writes jobs with their payloads, byte for byte, unless a payload is too
// large. lightPageJson() writes rows without payloads.
import { conditions } from "../../../domain/condition.ts";
import { jobStates, listedJobTexts } from "../../../domain/job.ts";
import type { JobPage } from "../../../insight/pages/job-page.ts";
import type { LightJob } from "../../../insight/pages/light-rows.ts";
import type { LightPage } from "../../../insight/pages/list-jobs.ts";
import {
  type JsonSchema,
  listedJob,
  listOf,
  record,
  value,
  withDescription,
  withOptional,
} from "../../wire/json-schema.ts";

/** Returns the JSON in pieces. `more`: further members, as JSON texts by name. */
export function jobPageJson(page: JobPage, more: Readonly<Record<string, string>>): string[] {
  const cut = new Map(page.truncated.map((one) => [one.id, one]));
  const rows = page.jobs.map((job): readonly string[] => {
    const cutJob = cut.get(job.id);
    if (cutJob === undefined) return listedJobTexts(job);
    return listedJobTexts(job, {
      payload_truncated: "true",
      payload_bytes: String(cutJob.payloadBytes),
      ...(cutJob.isErrorTruncated ? { last_error_truncated: "true" } : {}),
    });
  });
  return pageJson(rows, page, more);
}

export function lightPageJson(page: LightPage, more: Readonly<Record<string, string>>): string[] {
  return pageJson(
    page.jobs.map((job) => [lightJobJson(job)]),
    page,
    more,
  );
}

function pageJson(
  rows: readonly (readonly string[])[],
  { nextCursor, report }: Pick<JobPage, "nextCursor" | "report">,
  more: Readonly<Record<string, string>>,
): string[] {
  const members = {
    next_cursor: JSON.stringify(nextCursor),
    cost: JSON.stringify(report.cost),
    scanned: String(report.scanned),
    scanned_to: report.scannedTo ?? "null",
    complete: String(report.isComplete),
    ranking: JSON.stringify(report.ranking),
    unknown: JSON.stringify(report.unknownNames),
    index_hint: JSON.stringify(report.indexHint),
    unchecked: String(report.unchecked),
    ...more,
  };
  const texts = Object.entries(members).map(([name, text]) => `"${name}":${text}`);
  const jobs = rows.flatMap((row, at) => (at === 0 ? row : [",", ...row]));
  return ['{"jobs":[', ...jobs, `],${texts.join(",")}}`];
}

function lightJobJson(job: LightJob): string {
  const { id, ...rest } = {
    id: job.id,
    task_identifier: job.taskIdentifier,
    queue_name: job.queueName,
    priority: job.priority,
    run_at: job.runAt,
    attempts: job.attempts,
    max_attempts: job.maxAttempts,
    error_line: job.errorLine,
    created_at: job.createdAt,
    updated_at: job.updatedAt,
    key: job.key,
    locked_at: job.lockedAt,
    locked_by: job.lockedBy,
    revision: job.revision,
    is_available: job.isAvailable,
    state: job.state,
    condition: job.condition,
    is_paused: job.isPaused,
    condition_since: job.conditionSince,
    cancelling: job.cancelling,
    payload_bytes: job.payloadBytes,
    payload_truncated: job.isPayloadTruncated,
  };
  return `{"id":${id},${JSON.stringify(rest).slice(1)}`;
}

const jobRow = record(
  {
    id: "integer",
    task_identifier: "string?",
    queue_name: "string?",
    priority: "integer",
    run_at: "time",
    attempts: "integer",
    max_attempts: "integer",
    error_line: withDescription(
      "string?",
      "the first line of the last error, at most 300 characters",
    ),
    created_at: "time",
    updated_at: "time",
    key: "string?",
    locked_at: "time?",
    locked_by: "string?",
    revision: "integer",
    is_available: "boolean",
    state: { type: "string", enum: jobStates },
    condition: { type: "string", enum: conditions },
    is_paused: withDescription(
      "boolean",
      "the job waits, and its queue, its task or everything is paused",
    ),
    condition_since: "time",
    cancelling: withDescription(
      "string?",
      "while the job runs and is being cancelled: the reason and the user",
    ),
    payload_bytes: withDescription("integer", "the stored size of the payload"),
    payload_truncated: withDescription(
      "boolean",
      "true: the payload is, or may be when decompressed, too large for a page; with fields=full the payload may be null",
    ),
  },
  "JobRow",
);

const page = record(
  {
    jobs: withDescription(
      listOf({ anyOf: [listedJob, jobRow] }),
      "ListedJob with fields=full, JobRow with fields=row",
    ),
    next_cursor: withDescription(
      "string?",
      "continues with the same q, state, identifier, queue, search and sort; null: nothing follows",
    ),
    cost: withDescription(
      { type: "string", enum: ["cheap", "bounded"] },
      "cheap: an index led to these jobs; bounded: jobs were read one by one, for at most about 0.4 s",
    ),
    scanned: withDescription(
      "integer",
      "the number of jobs or index entries that were read for this answer",
    ),
    scanned_to: withDescription(
      "integer?",
      "the last id that was read, if jobs are read in the order of ids and not all of them have been; otherwise null",
    ),
    complete: withDescription(
      "boolean",
      "false: the time limit was reached before the page was full or the ranking complete; next_cursor continues",
    ),
    ranking: withDescription(
      { type: "string", enum: ["full", "partial"] },
      "partial: no index has this order and not all jobs have been read; these are the best jobs found so far. A request with next_cursor continues the search and returns this page again with what it has found by then; repeat it until ranking is full",
    ),
    unknown: withDescription(
      "string[]",
      "names and error groups in q that no job, task or queue has, such as task:nmae",
    ),
    index_hint: withDescription(
      "string?",
      'the missing optional index that would make this list cheap: for its order, or else for the first term of q that an index can serve; POST /api/indexes or "worker migrate --with-indexes" creates it; null: no index would',
    ),
    unchecked: withDescription(
      "integer",
      "jobs that may match and are left out, because their texts are too large, or took too long to read",
    ),
    took_ms: withDescription("integer", "the time for reading the page, in milliseconds"),
  },
  "JobList",
);

export const jobPageSchema: JsonSchema = withOptional(page, {
  count: withDescription(
    { anyOf: [value, { type: "null" }] },
    "with count=fast: the number of all jobs that match; null: this filter cannot be counted, or the count takes too long",
  ),
  suggestions: withDescription(
    listOf(record({ term: "string", use: "string" }, "NameSuggestion")),
    "with fields=row, if nothing matches: names similar to those in q, and the terms that they could replace",
  ),
});
