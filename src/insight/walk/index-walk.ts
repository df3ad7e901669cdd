// Walks jobs in the order of an index, which sorts jobs by a key: a time, or a priority and a time. Some indexes do not
// sort the rows of one key by id, so a step reads all rows of a key and sorts them. If a key has more than MAX_TIE
// rows, these rows are walked by id instead (a position of the kind `tie`).
import { query } from "../../database/database.ts";
import { isDueIn } from "../../domain/condition.ts";
import { isDue as isDueNow } from "../../queue/sql/eligible.ts";
import { notACursor } from "./cursor.ts";
import { everyJob, type WalkCondition } from "./matching.ts";
import { EARLIEST, LATEST, momentText, nextMoment } from "./moment-key.ts";
import type { Key, Segment, SegmentOrder } from "./order.ts";
import { conditionOf, MAX_ID, MIN_ID, type StepInput, splitList, type WalkStep } from "./step.ts";
import type { Position, Row } from "./walk-place.ts";

type IndexWay = Extract<SegmentOrder, { kind: "index" }>;

export function indexOf({ way }: Segment): IndexWay {
  if (way.kind !== "index") throw notACursor();
  return way;
}

const MAX_TIE = 20_000;

interface StepRow {
  readonly matched: string;
  readonly ids: string;
  readonly keys: string;
  readonly last_key: string | null;
  readonly last_id: string | null;
  readonly seen: string | null;
  readonly is_crowd: boolean | null;
}

/**
 * Runs one step after the row `last`; null: from the first row on. `isSparse`: few of the rows that were read so far
 * match.
 */
export async function walkIndex(
  input: StepInput,
  way: IndexWay,
  last: Row | null,
  isSparse: boolean,
): Promise<WalkStep<Position>> {
  const { db, segment, skip, wanted, size } = input;
  const begin = last ?? { key: endKey(way, segment.descending), id: idBefore(segment) };
  const parts = partsOf(way, begin.key);
  if (parts.length === 0) return { rows: [], skipped: 0, scanned: 0, next: null };
  const from = beginIn(parts, way, segment, begin);
  const statement = stepOf(input, way, parts, from, isSparse);
  const [row] = await query<StepRow>(db, statement.sql, statement.values);
  if (row === undefined) throw new Error("a step gave no row");
  const seen = Number(row.seen ?? 0);
  const key = row.last_key?.split(",") ?? [];
  const keys = splitList(row.keys, ";").map((one) => one.split(","));
  const rows = splitList(row.ids).map((id, at) => ({ id, key: keys[at] ?? [] }));
  const done = { rows, skipped: Math.min(skip, Number(row.matched)), scanned: seen };
  if (row.is_crowd === true) {
    const isWithin = row.last_key === from.key.join() && from.id !== idBefore(segment);
    return { ...done, next: { kind: "tie", key, after: isWithin ? from.id : null } };
  }
  if (rows.length >= wanted || seen >= size) {
    return { ...done, next: { kind: "index", last: { key, id: row.last_id ?? from.id } } };
  }
  return { ...done, next: behindParts(way, segment, parts) };
}

/**
 * Returns the position after the next entry of the index, for a walk that leaves this entry out. If the entry's key has
 * more than MAX_TIE rows, returns the position of the kind `tie` for these rows, without leaving out a row. If no entry
 * is left in the parts of this step, returns the beginning of the next part; null: no part follows.
 */
export async function afterOneEntry(
  input: Omit<StepInput, "size">,
  way: IndexWay,
  last: Row | null,
): Promise<Position | null> {
  const { shape, nowUs } = input.matching;
  const matching = { ...everyJob, shape, nowUs };
  const one = { ...input, matching, skip: 0, wanted: 1, size: 1 };
  return (await walkIndex(one, way, last, false)).next;
}

/**
 * Returns the parts of the index that a step reads. A part is the entries of one priority; null: the whole index. A
 * step by time reads all parts. A step by priority and time reads only the first part from the given priority on.
 */
function partsOf(way: IndexWay, [from]: readonly string[]): readonly (number | null)[] {
  const { priorities: known } = way;
  if (known === null) return [null];
  return isOfTimes(way) ? known : known.filter((one) => one >= Number(from)).slice(0, 1);
}

const isOfTimes = ({ keys }: IndexWay) => keys.length === 1;

