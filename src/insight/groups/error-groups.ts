// Groups jobs by the labels of their errors. A label is an error's first line without numbers, ids and quoted texts; a
// fingerprint is the hash of a label. If a task would have many groups with only one job, its errors from the same
// place in the code form one group.
import { inSlices } from "../../base/slices.ts";
import type { Database } from "../../database/database.ts";
import {
  errorLabel,
  errorPlace,
  firstLine,
  groupOfLabel,
  isLikeGroup,
} from "../../domain/error-group.ts";
import { cappedValue, type Value } from "../../domain/value.ts";
import { dateOf } from "../../queue/sql/moments.ts";
import {
  isPlace,
  type KnownGroup,
  recentlyFlooded,
  rememberGroup,
} from "../query/facts/error-labels.ts";
import type { JobQuery } from "../query/job-query.ts";
import { SMALL_TABLE_PAGES } from "../stats/count-query.ts";
import type { Gauge } from "../stats/gauge.ts";
import { readNames } from "../stats/queue-rows.ts";
import { type Groups, type JobGroup, MAX_SAMPLE_IDS, MAX_TASKS, NEW_MS } from "./group.ts";
import { countRows, type GroupedRow, type GroupedRows, readGroupedRows } from "./job-rows.ts";

/**
 * Returns the `limit` largest groups of the matching jobs that have an error. A table with more than `smallPages` pages
 * is sampled.
 */
export async function readErrorGroups(
  db: Database,
  jobQuery: JobQuery,
  gauge: Gauge,
  limit: number,
  smallPages = SMALL_TABLE_PAGES,
): Promise<Groups> {
  const read = await readGroupedRows(db, jobQuery, gauge, smallPages, true);
  const collected = await collect(db, read);
  const asOf = new Date(gauge.nowMs).toISOString();
  const of = countRows(read.rows, read, gauge, asOf);
  const largest = collected
    .toSorted((a, b) => b.rows.length - a.rows.length || b.lastMs - a.lastMs)
    .slice(0, limit);
  for (const { key, ...group } of largest) rememberGroup(db, key, group);
  const taskIds = largest.flatMap(({ tasks }) => [...tasks.keys()]);
  const names = await readNames(db, "task", [...new Set(taskIds)]);
  const groups = largest.map((one) => groupOf(one, read, gauge, names, of, asOf));
  return { groups, sampled: read.rows.length + read.newest.length, of, asOf };
}

interface CollectedGroup {
  readonly key: string;
  readonly label: string;
  readonly task: KnownGroup["task"];
  /** The labels of the groups that were merged into this group. */
  readonly joined: string[];
  readonly example: string;
  /** The rows of this group in the table or its sample. If there are none, the group's jobs are counted from `ids`. */
  readonly rows: GroupedRow[];
  /**
   * Maps the ids of the jobs in `rows` and among the newest failures to the times of their failures, in milliseconds
   * since 1970; null: unknown.
   */
  readonly ids: Map<string, number | null>;
  /** Maps the id of each task to the number of its jobs in `ids`. */
  readonly tasks: Map<number, number>;
  /** The time of the earliest failure; -Infinity if the time of any failure is unknown. */
  firstMs: number;
  /** The time of the latest failure with a known time; -Infinity if there is none. */
  lastMs: number;
}

interface GroupIdentity extends Pick<KnownGroup, "label" | "task"> {
  readonly fingerprint: string;
}

/** If a task has more than this number of groups with only one job, its errors are grouped by place (byPlace()). */
const MAX_SINGLES = 20;

async function collect(db: Database, read: GroupedRows): Promise<readonly CollectedGroup[]> {
  const byLabel = new Map<string, CollectedGroup>();
  const labels = new Map<GroupedRow, string>();
  const label = (row: GroupedRow) => {
    const found = errorLabel(row.errorStart);
    labels.set(row, found);
    addRow(byLabel, found, row, () => ({ ...groupOfLabel(found), task: null }));
  };
  await inSlices(read.rows, (row) => {
    label(row);
    byLabel.get(labels.get(row) ?? "")?.rows.push(row);
  });
  await inSlices(read.newest, label);
  const flooded = recentlyFlooded(db, floodedTasks(byLabel));
  const groups =
    flooded.length === 0
      ? [...byLabel.values()]
      : await byPlace(db, read, await readNames(db, "task", flooded), byLabel, labels);
  return withoutSingles(groups);
}

/**
 * Merges each group with only one job into the largest group of several jobs that has similar errors and a job of the
 * same task, if there is such a group. Groups of a place in the code stay as they are.
 */
function withoutSingles(groups: readonly CollectedGroup[]): readonly CollectedGroup[] {
  const large = groups
    .filter(({ ids, task }) => ids.size > 1 && task === null)
    .toSorted((a, b) => b.ids.size - a.ids.size);
  return groups.filter((single) => {
    const [task] = single.tasks.keys();
    if (single.ids.size > 1 || single.task !== null || task === undefined) return true;
    const group = large.find(
      ({ tasks, label, example }) => tasks.has(task) && isLikeGroup(single.example, label, example),
    );
    if (group === undefined) return true;
    group.joined.push(single.label);
    group.rows.push(...single.rows);
    for (const [id, failedMs] of single.ids) group.ids.set(id, failedMs);
    group.tasks.set(task, (group.tasks.get(task) ?? 0) + 1);
    group.firstMs = Math.min(group.firstMs, single.firstMs);
    group.lastMs = Math.max(group.lastMs, single.lastMs);
    return false;
  });
}

