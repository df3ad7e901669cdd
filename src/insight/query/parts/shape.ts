// What all matches of a query have in common, derived from its parts.
import type { Condition } from "../../../domain/condition.ts";

/** Required of every match; null: nothing is. */
export interface QueryShape {
  /** One of them applies. */
  readonly conditions: readonly Condition[] | null;
  /** Due now, or ahead: available jobs only. */
  readonly isDue: boolean | null;
  readonly taskIds: readonly number[] | null;
  readonly queueIds: readonly number[] | null;
  /** At most these ids. */
  readonly ids: readonly string[] | null;
  /** An exact key. */
  readonly key: string | null;
  /** No id below this one, none above that one. */
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

/** Both apply. */
export function bothOf(a: QueryShape, b: QueryShape): QueryShape {
  return {
    conditions: common(a.conditions, b.conditions),
    isDue: a.isDue ?? b.isDue,
    taskIds: common(a.taskIds, b.taskIds),
    queueIds: common(a.queueIds, b.queueIds),
    ids: common(a.ids, b.ids),
    key: a.key ?? b.key,
    minId: a.minId === null ? b.minId : greater(a.minId, b.minId ?? a.minId),
    maxId: a.maxId === null ? b.maxId : lesser(a.maxId, b.maxId ?? a.maxId),
  };
}

/** One of them applies. */
export function eitherOf(a: QueryShape, b: QueryShape): QueryShape {
  return {
    conditions: joined(a.conditions, b.conditions),
    isDue: a.isDue === b.isDue ? a.isDue : null,
    taskIds: joined(a.taskIds, b.taskIds),
    queueIds: joined(a.queueIds, b.queueIds),
    ids: joined(a.ids, b.ids),
    key: a.key === b.key ? a.key : null,
    minId: a.minId === null || b.minId === null ? null : lesser(a.minId, b.minId),
    maxId: a.maxId === null || b.maxId === null ? null : greater(a.maxId, b.maxId),
  };
}

const greater = (a: string, b: string) => (BigInt(a) > BigInt(b) ? a : b);
const lesser = (a: string, b: string) => (BigInt(a) < BigInt(b) ? a : b);

type Choice<T> = readonly T[] | null;

function common<T>(a: Choice<T>, b: Choice<T>): Choice<T> {
  return a === null || b === null ? (a ?? b) : a.filter((one) => b.includes(one));
}

function joined<T>(a: Choice<T>, b: Choice<T>): Choice<T> {
  return a === null || b === null ? null : [...new Set([...a, ...b])];
}