/** Returns where the step begins: at `begin`, or at the first row of the part if `begin` has a smaller priority. */
function beginIn(
  [part]: readonly (number | null)[],
  way: IndexWay,
  segment: Segment,
  begin: Row,
): Row {
  if (part == null || isOfTimes(way) || part === Number(begin.key[0])) return begin;
  return { key: [String(part), EARLIEST], id: idBefore(segment) };
}

function behindParts(
  way: IndexWay,
  segment: Segment,
  [part]: readonly (number | null)[],
): Position | null {
  if (part == null || isOfTimes(way)) return null;
  const next = way.priorities?.find((one) => one > part);
  if (next === undefined) return null;
  return { kind: "index", last: { key: [String(next), EARLIEST], id: idBefore(segment) } };
}

/** Returns the position after all rows of `key`; null if no key can follow. */
export function positionAfterTie(segment: Segment, key: readonly string[]): Position | null {
  const next = keyBeside(key, segment.descending);
  return next === null ? null : { kind: "index", last: { key: next, id: idBefore(segment) } };
}

/** Returns the condition for the jobs of one key. */
export function tieMatching({ keys }: IndexWay, key: readonly string[]): WalkCondition {
  const sql = (first: number) =>
    keys.map(({ column, type }, at) => `jobs.${column} = $${first + at}::${type}`).join(" and ");
  const values = keys.map(({ parameter }, at) => parameter(key[at] ?? ""));
  return { ...everyJob, sql, values, isAll: false };
}

const idBefore = ({ descending }: Segment) => (descending ? MAX_ID : MIN_ID);

function endKey({ keys }: IndexWay, isLargest: boolean): string[] {
  const [smallest, largest] = ["-32768", "32767"];
  return keys.map(({ column }) => {
    if (column === "priority") return isLargest ? largest : smallest;
    return isLargest ? LATEST : EARLIEST;
  });
}

function keyBeside(key: readonly string[], isSmaller: boolean): string[] | null {
  const time = nextMoment(key.at(-1) ?? "", isSmaller);
  if (time !== null) return [...key.slice(0, -1), time];
  const [priority] = key;
  if (key.length === 1 || priority === undefined) return null;
  return [String(Number(priority) + (isSmaller ? -1 : 1)), isSmaller ? LATEST : EARLIEST];
}

/**
 * Limits the read to due jobs or to future jobs if no other jobs can match. No match is lost, because `nowUs` is not
 * later than the time of the statement, up to which due jobs are read.
 */
function aheadOf({ shape, nowUs }: WalkCondition, bound: (value: unknown) => string): string {
  const { isDue, conditions } = shape;
  const all = (due: boolean) => conditions?.every((one) => isDueIn(one) === due) === true;
  if (isDue === true || all(true)) return `and ${isDueNow("jobs")}`;
  if (isDue !== false && !all(false)) return "";
  return `and jobs.run_at > ${nowUs === null ? "pg_catalog.now()" : `${bound(momentText(nowUs))}::text::timestamptz`}`;
}

const columns = (keys: readonly Key[], of: (column: string, at: number) => string) =>
  keys.map(({ column }, at) => of(column, at)).join(", ");

const keyText = (keys: readonly Key[], alias: string) =>
  `pg_catalog.concat_ws(',', ${keys.map(({ out }, at) => out(`${alias}.k${at}`)).join(", ")})`;

