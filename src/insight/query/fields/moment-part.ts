// The SQL of query terms on times. Ages are converted to times with the query's `now`, so that all statements of a
// query compare with the same times.
import { isOrder } from "../../../domain/portable/query/fields.ts";
import { ageUs, timeUs } from "../../../domain/query/moments.ts";
import type { MomentValue, Operator, QueryValue } from "../../../domain/query/query-tree.ts";
import { timeText } from "../../../queue/sql/moments.ts";
import type { Parameters } from "../parts/parameters.ts";
import { anyOf, sqlPart } from "../parts/part.ts";
import type { QueryShape } from "../parts/shape.ts";
import type { FieldSql } from "./field.ts";

/** A column with a time. */
export interface MomentSql {
  readonly column: string;
  /**
   * The condition for jobs in which the column has the field's meaning. `updated_at` is the time of the failure only in
   * failed jobs, for example.
   */
  readonly of?: { readonly sql: string; readonly shape: Partial<QueryShape> };
  /**
   * Whether a duration without a sign counts forward from now, as in `due<10m`. Default: false. May be true only for
   * run_at, because `isDue` is then derived from the interval.
   */
  readonly isAhead?: boolean;
}

/** Microseconds since 1970. `low` is inclusive, `high` exclusive; null: unbounded. */
interface Interval {
  readonly low: bigint | null;
  readonly high: bigint | null;
}

export function momentPart({ column, of, isAhead = false }: MomentSql): FieldSql["part"] {
  return ({ values, op }, parameters, { nowUs }) =>
    anyOf(
      values.map((value) => {
        const interval = intervalOf(value, op, isAhead, nowUs);
        const shape = { ...of?.shape, ...(isAhead ? { isDue: sideOf(interval, nowUs) } : {}) };
        const conditions = [of?.sql ?? [], bounds(column, interval, parameters)].flat();
        return sqlPart(`(${conditions.join(" and ")})`, shape);
      }),
    );
}

/** Returns whether all jobs of the interval are due (true) or none is (false); null: some may be due. */
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

function intervalOf(value: QueryValue, op: Operator, isAhead: boolean, nowUs: bigint): Interval {
  if (value.kind === "range") {
    const ends = [value.low, value.high] as MomentValue[];
    const [low, high] = ends.map((end) => momentOf(end, isAhead, nowUs));
    if (low === undefined || high === undefined) throw new Error("a range has two ends");
    // An age of 1h..2h is a time between 2 hours ago and 1 hour ago.
    const isReversed = ends.every((end) => isAge(end, isAhead));
    return isReversed ? { low: high.low, high: low.high } : { low: low.low, high: high.high };
  }
  const moment = value as MomentValue;
  const { low, high } = momentOf(moment, isAhead, nowUs);
  if (!isOrder(op)) return { low, high };
  // Less than an hour old means later than an hour ago.
  const isLess = op.startsWith("<") !== isAge(moment, isAhead);
  const isInclusive = op.endsWith("=");
  if (isLess) return { low: null, high: isInclusive ? high : low };
  return { low: isInclusive ? low : high, high: null };
}

function isAge({ kind, text }: MomentValue, isAhead: boolean): boolean {
  return kind === "age" && !isAhead && !/^[+-]/.test(text);
}

function momentOf(value: MomentValue, isAhead: boolean, nowUs: bigint) {
  if (value.kind === "time") return timeUs(value.text, nowUs);
  const isPast = value.text.startsWith("-") || isAge(value, isAhead);
  const us = isPast ? nowUs - ageUs(value.text) : nowUs + ageUs(value.text);
  return { low: us, high: us + 1n };
}
