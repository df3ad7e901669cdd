// Operations by query are stored in the tables of the extension "operations". Without them, an operation can be
// rehearsed but not started: this file explains why, and how to add the tables.
import { WorkerError } from "../../../base/errors.ts";
import { type Database, query, type Statement } from "../../../database/database.ts";
import { hasOperations } from "../../../database/schema/extensions/has-operations.ts";
import { workerLine } from "../../../domain/portable/worker-line.ts";

/** The extension's name, for `POST /api/extensions` and `worker add-extension`. */
export const OPERATIONS = "operations";

export interface MissingTables {
  /** True if this role can add the tables. */
  readonly mayAdd: boolean;
  /** The command for the owner to run in a shell; null if it would change nothing. */
  readonly command: string | null;
  /** What is missing and what to do. */
  readonly sentence: string;
}

interface Row {
  readonly role: string;
  readonly owner: string | null;
  readonly table_owner: string | null;
  readonly may_create: boolean;
  readonly may_change: boolean;
  readonly is_current: boolean;
}

/** Returns null if operations by query can be started. */
export async function missingTables(db: Database): Promise<MissingTables | null> {
  return (await hasOperations(db)) ? null : whyMissing(db);
}

/** For a schema whose tables cannot be used. */
export async function whyMissing(db: Database): Promise<MissingTables> {
  const { name, quoted: schema } = db.schema;
  const [row] = await query<Row>(db, whySql, [
    name,
    `${schema}._private_operations`,
    `${schema}._private_operation_rows_undo_idx`,
    `${schema}._private_extensions`,
  ]);
  if (row === undefined) throw new Error("a statement without a table has given no row");
  if (row.is_current) {
    const sentence = `the role ${row.role} has no privileges on the tables of operations by query; their owner, ${row.table_owner}, can grant all privileges on _private_operations, _private_operation_rows, _private_rehearsals and _private_audit`;
    return { mayAdd: false, command: null, sentence };
  }
  const command = workerLine(name, "worker migrate --with-operations");
  const mayAdd = row.may_create && row.may_change;
  const by = mayAdd ? "" : ` when ${row.owner ?? "its owner"}, the owner of the schema, runs it`;
  const sentence = `an operation by query needs tables that the schema ${name} does not have: "${command}" adds them${by}`;
  return { mayAdd, command, sentence };
}

/** The error when an operation cannot be started. */
export const extensionMissing = ({ sentence }: MissingTables): WorkerError =>
  new WorkerError("extension_missing", sentence);

const whySql: Statement = () => `
  select
    current_user::text as role,
    pg_catalog.pg_get_userbyid(space.nspowner)::text as owner,
    pg_catalog.pg_get_userbyid(made.relowner)::text as table_owner,
    coalesce(pg_catalog.has_schema_privilege(space.oid, 'create'), false) as may_create,
    coalesce(pg_catalog.pg_has_role(made.relowner, 'usage'), true)
      and coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($4::text), 'insert'), true) as may_change,
    made.oid is not null and pg_catalog.to_regclass($3::text) is not null as is_current
  from (values (1)) as one (n)
  left join pg_catalog.pg_namespace as space on space.nspname = $1::text
  left join pg_catalog.pg_class as made on made.oid = pg_catalog.to_regclass($2::text)::oid`;
