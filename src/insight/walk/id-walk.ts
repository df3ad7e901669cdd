// Walks jobs in the order of their ids: each step reads the next rows and selects those that match.
import { type Database, query } from "../../database/database.ts";
import type { QueryShape } from "../query/job-query.ts";
import type { WalkCondition } from "./matching.ts";
import { conditionOf, MAX_ID, MIN_ID, type StepInput, splitList, type WalkStep } from "./step.ts";

type Condition = Pick<StepInput, "matching" | "segment">;

interface ChunkRow {
  readonly last: string | null;
  readonly rows: string;
  readonly matched: string;
  readonly ids: string;
}

/** Runs one step, which begins after the id `after`; null: with the first job in the order. */
export async function walkIds(input: StepInput, after: string | null): Promise<WalkStep<string>> {
  const { db, matching, segment, skip, wanted, size } = input;
  const { fromNewest } = segment;
  const from = startOf(input, after);
  if (from === null) return { rows: [], skipped: 0, scanned: 0, next: null };
  const { shape } = matching;
  const few = isFew(matching);
  const until = few ? listedAfter(shape, from, fromNewest, size) : null;
  const open = isOpen(input);
  // A step that reads each row cannot skip more rows than it reads.
  const passed = open ? Math.min(skip, size) : skip;
  const values = [from, few ? until : size, passed, wanted, ...matching.values];
  const condition = conditionOf(input, FIRST);
  const [row] = await query<ChunkRow>(
    db,
    (schema) =>
      open
        ? scannedSql(schema, condition, fromNewest)
        : chunkSql(schema, condition, fromNewest, few),
    values,
  );
  const rows = splitList(row?.ids ?? "").map((id) => ({ key: [], id }));
  const matched = Number(row?.matched ?? 0);
  const skipped = Math.min(skip, matched);
  const scanned = few ? matched : Number(row?.rows ?? 0);
  const last = rows.at(-1);
  if (last !== undefined && rows.length >= wanted) {
    return { rows, skipped, scanned, next: last.id };
  }
  if (few) return { rows, skipped, scanned, next: until };
  const isEnd = scanned < size || row?.last == null || isPast(shape, row.last, fromNewest);
  return { rows, skipped, scanned, next: isEnd ? null : row.last };
}

/**
 * Returns the value of $1 in idsFrom() for the ids that follow `after`, except those that the query's lowest or highest
 * id excludes; null if no id can follow `after`.
 */
export function startOf({ matching, segment }: Condition, after: string | null): string | null {
  const { fromNewest } = segment;
  const { minId, maxId } = matching.shape;
  const from = firstOf(after, fromNewest);
  const limit = fromNewest ? maxId : minId === null ? null : String(BigInt(minId) - 1n);
  if (from === null || limit === null) return from;
  const isNearer = fromNewest ? BigInt(limit) < BigInt(from) : BigInt(limit) > BigInt(from);
  return isNearer ? limit : from;
}

/**
 * Returns the last of the next `count` ids that the query names; null if at most `count` of them are left. `from`: the
 * value of $1 in idsFrom().
 */
export function listedAfter(
  { ids }: QueryShape,
  from: string,
  fromNewest: boolean,
  count: number,
): string | null {
  const first = BigInt(from);
  const left = (ids ?? []).map(BigInt).filter((id) => (fromNewest ? id <= first : id > first));
  if (left.length <= count) return null;
  left.sort((a, b) => (a < b === fromNewest ? 1 : -1));
  return String(left[count - 1]);
}

/** Whether no id after `last` can match, because of the query's lowest or highest id. */
export function isPast({ minId, maxId }: QueryShape, last: string, fromNewest: boolean): boolean {
  const limit = fromNewest ? minId : maxId;
  if (limit === null) return false;
  return fromNewest ? BigInt(last) <= BigInt(limit) : BigInt(last) >= BigInt(limit);
}

/** Whether the query names the ids or the key of its jobs, so that an index finds these few jobs. */
export function isFew({ shape }: WalkCondition): boolean {
  return shape.ids !== null || shape.key !== null;
}

/** Whether a walk by id has to read each row, because no index helps with the condition. */
export function isOpen({ matching, segment }: Condition): boolean {
  const { conditions, isDue, taskIds, queueIds, ids, key } = matching.shape;
  const isPart = segment.way.kind !== "ids" || segment.where !== "true";
  return !isPart && [conditions, isDue, taskIds, queueIds, ids, key].every((one) => one === null);
}

function firstOf(after: string | null, fromNewest: boolean): string | null {
  if (after === null) return fromNewest ? MAX_ID : MIN_ID;
  if (!fromNewest) return after;
  return after === MIN_ID ? null : String(BigInt(after) - 1n);
}

const FIRST = 5;

