// The tables of extensions, and the features that need them. The functions return or throw the reason why the database
// role of the connection ("this role") cannot use the tables.
import { WorkerError } from "../../../base/errors.ts";
import { workerLine } from "../../../domain/portable/worker-line.ts";
import { type Database, query, type Statement } from "../../database.ts";
import { hasControls, hasLimits, hasSchedules } from "./has-extension.ts";
import { hasColumn, hasOperations, NEWEST_OF_OPERATIONS } from "./has-operations.ts";

export interface MissingTables {
  readonly extension: string;
  /** True if this role can add the tables. */
  readonly mayAdd: boolean;
  /** The shell command that adds the tables; null if they exist and this role only lacks privileges. */
  readonly command: string | null;
  /** What is missing and what to do. */
  readonly sentence: string;
}

/** The tables of an extension, and the feature that needs them. */
export interface NeededTables {
  readonly extension: string;
  /** The feature, such as `an operation by query`, and its plural. */
  readonly use: readonly [one: string, many: string];
  readonly tables: readonly [string, ...string[]];
  /** A table of the extension, and a column that only the newest version of this table has. */
  readonly newest: readonly [table: string, column: string];
  readonly command: string;
  /** Returns whether the tables exist and this role has a privilege on them. Some tables may be left unchecked. */
  isThere(db: Database): Promise<boolean>;
}

/** The tables without which an operation can be previewed but not started. */
export const OPERATION_TABLES: NeededTables = {
  extension: "operations",
  use: ["an operation by query", "operations by query"],
  tables: [
    "_private_operations",
    "_private_operation_rows",
    "_private_rehearsals",
    "_private_audit",
  ],
  newest: NEWEST_OF_OPERATIONS,
  command: "worker migrate --with-operations",
  isThere: hasOperations,
};

/** The tables without which every pause and cancellation is refused. */
export const CONTROL_TABLES: NeededTables = {
  extension: "controls",
  use: ["a pause", "pauses"],
  tables: ["_private_pauses", "_private_cancellations"],
  newest: ["_private_cancellations", "job_id"],
  command: "worker migrate --with controls",
  isThere: hasControls,
};

export const LIMIT_TABLES: NeededTables = {
  extension: "limits",
  use: ["a limit", "limits"],
  tables: [
    "_private_limits",
    "_private_limit_permits",
    "_private_rates",
    "_private_queue_slots",
    "_private_throttles",
    "_private_back_offs",
  ],
  newest: ["_private_back_offs", "scope"],
  command: "worker migrate --with limits",
  isThere: hasLimits,
};

export const SCHEDULE_TABLES: NeededTables = {
  extension: "schedules",
  use: ["a schedule", "schedules"],
  tables: ["_private_schedules"],
  newest: ["_private_schedules", "identifier"],
  command: "worker migrate --with schedules",
  isThere: hasSchedules,
};

/** Returns why the tables cannot be used; null if they can. `use`: the feature, such as `cancelling jobs`. */
export async function missingTables(
  db: Database,
  needed: NeededTables,
  use = needed.use[0],
): Promise<MissingTables | null> {
  if (await needed.isThere(db)) return null;
  return whyMissing(db, { ...needed, use: [use, needed.use[1]] });
}

/** Throws `extension_missing` if the tables cannot be used. */
export async function requireTables(
  db: Database,
  needed: NeededTables,
  use?: string,
): Promise<void> {
  const missing = await missingTables(db, needed, use);
  if (missing !== null) throw extensionMissing(missing);
}

export const extensionMissing = ({ sentence }: MissingTables): WorkerError =>
  new WorkerError("extension_missing", sentence);

interface Row {
  readonly role: string;
  readonly owner: string | null;
  readonly table_owner: string | null;
  readonly may_create: boolean;
  readonly may_change: boolean;
  readonly is_current: boolean;
}

/** Like missingTables(), for tables that are already known to be unusable. */
export async function whyMissing(db: Database, needed: NeededTables): Promise<MissingTables> {
  const { name, quoted: schema } = db.schema;
  const { extension, use, tables, newest } = needed;
  const [table, column] = newest;
  const objects = [tables[0], table, "_private_extensions"].map((one) => `${schema}.${one}`);
  const [row] = await query<Row>(db, whySql, [name, ...objects, column]);
  if (row === undefined) throw new Error("a query that always returns a row returned none");
  if (row.is_current) {
    const all = tables.join(" and ").replaceAll(/ and (?=.* and )/g, ", ");
    const sentence = `the role ${row.role} has no privileges on the tables of ${use[1]}; their owner, ${row.table_owner}, can grant all privileges on ${all}`;
    return { extension, mayAdd: false, command: null, sentence };
  }
  const command = workerLine(name, needed.command);
  const mayAdd = row.may_create && row.may_change;
  const by = mayAdd ? "" : ` when ${row.owner ?? "its owner"}, the owner of the schema, runs it`;
  const sentence = `${use[0]} needs tables that the schema ${name} does not have: "${command}" adds them${by}`;
  return { extension, mayAdd, command, sentence };
}

const whySql: Statement = () => `
  select
    current_user::text as role,
    pg_catalog.pg_get_userbyid(space.nspowner)::text as owner,
    pg_catalog.pg_get_userbyid(made.relowner)::text as table_owner,
    coalesce(pg_catalog.has_schema_privilege(space.oid, 'create'), false) as may_create,
    coalesce(pg_catalog.pg_has_role(made.relowner, 'usage'), true)
      and coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($4::text), 'insert'), true) as may_change,
    made.oid is not null and ${hasColumn("$3", "$5")} as is_current
  from (values (1)) as one (n)
  left join pg_catalog.pg_namespace as space on space.nspname = $1::text
  left join pg_catalog.pg_class as made on made.oid = pg_catalog.to_regclass($2::text)::oid`;
