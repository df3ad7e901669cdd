// Counts the jobs that a query matches. A small table is counted as a whole. In a large table, if SQL alone decides a
// query for certain ids or a certain key, an index is used, and the count stops at 10,000. In all other cases, or if a
// count takes too long, the number is estimated from a sample of the table's pages.
import { type Database, query, type Statement } from "../../database/database.ts";
import { nullOnTimeout } from "../../database/null-on-timeout.ts";
import {
  cappedValue,
  exactValue,
  type Interval,
  intervalValue,
  type Value,
} from "../../domain/value.ts";
import { timeText } from "../../queue/sql/moments.ts";
import { loadPacked, type PackableRow, packable } from "../expressions/large-values.ts";
import { type CheckedTexts, type JobQuery, undecidedBy } from "../query/job-query.ts";
import { beginCount, countOn, isDone } from "./count-exactly.ts";
import type { Gauge } from "./gauge.ts";
import { sampleInTime } from "./in-time.ts";
import { estimateFrom, selectPages } from "./page-sample.ts";
import { readJobsPerPage, rowsOfPage } from "./sample-jobs.ts";

/** The number of pages up to which a table is read whole. */
export const SMALL_TABLE_PAGES = 4_096;

const CAP = 10_000;
const SAMPLED_PAGES = 2_000;
/** The number of pages in a sample for a query with a `check`: few, because the texts of the jobs are read. */
const CHECKED_PAGES = 400;
const MAX_CHECKED = 1_000;
/** The largest payload that is read for `check`, in bytes. A job with a larger payload is a possible match. */
const MAX_CHECKED_BYTES = 16_384;

/** Options for tests. */
export interface SampleOptions {
  readonly smallPages?: number;
  readonly sampledPages?: number;
  readonly random?: () => number;
}

type SampledOptions = SampleOptions & { readonly sampledPages: number };

export async function countQuery(
  db: Database,
  jobQuery: JobQuery,
  gauge: Gauge,
  options: SampleOptions = {},
): Promise<Value> {
  const { smallPages = SMALL_TABLE_PAGES } = options;
  const asOf = timeText(gauge.nowMs * 1_000);
  if (jobQuery.isEmpty) return exactValue(0, "probe", asOf);
  let isLate = false;
  const { ids, key } = jobQuery.shape;
  const isSmall = gauge.pages <= smallPages;
  if (jobQuery.check === null && (isSmall || ids !== null || key !== null)) {
    const cap = isSmall ? null : CAP;
    const values = [cap, ...jobQuery.values];
    const rows = await nullOnTimeout(query<{ count: string }>(db, exactSql(jobQuery), values));
    const count = Number(rows?.[0]?.count ?? 0);
    if (cap !== null && count >= cap) return cappedValue(cap, "probe", asOf);
    if (rows !== null) return exactValue(count, isSmall ? "scan" : "probe", asOf);
    isLate = true;
  }
  if (isSmall && jobQuery.check !== null) {
    const progress = await nullOnTimeout(
      beginCount(db).then((begun) => countOn(db, jobQuery, begun)),
    );
    if (progress !== null && isDone(progress)) {
      const { count, undecided } = progress;
      if (undecided === 0) return exactValue(count, "scan", asOf);
      return intervalValue({ value: count, low: count, high: count + undecided }, "scan", asOf);
    }
    isLate = progress === null || progress.afterId === progress.firstId;
  }
  const { check, light } = jobQuery;
  const { sampledPages = check === null ? SAMPLED_PAGES : CHECKED_PAGES } = options;
  const read = (form: JobQuery) => (pages: number) => {
    const sampled = { ...options, sampledPages: pages };
    return check === null
      ? sampleMatches(db, form, gauge, asOf, sampled)
      : sampleChecked(db, form, check, gauge, asOf, sampled);
  };
  const readLight = light === null ? null : read(light);
  const readFirst = (isLate ? readLight : null) ?? read(jobQuery);
  return sampleInTime(db, check === null ? "matches" : "texts", sampledPages, readFirst, readLight);
}

const exactSql =
  (jobQuery: JobQuery): Statement =>
  (s) =>
    `
  select pg_catalog.count(*) as count from (
    select from ${s}._private_jobs as jobs where ${jobQuery.sql(2)} limit $1::int
  ) as matching`;

