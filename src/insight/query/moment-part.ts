// Terms about time. Every column of them is compared with moments that are fixed once a query, so that
// all chunks of a walk, and all pages of a list, mean the same jobs.
import { lockedConditions } from "../../domain/condition.ts";
import { isOrder } from "../../domain/portable/query/fields.ts";
import { ageUs, timeUs } from "../../domain/query/moments.ts";
import type { FieldTerm, MomentValue, QueryValue } from "../../domain/query/query-tree.ts";
import { isAvailable } from "../../queue/sql/eligible.ts";
import { isFailed, isLocked } from "../../queue/sql/job-state.ts";
import { timeText } from "../../queue/sql/moments.ts";
import type { QueryShape } from "./job-query.ts";
import type { Parameters } from "./parameters.ts";
import { anyOf, type QueryPart, sqlPart } from "./part.ts";

export type MomentField = "due" | "created" | "updated" | "failed" | "running";

export const isMomentField = (field: string): field is MomentField => field in columns;

const columns: Readonly<Record<MomentField, string>> = {
  due: "jobs.run_at",
  created: "jobs.created_at",
  updated: "jobs.updated_at",
  // What fails is written at that moment, and then rests.
  failed: "jobs.updated_at",
  running: "jobs.locked_at",
};

/** Of which jobs the field tells at all: only a waiting job is due, only a failed one has failed. */
const tellsOf: Readonly<Partial<Record<MomentField, { sql: string; shape: Partial<QueryShape> }>>> =
  {
    due: { sql: isAvailable("jobs"), shape: {} },
    failed: { sql: isFailed("jobs"), shape: { conditions: ["failed"] } },
    running: { sql: isLocked("jobs"), shape: { conditions: lockedConditions } },
  };

/** From `low` up to, not including, `high`; null = open. */
interface Interval {
  readonly low: bigint | null;
  readonly high: bigint | null;
}

export function momentPart(
  term: FieldTerm,
  field: MomentField,
  parameters: Parameters,
  nowUs: bigint,
): QueryPart {
  return anyOf(
    term.values.map((value) => {
      const interval = intervalOf(value, term, nowUs);
      const told = tellsOf[field];
      const shape = {
        ...told?.shape,
        ...(field === "due" ? { isDue: sideOf(interval, nowUs) } : {}),
      };
      const all = [told?.sql ?? [], bounds(columns[field], interval, parameters)].flat();
      return sqlPart(`(${all.join(" and ")})`, shape);
    }),
  );
}

/** Due already, or ahead; null where it may be both. */
function sideOf({ low, high }: Interval, nowUs: bigint): boolean | null {
  if (high !== null && high <= nowUs + 1n) return true;
  return low !== null && low > nowUs ? false : null;
}

function bounds(column: string, { low, high }: Interval, parameters: Parameters): string[] {
  const at = (us: bigint) => parameters.add(timeText(String(us)), "text::timestamptz");
  return [
    ...(low === null ? [] : [`${column} >= ${at(low)}`]),
    ...(high === null ? [] : [`${column} < ${at(high)}`]),
  ];
}

function intervalOf(value: QueryValue, { field, op }: FieldTerm, nowUs: bigint): Interval {
  if (value.kind === "range") {
    const ends = [value.low, value.high] as MomentValue[];
    const [low, high] = ends.map((end) => momentOf(end, field, nowUs));
    if (low === undefined || high === undefined) throw new Error("a range has two ends");
    // An age of 1h..2h is a moment between 2 hours ago and 1 hour ago.
    const isTurned = ends.every((end) => isAgeOf(end, field));
    return isTurned ? { low: high.low, high: low.high } : { low: low.low, high: high.high };
  }
  const moment = value as MomentValue;
  const { low, high } = momentOf(moment, field, nowUs);
  if (!isOrder(op)) return { low, high };
  // Less than an hour old is later than an hour ago.
  const isLess = op.startsWith("<") !== isAgeOf(moment, field);
  const isInclusive = op.endsWith("=");
  if (isLess) return { low: null, high: isInclusive ? high : low };
  return { low: isInclusive ? low : high, high: null };
}

/** Without a sign, an age tells how long something is past; for `due` it is the time until then. */
function isAgeOf({ kind, text }: MomentValue, field: string): boolean {
  return kind === "age" && field !== "due" && !/^[+-]/.test(text);
}

function momentOf(value: MomentValue, field: string, nowUs: bigint) {
  if (value.kind === "time") return timeUs(value.text, nowUs);
  const isPast = value.text.startsWith("-") || isAgeOf(value, field);
  const us = isPast ? nowUs - ageUs(value.text) : nowUs + ageUs(value.text);
  return { low: us, high: us + 1n };
}
