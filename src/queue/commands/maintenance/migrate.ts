// Declares the migration of the schema; how it is done: database/schema/migrate.ts.
import { WorkerError } from "../../../base/errors.ts";
import { migrate } from "../../../database/schema/migrate.ts";
import { defineCommand, jsonOf } from "../declare/command.ts";
import { flag, optional } from "../declare/field.ts";
import { maintenanceAction } from "./maintenance-action.ts";

export const migrateCommand = defineCommand({
  name: "migrate",
  aliases: [],
  summary: "Create the schema, or adopt an existing Graphile Worker installation",
  title: "Migrate the schema",
  verb: "Migrate",
  consequence: "The server applies the migrations that are missing. Workers may keep running.",
  permission: "maintenance",
  danger: "changes",
  http: maintenanceAction("migrate"),
  positionals: [],
  fields: {
    with_operations: optional(
      flag([
        "With operations",
        "also adds the tables for receipts, undo and the trail of all writes",
      ]),
      { default: "false" },
    ),
  },
  dialogFields: [],
  makesSchema: true,
  answer: { outcome: "string", level: "integer", extensions: "string[]", warnings: "string[]" },
  run: async (
    { schema },
    { with_operations: withOperations },
    { pool, logger, signal, patienceMs },
  ) => {
    if (pool === null) throw new WorkerError("configuration", "a migration needs a pool");
    const patience = patienceMs === undefined ? {} : { patienceMs };
    const outcome = await migrate(pool, schema, {
      ...{ logger, signal, ...patience },
      extensions: withOperations === true ? ["operations"] : [],
    });
    return { schema: schema.name, ...outcome };
  },
  sentence: ({ kind, schema, level, warnings }) => {
    const done = doneSentence(kind, schema);
    return [`${done} (level ${level})`, ...warnings].join("; ");
  },
  members: ({ kind, level, extensions, warnings }) =>
    jsonOf({ outcome: kind, level, extensions, warnings }),
});

function doneSentence(kind: string, schema: string): string {
  if (kind === "created") return `Created the schema ${schema}`;
  if (kind === "current") return `The schema ${schema} is up to date`;
  return `Brought the schema ${schema} up to date`;
}
