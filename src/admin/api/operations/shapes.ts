// The JSON schemas of operations and rehearsals in the HTTP API, and functions that the routes of operations share. In
// both schemas, a member `x_value` is the number `x` with its precision.
import { WorkerError } from "../../../base/errors.ts";
import { operationActions } from "../../../commands/operations/model/action.ts";
import {
  type JobOperation,
  operationStates,
} from "../../../commands/operations/model/operation.ts";
import { isJobId } from "../../../domain/job-ids.ts";
import type { HttpRequest } from "../../../http/request.ts";
import { listOf, orNull, record, value, withDescription } from "../../wire/json-schema.ts";
import { missingSchema } from "../../wire/missing-schema.ts";

const action = { type: "string", enum: operationActions };
const boundary = record({ max_id: "integer", before: "time" });

export const operationSchema = record(
  {
    id: "integer",
    q: "string",
    action,
    changes: { type: "object" },
    by: "string?",
    source: { type: "string", enum: ["admin", "command line"] },
    state: { type: "string", enum: operationStates },
    started_at: "time",
    finished_at: "time?",
    after_id: "integer",
    boundary,
    // The number of jobs that matched at the rehearsal. `not_found` is about this number minus `done` and the numbers
    // `skipped_…`.
    matched: orNull(value),
    expected: "integer?",
    expected_value: orNull(value),
    done: "integer",
    skipped_locked: "integer",
    cancelling: withDescription(
      "integer",
      "how many of the skipped_locked jobs run and are being cancelled",
    ),
    skipped_changed: "integer",
    skipped_gone: "integer",
    not_found: {
      ...orNull(value),
      description:
        "jobs that matched at the preview, but were not found later: completed, deleted, or no longer matching. Their ids are not recorded. null until the operation has passed all ids, or if the preview's count is unknown",
    },
    scanned: "integer",
    rate: "integer?",
    canary: "integer?",
    limit: "integer?",
    rate_per_s: "integer?",
    eta_s: "integer?",
    undo_jobs: "integer",
    undone: "integer",
    // For each reason, how many of the `done` jobs the undo has not restored.
    undo_skipped: record({
      key_taken: "integer",
      changed: "integer",
      gone: "integer",
      locked: "integer",
    }),
    can_undo: "boolean",
    undo_until: "time?",
    resumable: "boolean",
    error: "string?",
    // The operation as a shell command.
    cli: "string",
  },
  "Operation",
);

export const rehearsalSchema = record(
  {
    rehearsal: "string",
    q: "string",
    action,
    count: value,
    would: record({
      change: "integer",
      skip_locked: "integer",
      change_value: value,
      skip_locked_value: value,
    }),
    by_task: listOf(record({ task: "string?", count: "integer", count_value: value })),
    by_queue: listOf(record({ queue: "string?", count: "integer", count_value: value })),
    sample: listOf(
      record({
        id: "integer",
        task_identifier: "string?",
        queue_name: "string?",
        state: "string",
        run_at: "time",
        priority: "integer",
        attempts: "integer",
        max_attempts: "integer",
        key: "string?",
        error_line: "string?",
      }),
    ),
    // The earliest and the latest run_at that the action would set. Both are null, for example, if the action sets no
    // run_at, or if there are too many jobs.
    first_run_at: "time?",
    last_run_at: "time?",
    unknown: "string[]",
    boundary,
    undo_bytes: "integer",
    undo_jobs: "integer",
    can_undo: "boolean",
    missing: missingSchema("operation can be started"),
    eta_s: "integer",
    cli: "string",
  },
  "Rehearsal",
);

/** Returns the id in the path. Throws WorkerError `not_found` if the id is not a whole number. */
export function operationIdIn(request: HttpRequest): string {
  const id = request.params["id"];
  if (isJobId(id)) return id;
  throw new WorkerError("not_found", "operation not found: an operation's id is a whole number");
}

/** Returns the name of the request's user, for the audit trail; null if the request has no user. */
export const byOf = ({ notes }: HttpRequest): string | null =>
  typeof notes["user"] === "string" ? notes["user"] : null;

/** Adds the operation to the request's log line. */
export function noteOperation(request: HttpRequest, operation: JobOperation): void {
  const { id, action: what, state, done } = operation;
  Object.assign(request.notes, { operation: id, action: what, state, changed: done });
}
