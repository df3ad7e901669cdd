// The ledger of timetables: one row for each cron entry, with its last tick. Graphile workers also use the ledger. A
// worker locks an entry's row before it adds jobs of the entry, so that no tick's job is added twice.
import { type Database, query, type Statement } from "../../database/database.ts";
import { milliseconds } from "../sql/moments.ts";

/** A row of the ledger. Times are milliseconds since the epoch. */
export interface KnownCrontab {
  readonly identifier: string;
  readonly knownSinceMs: number;
  /** The latest tick that a worker has handled; null: none yet. */
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

/** Locks the rows of the entries until the end of the transaction, and adds missing entries. */
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

// Here and in lockSql, rows are locked in the order of their identifiers, so that two workers cannot deadlock.
const registerSql: Statement = (schema) => `
  insert into ${schema}._private_known_crontabs (identifier, known_since)
  select identifier, $2::timestamptz
  from pg_catalog.unnest($1::text[]) as given (identifier)
  order by identifier
  on conflict (identifier) do nothing`;

const selectSql: Statement = (schema) => `
  select ${columns} from ${schema}._private_known_crontabs where identifier = any($1::text[])`;

// In READ COMMITTED, the level of inTransaction() on a pool, PostgreSQL reads a row again after a wait for the row's
// lock, so the result includes the changes of the other worker.
const lockSql: Statement = (schema) => `${selectSql(schema)} order by identifier for update`;

const advanceSql: Statement = (schema) => `
  update ${schema}._private_known_crontabs as known
  set last_execution = done.last_execution
  from unnest($1::text[], $2::timestamptz[]) as done (identifier, last_execution)
  where known.identifier = done.identifier`;
