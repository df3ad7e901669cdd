// Groups jobs by task, named queue, worker or priority. In a small table, the jobs of each group are counted. In a
// large table, or if counting takes too long, their numbers are estimated from random pages.

import { type Database, query, type Statement } from "../../database/database.ts";
import { nullOnTimeout } from "../../database/null-on-timeout.ts";
import { exactValue, intervalValue, type Value } from "../../domain/value.ts";
import { lockHolder } from "../../queue/sql/lock.ts";
import { dateOf } from "../../queue/sql/moments.ts";
import type { JobQuery } from "../query/job-query.ts";
import { SMALL_TABLE_PAGES } from "../stats/count-query.ts";
import type { Gauge } from "../stats/gauge.ts";
import { sampleInTime } from "../stats/in-time.ts";
import { estimateFrom, selectPages } from "../stats/page-sample.ts";
import { readNames } from "../stats/queue-rows.ts";
import { readJobsPerPage, rowsOfPage } from "../stats/sample-jobs.ts";
import { type Grouping, type Groups, type JobGroup, MAX_SAMPLE_IDS, NEW_MS } from "./group.ts";
import { countRows, type GroupedRow, readGroupedRows } from "./job-rows.ts";

export type ColumnGrouping = Exclude<Grouping, "error">;

const SAMPLED_PAGES = 1_000;

const keys: Readonly<Record<ColumnGrouping, string>> = {
  task: "jobs.task_id",
  queue: "jobs.job_queue_id",
  worker: lockHolder("jobs"),
  priority: "jobs.priority",
};

interface GroupRow {
  readonly key: string | null;
  readonly count: string;
  /** `first_s` and `last_s`: when the first and the last of the counted jobs were added, in seconds since 1970. */
  readonly first_s: number;
  readonly last_s: number;
  readonly newest: string;
  /**
   * The number of the group's jobs on each page of the sample, as a JSON object. The keys are the places of the pages
   * in the sample, from 1 on. Null without a sample.
   */
  readonly counts: string | null;
  readonly of: string;
  readonly of_counts: string | null;
}

/** Returns the `limit` largest groups of the matching jobs. `smallPages`: the most pages of a small table. */
export async function readColumnGroups(
  db: Database,
  by: ColumnGrouping,
  jobQuery: JobQuery,
  gauge: Gauge,
  limit: number,
  smallPages = SMALL_TABLE_PAGES,
): Promise<Groups> {
  const asOf = new Date(gauge.nowMs).toISOString();
  if (jobQuery.isEmpty) return { groups: [], sampled: 0, of: exactValue(0, "scan", asOf), asOf };
  const here = (isLate = false) => countHere(db, by, jobQuery, gauge, limit, smallPages, isLate);
  const light = jobQuery.light === null ? null : () => here(true);
  const inDatabase = (pages: readonly number[] | null) =>
    countInDatabase(db, by, jobQuery, gauge, limit, pages);
  const some = () =>
    sampleInTime(
      db,
      "groups",
      SAMPLED_PAGES,
      (pages) => inDatabase(selectPages(gauge.pages, pages)),
      light,
    );
  const isSmall = gauge.pages <= smallPages;
  const all = jobQuery.check === null && isSmall ? await nullOnTimeout(inDatabase(null)) : null;
  const further = jobQuery.check !== null ? here : isSmall && light !== null ? light : some;
  const counted = all ?? (await further());
  const labels = await labelsOf(db, by, counted.groups);
  const groups = counted.groups.flatMap(({ key, count, firstMs, lastMs, ids }): JobGroup[] => {
    const label = labels(key);
    if (label === null) return [];
    return [
      {
        key: label,
        label,
        count,
        share: Math.round((count.value / Math.max(counted.of.value, 1)) * 10_000) / 10_000,
        firstSeen: timeOf(firstMs),
        lastSeen: timeOf(lastMs),
        isNew: firstMs !== null && gauge.nowMs - firstMs < NEW_MS,
        sampleIds: ids,
        tasks: by === "task" ? [label] : [],
        trend: [],
      },
    ];
  });
  return { groups, sampled: counted.sampled, of: counted.of, asOf };
}

interface GroupCounts {
  readonly groups: readonly CountedGroup[];
  readonly sampled: number;
  readonly of: Value;
}

interface CountedGroup {
  readonly key: string;
  readonly count: Value;
  /** `firstMs` and `lastMs`: like `first_s` and `last_s`, in milliseconds; null if countHere() counted the jobs. */
  readonly firstMs: number | null;
  readonly lastMs: number | null;
  readonly ids: readonly string[];
}

/** Counts the matching jobs in PostgreSQL. If `pages` is not null, the numbers are estimated from these pages. */
async function countInDatabase(
  db: Database,
  by: ColumnGrouping,
  jobQuery: JobQuery,
  gauge: Gauge,
  limit: number,
  pages: readonly number[] | null,
): Promise<GroupCounts> {
  const asOf = new Date(gauge.nowMs).toISOString();
  const statement = pages === null ? allSql(by, jobQuery) : sampleSql(by, jobQuery);
  const values = [limit, ...(pages === null ? [] : [pages]), ...jobQuery.values];
  const rows = await query<GroupRow>(db, statement, values);
  const sampled = Number(rows[0]?.of ?? 0);
  const perPage = pages === null || sampled > 0 ? 0 : await readJobsPerPage(db, pages);
  const value = (count: number, counts: string | null): Value =>
    pages === null
      ? exactValue(count, "scan", asOf)
      : intervalValue(
          estimateFrom(gauge.pages, onPages(counts, pages.length), perPage),
          "sample",
          asOf,
        );
  return {
    groups: rows.map((row) => ({
      key: row.key ?? "",
      count: value(Number(row.count), row.counts),
      firstMs: row.first_s * 1_000,
      lastMs: row.last_s * 1_000,
      ids: JSON.parse(row.newest) as string[],
    })),
    sampled,
    of: value(sampled, rows[0]?.of_counts ?? null),
  };
}

