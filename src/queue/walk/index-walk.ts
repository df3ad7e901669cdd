// Jobs in an order that an index has: the next so many entries, and which of them match. An index does
// not order rows of the same key by id, so a step is complete only up to the key at which it stopped;
// where one key alone has more rows than a step, its rows are walked by id instead (`tie`).
import { type Database, query } from "../../database/database.ts";
import type { Condition } from "../../domain/condition.ts";
import { isAvailable, isDue as isDueNow } from "../sql/eligible.ts";
import type { Matching } from "./matching.ts";
import { EARLIEST, LATEST, momentOf, nextMoment } from "./moment-key.ts";
import type { Key, Segment, Way } from "./order.ts";
import type { Position, Row } from "./place.ts";
import { conditionOf, HIGHEST_ID, LOWEST_ID, listOf, type Step, type StepInput } from "./step.ts";

type IndexWay = Extract<Way, { kind: "index" }>;

interface EntriesRow {
  readonly entries: string;
  readonly edge: string | null;
  readonly matched: string;
  readonly ids: string;
  readonly keys: string;
}

/** More rows of one key than this are walked by id. */
export const LARGEST_TIE = 20_000;

export async function walkIndex(
  input: StepInput,
  way: IndexWay,
  last: Row | null,
): Promise<Step<Position>> {
  const { db, matching, segment, skip, wanted, size } = input;
  const from = last ?? beginning(segment, way.keys);
  const { nowUs } = matching;
  const values = [...from.key, from.id, size, skip, wanted, nowUs, ...matching.values];
  const [row] = await query<EntriesRow>(db, (schema) => entriesSql(schema, input, way), values);
  const ids = listOf(row?.ids ?? null);
  const keys = row?.keys === undefined || row.keys === "" ? [] : row.keys.split(";");
  const rows = ids.map((id, at) => ({ id, key: (keys[at] ?? "").split(",") }));
  const skipped = Math.min(skip, Number(row?.matched ?? 0));
  const scanned = Number(row?.entries ?? 0);
  const found = { rows, skipped, scanned };
  if (rows.length >= wanted)
    return { ...found, next: { kind: "index", last: rows.at(-1) ?? from } };
  const edge = row?.edge?.split(",") ?? null;
  if (edge === null) return { ...found, next: null };
  const isTie = edge.join() === from.key.join();
  if (isTie && size >= LARGEST_TIE) {
    return { ...found, next: { kind: "tie", key: edge, after: tieFrom(from.id, segment) } };
  }
  // The rows of the edge's key are still to come, all of them; of a tie, those that follow.
  const id = isTie ? from.id : idBefore(segment);
  return { ...found, next: { kind: "index", last: { key: edge, id } } };
}

/** The position after all rows of `key`; null: no key can follow. */
export function positionAfterTie(way: IndexWay, segment: Segment, key: readonly string[]) {
  const time = nextMoment(key.at(-1) ?? "", segment.descending);
  const id = idBefore(segment);
  if (time !== null) {
    return { kind: "index", last: { key: [...key.slice(0, -1), time], id } } as const;
  }
  if (way.keys.length === 1) return null;
  const next = [String(Number(key[0]) + (segment.descending ? -1 : 1))];
  const first = segment.descending ? LATEST : EARLIEST;
  return { kind: "index", last: { key: [...next, first], id } } as const;
}

/** The same segment, for the jobs of one key; its keys are the last of the values. */
export function tieCondition(way: IndexWay, first: number): string {
  return way.keys
    .map(({ column, into }, at) => `jobs.${column} = ${into(`$${first + at}`)}`)
    .join(" and ");
}

const idBefore = ({ descending }: Segment) => (descending ? HIGHEST_ID : LOWEST_ID);

function tieFrom(id: string, segment: Segment): string | null {
  return id === idBefore(segment) ? null : id;
}

function beginning(segment: Segment, keys: readonly Key[]): Row {
  const { descending } = segment;
  const key = keys.map(({ column }) => {
    if (column === "priority") return descending ? "32767" : "-32768";
    return descending ? LATEST : EARLIEST;
  });
  return { key, id: idBefore(segment) };
}

/** A list of the key's columns. */
const columns = (keys: readonly Key[], of: (column: string, at: number) => string, by = ", ") =>
  keys.map(({ column }, at) => of(column, at)).join(by);

