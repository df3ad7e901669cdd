// Finds differences from the schema as it was created: missing functions and indexes, triggers on the table of jobs,
// foreign keys of other tables that prevent the deletion of the queue's rows, and functions of the queue that use
// objects of another schema.
import { type Database, query, type Statement } from "../database.ts";
import { readStrayFunctions, type StrayFunction } from "../stray-functions.ts";

export interface SchemaDrift {
  /** The missing functions, such as `function add_job`. A new schema has their definitions. */
  readonly missing: readonly string[];
  /** The missing indexes, with the statements that build them again. */
  readonly missingIndexes: readonly { readonly name: string; readonly statement: string }[];
  readonly triggers: readonly string[];
  /** Foreign keys of other tables to the queue's tables. A row to which such a key refers cannot be deleted. */
  readonly references: readonly { readonly name: string; readonly table: string }[];
  /** The queue's functions that use objects of another schema. */
  readonly strays: readonly StrayFunction[];
}

const functions = [
  ...["add_job", "add_jobs", "complete_jobs", "permanently_fail_jobs", "reschedule_jobs"],
  ...["remove_job", "force_unlock_workers"],
];

const indexes: Readonly<Record<string, string>> = {
  jobs_main_index:
    "(priority, run_at) include (id, task_id, job_queue_id) where (is_available = true)",
  jobs_no_queue_index:
    "(priority, run_at) include (id, task_id) where (is_available = true and job_queue_id is null)",
};

export async function readSchemaDrift(db: Database): Promise<SchemaDrift> {
  const [row] = await query<{
    functions: string;
    indexes: string;
    triggers: string;
    references: string;
  }>(db, driftSql, [db.schema.name, `${db.schema.quoted}._private_jobs`]);
  const listed = (text = "[]") => JSON.parse(text) as string[];
  const lacking = (names: readonly string[], there: readonly string[]) =>
    names.filter((name) => !there.includes(name));
  return {
    missing: lacking(functions, listed(row?.functions)).map((name) => `function ${name}`),
    missingIndexes: lacking(Object.keys(indexes), listed(row?.indexes)).map((name) => ({
      name,
      statement: `create index concurrently ${name} on ${db.schema.quoted}._private_jobs using btree ${indexes[name]}`,
    })),
    triggers: listed(row?.triggers),
    references: JSON.parse(row?.references ?? "[]"),
    strays: await readStrayFunctions(db),
  };
}

const driftSql: Statement = () => `
  select
    pg_catalog.to_json(array(select distinct proc.proname::text from pg_catalog.pg_proc proc
      join pg_catalog.pg_namespace space on space.oid = proc.pronamespace
      where space.nspname = $1::text))::text as functions,
    pg_catalog.to_json(array(select class.relname::text from pg_catalog.pg_index i
      join pg_catalog.pg_class class on class.oid = i.indexrelid
      where i.indrelid = jobs.oid))::text as indexes,
    pg_catalog.to_json(array(select tgname::text from pg_catalog.pg_trigger
      where tgrelid = jobs.oid and not tgisinternal and tgenabled <> 'D' order by tgname))::text as triggers,
    (select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
        'name', con.conname, 'table', con.conrelid::pg_catalog.regclass::text)), '[]')
      from pg_catalog.pg_constraint con
      join pg_catalog.pg_class target on target.oid = con.confrelid
      join pg_catalog.pg_namespace space on space.oid = target.relnamespace
      join pg_catalog.pg_class source on source.oid = con.conrelid
      where con.contype = 'f' and con.conparentid = 0::oid and space.nspname = $1::text
        and con.confdeltype in ('a', 'r') and source.relname::text not like '\\_private\\_%')::text as references
  from (select $2::text::regclass::oid as oid) as jobs`;
