// What workers leave in the database about themselves. The heartbeat table is one of our optional
// additions: a stock Graphile Worker schema has none, and everything must work there, without an
// error that would abort a caller's transaction.
import * as v from "valibot";
import type { Database, Statement } from "../database/database.ts";
import { query } from "../database/database.ts";
import { boundedText } from "../domain/job-spec.ts";

/** A worker's id as it stands in `locked_by`; the schema sets no limit, this is ours. */
export const workerId = v.pipe(
  boundedText(1, 1_024),
  v.check((id) => id === "" || id.trim() !== "", "must not be blank"),
);

/** Seconds without a heartbeat after which a worker counts as dead (as in graphile_worker_rs). */
export const STALE_AFTER_S = 300;

const YEAR_S = 31_536_000;

/** A duration in seconds, fractions allowed, up to a year. */
export const seconds = v.pipe(
  v.number("must be a number of seconds"),
  v.check((value) => value >= 0 && value <= YEAR_S, `must be from 0 to ${YEAR_S} seconds`),
);

/** Whether the database has the heartbeat table. */
export async function hasWorkerTable(db: Database): Promise<boolean> {
  const table = `${db.schema.quoted}._private_workers`;
  const [row] = await query<{ present: boolean }>(db, presentSql, [table]);
  return row?.present === true;
}

const presentSql: Statement = () => "select to_regclass($1::text) is not null as present";
