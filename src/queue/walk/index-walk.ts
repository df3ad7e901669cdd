// Jobs in an order that an index has: the next so many entries, and which of them match. An index does
// not order rows of the same key by id, so a step is complete only up to the key at which it stopped, its
// edge; where one key alone has more rows than a step, its rows are walked by id instead (`tie`).
import { type Database, query } from "../../database/database.ts";
import type { Condition } from "../../domain/condition.ts";
import { isAvailable, isDue as isDueNow } from "../sql/eligible.ts";
import { everyJob, type Matching } from "./matching.ts";
import { EARLIEST, LATEST, momentOf, nextMoment } from "./moment-key.ts";
import type { Key, Segment, Way } from "./order.ts";
import type { Position, Row } from "./place.ts";
import { conditionOf, HIGHEST_ID, LOWEST_ID, listOf, type Step, type StepInput } from "./step.ts";

type IndexWay = Extract<Way, { kind: "index" }>;

/** More rows of one key than this are walked by id. */
export const LARGEST_TIE = 20_000;

const NOTHING = { rows: [], skipped: 0, scanned: 0 } as const;

export async function walkIndex(
  input: StepInput,
  way: IndexWay,
  last: Row | null,
): Promise<Step<Position>> {
  const { segment, wanted, size } = input;
  const { descending } = segment;
  const from = last ?? { key: endKey(way, descending), id: idBefore(segment) };
  const edge = await edgeOf(input, way, from.key);
  const isTie = edge !== null && edge.join() === from.key.join();
  if (isTie && size >= LARGEST_TIE) {
    const after = from.id === idBefore(segment) ? null : from.id;
    return { ...NOTHING, next: { kind: "tie", key: edge, after } };
  }
  // The rows of the edge's key are still to come, all of them; of a tie, those that follow.
  const upTo = edge === null ? endKey(way, !descending) : keyBeside(edge, !descending);
  const found = isTie || upTo === null ? NOTHING : await foundIn(input, way, from, upTo);
  const done = { ...found, scanned: edge === null ? found.rows.length : size };
  if (found.rows.length >= wanted) {
    return { ...done, next: { kind: "index", last: found.rows.at(-1) ?? from } };
  }
  if (edge === null) return { ...done, next: null };
  const id = isTie ? from.id : idBefore(segment);
  return { ...done, next: { kind: "index", last: { key: edge, id } } };
}

/** The position after all rows of `key`; null: no key can follow. */
export function positionAfterTie(segment: Segment, key: readonly string[]): Position | null {
  const next = keyBeside(key, segment.descending);
  return next === null ? null : { kind: "index", last: { key: next, id: idBefore(segment) } };
}

/** The jobs of one key. */
export function tieMatching({ keys }: IndexWay, key: readonly string[]): Matching {
  const sql = (first: number) =>
    keys.map(({ column, into }, at) => `jobs.${column} = ${into(`$${first + at}`)}`).join(" and ");
  return { ...everyJob, sql, values: key, isAll: false };
}

const idBefore = ({ descending }: Segment) => (descending ? HIGHEST_ID : LOWEST_ID);

/** The smallest or the largest key that there can be. */
function endKey({ keys }: IndexWay, isLargest: boolean): string[] {
  const [smallest, largest] = ["-32768", "32767"];
  return keys.map(({ column }) => {
    if (column === "priority") return isLargest ? largest : smallest;
    return isLargest ? LATEST : EARLIEST;
  });
}

/** The next smaller or the next larger key; null: there is none. */
function keyBeside(key: readonly string[], isSmaller: boolean): string[] | null {
  const time = nextMoment(key.at(-1) ?? "", isSmaller);
  if (time !== null) return [...key.slice(0, -1), time];
  const [priority] = key;
  if (key.length === 1 || priority === undefined) return null;
  return [String(Number(priority) + (isSmaller ? -1 : 1)), isSmaller ? LATEST : EARLIEST];
}

/** The key of the entry at which the step stops; null: there are not so many. */
async function edgeOf(
  input: StepInput,
  way: IndexWay,
  from: readonly string[],
): Promise<string[] | null> {
  const ahead = aheadOf(input.matching);
  const values = [...from, input.size - 1, ...ahead.values];
  const [row] = await query<{ edge: string }>(
    input.db,
    (schema) => edgeSql(schema, input, way, ahead.sql),
    values,
  );
  return row?.edge?.split(",") ?? null;
}

async function foundIn(input: StepInput, way: IndexWay, from: Row, upTo: readonly string[]) {
  const { db, matching, skip, wanted, size } = input;
  const ahead = aheadOf(matching);
  const limits = [...from.key, from.id, ...upTo, skip, wanted, size];
  const values = [...limits, ...ahead.values, ...matching.values];
  const [row] = await query<FoundRow>(
    db,
    (schema) => foundSql(schema, input, way, ahead.sql, ahead.values.length),
    values,
  );
  const keys = listOf(row?.keys ?? null, ";").map((key) => key.split(","));
  const rows = listOf(row?.ids ?? null).map((id, at) => ({ id, key: keys[at] ?? [] }));
  return { rows, skipped: Math.min(skip, Number(row?.matched ?? 0)) };
}

interface FoundRow {
  readonly matched: string;
  readonly ids: string;
  readonly keys: string;
}

/**
 * What is due and what lies ahead are two ends of an index of times. A query's own now is before the
 * statement's.
 */