/**
 * Returns the condition for the ids that a step may read. In descending order, $1 itself is read, too: the order begins
 * with MAX_ID, the greatest bigint.
 */
export const idsFrom = (fromNewest: boolean): string =>
  `jobs.id ${fromNewest ? "<=" : ">"} $1::bigint`;

/**
 * Returns the common table expression `bound` with one row: `last` is the last of the next $2 ids, and `rows` is the
 * number of these ids. If `few` is true, $2 is `last` itself; null: the step reads all jobs that are left.
 */
export const boundSql = (schema: string, fromNewest: boolean, few: boolean): string =>
  few
    ? "bound as (select $2::bigint as last, 0::bigint as rows)"
    : `
  bound as materialized (
    select pg_catalog.${fromNewest ? "min" : "max"}(id) as last, pg_catalog.count(*) as rows
    from (
      select jobs.id
      from ${schema}._private_jobs as jobs
      where ${idsFrom(fromNewest)}
      order by jobs.id ${fromNewest ? "desc" : "asc"}
      limit $2::bigint
    ) as chunk
  )`;

export const withinBound = (fromNewest: boolean, few: boolean): string => {
  const upTo = `jobs.id ${fromNewest ? ">=" : "<="}`;
  const bound = few
    ? `($2::bigint is null or ${upTo} $2::bigint)`
    : `${upTo} (select last from bound)`;
  return `${idsFrom(fromNewest)} and ${bound}`;
};

// Gaps between ids can have any width, so the end of a step is found by counting rows in the index, which costs a fifth
// of reading the rows. The rows are then selected by a range of ids, not by a join with the counted ids: for a join,
// PostgreSQL may begin with the table of jobs, and would then read every job.
const chunkSql = (schema: string, condition: string, fromNewest: boolean, few: boolean) => `
  with ${boundSql(schema, fromNewest, few)}, found as materialized (
    select jobs.id
    from ${schema}._private_jobs as jobs
    where ${withinBound(fromNewest, few)}
    and ${condition}
    order by jobs.id ${fromNewest ? "desc" : "asc"}
    limit $3::bigint + $4::bigint
  )
  select bound.last::text, bound.rows::text, (select pg_catalog.count(*)::text from found) as matched,
    pg_catalog.array_to_string(array(
      select id from found order by id ${fromNewest ? "desc" : "asc"} offset $3::bigint
    ), ',') as ids
  from bound`;

// Used if every row has to be read (isOpen()): counting the rows in the index first would cost a tenth more.
// array_agg() collects the ids in the order of the rows.
const scannedSql = (schema: string, condition: string, fromNewest: boolean) => `
  select last::text, rows::text, coalesce(pg_catalog.array_length(ids, 1), 0) as matched,
    pg_catalog.array_to_string(ids[$3::int + 1 : $3::int + $4::int], ',') as ids
  from (
    select pg_catalog.${fromNewest ? "min" : "max"}(id) as last, pg_catalog.count(*) as rows,
      pg_catalog.array_agg(id) filter (where is_match) as ids
    from (
      select jobs.id, (${condition}) as is_match
      from ${schema}._private_jobs as jobs
      where ${idsFrom(fromNewest)}
      order by jobs.id ${fromNewest ? "desc" : "asc"}
      limit $2::bigint
    ) as scanned
  ) as chunk`;

/**
 * Returns the id of the `count`th job after the id `after`; null if fewer jobs follow. If `after` is null, the jobs are
 * counted from the first one.
 */
export async function idAfter(
  db: Database,
  after: string | null,
  fromNewest: boolean,
  count: number,
): Promise<string | null> {
  const from = firstOf(after, fromNewest);
  return from === null ? null : idFrom(db, from, fromNewest, count);
}

/** Returns the id after which a walk continues if the first row after `after` is left out; null: the walk ends. */
export async function afterOneRow(
  { db, matching, segment }: Condition & Pick<StepInput, "db">,
  after: string | null,
): Promise<string | null> {
  const { fromNewest } = segment;
  const from = startOf({ matching, segment }, after);
  if (from === null) return null;
  if (isFew(matching)) return listedAfter(matching.shape, from, fromNewest, 1);
  return idFrom(db, from, fromNewest, 1);
}

async function idFrom(db: Database, from: string, fromNewest: boolean, count: number) {
  const values = [from, count - 1];
  const [row] = await query<{ id: string }>(db, (schema) => jumpSql(schema, fromNewest), values);
  return row?.id ?? null;
}

const jumpSql = (schema: string, fromNewest: boolean) => `
  select jobs.id
  from ${schema}._private_jobs as jobs
  where ${idsFrom(fromNewest)}
  order by jobs.id ${fromNewest ? "desc" : "asc"}
  limit 1
  offset $2::bigint`;
