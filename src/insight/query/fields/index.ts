// The SQL, the cost and the help text of each field of the query language. The names and kinds of the fields are in
// src/domain/portable/query/fields.ts.
import { lockedConditions } from "../../../domain/condition.ts";
import type { FieldTerm } from "../../../domain/query/query-tree.ts";
import { isAvailable } from "../../../queue/sql/eligible.ts";
import { isFailed, isLocked } from "../../../queue/sql/job-state.ts";
import type { Parameters } from "../parts/parameters.ts";
import { noneOf, type QueryPart } from "../parts/part.ts";
import {
  BOUNDED,
  CHEAP,
  CHECK,
  costWith,
  type FieldSql,
  hasNone,
  type QueryFacts,
} from "./field.ts";
import { groupPart } from "./group-part.ts";
import { integerPart } from "./integer-part.ts";
import { isCost, isPart } from "./is-part.ts";
import { momentPart } from "./moment-part.ts";
import { keyCost, keyPart, namePart, workerPart } from "./name-part.ts";
import { payloadPart } from "./payload-part.ts";
import { errorPart, flagPart } from "./text-part.ts";

export const fieldSql: Readonly<Record<string, FieldSql>> = {
  id: {
    note: "a job's id, or a range: id:5..9",
    part: integerPart("jobs.id"),
    cost: () => CHEAP,
    isUnique: true,
  },
  is: { note: "its condition: is:failed", part: isPart, cost: isCost },
  task: {
    note: "its task; task:mail* is a prefix",
    part: namePart,
    cost: (_, facts) => costWith("task", facts),
  },
  queue: {
    note: "its named queue; queue:none",
    part: namePart,
    cost: (term, facts) => (hasNone(term) ? BOUNDED : costWith("queue", facts)),
  },
  key: {
    note: "its key; key:user-* is a prefix",
    part: keyPart,
    cost: keyCost,
    isUnique: true,
  },
  worker: {
    note: "the worker that has locked it",
    part: workerPart,
    cost: (term, facts) => (hasNone(term) ? BOUNDED : costWith("running", facts)),
  },
  priority: {
    note: "lower runs earlier",
    part: integerPart("jobs.priority"),
    cost: () => BOUNDED,
  },
  attempts: {
    note: "attempts made: attempts>3",
    part: integerPart("jobs.attempts"),
    cost: () => BOUNDED,
  },
  left: {
    note: "attempts left",
    part: integerPart("(jobs.max_attempts - jobs.attempts::int)"),
    cost: () => BOUNDED,
  },
  due: {
    note: "when it is due: due<+10m",
    part: momentPart({
      column: "jobs.run_at",
      of: { sql: isAvailable("jobs"), shape: {} },
      isAhead: true,
    }),
    cost: () => CHEAP,
  },
  created: {
    note: "added: created<1h",
    part: momentPart({ column: "jobs.created_at" }),
    cost: () => BOUNDED,
  },
  updated: {
    note: "last changed: updated<1h",
    part: momentPart({ column: "jobs.updated_at" }),
    cost: () => BOUNDED,
  },
  failed: {
    note: "permanently failed: failed<2h",
    // updated_at is the time of the failure, unless the row was changed afterwards, or the job failed on a Graphile
    // worker, which does not write updated_at.
    part: momentPart({
      column: "jobs.updated_at",
      of: { sql: isFailed("jobs"), shape: { conditions: ["failed"] } },
    }),
    cost: (_, facts) => costWith("failed", facts),
  },
  running: {
    note: "locked for: running>10m",
    part: momentPart({
      column: "jobs.locked_at",
      of: { sql: isLocked("jobs"), shape: { conditions: lockedConditions } },
    }),
    cost: (_, facts) => costWith("running", facts),
  },
  flag: { note: "has the flag", part: flagPart, cost: () => BOUNDED },
  error: { note: "text in its error", part: errorPart, cost: () => BOUNDED },
  group: { note: "errors of one group", part: groupPart, cost: () => CHECK },
  payload: {
    note: "a field of the payload: payload.user.id:5",
    part: payloadPart,
    cost: ({ path }) => (path.length > 0 ? CHECK : BOUNDED),
  },
};

export function sqlOf(field: string): FieldSql {
  const sql = fieldSql[field];
  if (sql === undefined) throw new Error(`the field ${field} has no SQL`);
  return sql;
}

/** Returns the condition of a term. `!=` is the negation of `:`, so it also matches jobs without the field. */
export function fieldPart(term: FieldTerm, parameters: Parameters, known: QueryFacts): QueryPart {
  const part = sqlOf(term.field).part(term, parameters, known);
  return term.op === "!=" ? noneOf(part) : part;
}
