// Finds schemas on this role's search path in which other roles may create objects. If a function that another role
// creates there fits a call better than PostgreSQL's own function of the same name, it is called instead. This
// library's statements prevent that, but Graphile Worker's functions and the application's triggers do not.
import { type Database, query, type Statement } from "../database.ts";

export interface OpenSchema {
  readonly name: string;
  /** The roles that may create objects: `every role`, or their names. */
  readonly creators: string;
  /** The statement that revokes the privilege from `creators`. */
  readonly revoke: string;
}

export async function readOpenSchemas(db: Database): Promise<OpenSchema[]> {
  return query<OpenSchema & Record<string, unknown>>(db, openSql);
}

// The search path is that of the session (reset_val), because this statement may run in a transaction that has set
// another path. Superusers and pg_database_owner are not reported: a superuser can change any object anyway, and
// pg_database_owner owns `public`.
const openSql: Statement = () => `
  select space.nspname::text as name,
    case when pg_catalog.bool_or(acl.grantee = 0::oid) then 'every role'
      else pg_catalog.string_agg(pg_catalog.pg_get_userbyid(acl.grantee)::text, ', ') end as creators,
    pg_catalog.format('revoke create on schema %I from %s', space.nspname,
      case when pg_catalog.bool_or(acl.grantee = 0::oid) then 'public'
        else pg_catalog.string_agg(pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(acl.grantee)::text), ', ')
      end) as revoke
  from pg_catalog.pg_namespace as space
  cross join lateral pg_catalog.aclexplode(
    coalesce(space.nspacl, pg_catalog.acldefault('n'::"char", space.nspowner))) as acl
  where space.nspname::text = any(array(
    select pg_catalog.replace(pg_catalog.btrim(path.name, ' "'), '$user', current_user::text)
    from pg_catalog.pg_settings, pg_catalog.string_to_table(reset_val, ',') as path (name)
    where pg_settings.name = 'search_path'
  ))
  and acl.privilege_type = 'CREATE'
  and not exists (
    select from pg_catalog.pg_roles as role
    where role.oid = acl.grantee
    and (role.rolsuper or role.rolname = current_user or role.rolname = 'pg_database_owner')
  )
  group by space.nspname
  order by space.nspname`;
