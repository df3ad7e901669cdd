// Finds an error group by its fingerprint, a hash of the group's label. The label is the first line of the errors, with
// `#` for the parts that differ from job to job. If errors are grouped by their place in a task's code (`errorPlace`),
// the label is the name of the place. Found groups are cached. To find another group, some errors are read.
import { monotonic } from "../../../base/clock.ts";
import { type Database, query } from "../../../database/database.ts";
import { nullOnTimeout } from "../../../database/null-on-timeout.ts";
import type { SchemaName } from "../../../database/schema-name.ts";
import {
  ERROR_START,
  errorGroup,
  errorLabel,
  errorPlace,
  groupOfLabel,
  isFingerprint,
  isLikeGroup,
} from "../../../domain/error-group.ts";

export interface KnownGroup {
  readonly label: string;
  /** The task in whose code the place is; null if the errors are not grouped by place. */
  readonly task: KnownTask | null;
  /** The labels of merged groups. Each had one error, which differs from the errors of this group only in ids. */
  readonly joined: readonly string[];
}

export interface KnownTask {
  readonly id: number;
  readonly name: string;
}

export interface ErrorGroups {
  readonly known: ReadonlyMap<string, KnownGroup>;
  /** Whether all errors of the table were read. If so, a requested group that is not in `known` has no jobs. */
  readonly isWhole: boolean;
}

const MAX_KEPT = 1_000;
const MAX_SCANNED = 2_000;
/** The approximate maximum number of pages that are read. */
const PAGES = 200;

// The key is an object, because schemas of several databases can have the same name.
const remembered = new WeakMap<SchemaName, Map<string, KnownGroup>>();

export function rememberGroup(
  { schema }: Database,
  fingerprint: string,
  { label, task, joined }: KnownGroup,
): void {
  const groups = groupsIn(schema);
  groups.delete(fingerprint);
  groups.set(fingerprint, { label, task, joined });
  const [oldest] = groups.keys();
  if (groups.size > MAX_KEPT && oldest !== undefined) groups.delete(oldest);
}

/**
 * How long the errors of a task stay grouped by place. The lists of the task's failed jobs and of its retrying jobs are
 * read separately, and should be grouped alike.
 */
const FLOODED_MS = 60_000;

const flooded = new WeakMap<SchemaName, Map<number, number>>();

/**
 * Records that the errors of these tasks are grouped by place. Returns the ids of all tasks that were recorded in the
 * last minute.
 */
export function recentlyFlooded({ schema }: Database, taskIds: readonly number[]): number[] {
  const nowMs = monotonic();
  const known = flooded.get(schema) ?? new Map<number, number>();
  flooded.set(schema, known);
  for (const [id, atMs] of known) if (nowMs - atMs > FLOODED_MS) known.delete(id);
  const recent = [...new Set([...taskIds, ...known.keys()])];
  for (const id of taskIds) known.set(id, nowMs);
  return recent;
}

/** Whether this is the fingerprint of a cached group by place. */
export const isPlace = ({ schema }: Database, fingerprint: string): boolean =>
  groupsIn(schema).get(fingerprint)?.task != null;

/** Returns the fingerprint of the group that lists show for an error. A cached group by place takes precedence. */
export function shownGroup({ schema }: Database, task: string | null, error: string): string {
  const groups = groupsIn(schema);
  const place = task === null ? null : errorPlace(task, error).fingerprint;
  if (place !== null && groups.has(place)) return place;
  const { label, fingerprint } = errorGroup(error);
  const joined = [...groups].find(([, group]) => group.joined.includes(label));
  return joined?.[0] ?? fingerprint;
}

/** Returns the fingerprint of the group with this fingerprint or label. */
export const printOf = (name: string): string =>
  isFingerprint(name) ? name : groupOfLabel(name).fingerprint;

/** Returns the cached groups. If one of `fingerprints` is not cached, errors are read first to find its group. */
export async function errorGroupsOf(
  db: Database,
  fingerprints: readonly string[],
): Promise<ErrorGroups> {
  const known = groupsIn(db.schema);
  if (fingerprints.every((one) => known.has(one))) return { known, isWhole: false };
  const table = `${db.schema.quoted}._private_jobs`;
  const read = await nullOnTimeout(query<SampleRow>(db, errorsSql, [table]));
  const rows = (read ?? []).filter((row): row is SampleRow & ErrorRow => row.start !== null);
  for (const row of rows) {
    const { task_id: id, task: name, start } = row;
    const { fingerprint, label } = errorGroup(start);
    if (fingerprints.includes(fingerprint) && !known.has(fingerprint)) {
      const joined = singlesLike(row, rows);
      rememberGroup(db, fingerprint, { label, task: null, joined });
    }
    if (name === null) continue;
    const place = errorPlace(name, start);
    if (!fingerprints.includes(place.fingerprint)) continue;
    rememberGroup(db, place.fingerprint, { label: place.label, task: { id, name }, joined: [] });
  }
  const isWhole = read?.[0]?.is_whole === true && rows.length < MAX_SCANNED;
  return { known, isWhole };
}

/** Returns the labels of the groups to merge into the group of `example` (`joined`). */
function singlesLike(example: ErrorRow, rows: readonly ErrorRow[]): string[] {
  const ownLabel = errorLabel(example.start);
  const counts = new Map<string, number>();
  for (const { task_id, start } of rows) {
    if (task_id !== example.task_id) continue;
    const label = errorLabel(start);
    const isLike = label !== ownLabel && isLikeGroup(start, ownLabel, example.start);
    if (isLike) counts.set(label, (counts.get(label) ?? 0) + 1);
  }
  return [...counts].filter(([, count]) => count === 1).map(([label]) => label);
}

function groupsIn(schema: SchemaName): Map<string, KnownGroup> {
  const groups = remembered.get(schema) ?? new Map<string, KnownGroup>();
  remembered.set(schema, groups);
  return groups;
}

interface ErrorRow {
  readonly task_id: number;
  readonly task: string | null;
  readonly start: string;
}

interface SampleRow {
  readonly is_whole: boolean;
  /** null: no error was read, and this is the only row. */
  readonly start: string | null;
}

const pages = `pg_catalog.pg_relation_size(pg_catalog.to_regclass($1::text))
    / pg_catalog.current_setting('block_size')::int`;

const errorsSql = (schema: string) => `
  select (${pages}) <= ${PAGES} as is_whole, sampled.task_id, tasks.identifier as task, sampled.start
  from (select) as one
  left join (
    select jobs.task_id, pg_catalog.left(jobs.last_error, ${ERROR_START}) as start
    from ${schema}._private_jobs as jobs tablesample system (least(100::float8, 100::float8 * ${PAGES}::float8
      / greatest(${pages}, 1)::float8)::real)
    where jobs.last_error is not null
    order by pg_catalog.random()
    limit ${MAX_SCANNED}
  ) as sampled on true
  left join ${schema}._private_tasks as tasks on tasks.id = sampled.task_id`;
