// Reads the names of objects in a schema, Graphile Worker's ledger (the table `migrations`), and the ledger of
// extensions (`_private_extensions`).
import { type Database, query } from "../database.ts";

export interface Catalogue {
  /** Those `names` of readCatalogue() that exist in the schema. */
  readonly known: readonly string[];
  /** The first three other names in the schema. */
  readonly others: readonly string[];
  /** The columns of Graphile Worker's ledger with their types; null if the table is missing. */
  readonly ledger: { readonly id?: string; readonly ts?: string } | null;
  /** Whether this role may read the ledger of extensions; null if the table is missing. */
  readonly mayReadExtensions: boolean | null;
}

// Objects of PostgreSQL's extensions do not count.
const catalogue = () => `
  with space as (select oid from pg_catalog.pg_namespace where nspname = $1::text),
  object as (
    select oid, 'pg_catalog.pg_class'::regclass::oid as class, relname::text as name
    from pg_catalog.pg_class
    where relnamespace = (select oid from space) and relkind in ('r', 'p', 'v', 'm', 'f', 'S', 'c')
    union all
    select oid, 'pg_catalog.pg_proc'::regclass::oid, proname::text
    from pg_catalog.pg_proc where pronamespace = (select oid from space)
    union all
    select oid, 'pg_catalog.pg_type'::regclass::oid, typname::text
    from pg_catalog.pg_type
    where typnamespace = (select oid from space) and typtype in ('d', 'e', 'r')
  ),
  own as (
    select distinct name from object
    where not exists (
      select from pg_catalog.pg_depend
      where deptype = 'e' and classid = object.class and objid = object.oid
    )
  )
  select
    (select coalesce(pg_catalog.json_agg(name), '[]') from own where name = any($2::text[])) as known,
    (
      select coalesce(pg_catalog.json_agg(name), '[]')
      from (select name from own where name <> all($2::text[]) order by name limit 3) as few
    ) as others,
    (
      select pg_catalog.json_object_agg(attname, pg_catalog.format_type(atttypid, null))
      from pg_catalog.pg_attribute
      where attnum > 0 and not attisdropped and attrelid = (
        select oid from pg_catalog.pg_class
        where relnamespace = (select oid from space) and relname = 'migrations'
        and relkind in ('r', 'p')
      )
    ) as ledger,
    (
      select pg_catalog.has_table_privilege(oid, 'select')
      from pg_catalog.pg_class
      where relnamespace = (select oid from space) and relname = '_private_extensions'
      and relkind in ('r', 'p')
    ) as may_read_extensions
  from space`;

interface CatalogueRow {
  readonly known: string;
  readonly others: string;
  readonly ledger: string | null;
  readonly may_read_extensions: boolean | null;
}

/** Returns the catalogue of the schema; null if the schema does not exist. */
export async function readCatalogue(
  db: Database,
  names: readonly string[],
): Promise<Catalogue | null> {
  const [row] = await query<CatalogueRow>(db, catalogue, [db.schema.name, names]);
  if (row === undefined) return null;
  return {
    known: JSON.parse(row.known),
    others: JSON.parse(row.others),
    ledger: row.ledger === null ? null : JSON.parse(row.ledger),
    mayReadExtensions: row.may_read_extensions,
  };
}

export interface Ledger {
  /** The highest id in the ledger; null if the ledger is empty. */
  readonly level: number | null;
  /** The highest id that is marked as breaking; null if there is none. */
  readonly breaking: number | null;
  /** Seconds since the newest row was inserted, by the database's clock; 0 if the ledger is empty. */
  readonly age_s: number;
  /** Whether row level security hides all jobs from this role. */
  readonly is_hidden: boolean;
}

// to_jsonb is used because ledgers from before Graphile Worker 0.14 lack the column `breaking`. The queue's tables have
// row level security and no policies, so to a role that is not the owner the queue can look empty, without an error. If
// an application has added policies, jobs are hidden on purpose.
const ledger = (schema: string) => `
  select
    pg_catalog.max(id) as level,
    pg_catalog.max(id) filter (where (pg_catalog.to_jsonb(step) ->> 'breaking'::text)::boolean) as breaking,
    coalesce(extract(epoch from pg_catalog.now())::float8 - extract(epoch from pg_catalog.max(ts))::float8, 0) as age_s,
    coalesce(
      (
        select pg_catalog.row_security_active(jobs.oid)
        from pg_catalog.to_regclass($1::text) as jobs (oid)
        where not exists (select from pg_catalog.pg_policy where polrelid = jobs.oid::oid)
      ),
      false
    ) as is_hidden
  from ${schema}.migrations as step`;

const extensionVersions = (schema: string) =>
  `select name, version from ${schema}._private_extensions`;

/** Returns the versions of the extensions by name. Call this only if `Catalogue.mayReadExtensions` is true. */
export async function readVersions(db: Database): Promise<ReadonlyMap<string, number>> {
  const rows = await query<{ name: string; version: number }>(db, extensionVersions);
  return new Map(rows.map(({ name, version }) => [name, version]));
}

/** Returns the state of Graphile Worker's ledger. Call this only if `Catalogue.ledger` has `id` and `ts`. */
export async function readLedger(db: Database): Promise<Ledger> {
  const [row] = await query<Ledger>(db, ledger, [`${db.schema.quoted}._private_jobs`]);
  return row ?? { level: null, breaking: null, age_s: 0, is_hidden: false };
}
