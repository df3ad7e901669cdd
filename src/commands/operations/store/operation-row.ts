// The SQL row of an operation, and its conversion to a JobOperation.
import { parseIdArray } from "../../../database/database.ts";
import type { Value } from "../../../domain/value.ts";
import { isUnpackable } from "../../../insight/expressions/large-values.ts";
import { dateOf, microseconds, timeText } from "../../../queue/sql/moments.ts";
import type { Changes } from "../../declare/job-action.ts";
import type { OperationAction } from "../model/action.ts";
import {
  type JobOperation,
  type OperationState,
  UNDO_HOURS,
  type UndoSkippedCounts,
} from "../model/operation.ts";

/** A row with the `operationColumns`. Bigints and JSON are texts. */
export interface OperationRow {
  readonly id: string;
  readonly query: string;
  readonly now_us: string;
  readonly action: OperationAction;
  readonly changes: string;
  readonly performed_by: string | null;
  readonly source: "admin" | "command line";
  readonly state: OperationState;
  readonly created_at_us: string;
  readonly finished_at_us: string | null;
  readonly max_id: string;
  readonly before_us: string;
  readonly open_us: string;
  readonly matched: string | null;
  readonly expected: string | null;
  readonly after_id: string;
  readonly done: string;
  readonly skipped_locked: string;
  readonly skipped_changed: string;
  readonly skipped_gone: string;
  readonly kept: string;
  readonly rate: number | null;
  readonly canary: number | null;
  readonly is_canary_over: boolean;
  readonly most: string | null;
  readonly rate_per_s: number | null;
  readonly eta_s: number | null;
  readonly undo_after_id: string | null;
  readonly undone: string;
  readonly undo_key_taken: string;
  readonly undo_changed: string;
  readonly undo_gone: string;
  readonly undo_locked: string;
  readonly error: string | null;
  readonly can_undo: boolean;
}

/** An expression: `interrupted` if an operation at work has no valid lease; otherwise the stored state. */
export const EFFECTIVE_STATE = `case
    when operation.state in ('running', 'canary', 'undoing')
      and coalesce(operation.lease_until < pg_catalog.clock_timestamp(), true) then 'interrupted'
    else operation.state
  end`;

const texts = ["query", "now_us", "action", "performed_by", "source", "state", "owner", "error"];
const jsons = ["changes", "matched", "expected"];
const MAX_TEXTS_LENGTH = 262_144;

const textBytes = (row: string): string =>
  texts.map((name) => `coalesce(pg_catalog.octet_length(${row}.${name}), 0)::bigint`).join(" + ");

/**
 * Returns a condition: the row's texts and JSON are short enough to come from this program, and `changes` is a JSON
 * object. The sizes are checked first, without decompressing a value.
 */
export const isOwnRow = (row: string): string =>
  `case when ${textBytes(row)} <= ${MAX_TEXTS_LENGTH}::bigint
    and ${jsons.map((name) => isUnpackable(`${row}.${name}`)).join(" and ")}
    then pg_catalog.json_typeof(${row}.changes) = 'object'::text else false end`;

/**
 * Returns an expression: the size of a row's texts and JSON in bytes. The expression decompresses JSON, so isOwnRow()
 * must be true for the row.
 */
export const rowBytes = (row: string): string =>
  [
    textBytes(row),
    ...jsons.map((name) => `coalesce(pg_catalog.octet_length(${row}.${name}::text), 0)::bigint`),
  ].join(" + ");

/** The select items of an OperationRow. The table must have the alias `operation`. */
export const operationColumns = `
  operation.id, operation.query, operation.now_us, operation.action, operation.changes,
  operation.performed_by, operation.source, ${EFFECTIVE_STATE} as state,
  ${microseconds("operation.created_at")} as created_at_us,
  ${microseconds("operation.finished_at")} as finished_at_us,
  operation.max_id, ${microseconds("operation.before")} as before_us, operation.matched,
  array(select ${microseconds("start")}::bigint
    from pg_catalog.unnest(operation.open_since) as start)::text as open_us,
  operation.expected, operation.after_id, operation.done, operation.skipped_locked,
  operation.skipped_changed, operation.skipped_gone, operation.undo_key_taken,
  operation.undo_changed, operation.undo_gone, operation.undo_locked, operation.kept, operation.rate,
  operation.canary, operation.is_canary_over, operation.most, operation.rate_per_s, operation.eta_s,
  operation.undo_after_id, operation.undone, operation.error,
  operation.kept > 0 and operation.done > 0
    and operation.finished_at > pg_catalog.now() - interval '${UNDO_HOURS} hours'
    and operation.state in ('done', 'stopped', 'failed') as can_undo`;

export function toOperation(row: OperationRow): JobOperation {
  const finishedAt = row.finished_at_us === null ? null : timeText(row.finished_at_us);
  return {
    id: row.id,
    query: row.query,
    nowUs: row.now_us,
    action: row.action,
    changes: JSON.parse(row.changes) as Changes,
    origin: { by: row.performed_by, source: row.source },
    state: row.state,
    boundary: {
      maxId: row.max_id,
      before: timeText(row.before_us),
      openSince: parseIdArray(row.open_us).map(timeText),
    },
    matched: valueIn(row.matched),
    expected: valueIn(row.expected),
    startedAt: timeText(row.created_at_us),
    finishedAt,
    afterId: row.after_id,
    done: Number(row.done),
    skippedLocked: Number(row.skipped_locked),
    skippedChanged: Number(row.skipped_changed),
    skippedGone: Number(row.skipped_gone),
    storedRows: Number(row.kept),
    rate: row.rate,
    canary: row.canary,
    isCanaryOver: row.is_canary_over,
    limit: row.most === null ? null : Number(row.most),
    ratePerS: row.rate_per_s,
    etaS: row.eta_s,
    undoAfterId: row.undo_after_id,
    undone: Number(row.undone),
    undoSkipped: undoSkippedIn(row),
    error: row.error,
    canUndo: row.can_undo,
    undoUntil: row.finished_at_us === null ? null : undoUntil(row.finished_at_us),
  };
}

/** The numbers of jobs that an undo has skipped so far, by reason. */
export type UndoSkippedRow = Pick<
  OperationRow,
  "undo_key_taken" | "undo_changed" | "undo_gone" | "undo_locked"
>;

export function undoSkippedIn(row: UndoSkippedRow): UndoSkippedCounts {
  return {
    keyTaken: Number(row.undo_key_taken),
    changed: Number(row.undo_changed),
    gone: Number(row.undo_gone),
    locked: Number(row.undo_locked),
  };
}

const valueIn = (json: string | null) => (json === null ? null : (JSON.parse(json) as Value));

function undoUntil(finishedAtUs: string): string {
  return new Date(dateOf(finishedAtUs).getTime() + UNDO_HOURS * 3_600_000).toISOString();
}
