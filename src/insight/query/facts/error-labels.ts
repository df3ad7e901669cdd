// Finds an error group by its fingerprint, which is a hash of the group's label. The label is the first line of the
// group's errors, with `#` for the parts that differ from job to job. If errors are grouped by their place in a task's
// code (`errorPlace`), the label is the name of the place. If the group is found, SQL selects the errors that may be in
// it; if not, a query has to check all errors. Groups that groups/error-groups.ts has returned are cached in memory. To
// find any other group, some errors of the table are read.
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
  /** If the errors are grouped by place, the task in whose code the place is; else null. */
  readonly task: KnownTask | null;
  /**
   * The labels of the groups that were merged into this group. Each of them had only one error among the errors that
   * were read, and that error differs from the errors of this group only in ids (`isLikeGroup`).
   */
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

// The cached groups of each schema. The key is the schema's object, because schemas of several databases can have the
// same name.
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
 * How long the errors of a task stay grouped by place after a list of groups has required this. The lists of the
 * task's failed jobs and of its retrying jobs are read separately, and should be grouped alike.
 */
const FLOODED_MS = 60_000;

const flooded = new WeakMap<SchemaName, Map<number, number>>();

/**
 * Records that the errors of these tasks are grouped by place. Returns the ids of these tasks and of all tasks that
 * were recorded in the last minute.
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

/** Whether the fingerprint is that of a cached group whose errors are grouped by place. */
export const isPlace = ({ schema }: Database, fingerprint: string): boolean =>
  groupsIn(schema).get(fingerprint)?.task != null;

/**
 * Returns the fingerprint of an error's group: the group of the error's place, if this group is cached; if not, the
 * cached group into which the group of the first line was merged; if there is none, the group of the first line.
 */
export function shownGroup({ schema }: Database, task: string | null, error: string): string {
  const groups = groupsIn(schema);
  const place = task === null ? null : errorPlace(task, error).fingerprint;
  if (place !== null && groups.has(place)) return place;
  const { label, fingerprint } = errorGroup(error);
  const joined = [...groups].find(([, group]) => group.joined.includes(label));
  return joined?.[0] ?? fingerprint;
}

/** Returns the fingerprint of a group that is named by its fingerprint or by its label. */
export const printOf = (name: string): string =>
  isFingerprint(name) ? name : groupOfLabel(name).fingerprint;

/**
 * Returns the cached groups. If a group in `fingerprints` is not cached, errors are read first, and the groups in
 * `fingerprints` to which these errors belong are cached.
 */
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

/**
 * Returns the labels that only one row has, among the rows of the same task whose errors differ from `example` only in
 * ids (`isLikeGroup`). The label of `example` is not returned.
 */
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
