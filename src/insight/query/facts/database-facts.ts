// Reads facts for the conversion of a query into SQL: the locked queues, and the jobs whose keys begin with a prefix.
// The ids of the queues become a parameter, because PostgreSQL would search the result of a sub-select linearly for
// each job.
import { type Database, query, type Statement } from "../../../database/database.ts";
import { isBlockedQueue } from "../../../queue/sql/lock.ts";

/** Returns the ids of the queues that are locked by a worker or by a pause, as the text of an int[]. */
export async function lockedQueues(db: Database): Promise<string> {
  const [row] = await query<{ ids: string }>(db, lockedSql);
  return row?.ids ?? "{}";
}

const lockedSql: Statement = (schema) => `
  select array(
    select id from ${schema}._private_job_queues as queues
    where not is_available and ${isBlockedQueue("queues")} order by id
  )::text as ids`;

/** The keys from `from` up to, but not including, `to`. */
export interface KeyRange {
  readonly from: string;
  readonly to: string;
  /** The ids of the jobs with a key in the range; null if there are more than MAX_KEYS. */
  readonly ids: readonly string[] | null;
}

const MAX_KEYS = 1_000;

/**
 * Returns the range of keys that begin with `prefix`; null: the range has no end, or keys do not sort by code points.
 */
export async function keyRange(db: Database, prefix: string): Promise<KeyRange | null> {
  const to = nextText(prefix);
  if (to === null || !(await isKeyOrderPlain(db))) return null;
  const rows = await query<{ id: string }>(db, keysSql, [prefix, to]);
  return { from: prefix, to, ids: rows.length > MAX_KEYS ? null : rows.map(({ id }) => id) };
}

const keysSql: Statement = (schema) => `
  select id from ${schema}._private_jobs
  where key >= $1::text and key < $2::text
  limit ${MAX_KEYS + 1}`;

/** Returns the first text after all texts that begin with `prefix`, by code points; null if there is none. */
function nextText(prefix: string): string | null {
  const points = [...prefix].map((char) => char.codePointAt(0) ?? 0);
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    if (last === 0x10ffff) continue;
    return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
  }
  return null;
}

/** Whether keys sort by code points. Only then are the keys with a prefix one range of the index. */
async function isKeyOrderPlain(db: Database): Promise<boolean> {
  const table = `${db.schema.quoted}._private_jobs`;
  const [row] = await query<{ collation: string }>(db, collationSql, [table]);
  return /^(?:C|POSIX|C\.utf-?8)$/i.test(row?.collation ?? "");
}

// The row of pg_database is read as jsonb, because its columns depend on PostgreSQL's version. The collation `default`
// is the collation of the database.
const collationSql: Statement = () => `
  select case
    when collations.collname <> 'default'
      then coalesce(collations.collcollate, collations.collname::text)
    when coalesce(pg_catalog.to_jsonb(databases) ->> 'datlocprovider'::text, 'c') = 'i' then 'icu'
    when pg_catalog.to_jsonb(databases) ->> 'datlocprovider'::text = 'b'
      then coalesce(pg_catalog.to_jsonb(databases) ->> 'datlocale'::text, pg_catalog.to_jsonb(databases) ->> 'daticulocale'::text)
    else databases.datcollate
  end as collation
  from pg_catalog.pg_attribute as attributes
  join pg_catalog.pg_collation as collations on collations.oid = attributes.attcollation
  cross join (select * from pg_catalog.pg_database where datname = pg_catalog.current_database()) as databases
  where attributes.attrelid = pg_catalog.to_regclass($1::text)::oid and attributes.attname = 'key'`;
