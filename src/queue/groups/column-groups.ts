// Jobs by task, queue, worker or priority: all of them counted where the table is small, else those on
// random pages.
import { type Database, query, type Statement } from "../../database/database.ts";
import { between, exact, type Value } from "../../domain/value.ts";
import type { JobQuery } from "../query/job-query.ts";
import { dateOf } from "../sql/moments.ts";
import { SMALL_TABLE_PAGES } from "../stats/count-query.ts";
import type { Gauge } from "../stats/gauge.ts";
import { choosePages, estimateFrom } from "../stats/page-sample.ts";
import { readNames } from "../stats/queue-rows.ts";
import { rowsOfPage } from "../stats/sample-jobs.ts";
import { type Group, type Grouping, type Groups, NEW_MS } from "./group.ts";

export type ColumnGrouping = Exclude<Grouping, "error">;

const SAMPLED_PAGES = 1_200;

const keys: Readonly<Record<ColumnGrouping, string>> = {
  task: "jobs.task_id",
  queue: "jobs.job_queue_id",
  worker: "jobs.locked_by",
  priority: "jobs.priority",
};

interface GroupRow {
  readonly key: string | null;
  readonly count: string;
  /** Seconds since 1970. */
  readonly first_s: number;
  readonly last_s: number;
  readonly newest: string;
  /** JSON: place of the page → how many. */
  readonly counts: string | null;
  readonly of: string;
  readonly of_counts: string | null;
}

/** Of those that match; jobs without a queue, or that nobody holds, are in no group by these. */
export async function readColumnGroups(
  db: Database,
  by: ColumnGrouping,
  jobQuery: JobQuery,
  gauge: Gauge,
  limit: number,
): Promise<Groups> {
  const asOf = new Date(gauge.nowMs).toISOString();
  if (jobQuery.isEmpty) return { groups: [], sampled: 0, of: exact(0, "scan", asOf), asOf };
  const isSmall = gauge.pages <= SMALL_TABLE_PAGES;
  const pages = isSmall ? [] : choosePages(gauge.pages, SAMPLED_PAGES);
  const statement = isSmall ? allSql(by, jobQuery) : sampleSql(by, jobQuery);
  const values = [limit, ...(isSmall ? [] : [pages]), ...jobQuery.values];
  const rows = await query<GroupRow>(db, statement, values);
  const sampled = Number(rows[0]?.of ?? 0);
  const value = (count: number, counts: string | null): Value =>
    isSmall
      ? exact(count, "scan", asOf)
      : between(
          estimateFrom(gauge.pages, onPages(counts, pages.length), sampled / Math.max(pages.length, 1)),
          "sample",
          asOf,
        );
  const of = value(sampled, rows[0]?.of_counts ?? null);
  const labels = await labelsOf(db, by, rows);
  const groups = rows.flatMap((row): Group[] => {
    const label = labels(row.key ?? "");
    if (label === null) return [];
    const count = value(Number(row.count), row.counts);
    return [
      {
        key: label,
        label,
        count,
        share: Math.round((Number(row.count) / Math.max(sampled, 1)) * 10_000) / 10_000,
        firstSeen: timeOf(row.first_s),
        lastSeen: timeOf(row.last_s),
        isNew: gauge.nowMs - row.first_s * 1_000 < NEW_MS,
        sampleIds: JSON.parse(row.newest) as string[],
        tasks: by === "task" ? [label] : [],
        trend: [],
      },
    ];
  });
  return { groups, sampled, of, asOf };
}

const timeOf = (seconds: number) => dateOf(seconds * 1_000_000).toISOString();

function onPages(counts: string | null, pages: number): number[] {
  const all = new Array<number>(pages).fill(0);
  const found = JSON.parse(counts ?? "{}") as Record<string, number>;
  for (const [place, count] of Object.entries(found)) all[Number(place) - 1] = count;
  return all;
}

/** null: the name is gone. */
async function labelsOf(
  db: Database,
  by: ColumnGrouping,
  rows: readonly GroupRow[],
): Promise<(key: string) => string | null> {
  if (by === "worker" || by === "priority") return (key) => key;
  const names = await readNames(db, by, rows.map(({ key }) => Number(key)));
  return (key) => names.get(Number(key)) ?? null;
}

const perGroup = `count(*) as count,
      date_part('epoch', min(jobs.created_at)) as first_s,
      date_part('epoch', max(jobs.created_at)) as last_s`;

const newest = (ids: string) => `(select json_agg(id::text)::text from (
    select id from unnest(${ids}) as all_ids (id) order by id desc limit 5) as last_ids)`;

const allSql =
  (by: ColumnGrouping, jobQuery: JobQuery): Statement =>
  (s) => `
  select key::text, count, first_s, last_s, ${newest("ids")} as newest,
    null as counts, of, null as of_counts
  from (
    select ${keys[by]} as key, ${perGroup}, array[max(jobs.id), min(jobs.id)] as ids,
      sum(count(*)) over () as of
    from ${s}._private_jobs as jobs
    where ${keys[by]} is not null and ${jobQuery.sql(2)}
    group by 1
    order by count desc, key
    limit $1::int
  ) as largest
  order by count desc, key`;

// First by page, then by group: how much the pages differ is how well the sum is known.
const sampleSql =
  (by: ColumnGrouping, jobQuery: JobQuery): Statement =>
  (s) => `
  with per_page as materialized (
    select sampled.place, job.key, count(*) as count, min(job.created_at) as first,
      max(job.created_at) as last, max(job.id) as id
    from unnest($2::bigint[]) with ordinality as sampled (page, place)
    cross join lateral (${rowsOfPage(
      s,
      "sampled.page",
      `jobs.id, jobs.created_at, ${keys[by]} as key`,
      `${keys[by]} is not null and ${jobQuery.sql(3)}`,
    )}
    ) as job
    group by 1, 2
  ), whole as materialized (
    select sum(count) as of, json_object_agg(place, count)::text as of_counts
    from (select place, sum(count) as count from per_page group by 1) as pages
  ), largest as (
    select key, sum(count) as count, min(first) as first, max(last) as last,
      (array_agg(id order by id desc))[1:5] as ids, json_object_agg(place, count)::text as counts
    from per_page group by 1 order by 2 desc, 1 limit $1::int
  )
  select key::text, count, date_part('epoch', first) as first_s, date_part('epoch', last) as last_s,
    ${newest("ids")} as newest, counts, whole.of, whole.of_counts
  from largest, whole
  order by count desc, key`;
