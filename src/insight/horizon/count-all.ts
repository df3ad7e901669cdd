// Counts the jobs in each bucket of the horizon (buckets.ts) by one scan of the whole table, for small tables.
import { type Database, query, type Statement } from "../../database/database.ts";
import { bucketColumns, bucketValues, isOnAxis } from "./bucket-columns.ts";
import { type BucketInput, type DrawnCondition, emptySeries, type Series } from "./buckets.ts";

const countSql: Statement = (s) => `
  select condition, bucket, pg_catalog.count(*) as count
  from (
    select ${bucketColumns("jobs")}
    from ${s}._private_jobs as jobs
    where ${isOnAxis("jobs")}
  ) as placed
  group by 1, 2`;

export async function countAll(db: Database, input: BucketInput): Promise<Series> {
  const rows = await query<CountRow>(db, countSql, bucketValues(input));
  const series = emptySeries(input.bounds.length + 1);
  for (const { condition, bucket, count } of rows) series[condition][bucket] = Number(count);
  return series;
}

interface CountRow {
  readonly condition: DrawnCondition;
  readonly bucket: number;
  readonly count: string;
}