/**
 * Counts the matching jobs in this process. Used if PostgreSQL cannot decide which jobs match, or if a count in
 * PostgreSQL took too long (`isLate`).
 */
async function countHere(
  db: Database,
  by: ColumnGrouping,
  jobQuery: JobQuery,
  gauge: Gauge,
  limit: number,
  smallPages: number,
  isLate: boolean,
): Promise<GroupCounts> {
  const asOf = new Date(gauge.nowMs).toISOString();
  const read = await readGroupedRows(db, jobQuery, gauge, smallPages, false, isLate);
  const keyed = Map.groupBy(read.rows, keyOf[by]);
  keyed.delete(null);
  const groups = [...keyed].sort((a, b) => b[1].length - a[1].length).slice(0, limit);
  return {
    groups: groups.map(([key, rows]) => ({
      key: String(key),
      count: countRows(rows, read, gauge, asOf),
      firstMs: null,
      lastMs: null,
      ids: newestIds(rows),
    })),
    sampled: read.rows.length,
    of: countRows([...keyed.values()].flat(), read, gauge, asOf),
  };
}

const newestIds = (rows: readonly GroupedRow[]): string[] =>
  rows
    .map(({ id }) => id)
    .sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
    .slice(-MAX_SAMPLE_IDS);

const keyOf: Readonly<Record<ColumnGrouping, (row: GroupedRow) => string | number | null>> = {
  task: ({ taskId }) => taskId,
  queue: ({ queueId }) => queueId,
  worker: ({ lockedBy }) => lockedBy,
  priority: ({ priority }) => priority,
};

const timeOf = (ms: number | null) =>
  ms === null ? null : dateOf(Math.floor(ms) * 1_000).toISOString();

function onPages(counts: string | null, pages: number): number[] {
  const all = new Array<number>(pages).fill(0);
  const found = JSON.parse(counts ?? "{}") as Record<string, number>;
  for (const [place, count] of Object.entries(found)) all[Number(place) - 1] = count;
  return all;
}

/** Returns a function from a group's key to its label; null if the group's task or named queue was deleted. */
async function labelsOf(
  db: Database,
  by: ColumnGrouping,
  groups: readonly CountedGroup[],
): Promise<(key: string) => string | null> {
  if (by === "worker" || by === "priority") return (key) => key;
  const names = await readNames(
    db,
    by,
    groups.map(({ key }) => Number(key)),
  );
  return (key) => names.get(Number(key)) ?? null;
}

const perGroup = `pg_catalog.count(*) as count,
      pg_catalog.date_part('epoch', pg_catalog.min(jobs.created_at)) as first_s,
      pg_catalog.date_part('epoch', pg_catalog.max(jobs.created_at)) as last_s`;

const newest = (ids: string) => `(select pg_catalog.json_agg(id::text)::text from (
    select id from pg_catalog.unnest(${ids}) as all_ids (id) order by id desc limit 5) as last_ids)`;

const allSql =
  (by: ColumnGrouping, jobQuery: JobQuery): Statement =>
  (s) =>
    `
  select key::text, count, first_s, last_s, ${newest("ids")} as newest,
    null as counts, of, null as of_counts
  from (
    select ${keys[by]} as key, ${perGroup}, array[pg_catalog.max(jobs.id)] as ids,
      pg_catalog.sum(pg_catalog.count(*)) over () as of
    from ${s}._private_jobs as jobs
    where ${keys[by]} is not null and ${jobQuery.sql(2)}
    group by 1
    order by count desc, key
    limit $1::int
  ) as largest
  order by count desc, key`;

// Counts the jobs of each group on each page: the differences between pages show how precise the estimate is.
const sampleSql =
  (by: ColumnGrouping, jobQuery: JobQuery): Statement =>
  (s) =>
    `
  with per_page as materialized (
    select sampled.place, job.key, pg_catalog.count(*) as count, pg_catalog.min(job.created_at) as first,
      pg_catalog.max(job.created_at) as last, pg_catalog.max(job.id) as id
    from pg_catalog.unnest($2::bigint[]) with ordinality as sampled (page, place)
    cross join lateral (${rowsOfPage(
      s,
      "sampled.page",
      `jobs.id, jobs.created_at, ${keys[by]} as key`,
      `${keys[by]} is not null and ${jobQuery.sql(3)}`,
    )}
    ) as job
    group by 1, 2
  ), whole as materialized (
    select pg_catalog.sum(count) as of, pg_catalog.json_object_agg(place, count)::text as of_counts
    from (select place, pg_catalog.sum(count) as count from per_page group by 1) as pages
  ), largest as (
    select key, pg_catalog.sum(count) as count, pg_catalog.min(first) as first, pg_catalog.max(last) as last,
      (pg_catalog.array_agg(id order by id desc))[1:5] as ids, pg_catalog.json_object_agg(place, count)::text as counts
    from per_page group by 1 order by 2 desc, 1 limit $1::int
  )
  select key::text, count, pg_catalog.date_part('epoch', first) as first_s, pg_catalog.date_part('epoch', last) as last_s,
    ${newest("ids")} as newest, counts, whole.of, whole.of_counts
  from largest, whole
  order by count desc, key`;
