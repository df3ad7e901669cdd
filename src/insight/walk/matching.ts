// The condition that decides which jobs a walk (walk.ts) finds: a query and, for a list of jobs, the list's filters.
import type { CheckedTexts, JobQuery } from "../query/job-query.ts";
import { ANY_SHAPE, bothOf } from "../query/parts/shape.ts";

/** One or several compiled queries or filters. A job matches the condition if it matches all of them. */
export interface WalkCondition
  extends Pick<JobQuery, "sql" | "values" | "shape" | "isEmpty" | "unknown"> {
  /** The part that this process evaluates on the texts of jobs; null: SQL alone decides. */
  readonly check: TextCheck | null;
  /** Whether every job certainly matches. */
  readonly isAll: boolean;
  /** The time that `now` in the condition means, in microseconds since 1970; null: the time of each statement. */
  readonly nowUs: string | null;
}

/** The members of a JobQuery with which confirm() checks the texts of jobs. */
export interface TextCheck {
  readonly decide: (row: CheckedTexts) => boolean;
  readonly marks: (first: number) => string;
  /** The query's condition, which uses all parameters. The marks may use only some of them. */
  readonly sql: (first: number) => string;
  readonly values: readonly unknown[];
}

export const everyJob: WalkCondition = Object.freeze({
  sql: () => "true",
  values: [],
  check: null,
  shape: ANY_SHAPE,
  isEmpty: false,
  unknown: [],
  isAll: true,
  nowUs: null,
});

/** Returns the condition of a compiled query. */
export function matchingOf(query: JobQuery): WalkCondition {
  const { check: decide, values } = query;
  return {
    ...query,
    isAll: query.text === "",
    check:
      decide === null
        ? null
        : {
            decide,
            marks: (first) => query.marks(first),
            sql: (first) => query.sql(first),
            values,
          },
  };
}

/** Returns the condition that a job matches all of `parts`. At most one of `parts` may have a check. */
export function allOf(parts: readonly WalkCondition[]): WalkCondition {
  const real = parts.filter(({ isAll }) => !isAll);
  const [only] = real;
  if (only === undefined) return everyJob;
  if (real.length === 1) return only;
  return {
    sql: (first) => {
      let next = first;
      return `(${real
        .map(({ sql, values }) => {
          const text = sql(next);
          next += values.length;
          return text;
        })
        .join("\n    and ")})`;
    },
    values: real.flatMap(({ values }) => values),
    check: real.map(({ check }) => check).find((check) => check !== null) ?? null,
    shape: real.map(({ shape }) => shape).reduce(bothOf),
    isEmpty: real.some(({ isEmpty }) => isEmpty),
    unknown: real.flatMap(({ unknown }) => unknown),
    isAll: false,
    nowUs: real.map(({ nowUs }) => nowUs).find((one) => one !== null) ?? null,
  };
}