function floodedTasks(groups: ReadonlyMap<string, CollectedGroup>): number[] {
  const singles = new Map<number, number>();
  for (const { ids, tasks } of groups.values()) {
    const [task] = tasks.keys();
    if (ids.size === 1 && task !== undefined) singles.set(task, (singles.get(task) ?? 0) + 1);
  }
  return [...singles].filter(([, count]) => count > MAX_SINGLES).map(([id]) => id);
}

/**
 * Groups all errors again. A place in the code of a task in `tasks` has a group if at least two of its errors are alone
 * in their groups by label, or if its group is cached. The group contains all errors of the place, also those that are
 * not alone, because a query for the group's fingerprint finds all of them.
 */
async function byPlace(
  db: Database,
  { rows, newest }: GroupedRows,
  tasks: ReadonlyMap<number, string>,
  byLabel: ReadonlyMap<string, CollectedGroup>,
  labels: ReadonlyMap<GroupedRow, string>,
): Promise<readonly CollectedGroup[]> {
  // For each place's fingerprint, the ids of the jobs that are alone in their groups by label. Ids are needed, because
  // a job can be both in `rows` and in `newest`.
  const singles = new Map<string, Set<string>>();
  const places = new Map<GroupedRow, GroupIdentity>();
  await inSlices([...rows, ...newest], (row) => {
    const name = tasks.get(row.taskId);
    if (name === undefined) return;
    const place = errorPlace(name, row.errorStart);
    places.set(row, { ...place, task: { id: row.taskId, name } });
    if (byLabel.get(labels.get(row) ?? "")?.ids.size !== 1) return;
    const ids = singles.get(place.fingerprint) ?? new Set();
    singles.set(place.fingerprint, ids.add(row.id));
  });
  const groups = new Map<string, CollectedGroup>();
  const group = (row: GroupedRow) => {
    const place = places.get(row);
    const own = groupOfLabel(labels.get(row) ?? "");
    const isGroup = ({ fingerprint: key }: GroupIdentity) =>
      (singles.get(key)?.size ?? 0) > 1 || isPlace(db, key);
    const of = place !== undefined && isGroup(place) ? place : { ...own, task: null };
    addRow(groups, of.fingerprint, row, () => of);
    return groups.get(of.fingerprint);
  };
  await inSlices(rows, (row) => group(row)?.rows.push(row));
  await inSlices(newest, group);
  return [...groups.values()];
}

function addRow(
  groups: Map<string, CollectedGroup>,
  by: string,
  row: GroupedRow,
  of: () => GroupIdentity,
): void {
  const group = groups.get(by) ?? newGroup(of(), row.errorStart);
  groups.set(by, group);
  if (!group.ids.has(row.id)) group.tasks.set(row.taskId, (group.tasks.get(row.taskId) ?? 0) + 1);
  group.ids.set(row.id, row.failedMs);
  const failedMs = row.failedMs ?? Number.NEGATIVE_INFINITY;
  group.firstMs = Math.min(group.firstMs, failedMs);
  group.lastMs = Math.max(group.lastMs, failedMs);
}

function newGroup(
  { fingerprint: key, label, task }: GroupIdentity,
  example: string,
): CollectedGroup {
  const bounds = { firstMs: Number.POSITIVE_INFINITY, lastMs: Number.NEGATIVE_INFINITY };
  const empty = { joined: [], rows: [], ids: new Map(), tasks: new Map() };
  return { key, label, task, example, ...empty, ...bounds };
}

function groupOf(
  collected: CollectedGroup,
  read: GroupedRows,
  gauge: Gauge,
  names: ReadonlyMap<number, string>,
  of: Value,
  asOf: string,
): JobGroup {
  const { key, label, task, rows, ids, tasks, firstMs, lastMs } = collected;
  const newest = [...ids].sort((a, b) => (b[1] ?? 0) - (a[1] ?? 0));
  const count =
    rows.length === 0 ? cappedValue(ids.size, "probe", asOf) : countRows(rows, read, gauge, asOf);
  const scale = rows.length === 0 ? 1 : count.value / rows.length;
  return {
    key,
    label,
    ...(task === null ? {} : { example: firstLine(collected.example) }),
    count,
    share: Math.min(1, Math.round((count.value / Math.max(of.value, 1)) * 10_000) / 10_000),
    firstSeen: timeOf(firstMs),
    lastSeen: timeOf(lastMs),
    isNew: gauge.nowMs - firstMs < NEW_MS,
    sampleIds: newest.slice(0, MAX_SAMPLE_IDS).map(([id]) => id),
    tasks: [...tasks]
      .sort((a, b) => b[1] - a[1])
      .slice(0, MAX_TASKS)
      .flatMap(([id]) => names.get(id) ?? []),
    // If no failure has a known time, the trend is empty: zeros would mean that there were no failures.
    trend:
      lastMs === Number.NEGATIVE_INFINITY
        ? []
        : trendOf(
            rows.length === 0 ? [...ids.values()] : rows.map(({ failedMs }) => failedMs),
            gauge,
            scale,
          ),
  };
}

const timeOf = (ms: number) =>
  ms === Number.NEGATIVE_INFINITY ? null : dateOf(Math.floor(ms) * 1_000).toISOString();

const TREND_PARTS = 24;
const TREND_PART_MS = (3 * 3_600_000) / TREND_PARTS;

function trendOf(times: readonly (number | null)[], { nowMs }: Gauge, scale: number): number[] {
  const parts = new Array<number>(TREND_PARTS).fill(0);
  for (const ms of times) {
    if (ms === null) continue;
    const part = TREND_PARTS - 1 - Math.floor((nowMs - ms) / TREND_PART_MS);
    if (part >= 0 && part < TREND_PARTS) parts[part] = (parts[part] ?? 0) + 1;
  }
  return parts.map((count) => Math.round(count * scale));
}
