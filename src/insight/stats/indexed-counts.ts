// Reads the numbers and times that the optional indexes `running` and `failed` make fast to read.
import { type Database, query, type Statement } from "../../database/database.ts";
import { type IndexName, indexCondition } from "../../database/schema/indexes/optional-index.ts";
import { milliseconds } from "../../queue/sql/moments.ts";
import { isFetched } from "../expressions/condition.ts";
import { failedForGoodAt } from "../expressions/failed-at.ts";
import type { Heartbeats } from "../expressions/heartbeats.ts";
import type { TallyName } from "./tally.ts";

export interface IndexedCounts {
  /**
   * The exact numbers of fetched, running and failed jobs. If an index cannot be used, or contains more than 10,000
   * jobs, its numbers are missing.
   */
  readonly tallies: ReadonlyMap<TallyName, number>;
  /**
   * When the longest running job was locked, in milliseconds since 1970; null: no running job was found; undefined:
   * the index `running` cannot be used.
   */
  readonly longestRunningMs?: number | null;
  /**
   * The latest known time at which a job failed for good, in milliseconds since 1970; null: there are no failed jobs;
   * undefined: unknown.
   */
  readonly lastFailureMs?: number | null;
}

const CAP = 10_000;

const lockedSql =
  (heartbeats: Heartbeats): Statement =>
  (s) =>
    `
  select pg_catalog.count(*) as count, pg_catalog.count(*) filter (where is_fetched) as fetched,
    ${milliseconds("pg_catalog.min(locked_at) filter (where not is_fetched)")} as at
  from (
    select locked_at, ${isFetched("jobs", heartbeats)} as is_fetched
    from ${s}._private_jobs as jobs where ${indexCondition("running", "jobs")}
    order by locked_at limit $1::int + 1
  ) as locked`;

const NEWEST = 100;

// The count needs only the index. The time of the last failure needs rows: only a row shows whether the last change of
// its job was the failure.
const failedSql: Statement = (s) => `
  select pg_catalog.count(*) as count,
    (select ${milliseconds(`pg_catalog.max(${failedForGoodAt("jobs")})`)} from (
      select * from ${s}._private_jobs as jobs where ${indexCondition("failed", "jobs")}
      order by updated_at desc limit ${NEWEST}
    ) as jobs) as at
  from (
    select from ${s}._private_jobs as jobs where ${indexCondition("failed", "jobs")}
    order by updated_at desc limit $1::int + 1
  ) as failed`;

/** `indexes`: the optional indexes that can be used. */
export async function readIndexed(
  db: Database,
  indexes: ReadonlySet<IndexName>,
  heartbeats: Heartbeats,
): Promise<IndexedCounts> {
  const locked = indexes.has("running") ? await countIn(db, lockedSql(heartbeats)) : null;
  const failed = indexes.has("failed") ? await countIn(db, failedSql) : null;
  const tallies = new Map<TallyName, number>();
  if (locked !== null && locked.count <= CAP) {
    tallies.set("fetched", locked.fetched).set("running", locked.count - locked.fetched);
  }
  if (failed !== null && failed.count <= CAP) tallies.set("failed", failed.count);
  return {
    tallies,
    ...(locked === null ? {} : { longestRunningMs: locked.atMs }),
    ...(failed === null || (failed.atMs === null && failed.count > 0)
      ? {}
      : { lastFailureMs: failed.atMs }),
  };
}

interface CountRow {
  readonly count: string;
  readonly fetched?: string;
  readonly at: string | null;
}

async function countIn(db: Database, statement: Statement) {
  const [row] = await query<CountRow>(db, statement, [CAP]);
  const atMs = row?.at == null ? null : Number(row.at);
  return { count: Number(row?.count ?? 0), fetched: Number(row?.fetched ?? 0), atMs };
}
