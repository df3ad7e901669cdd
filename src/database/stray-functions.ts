// Finds functions of a queue, such as add_job, that use objects of another schema. The body of a function contains the
// name of its schema. After a rename of the schema, the body still contains the old name.

import { workerLine } from "../domain/portable/worker-line.ts";
import { type Database, query, type Statement } from "./database.ts";

export interface StrayFunction {
  readonly name: string;
  /** The other schemas whose objects the function uses, as SQL identifiers. */
  readonly schemas: readonly string[];
  /** The statement that recreates the function for its own schema. */
  readonly statement: string;
}

/**
 * Returns the functions that use an object of another schema, although their own schema has an object of the same name.
 * Other uses are not reported, because a user may have edited the function.
 */
export async function readStrayFunctions(db: Database): Promise<readonly StrayFunction[]> {
  const { name, quoted } = db.schema;
  const rows = await query<StrayRow>(db, straySql, [name, `${quoted}.`, queueFunctions]);
  return rows.flatMap(({ name, definition, objects }) => {
    const own = new Set(JSON.parse(objects) as string[]);
    const schemas = new Set<string>();
    const statement = definition.replaceAll(QUALIFIED, (text, schema: string, object: string) => {
      if (schema === quoted || !own.has(object)) return text;
      schemas.add(schema);
      return `${quoted}.${object}`;
    });
    return schemas.size === 0 ? [] : [{ name, schemas: [...schemas], statement }];
  });
}

interface StrayRow {
  readonly name: string;
  readonly definition: string;
  /** A JSON array of the names of this schema's tables, functions and types. */
  readonly objects: string;
}

const QUALIFIED = /("(?:[^"]|""){1,126}")\.(\w+)/g;

const queueFunctions = [
  ...["add_job", "add_jobs", "complete_jobs", "permanently_fail_jobs", "reschedule_jobs"],
  ...["remove_job", "force_unlock_workers"],
  ...["worker_heartbeat", "worker_deregister", "list_stale_workers", "delete_stale_workers"],
  ...["list_orphan_locked_workers", "recover_dead_worker_jobs"],
];

// In the bodies, names of schemas are in quotes. The condition on prosrc selects bodies that may use another schema.
const straySql: Statement = () => `
  select own.proname::text as name, pg_catalog.pg_get_functiondef(own.oid) as definition,
    pg_catalog.to_json(array(
      select relname from pg_catalog.pg_class where relnamespace = space.oid
      union all select proname from pg_catalog.pg_proc where pronamespace = space.oid
      union all select typname from pg_catalog.pg_type where typnamespace = space.oid))::text as objects
  from pg_catalog.pg_proc as own
  join pg_catalog.pg_namespace as space on space.oid = own.pronamespace
  where space.nspname = $1::text and own.proname = any($3::text[])
  and pg_catalog.strpos(pg_catalog.replace(own.prosrc, $2::text, ''), '".') > 0
  order by own.proname`;

export function strayMessage(schema: string, { name, schemas }: StrayFunction): string {
  const others = schemas.map((one) => one.slice(1, -1).replaceAll('""', '"'));
  return `the function ${name} of the schema "${schema}" uses objects of the schema "${others.join('", "')}": "${schema}" was probably renamed, or its dump was edited; run "${workerLine(schema, "worker migrate")}" as the owner of "${schema}" to rewrite the functions of "${schema}"`;
}
