// Reads which privileges on the queue's schema the current role lacks: those that workers and the admin need, and
// `execute` on the schema's functions, which other clients call.
import { type Database, query, type Statement } from "../database.ts";

/** A missing privilege, such as `insert on _private_jobs`, with the statement that grants it. */
export interface MissingPrivilege {
  readonly what: string;
  readonly grant: string;
}

const MAX_FUNCTIONS = 100;

/** Returns the missing privileges. assertUsableSchema() throws if row level security hides all jobs from the role. */
export function readMissingPrivileges(db: Database): Promise<MissingPrivilege[]> {
  const values = [db.schema.name, MAX_FUNCTIONS];
  return query<MissingPrivilege & Record<string, unknown>>(db, missingSql, values);
}

// The objects and their oids are read from the catalogue: has_…_privilege() fails for the name of a missing object.
const missingSql: Statement = () => `
  with space as (select oid, nspname from pg_catalog.pg_namespace where nspname = $1::text)
  select pg_catalog.format('usage of the schema %I', nspname) as what,
    pg_catalog.format('grant usage on schema %I to %I', nspname, current_user) as grant
  from space where not pg_catalog.has_schema_privilege(oid, 'usage')
  union all
  select pg_catalog.format('%s on %I', pg_catalog.string_agg(wanted.privilege, ', ' order by wanted.place), class.relname),
    pg_catalog.format('grant %s on %I.%I to %I',
      pg_catalog.string_agg(wanted.privilege, ', ' order by wanted.place), space.nspname, class.relname, current_user)
  from space
  join pg_catalog.pg_class class on class.relnamespace = space.oid and class.relkind in ('r', 'v', 'p')
  cross join pg_catalog.unnest(case when class.relkind = 'v' or class.relname = 'migrations'
    then array['select'] else array['select', 'insert', 'update', 'delete'] end)
    with ordinality as wanted (privilege, place)
  where (class.relname::text ~ '^_private_' or class.relname in ('jobs', 'migrations'))
  and not pg_catalog.has_table_privilege(class.oid, wanted.privilege)
  group by space.nspname, class.relname
  union all
  (select pg_catalog.format('execute on %s', proc.oid::regprocedure),
    pg_catalog.format('grant execute on function %s to %I', proc.oid::regprocedure, current_user)
  from space join pg_catalog.pg_proc proc on proc.pronamespace = space.oid
  where not pg_catalog.has_function_privilege(proc.oid, 'execute')
  order by proc.proname limit $2::int)`;
