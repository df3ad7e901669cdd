// Counts exactly the jobs in small buckets of the horizon; for larger buckets a sample is precise enough. A bucket is
// small if it has at most CAP jobs of each priority. Only jobs in the index from which workers fetch are counted.
import { type Database, query, type Statement } from "../../database/database.ts";
import { conditionOf, isQueueIn } from "../expressions/condition.ts";
import { MAX_PRIORITIES, priorities } from "../read/priorities.ts";
import { type BucketInput, type DrawnCondition, emptySeries, type Series } from "./buckets.ts";

const CAP = 200;

const buckets = `unnest($1::int[], $2::timestamptz[], $3::timestamptz[])
      as buckets (bucket, from_at, to_at)`;

// Times are whole microseconds, so the second comparison of run_at means `run_at < to_at`. In the last bucket, to_at is
// infinity, and infinity minus a microsecond is infinity: jobs that are never due (run_at is infinity) are included.
const inBucket = (s: string, columns: string) => `
      select ${columns} from ${s}._private_jobs as jobs
      where jobs.is_available and jobs.priority = priorities.priority
        and jobs.run_at >= buckets.from_at
        and jobs.run_at <= buckets.to_at - interval '1 microsecond'
      limit ${CAP + 1}`;

// `most`: the largest number of the bucket's jobs with one priority; at most CAP + 1. PostgreSQL can count with the
// index alone.
const sizesSql: Statement = (s) => `
  with recursive ${priorities(s)}
  select buckets.bucket, pg_catalog.max(found.count)::int as most, pg_catalog.max(priorities.place)::int as priorities
  from ${buckets}, priorities, lateral (
    select pg_catalog.count(*) as count from (${inBucket(s, "")}
    ) as jobs
  ) as found
  where priorities.priority is not null
  group by 1`;

// PostgreSQL has to read the row of each job, so only small buckets are counted.
const conditionsSql: Statement = (s) => `
  with recursive ${priorities(s)}
  select buckets.bucket, found.condition, pg_catalog.count(*) as count
  from ${buckets}, priorities, lateral (${inBucket(s, `${conditionOf("jobs", null, { isQueueLocked: isQueueIn("jobs", "$4") })} as condition`)}
  ) as found
  where priorities.priority is not null
  group by 1, 2`;

interface SizeRow {
  readonly bucket: number;
  readonly most: number;
  readonly priorities: number;
}

interface ConditionRow {
  readonly bucket: number;
  readonly condition: DrawnCondition;
  readonly count: string;
}

/** Returns, for each counted bucket, a Series whose lists have one element each. */
export async function probeBuckets(
  db: Database,
  { bounds, gauge }: BucketInput,
): Promise<Map<number, Series>> {
  const all = Array.from({ length: bounds.length + 1 }, (_, bucket) => bucket);
  const from = (bucket: number) => bounds[bucket - 1] ?? "-infinity";
  const to = (bucket: number) => bounds[bucket] ?? "infinity";
  const values = (list: readonly number[]) => [list, list.map(from), list.map(to)];
  const sizes = await query<SizeRow>(db, sizesSql, values(all));
  // If MAX_PRIORITIES priorities were found, the jobs may have more.
  const isWhole = sizes.every((row) => row.priorities < MAX_PRIORITIES);
  const narrow = sizes.filter(({ most }) => isWhole && most <= CAP).map(({ bucket }) => bucket);
  const found = new Map(narrow.map((bucket) => [bucket, emptySeries(1)]));
  if (found.size === 0) return found;
  const rows = await query<ConditionRow>(db, conditionsSql, [
    ...values(narrow),
    gauge.lockedQueueIds,
  ]);
  for (const { bucket, condition, count } of rows) {
    const series = found.get(bucket);
    if (series !== undefined) series[condition] = [Number(count)];
  }
  return found;
}