/** The key as one text. */
const keyText = (keys: readonly Key[], alias: string) =>
  `concat_ws(',', ${keys.map(({ out }, at) => out(`${alias}.k${at}`)).join(", ")})`;

// The plain condition on the key lets the index start where the page before ended; the condition on
// key and id takes what was shown out of the rows of that one key.
function entriesSql(schema: string, input: StepInput, { keys, perPriority }: IndexWay): string {
  const { segment, matching } = input;
  const condition = conditionOf(input, keys.length + 6);
  const [direction, from, beyond] = segment.descending ? ["desc", "<=", "<"] : ["asc", ">=", ">"];
  const at = keys.length;
  const start = keys.map(({ into }, index) => into(`$${index + 1}`)).join(", ");
  const order = columns(keys, (_, index) => `seen.k${index} ${direction}`);
  const plain = columns(keys, (_, index) => `seen.k${index}`);
  const entries = `
      select ${columns(keys, (column, index) => `jobs.${column} as k${index}`)}, jobs.id,
        (${condition}) is true as matches
      from ${schema}._private_jobs as jobs
      where (${segment.where})${perPriority ? " and jobs.priority = part.priority" : ""}
      and (${columns(keys, (column) => `jobs.${column}`)}) ${from} (${start})
      ${dueSql(matching, `$${at + 5}`)}
      order by ${columns(keys, (column) => `jobs.${column} ${direction}`)}
      limit $${at + 2}::int`;
  const parts = perPriority ? `${prioritiesSql(schema)}, ` : "";
  const source = perPriority
    ? `select part.priority as part, entry.* from part cross join lateral (${entries}
    ) as entry where part.priority is not null`
    : `select 0 as part, entry.* from (${entries}
    ) as entry`;
  return `
  with ${perPriority ? "recursive " : ""}${parts}seen as materialized (
    ${source}
  ), edge as (
    select ${columns(keys, (_, index) => `seen.k${index}`)}
    from (
      select seen.*, row_number() over (partition by part order by ${order}) as place from seen
    ) as seen
    where seen.place = $${at + 2}::int
    order by ${order}
    limit 1
  ), found as materialized (
    select seen.*
    from seen left join edge on true
    where seen.matches
    and (${plain}, seen.id) ${beyond} (${start}, $${at + 1}::bigint)
    and (edge.k0 is null or (${plain}) ${segment.descending ? ">" : "<"} (${columns(keys, (_, index) => `edge.k${index}`)}))
    order by ${order}, seen.id ${direction}
    limit $${at + 3}::bigint + $${at + 4}::bigint
  )
  select (select count(*) from seen) as entries,
    (select ${keyText(keys, "edge")} from edge) as edge,
    (select count(*) from found) as matched,
    array_to_string(array(
      select seen.id from found as seen order by ${order}, seen.id ${direction} offset $${at + 3}::bigint
    ), ',') as ids,
    array_to_string(array(
      select ${keyText(keys, "seen")} from found as seen
      order by ${order}, seen.id ${direction} offset $${at + 3}::bigint
    ), ';') as keys`;
}

/**
 * What is due and what lies ahead are two ends of the index. A query's own now is before the
 * statement's.
 */
function dueSql({ shape }: Matching, nowUs: string): string {
  const { isDue, conditions } = shape;
  const all = (names: readonly Condition[]) =>
    conditions?.every((one) => names.includes(one)) === true;
  const due = `and (${nowUs}::text is null or true) and ${isDueNow("jobs")}`;
  if (isDue === true || all(["ready", "blocked"])) return due;
  const ahead = `and jobs.run_at > coalesce(${momentOf(nowUs)}, now())`;
  if (isDue === false || all(["scheduled"])) return ahead;
  return `and (${nowUs}::text is null or true)`;
}

/** More priorities than this are not read one by one. */
export const MOST_PRIORITIES = 32;

// One probe of the index each: "distinct" would read all of it.
const prioritiesSql = (schema: string) => `part (priority) as (
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

/** Whether the available jobs have few priorities. */
export async function hasFewPriorities(db: Database): Promise<boolean> {
  const [row] = await query<{ priorities: number }>(db, countPrioritiesSql, [MOST_PRIORITIES + 1]);
  return (row?.priorities ?? 0) <= MOST_PRIORITIES;
}

const countPrioritiesSql = (schema: string) => `
  with recursive ${prioritiesSql(schema)}
  select count(*)::int as priorities
  from (select from part where part.priority is not null limit $1::int) as counted`;
