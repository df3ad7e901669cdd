// Estimates the horizon of a large table from a sample of up to 2,000 pages. Reading them takes about a tenth of a
// second.
import { type Database, query, type Statement } from "../../database/database.ts";
import { sampleInTime } from "../stats/in-time.ts";
import { selectPages } from "../stats/page-sample.ts";
import { rowsOfPage } from "../stats/sample-jobs.ts";
import { bucketColumns, bucketValues, isOnAxis } from "./bucket-columns.ts";
import {
  type BucketCounts,
  type BucketInput,
  type DrawnCondition,
  emptySeries,
} from "./buckets.ts";

const PAGES = 2_000;

// The rows are grouped by page first, because the error of a sum is computed from the variance of the pages' counts.
// Jobs that were added together are on the same pages, so a variance over rows would be too small.
const sampleSql: Statement = (s) => `
  with per_page as materialized (
    select sampled.page, job.condition, job.bucket, pg_catalog.count(*) as count
    from pg_catalog.unnest($5::bigint[]) as sampled (page)
    cross join lateral (${rowsOfPage(s, "sampled.page", bucketColumns("jobs"), isOnAxis("jobs"))}
    ) as job
    group by 1, 2, 3
  )
  select condition, null as is_failed, bucket, pg_catalog.sum(count) as count, null as squares
  from per_page group by 1, 3
  union all
  select null, is_failed, bucket, pg_catalog.sum(count), pg_catalog.sum(count * count)
  from (
    select bucket, condition = 'failed' as is_failed, pg_catalog.sum(count) as count
    from per_page group by page, 1, 2
  ) as pages
  group by is_failed, bucket`;

interface SampleRow {
  readonly condition: DrawnCondition | null;
  readonly is_failed: boolean | null;
  readonly bucket: number;
  readonly count: string;
  readonly squares: string | null;
}

export function sampleBuckets(db: Database, input: BucketInput): Promise<BucketCounts> {
  return sampleInTime(db, "times", PAGES, (count) => sampleOf(db, input, count));
}

async function sampleOf(db: Database, input: BucketInput, count: number): Promise<BucketCounts> {
  const { pages } = input.gauge;
  const selected = selectPages(pages, count);
  const rows = await query<SampleRow>(db, sampleSql, [...bucketValues(input), selected]);
  const buckets = input.bounds.length + 1;
  const scale = pages / Math.max(selected.length, 1);
  const series = emptySeries(buckets);
  // A sampled page represents `scale` pages. If no sampled page has a job of a bucket, then with 95 % confidence fewer
  // than 3 * scale pages have one. The error assumes a single job on each of these pages.
  const failedError = new Array<number>(buckets).fill(3 * scale);
  const otherError = [...failedError];
  for (const { condition, is_failed: isFailed, bucket, count, squares } of rows) {
    if (condition !== null) series[condition][bucket] = Math.round(Number(count) * scale);
    else {
      const errors = isFailed === true ? failedError : otherError;
      errors[bucket] = marginOf(Number(count), Number(squares), selected.length, pages);
    }
  }
  return { series, failedError, otherError };
}

/**
 * Returns half the width of the 95 % confidence interval of an estimated total. `count` and `squares`: the sums of the
 * sampled pages' counts, and of the squares of these counts.
 */
function marginOf(count: number, squares: number, sampled: number, pages: number): number {
  if (sampled < 2) return pages * count;
  const variance = (squares - (count * count) / sampled) / (sampled - 1);
  return 1.96 * pages * Math.sqrt((variance / sampled) * (1 - sampled / pages));
}