const matchesSql =
  (jobQuery: JobQuery): Statement =>
  (s) =>
    `
  select pg_catalog.json_agg(page.matching order by sampled.page)::text as matching,
    pg_catalog.json_agg(page.possible order by sampled.page)::text as possible, pg_catalog.sum(page.jobs) as jobs
  from pg_catalog.unnest($1::bigint[]) as sampled (page)
  cross join lateral (
    select pg_catalog.count(*) filter (where is_match and not is_undecided) as matching,
      pg_catalog.count(*) filter (where is_match) as possible, pg_catalog.count(*) as jobs
    from (${rowsOfPage(s, "sampled.page", `${jobQuery.sql(2)} as is_match, ${undecidedBy(jobQuery)} as is_undecided`)}
    ) as job
  ) as page`;

async function sampleMatches(
  db: Database,
  jobQuery: JobQuery,
  { pages }: Gauge,
  asOf: string,
  { sampledPages, random }: SampledOptions,
): Promise<Value> {
  const selected = selectPages(pages, sampledPages, random);
  const values = [selected, ...jobQuery.values];
  const [row] = await query<MatchesRow>(db, matchesSql(jobQuery), values);
  const counts = JSON.parse(row?.matching ?? "[]") as number[];
  const possible = JSON.parse(row?.possible ?? "[]") as number[];
  const perPage = Number(row?.jobs ?? 0) / Math.max(selected.length, 1);
  return intervalValue(intervalOf(pages, counts, possible, perPage), "sample", asOf);
}

interface MatchesRow {
  readonly matching: string | null;
  readonly possible: string | null;
  readonly jobs: string | null;
}

/**
 * `counts`: the matches on each page, for the value and the lower bound. `possible`: the matches and the undecided jobs
 * on each page, for the upper bound.
 */
function intervalOf(
  pages: number,
  counts: readonly number[],
  possible: readonly number[],
  perPage: number,
): Interval {
  return {
    ...estimateFrom(pages, counts, perPage),
    high: estimateFrom(pages, possible, perPage).high,
  };
}

const checkedSql =
  (jobQuery: JobQuery): Statement =>
  (s) =>
    `
  select sampled.place::int as place, job.*
  from pg_catalog.unnest($1::bigint[]) with ordinality as sampled (page, place)
  cross join lateral (${rowsOfPage(
    s,
    "sampled.page",
    `jobs.id, pg_catalog.left(jobs.last_error, $2::int) as last_error,
        ${jobQuery.marks(4)} as marks, ${undecidedBy(jobQuery)} as is_undecided,${packable("$2")}`,
    jobQuery.sql(4),
  )}
  ) as job
  limit $3::int`;

interface CheckedRow extends PackableRow, Omit<CheckedTexts, "payload"> {
  readonly is_undecided: boolean;
  /** The place of the row's page in the sample, from 1. */
  readonly place: number;
}

async function sampleChecked(
  db: Database,
  jobQuery: JobQuery,
  check: (row: CheckedTexts) => boolean,
  { pages }: Gauge,
  asOf: string,
  { sampledPages, random = Math.random }: SampledOptions,
): Promise<Value> {
  // In random order, so that the read pages are a random sample even if the limit of MAX_CHECKED rows ends the read.
  const selected = shuffle(selectPages(pages, sampledPages, random), random);
  const rows = await query<CheckedRow>(db, checkedSql(jobQuery), [
    selected,
    MAX_CHECKED_BYTES,
    MAX_CHECKED,
    ...jobQuery.values,
  ]);
  await loadPacked(
    db,
    rows.filter((row) => !row.is_undecided),
    MAX_CHECKED_BYTES,
  );
  const read = rows.length < MAX_CHECKED ? selected.length : (rows.at(-1)?.place ?? 1) - 1;
  const counts = new Array<number>(Math.max(read, 1)).fill(0);
  const possible = [...counts];
  for (const row of rows) {
    const place = row.place - 1;
    if (place >= counts.length) continue;
    const isUnread = row.payload === null || row.is_undecided;
    const isMatch = !isUnread && check(row as CheckedTexts);
    if (isMatch) counts[place] = (counts[place] ?? 0) + 1;
    if (isMatch || isUnread) possible[place] = (possible[place] ?? 0) + 1;
  }
  const isFound = possible.some((count) => count > 0);
  const perPage = isFound ? 0 : await readJobsPerPage(db, selected.slice(0, counts.length));
  const interval = intervalOf(pages, counts, possible, perPage);
  return intervalValue(interval, "sample", asOf);
}

function shuffle(pages: readonly number[], random: () => number): number[] {
  const all = [...pages];
  for (let n = all.length - 1; n > 0; n--) {
    const other = Math.floor(random() * (n + 1));
    [all[n], all[other]] = [all[other] as number, all[n] as number];
  }
  return all;
}