// PostgreSQL merges the parts row by row, only as far as necessary, and sorts the rows of a key by id (an incremental
// sort). If a key has more than MAX_TIE rows, the limit of a part ends the read. The rows of this key are not returned,
// because not all of them have been sorted.
//
// A join could return the rows in another order, so the condition is evaluated row by row, until enough rows match.
// Conditions on tasks and queues (`may`) only need columns of the index, so they are evaluated while the index is read.
// If the query has no such conditions and few rows match, the whole condition is evaluated there. This costs less for
// each row, but rows after the last match that is needed are evaluated, too.
function stepOf(
  input: StepInput,
  { keys }: IndexWay,
  parts: readonly (number | null)[],
  from: Row,
  isSparse: boolean,
): { readonly sql: (schema: string) => string; readonly values: unknown[] } {
  const { segment, matching } = input;
  const values: unknown[] = [];
  const bound = (value: unknown) => `$${values.push(value)}`;
  // The columns of the key whose values vary within a part.
  const own = parts[0] === null ? keys : keys.slice(-1);
  const ownColumns = columns(own, (column) => `jobs.${column}`);
  const ownValues = own
    .map(
      ({ parameter, type }, at) =>
        `${bound(parameter(from.key.at(at - own.length) ?? ""))}::${type}`,
    )
    .join(", ");
  const givenId = `${bound(from.id)}::bigint`;
  const size = `${bound(input.size)}::int`;
  const skip = `${bound(input.skip)}::bigint`;
  const most = `${skip} + ${bound(input.wanted)}::bigint`;
  const ofPart = parts.map((one) => (one === null ? "" : `and jobs.priority = ${bound(one)}::int`));
  const ofParts = parts[0] === null ? "" : `and jobs.priority = any(${bound(parts)}::int[])`;
  const ahead = aheadOf(matching, bound);
  const { taskIds, queueIds } = matching.shape;
  const mays = [
    ...(taskIds === null ? [] : [`jobs.task_id = any(${bound(taskIds)}::int[])`]),
    ...(queueIds === null ? [] : [`jobs.job_queue_id = any(${bound(queueIds)}::int[])`]),
  ];
  const condition = conditionOf(input, values.length + 1);
  const isCheckedInScan = isSparse && !matching.isAll && mays.length === 0;
  if (isCheckedInScan) mays.push(`(${condition}) is true`);
  const may = mays.length === 0 ? "true" : `(${mays.join(" and ")})`;
  const to = segment.descending ? "desc" : "asc";
  const beyond = segment.descending ? "<" : ">";
  // The number of leading columns that are constant within a part. If `order by` named these columns, the planner would
  // not notice that the rows are already sorted.
  const others = keys.length - own.length;
  const order = (of: string) =>
    `${columns(own, (_, at) => `${of}.k${others + at} ${to}`)}, ${of}.id ${to}`;
  const part = (schema: string, where: string) => `(
        select ${columns(keys, (column, at) => `jobs.${column} as k${at}`)}, jobs.id, ${may} as may
        from ${schema}._private_jobs as jobs
        where (${segment.where}) ${where}
        and (${ownColumns}) ${beyond}= (${ownValues})
        and (${ownColumns}, jobs.id) ${beyond} (${ownValues}, ${givenId})
        ${ahead}
        order by ${columns(own, (column) => `jobs.${column} ${to}`)}
        limit ${size} + ${MAX_TIE}
      )`;
  const job = (schema: string) => `
    cross join lateral (
      select from ${schema}._private_jobs as jobs
      where jobs.id = entry.id and ${condition}
      offset 0
    ) as job`;
  const keysOf = (of: string) => columns(keys, (_, at) => `${of}.k${at}`);
  const isFull = `(select pg_catalog.count(*) from found) >= ${most}`;
  const sql = (schema: string) => `
  with entry as materialized (
    select merged.*, pg_catalog.row_number() over (order by ${order("merged")}) as n
    from (
      ${ofPart.map((where) => part(schema, where)).join("\n      union all\n      ")}
    ) as merged
    order by ${order("merged")}
    limit ${size}
  ), found as materialized (
    select entry.*
    from entry${matching.isAll || isCheckedInScan ? "" : job(schema)}
    where entry.may
    limit ${most}
  ), last as materialized (
    (select found.* from found order by n desc limit case when ${isFull} then 1 else 0 end)
    union all
    (select entry.* from entry order by n desc limit case when ${isFull} then 0 else 1 end)
  ), edge as materialized (
    select last.*, exists (
      select from ${schema}._private_jobs as jobs
      where (${segment.where}) ${ofParts}
      and ${keys.map(({ column }, at) => `jobs.${column} = last.k${at}`).join(" and ")}
      limit 1 offset ${MAX_TIE}
    ) as is_crowd
    from last
  ), kept as materialized (
    select found.* from found cross join edge
    where not (edge.is_crowd and (${keysOf("found")}) = (${keysOf("edge")}))
  )
  select edge.n::text as seen, edge.id::text as last_id, ${keyText(keys, "edge")} as last_key, edge.is_crowd,
    (select pg_catalog.count(*)::text from kept) as matched,
    pg_catalog.array_to_string(array(select id from kept order by n offset ${skip}), ',') as ids,
    pg_catalog.array_to_string(array(
      select ${keyText(keys, "kept")} from kept order by n offset ${skip}
    ), ';') as keys
  from (select) as one left join edge on true`;
  return { sql, values: [...values, ...matching.values] };
}
