// What a query has to know of the database before it becomes SQL: locked queues, keys, names. All
// of it comes from small tables and is bound as values: a sub-select would be searched for every job.
import { type Database, query, type Statement } from "../../../database/database.ts";

/** Ids of the queues that somebody has locked, as the text of an int[]. */
export async function lockedQueues(db: Database): Promise<string> {
  const [row] = await query<{ ids: string }>(db, lockedSql);
  return row?.ids ?? "{}";
}

const lockedSql: Statement = (schema) => `
  select array(
    select id from ${schema}._private_job_queues where not is_available order by id
  )::text as ids`;

/** Keys from `from` up to, not including, `to`. */
export interface KeyRange {
  readonly from: string;
  readonly to: string;
  /** The jobs that have them, where they are few; null: too many to list. */
  readonly ids: readonly string[] | null;
}

const MOST_KEYS = 1_000;

/** What begins with `prefix`; null where the index on keys is in another order. */
export async function keyRange(db: Database, prefix: string): Promise<KeyRange | null> {
  const to = nextText(prefix);
  if (to === null || !(await isKeyOrderPlain(db))) return null;
  const rows = await query<{ id: string }>(db, keysSql, [prefix, to]);
  return { from: prefix, to, ids: rows.length > MOST_KEYS ? null : rows.map(({ id }) => id) };
}

const keysSql: Statement = (schema) => `
  select id from ${schema}._private_jobs
  where key >= $1::text and key < $2::text
  limit ${MOST_KEYS + 1}`;

/** The first text after all that begin with `prefix`, by the numbers of characters; null: none is. */
function nextText(prefix: string): string | null {
  const points = [...prefix].map((char) => char.codePointAt(0) ?? 0);
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    if (last === 0x10ffff) continue;
    return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
  }
  return null;
}

/**
 * Whether keys sort by their characters' numbers, so that all with one beginning stand together in
 * their index.
 */
async function isKeyOrderPlain(db: Database): Promise<boolean> {
  const table = `${db.schema.quoted}._private_jobs`;
  const [row] = await query<{ collation: string }>(db, collationSql, [table]);
  return /^(?:C|POSIX|C\.utf-?8)$/i.test(row?.collation ?? "");
}

// Through jsonb, because which columns there are depends on PostgreSQL's version. The default
// collation is the database's; an ICU one has a name that never is "C".
const collationSql: Statement = () => `
  select case
    when collations.collname <> 'default'
      then coalesce(collations.collcollate, collations.collname::text)
    when coalesce(pg_catalog.to_jsonb(databases) ->> 'datlocprovider'::text, 'c') = 'i' then 'icu'
    when pg_catalog.to_jsonb(databases) ->> 'datlocprovider'::text = 'b'
      then coalesce(pg_catalog.to_jsonb(databases) ->> 'datlocale'::text, pg_catalog.to_jsonb(databases) ->> 'daticulocale'::text)
    else databases.datcollate
  end as collation
  from pg_attribute as attributes
  join pg_collation as collations on collations.oid = attributes.attcollation
  cross join (select * from pg_database where datname = pg_catalog.current_database()) as databases
  where attributes.attrelid = pg_catalog.to_regclass($1::text)::oid and attributes.attname = 'key'`;
