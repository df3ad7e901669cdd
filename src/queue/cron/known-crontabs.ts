// The ledger of timetables: one row for each cron entry, with its last tick. All workers of the schema share the
// ledger, also Graphile workers. In one transaction, a worker locks an entry's row, advances `last_execution` and
// adds the jobs of the entry's ticks. The lock ensures that no tick's job is added twice.
import { type Database, query, type Statement } from "../../database/database.ts";
import { milliseconds } from "../sql/moments.ts";

/** A row of the ledger. Times are milliseconds since the epoch. */
export interface KnownCrontab {
  readonly identifier: string;
  readonly knownSinceMs: number;
  /** The latest tick that a worker has handled; null: there is none yet. */
  readonly lastExecutionMs: number | null;
}

interface CrontabRow {
  readonly identifier: string;
  readonly known_since_ms: string;
  readonly last_execution_ms: string | null;
}

/** Adds missing entries, with `sinceMs` as their `known_since`. Returns the rows of all given entries. */
export async function registerCrontabs(
  db: Database,
  identifiers: readonly string[],
  sinceMs: number,
): Promise<KnownCrontab[]> {
  await query(db, registerSql, [identifiers, new Date(sinceMs).toISOString()]);
  return (await query<CrontabRow>(db, selectSql, [identifiers])).map(toCrontab);
}

/**
 * Locks the rows of the entries until the end of the transaction, and adds missing entries as registerCrontabs()
 * does. If this call has waited for another worker's commit, the returned rows include that worker's changes.
 */
export async function lockCrontabs(
  db: Database,
  identifiers: readonly string[],
  sinceMs: number,
): Promise<KnownCrontab[]> {
  const lock = () => query<CrontabRow>(db, lockSql, [identifiers]);
  const rows = await lock();
  if (rows.length === identifiers.length) return rows.map(toCrontab);
  await query(db, registerSql, [identifiers, new Date(sinceMs).toISOString()]);
  return (await lock()).map(toCrontab);
}

/** Sets `last_execution` of entries that this transaction has locked. */
export async function advanceCrontabs(
  db: Database,
  lastExecutionsMs: ReadonlyMap<string, number>,
): Promise<void> {
  const moments = [...lastExecutionsMs.values()].map((ms) => new Date(ms).toISOString());
  await query(db, advanceSql, [[...lastExecutionsMs.keys()], moments]);
}

function toCrontab(row: CrontabRow): KnownCrontab {
  const { identifier, known_since_ms, last_execution_ms } = row;
  return {
    identifier,
    knownSinceMs: Number(known_since_ms),
    lastExecutionMs: last_execution_ms === null ? null : Number(last_execution_ms),
  };
}

const columns = `
  identifier, ${milliseconds("known_since")} as known_since_ms,
  ${milliseconds("last_execution")} as last_execution_ms`;

// This statement and lockSql lock rows in the order of their identifiers, so that two workers with the same entries
// cannot deadlock.
const registerSql: Statement = (schema) => `
  insert into ${schema}._private_known_crontabs (identifier, known_since)
  select identifier, $2::timestamptz
  from pg_catalog.unnest($1::text[]) as given (identifier)
  order by identifier
  on conflict (identifier) do nothing`;

const selectSql: Statement = (schema) => `
  select ${columns} from ${schema}._private_known_crontabs where identifier = any($1::text[])`;

// In READ COMMITTED, the level of inTransaction() on a pool, PostgreSQL reads a row again after the wait for the lock
// of the row. At a stricter isolation level, PostgreSQL would raise a serialization failure instead.
const lockSql: Statement = (schema) => `${selectSql(schema)} order by identifier for update`;

const advanceSql: Statement = (schema) => `
  update ${schema}._private_known_crontabs as known
  set last_execution = done.last_execution
  from unnest($1::text[], $2::timestamptz[]) as done (identifier, last_execution)
  where known.identifier = done.identifier`;
