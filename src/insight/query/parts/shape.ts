// What all matches of a query have in common, derived from its parts.
import type { Condition } from "../../../domain/condition.ts";

/** Requirements that every match of a query meets. A member that is null is no requirement. */
export interface QueryShape {
  /** The job is in one of these conditions. */
  readonly conditions: readonly Condition[] | null;
  /** true: the job is due now; false: it is due in the future. In both cases it has attempts left and is not locked. */
  readonly isDue: boolean | null;
  readonly taskIds: readonly number[] | null;
  readonly queueIds: readonly number[] | null;
  /** The job has one of these ids. */
  readonly ids: readonly string[] | null;
  /** The job has exactly this key. */
  readonly key: string | null;
  /** The lowest and the highest id that a match may have. */
  readonly minId: string | null;
  readonly maxId: string | null;
}

export const ANY_SHAPE: QueryShape = Object.freeze({
  conditions: null,
  isDue: null,
  taskIds: null,
  queueIds: null,
  ids: null,
  key: null,
  minId: null,
  maxId: null,
});

/** Returns the shape of the jobs to which both shapes apply. */
export function bothOf(a: QueryShape, b: QueryShape): QueryShape {
  return {
    conditions: intersection(a.conditions, b.conditions),
    isDue: a.isDue ?? b.isDue,
    taskIds: intersection(a.taskIds, b.taskIds),
    queueIds: intersection(a.queueIds, b.queueIds),
    ids: intersection(a.ids, b.ids),
    key: a.key ?? b.key,
    minId: a.minId === null ? b.minId : greater(a.minId, b.minId ?? a.minId),
    maxId: a.maxId === null ? b.maxId : lesser(a.maxId, b.maxId ?? a.maxId),
  };
}

/** Returns the shape of the jobs to which at least one of the shapes applies. */
export function eitherOf(a: QueryShape, b: QueryShape): QueryShape {
  return {
    conditions: union(a.conditions, b.conditions),
    isDue: a.isDue === b.isDue ? a.isDue : null,
    taskIds: union(a.taskIds, b.taskIds),
    queueIds: union(a.queueIds, b.queueIds),
    ids: union(a.ids, b.ids),
    key: a.key === b.key ? a.key : null,
    minId: a.minId === null || b.minId === null ? null : lesser(a.minId, b.minId),
    maxId: a.maxId === null || b.maxId === null ? null : greater(a.maxId, b.maxId),
  };
}

const greater = (a: string, b: string) => (BigInt(a) > BigInt(b) ? a : b);
const lesser = (a: string, b: string) => (BigInt(a) < BigInt(b) ? a : b);

type Choice<T> = readonly T[] | null;

function intersection<T>(a: Choice<T>, b: Choice<T>): Choice<T> {
  return a === null || b === null ? (a ?? b) : a.filter((one) => b.includes(one));
}

function union<T>(a: Choice<T>, b: Choice<T>): Choice<T> {
  return a === null || b === null ? null : [...new Set([...a, ...b])];
}
