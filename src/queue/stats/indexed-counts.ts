// What the optional indexes tell in a moment: running jobs exactly, and the last failure. Without them
// a sample and the census have to do.
import { type Database, query, type Statement } from "../../database/database.ts";
import { type IndexName, indexCondition } from "../../database/schema/indexes/optional-index.ts";
import { milliseconds } from "../sql/moments.ts";
import type { Tallied } from "./tally.ts";

export interface IndexedCounts {
  /** Those that are not many. */
  readonly tallies: ReadonlyMap<Tallied, number>;
  /** Milliseconds since 1970; null: there is none; undefined: no index says so. */
  readonly longestRunningMs?: number | null;
  readonly lastFailureMs?: number | null;
}

const CAP = 10_000;

const runningSql: Statement = (s) => `
  select pg_catalog.count(*) as count, ${milliseconds("pg_catalog.min(locked_at)")} as at from (
    select locked_at from ${s}._private_jobs as jobs where ${indexCondition("running", "jobs")}
    order by locked_at limit $1::int + 1
  ) as running`;

const failedSql: Statement = (s) => `
  select pg_catalog.count(*) as count, ${milliseconds("pg_catalog.max(updated_at)")} as at from (
    select updated_at from ${s}._private_jobs as jobs where ${indexCondition("failed", "jobs")}
    order by updated_at desc limit $1::int + 1
  ) as failed`;

/** `indexes`: those that can be used. */
export async function readIndexed(
  db: Database,
  indexes: ReadonlySet<IndexName>,
): Promise<IndexedCounts> {
  const running = indexes.has("running") ? await countIn(db, runningSql) : null;
  const failed = indexes.has("failed") ? await countIn(db, failedSql) : null;
  const tallies = new Map<Tallied, number>();
  if (running !== null && running.count <= CAP) tallies.set("running", running.count);
  if (failed !== null && failed.count <= CAP) tallies.set("failed", failed.count);
  return {
    tallies,
    ...(running === null ? {} : { longestRunningMs: running.atMs }),
    ...(failed === null ? {} : { lastFailureMs: failed.atMs }),
  };
}

async function countIn(db: Database, statement: Statement) {
  const [row] = await query<{ count: string; at: string | null }>(db, statement, [CAP]);
  return { count: Number(row?.count ?? 0), atMs: row?.at == null ? null : Number(row.at) };
}
