// What all matches of a query have in common: worked out from its parts.
import type { QueryShape } from "./job-query.ts";

export const ANY_SHAPE: QueryShape = {
  conditions: null,
  isDue: null,
  taskIds: null,
  queueIds: null,
  ids: null,
  key: null,
};

/** Both hold. */
export function bothOf(a: QueryShape, b: QueryShape): QueryShape {
  return {
    conditions: common(a.conditions, b.conditions),
    isDue: a.isDue ?? b.isDue,
    taskIds: common(a.taskIds, b.taskIds),
    queueIds: common(a.queueIds, b.queueIds),
    ids: common(a.ids, b.ids),
    key: a.key ?? b.key,
  };
}

/** One of them holds. */
export function eitherOf(a: QueryShape, b: QueryShape): QueryShape {
  return {
    conditions: joined(a.conditions, b.conditions),
    isDue: a.isDue === b.isDue ? a.isDue : null,
    taskIds: joined(a.taskIds, b.taskIds),
    queueIds: joined(a.queueIds, b.queueIds),
    ids: joined(a.ids, b.ids),
    key: a.key === b.key ? a.key : null,
  };
}

type Choice<T> = readonly T[] | null;

function common<T>(a: Choice<T>, b: Choice<T>): Choice<T> {
  return a === null || b === null ? (a ?? b) : a.filter((one) => b.includes(one));
}

function joined<T>(a: Choice<T>, b: Choice<T>): Choice<T> {
  return a === null || b === null ? null : [...new Set([...a, ...b])];
}