function aheadOf({ shape, nowUs }: Matching) {
  const { isDue, conditions } = shape;
  const all = (names: readonly Condition[]) =>
    conditions?.every((one) => names.includes(one)) === true;
  const none: readonly string[] = [];
  if (isDue === true || all(["ready", "blocked"])) {
    return { sql: () => `and ${isDueNow("jobs")}`, values: none };
  }
  if (isDue !== false && !all(["scheduled"])) return { sql: () => "", values: none };
  return nowUs === null
    ? { sql: () => "and jobs.run_at > now()", values: none }
    : { sql: (at: number) => `and jobs.run_at > ${momentOf(`$${at}`)}`, values: [nowUs] };
}

/** A list of the key's columns. */
const columns = ({ keys }: IndexWay, of: (column: string, at: number) => string) =>
  keys.map(({ column }, at) => of(column, at)).join(", ");

const onJobs = (way: IndexWay) => columns(way, (column) => `jobs.${column}`);

/** The key in the parameters from `first` on. */
const given = ({ keys }: IndexWay, first: number) =>
  keys.map(({ into }: Key, at) => into(`$${first + at}`)).join(", ");

const keyText = ({ keys }: IndexWay, alias: string) =>
  `concat_ws(',', ${keys.map(({ out }, at) => out(`${alias}.k${at}`)).join(", ")})`;

const direction = ({ descending }: Segment) => (descending ? "desc" : "asc");

/** Jobs of the segment from the key on that the first parameters give; of one priority, or all. */
const entriesSql = (schema: string, { segment }: StepInput, way: IndexWay) => `
      from ${schema}._private_jobs as jobs
      where (${segment.where})${way.perPriority ? " and jobs.priority = part.priority" : ""}
      and (${onJobs(way)}) ${segment.descending ? "<=" : ">="} (${given(way, 1)})`;

/** Once for each priority, or once. */
const parts = (schema: string, { perPriority }: IndexWay) =>
  perPriority ? `recursive ${prioritiesSql(schema)}` : "part (priority) as (select 0)";

function edgeSql(
  schema: string,
  input: StepInput,
  way: IndexWay,
  ahead: (at: number) => string,
): string {
  const { segment } = input;
  const at = way.keys.length;
  return `
  with ${parts(schema, way)}
  select ${keyText(way, "edge")} as edge
  from part cross join lateral (
      select ${columns(way, (column, index) => `jobs.${column} as k${index}`)}
      ${entriesSql(schema, input, way)}
      ${ahead(at + 2)}
      order by ${columns(way, (column) => `jobs.${column} ${direction(segment)}`)}
      offset $${at + 1}::int
      limit 1
  ) as edge
  where part.priority is not null
  order by ${columns(way, (_, index) => `edge.k${index} ${direction(segment)}`)}
  limit 1`;
}

// Exactly as many entries are read as up to the edge: a condition on two columns does not tell
// PostgreSQL where to stop in the index. The condition on key and id takes what was shown out of the
// rows of the first key.
function foundSql(
  schema: string,
  input: StepInput,
  way: IndexWay,
  ahead: (at: number) => string,
  aheadValues: number,
): string {
  const { segment } = input;
  const { descending } = segment;
  const count = way.keys.length;
  const after = 2 * count + 2;
  const order = (of: string) =>
    `${columns(way, (_, index) => `${of}.k${index} ${direction(segment)}`)}, ${of}.id ${direction(segment)}`;
  const own = columns(way, (column) => `jobs.${column} ${direction(segment)}`);
  const key = columns(way, (_, index) => `entry.k${index}`);
  return `
  with ${parts(schema, way)}, found as materialized (
    select entry.*
    from part cross join lateral (
      select ${columns(way, (column, index) => `jobs.${column} as k${index}`)}, jobs.id,
        (${conditionOf(input, after + 3 + aheadValues)}) is true as matches
      ${entriesSql(schema, input, way)}
      ${ahead(after + 3)}
      order by ${own}
      limit $${after + 2}::int
    ) as entry
    where part.priority is not null
    and entry.matches
    and (${key}) ${descending ? ">=" : "<="} (${given(way, count + 2)})
    and (${key}, entry.id) ${descending ? "<" : ">"} (${given(way, 1)}, $${count + 1}::bigint)
    order by ${order("entry")}
    limit $${after}::bigint + $${after + 1}::bigint
  )
  select (select count(*) from found) as matched,
    array_to_string(array(
      select found.id from found order by ${order("found")} offset $${after}::bigint
    ), ',') as ids,
    array_to_string(array(
      select ${keyText(way, "found")} from found order by ${order("found")} offset $${after}::bigint
    ), ';') as keys`;
}

/** More priorities than this are not read one by one. */
const MOST_PRIORITIES = 32;

// A probe of the index each: "distinct" would read all of it.
/** A recursive table expression `part (priority)`; its last row is null. */
export const prioritiesSql = (schema: string) => `part (priority) as (
    (
      select jobs.priority from ${schema}._private_jobs as jobs
      where ${isAvailable("jobs")} order by jobs.priority limit 1
    )
    union all
    select (
      select jobs.priority from ${schema}._private_jobs as jobs
      where ${isAvailable("jobs")} and jobs.priority > part.priority order by jobs.priority limit 1
    ) from part where part.priority is not null
  )`;

/** Whether an index can be read once for each priority. */
export async function hasFewPriorities(db: Database): Promise<boolean> {
  const [row] = await query<{ priorities: number }>(db, countSql, [MOST_PRIORITIES + 1]);
  return (row?.priorities ?? 0) <= MOST_PRIORITIES;
}

const countSql = (schema: string) => `
  with recursive ${prioritiesSql(schema)}
  select count(*)::int as priorities
  from (select from part where part.priority is not null limit $1::int) as counted`;
