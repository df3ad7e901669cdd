// What workers leave in the database about themselves. The heartbeat table is one of our optional
// additions: a stock Graphile Worker schema has none, and everything must work there, without an
// error that would abort a caller's transaction.
import * as v from "valibot";
import { monotonic } from "../../base/clock.ts";
import type { Database, Statement } from "../../database/database.ts";
import { query } from "../../database/database.ts";
import type { SchemaName } from "../../database/schema-name.ts";
import { boundedText } from "../../domain/job-spec.ts";
import type { Heartbeats } from "../sql/condition.ts";

/** A worker's id as it stands in `locked_by`; the schema sets no limit, this is ours. */
export const workerId = v.pipe(
  boundedText(1, 1_024),
  v.check((id) => id === "" || id.trim() !== "", "must not be blank"),
);

/** Without a heartbeat for so long a worker counts as stale (as in graphile_worker_rs). */
export const STALE_AFTER_MS = 300_000;

const YEAR_MS = 31_536_000_000;

/** Milliseconds, fractions allowed, up to a year. The message fits an option in seconds, too. */
export const upToAYear = v.pipe(
  v.number("must be a number"),
  v.check((value) => value >= 0 && value <= YEAR_MS, "must not be negative, and at most a year"),
);

/** Whether the database has the heartbeat table, and we may read it. */
export async function hasWorkerTable(db: Database): Promise<boolean> {
  const table = `${db.schema.quoted}._private_workers`;
  const [row] = await query<{ present: boolean }>(db, presentSql, [table]);
  return row?.present === true;
}

const presentSql: Statement = () =>
  "select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as present";

const KEPT_MS = 3_000;

interface Remembered {
  readonly until: number;
  readonly found: Promise<Heartbeats>;
}

// By the schema's record, as usable-indexes.ts has it.
const remembered = new WeakMap<SchemaName, Remembered>();

/** The same for the conditions of locked jobs, in reads; remembered for a few seconds. */
export function heartbeatsOf(db: Database): Promise<Heartbeats> {
  const known = remembered.get(db.schema);
  if (known !== undefined && monotonic() < known.until) return known.found;
  const found = hasWorkerTable(db).then((isThere) => (isThere ? db.schema.quoted : null));
  remembered.set(db.schema, { until: monotonic() + KEPT_MS, found });
  found.catch(() => remembered.delete(db.schema));
  return found;
}
