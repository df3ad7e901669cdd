// The bodies of the schema's functions hold the name of the schema that they were made in. Renaming the
// schema, or restoring an edited dump, leaves the bodies as they are: the functions then work on the tables
// of another schema. So no statement calls them unless they hold the name of the schema that they are in.
import { WorkerError } from "../base/errors.ts";
import { type Database, query, type Statement } from "./database.ts";

/** Every function that this program calls, each with the functions that it calls itself. */
const called = {
  add_job: ["add_job", "add_jobs"],
  add_jobs: ["add_jobs"],
} as const;

/**
 * SQL: whether the function works on its own schema. It belongs into the `where` of the statement that calls
 * it: PostgreSQL evaluates it once, before the call. 0.05 ms.
 */
export function isOwnFunction(schema: string, name: keyof typeof called): string {
  const names = called[name].map((one) => `'${one}'`).join(", ");
  return `not exists (
    select from pg_catalog.pg_proc as own
    where own.pronamespace = ${literal(schema)}::pg_catalog.regnamespace::oid
    and own.proname in (${names}) and ${isStray(literal(`${schema}.`))}
  )`;
}

/** What is left without the own name names another schema: bodies hold it in quotes only. */
const isStray = (own: string) =>
  `pg_catalog.strpos(pg_catalog.replace(own.prosrc, ${own}, ''), '".') > 0`;

/** Right with any standard_conforming_strings. */
const literal = (text: string) => `E'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;

export interface StrayFunction {
  readonly name: string;
  /** As SQL identifiers. */
  readonly schemas: readonly string[];
  /** The statement that makes the function anew, for its own schema. */
  readonly statement: string;
}

/** The functions of the queue that hold the name of another schema. */
export async function readStrayFunctions(db: Database): Promise<readonly StrayFunction[]> {
  const { name, quoted } = db.schema;
  const rows = await query<{ name: string; body: string; definition: string }>(db, straySql, [
    name,
    `${quoted}.`,
    queueFunctions,
  ]);
  return rows.map(({ name, body, definition }) => ({
    name,
    schemas: [...new Set(Array.from(body.matchAll(QUALIFIED), ([, one = ""]) => one))].filter(
      (one) => one !== quoted,
    ),
    statement: definition.replaceAll(QUALIFIED, `${quoted.replaceAll("$", "$$$$")}.`),
  }));
}

const QUALIFIED = /("(?:[^"]|"")+")\./g;

/** Most are called by other clients only. */
const queueFunctions = [
  ...["add_job", "add_jobs", "complete_jobs", "permanently_fail_jobs", "reschedule_jobs"],
  ...["remove_job", "force_unlock_workers"],
  ...["worker_heartbeat", "worker_deregister", "list_stale_workers", "delete_stale_workers"],
  ...["list_orphan_locked_workers", "recover_dead_worker_jobs"],
];

const straySql: Statement = () => `
  select own.proname::text as name, own.prosrc as body, pg_catalog.pg_get_functiondef(own.oid) as definition
  from pg_catalog.pg_proc as own
  join pg_catalog.pg_namespace as space on space.oid = own.pronamespace
  where space.nspname = $1::text and own.proname = any($3::text[]) and ${isStray("$2::text")}
  order by own.proname`;

/** To be called where a statement has done nothing. Throws WorkerError when its function was not called. */
export async function assertOwnFunctions(db: Database): Promise<void> {
  const [first] = await readStrayFunctions(db);
  if (first !== undefined) {
    throw new WorkerError("schema_unsupported", strayMessage(db.schema.name, first));
  }
}

export function strayMessage(schema: string, { name, schemas }: StrayFunction): string {
  const others = schemas.map((one) => one.slice(1, -1).replaceAll('""', '"'));
  return `the function ${name} of the schema "${schema}" works on the tables of the schema "${others.join('", "')}": the schema was renamed, or its dump was edited; run "worker migrate" as its owner to rewrite its functions`;
}
