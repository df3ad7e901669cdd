// The heartbeat table. It is an optional extension: a plain Graphile Worker schema has none. Everything must work
// there, without an error that would abort a transaction of the caller.
import * as v from "valibot";
import { monotonic } from "../../base/clock.ts";
import type { Database, Statement } from "../../database/database.ts";
import { query } from "../../database/database.ts";
import type { SchemaName } from "../../database/schema-name.ts";
import { boundedText } from "../../domain/job-spec.ts";
import type { Heartbeats } from "../sql/condition.ts";

/** The maximum length of a report. The table allows no longer ones, and longer ones in other tables are not read. */
export const MAX_REPORT_BYTES = 262_144;
/** The bytes of a report that are reserved for what heartbeats and sweeps add to it. */
export const ROOM_FOR_MARKS = 256;

/** Checks a worker's id, as in `locked_by`. The limit is this library's; the schema has none. */
export const workerId = v.pipe(
  boundedText(1, 1_024),
  v.check((id) => id === "" || id.trim() !== "", "must not be blank"),
);

/** The time in milliseconds after which a worker without a heartbeat counts as stale (as in graphile_worker_rs). */
export const STALE_AFTER_MS = 300_000;

const YEAR_MS = 31_536_000_000;

/** Checks a number of milliseconds up to a year; fractions are allowed. The message also fits an option in seconds. */
export const upToAYear = v.pipe(
  v.number("must be a number"),
  v.check((value) => value >= 0 && value <= YEAR_MS, "must not be negative, and at most a year"),
);

/** Whether the database has the heartbeat table, and this role may read it. */
export async function hasWorkerTable(db: Database): Promise<boolean> {
  const table = `${db.schema.quoted}._private_workers`;
  const [row] = await query<{ present: boolean }>(db, presentSql, [table]);
  return row?.present === true;
}

const presentSql: Statement = () =>
  "select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as present";

const CACHED_MS = 3_000;

interface CacheEntry {
  readonly until: number;
  readonly found: Promise<Heartbeats>;
}

// The key is the schema's object and not its name, as in usable-indexes.ts.
const cache = new WeakMap<SchemaName, CacheEntry>();

/** Returns the heartbeats for the conditions of locked jobs; cached for a few seconds. */
export function heartbeatsOf(db: Database): Promise<Heartbeats> {
  const cached = cache.get(db.schema);
  if (cached !== undefined && monotonic() < cached.until) return cached.found;
  const found = hasWorkerTable(db).then((isThere) => (isThere ? db.schema.quoted : null));
  cache.set(db.schema, { until: monotonic() + CACHED_MS, found });
  found.catch(() => cache.delete(db.schema));
  return found;
}
