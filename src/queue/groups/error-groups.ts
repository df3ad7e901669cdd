// Errors that say the same, put together by their fingerprint: numbers, ids and quoted text left out.
import { inSlices } from "../../base/slices.ts";
import type { Database } from "../../database/database.ts";
import { errorLabel, groupOfLabel } from "../../domain/error-group.ts";
import { capped, type Value } from "../../domain/value.ts";
import { rememberLabel } from "../query/facts/error-labels.ts";
import type { JobQuery } from "../query/job-query.ts";
import { dateOf } from "../sql/moments.ts";
import { SMALL_TABLE_PAGES } from "../stats/count-query.ts";
import type { Gauge } from "../stats/gauge.ts";
import { readNames } from "../stats/queue-rows.ts";
import { type Group, type Groups, MOST_SAMPLE_IDS, MOST_TASKS, NEW_MS } from "./group.ts";
import { countRows, type GroupedRow, type GroupedRows, readGroupedRows } from "./job-rows.ts";

/**
 * The largest `limit` groups of the matching jobs that have an error. `smallPages`: all of a table of no
 * more is read; tests make it less.
 */
export async function readErrorGroups(
  db: Database,
  jobQuery: JobQuery,
  gauge: Gauge,
  limit: number,
  smallPages = SMALL_TABLE_PAGES,
): Promise<Groups> {
  const read = await readGroupedRows(db, jobQuery, gauge, smallPages, true);
  const collected = await collect(read);
  const asOf = new Date(gauge.nowMs).toISOString();
  const of = countRows(read.rows, read, gauge, asOf);
  const largest = [...collected.values()]
    .sort((a, b) => b.rows.length - a.rows.length || b.lastMs - a.lastMs)
    .slice(0, limit);
  for (const one of largest) rememberLabel(db, { fingerprint: one.key, label: one.label });
  const taskIds = new Set(largest.flatMap(({ tasks }) => [...tasks.keys()]));
  const names = await readNames(db, "task", [...taskIds]);
  const groups = largest.map((one) => groupOf(one, read, gauge, names, of, asOf));
  return { groups, sampled: read.rows.length + read.newest.length, of, asOf };
}

interface Collected {
  readonly key: string;
  readonly label: string;
  /** Of the sample. */
  readonly rows: GroupedRow[];
  /** Of the sample and the newest. */
  readonly ids: Map<string, number>;
  readonly tasks: Map<number, number>;
  firstMs: number;
  lastMs: number;
}

async function collect({ rows, newest }: GroupedRows): Promise<Map<string, Collected>> {
  const byLabel = new Map<string, Collected>();
  const put = (row: GroupedRow, isSampled: boolean) => {
    const label = errorLabel(row.errorStart);
    let group = byLabel.get(label);
    if (group === undefined) {
      group = newGroup(groupOfLabel(label).fingerprint, label);
      byLabel.set(label, group);
    }
    if (isSampled) group.rows.push(row);
    if (isSampled || !group.ids.has(row.id)) {
      group.tasks.set(row.taskId, (group.tasks.get(row.taskId) ?? 0) + 1);
    }
    group.ids.set(row.id, row.failedMs);
    group.firstMs = Math.min(group.firstMs, row.failedMs);
    group.lastMs = Math.max(group.lastMs, row.failedMs);
  };
  await inSlices(rows, (row) => put(row, true));
  await inSlices(newest, (row) => put(row, false));
  return byLabel;
}

function newGroup(key: string, label: string): Collected {
  const bounds = { firstMs: Number.POSITIVE_INFINITY, lastMs: Number.NEGATIVE_INFINITY };
  return { key, label, rows: [], ids: new Map(), tasks: new Map(), ...bounds };
}

function groupOf(
  collected: Collected,
  read: GroupedRows,
  gauge: Gauge,
  names: ReadonlyMap<number, string>,
  of: Value,
  asOf: string,
): Group {
  const { key, label, rows, ids, tasks, firstMs, lastMs } = collected;
  const newest = [...ids].sort((a, b) => b[1] - a[1]);
  const count =
    rows.length === 0 ? capped(ids.size, "probe", asOf) : countRows(rows, read, gauge, asOf);
  const scale = rows.length === 0 ? 1 : count.value / rows.length;
  return {
    key,
    label,
    count,
    share: Math.min(1, Math.round((count.value / Math.max(of.value, 1)) * 10_000) / 10_000),
    firstSeen: timeOf(firstMs),
    lastSeen: timeOf(lastMs),
    isNew: gauge.nowMs - firstMs < NEW_MS,
    sampleIds: newest.slice(0, MOST_SAMPLE_IDS).map(([id]) => id),
    tasks: [...tasks]
      .sort((a, b) => b[1] - a[1])
      .slice(0, MOST_TASKS)
      .flatMap(([id]) => names.get(id) ?? []),
    trend: trendOf(
      rows.length === 0 ? [...ids.values()] : rows.map((row) => row.failedMs),
      gauge,
      scale,
    ),
  };
}

const timeOf = (ms: number) => dateOf(Math.floor(ms) * 1_000).toISOString();

const TREND_PARTS = 24;
const TREND_PART_MS = (3 * 3_600_000) / TREND_PARTS;

function trendOf(times: readonly number[], { nowMs }: Gauge, scale: number): number[] {
  const parts = new Array<number>(TREND_PARTS).fill(0);
  for (const ms of times) {
    const part = TREND_PARTS - 1 - Math.floor((nowMs - ms) / TREND_PART_MS);
    if (part >= 0 && part < TREND_PARTS) parts[part] = (parts[part] ?? 0) + 1;
  }
  return parts.map((count) => Math.round(count * scale));
}
