// Walks jobs in an order for which there is no index. The walk reads all jobs by id, and keeps the best rows: those
// that come first in the order. If a walk takes several responses, each response shows the best rows so far.
import { query } from "../../database/database.ts";
import { nullOnTimeout } from "../../database/null-on-timeout.ts";
import { boundSql, isFew, isPast, listedAfter, startOf, withinBound } from "./id-walk.ts";
import { everyJob } from "./matching.ts";
import { compareKeys } from "./moment-key.ts";
import type { Key } from "./order.ts";
import { conditionOf, type StepInput, splitList, type WalkStep } from "./step.ts";
import type { Round, Row } from "./walk-place.ts";

type RankInput = Omit<StepInput, "size">;

interface RankedRow {
  readonly last: string | null;
  readonly rows: string;
  readonly ids: string;
  readonly keys: string;
}

/**
 * Reads the next chunk of jobs by id, and returns the best matching rows of the chunk. If `matching.check` is set,
 * returns the first candidates by id instead, and the caller checks them.
 */
export async function walkRanks(
  input: StepInput,
  key: Key,
  round: Round,
): Promise<WalkStep<string>> {
  const { db, matching, segment, wanted, size } = input;
  const { fromNewest } = segment;
  const { shape, check } = matching;
  const from = startOf(input, round.after);
  if (from === null) return { rows: [], skipped: 0, scanned: 0, next: null };
  const few = isFew(matching);
  const until = few ? listedAfter(shape, from, fromNewest, size) : null;
  const limits = [round.floor, round.bound].flatMap((row) => rowValues(key, row));
  const values = [from, few ? until : size, wanted, ...limits, ...matching.values];
  const [row] = await query<RankedRow>(db, (schema) => chunkSql(schema, input, key, few), values);
  const rows = rowsOf(row);
  const last = rows.at(-1);
  const scanned = few ? rows.length : Number(row?.rows ?? 0);
  if (check !== null && last !== undefined && rows.length >= wanted) {
    return { rows, skipped: 0, scanned, next: last.id };
  }
  if (few) return { rows, skipped: 0, scanned, next: until };
  const isEnd = scanned < size || row?.last == null || isPast(shape, row.last, fromNewest);
  return { rows, skipped: 0, scanned, next: isEnd ? null : row.last };
}

/**
 * Returns those rows of `round.best` that still match the query's SQL, and are still after the floor and not after the
 * bound. If this takes too long, the query's SQL is left out.
 */
export async function bestAgain(input: RankInput, key: Key, round: Round): Promise<Row[]> {
  if (round.best.length === 0) return [];
  const limits = [round.floor, round.bound].flatMap((row) => rowValues(key, row));
  const again = (some: RankInput) =>
    query<RankedRow>(input.db, (schema) => bestSql(schema, some, key), [
      round.best,
      ...limits,
      ...some.matching.values,
    ]);
  const rows =
    (await nullOnTimeout(again(input))) ?? (await again({ ...input, matching: everyJob }));
  return rowsOf(rows[0]);
}

/** Returns the best `count` rows of both lists, in order. */
export function bestOf(a: readonly Row[], b: readonly Row[], descending: boolean, count: number) {
  const sign = descending ? -1 : 1;
  const compare = (one: Row, other: Row) =>
    sign * (compareKeys(one.key[0] ?? "", other.key[0] ?? "") || compareKeys(one.id, other.id));
  const unique = new Map([...a, ...b].map((row) => [row.id, row]));
  return [...unique.values()].sort(compare).slice(0, count);
}

const rowValues = ({ parameter }: Key, row: Row | null) =>
  row === null ? [null, null] : [parameter(row.key[0] ?? ""), row.id];

function rowsOf(row: RankedRow | undefined): Row[] {
  const keys = splitList(row?.keys ?? null);
  return splitList(row?.ids ?? null).map((id, at) => ({ id, key: [keys[at] ?? ""] }));
}

/** Returns the condition that a row comes after the floor, and not after the bound. */
function limitsSql({ segment }: RankInput, { column, type }: Key, first: number): string {
  const [after, upTo] = segment.descending ? ["<", ">="] : [">", "<="];
  const row = `(jobs.${column}, jobs.id)`;
  const at = (offset: number) => `$${first + offset}`;
  return `(${at(1)}::bigint is null or ${row} ${after} (${at(0)}::${type}, ${at(1)}::bigint))
    and (${at(3)}::bigint is null or ${row} ${upTo} (${at(2)}::${type}, ${at(3)}::bigint))`;
}

const listsSql = (alias: string, { out }: Key, order: string) => `
    pg_catalog.array_to_string(array(select ${alias}.id from ${alias} order by ${order}), ',') as ids,
    pg_catalog.array_to_string(array(select ${out(`${alias}.key`)} from ${alias} order by ${order}), ',') as keys`;

const orderOf = ({ segment }: RankInput, alias: string, column = "key") => {
  const direction = segment.descending ? "desc" : "asc";
  return `${alias}.${column} ${direction}, ${alias}.id ${direction}`;
};

function chunkSql(schema: string, input: StepInput, key: Key, few: boolean): string {
  const { fromNewest } = input.segment;
  // Candidates are sorted by id, so that the walk can continue after the last candidate.
  const byId = input.matching.check !== null;
  const order = (alias: string, column: string) =>
    byId ? `${alias}.id ${fromNewest ? "desc" : "asc"}` : orderOf(input, alias, column);
  return `
  with ${boundSql(schema, fromNewest, few)}, found as materialized (
    select jobs.id, jobs.${key.column} as key
    from ${schema}._private_jobs as jobs
    where ${withinBound(fromNewest, few)}
    and ${limitsSql(input, key, 4)}
    and ${conditionOf(input, 8)}
    order by ${order("jobs", key.column)}
    limit $3::bigint
  )
  select bound.last, bound.rows,${listsSql("found", key, order("found", "key"))}
  from bound`;
}

const bestSql = (schema: string, input: RankInput, key: Key) => `
  with found as materialized (
    select jobs.id, jobs.${key.column} as key
    from ${schema}._private_jobs as jobs
    where jobs.id = any($1::bigint[])
    and ${limitsSql(input, key, 2)}
    and ${conditionOf(input, 6)}
  )
  select null as last, 0 as rows,${listsSql("found", key, orderOf(input, "found"))}`;
