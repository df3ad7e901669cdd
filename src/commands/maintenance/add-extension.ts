// Declares the command that adds an extension to the schema. database/schema/migrate.ts implements it.
import { WorkerError } from "../../base/errors.ts";
import { extensions } from "../../database/schema/extensions/index.ts";
import { migrate } from "../../database/schema/migrate.ts";
import { defineCommand, jsonOf } from "../declare/command.ts";
import { choice } from "../declare/field.ts";

const names = extensions.map(({ name }) => name);

export const addExtensionCommand = defineCommand({
  name: "add-extension",
  aliases: [],
  summary: "Add an extension to the schema, or update it",
  title: "Add an extension",
  verb: "Add",
  consequence: "Adds tables and functions to the schema. Workers may keep running.",
  weight: "heavy",
  danger: "changes",
  http: { path: "/api/extensions", action: "add" },
  positionals: ["name"],
  fields: { name: choice(["Extension", "name of an extension"], names) },
  dialog: "upkeep",
  examples: ["worker add-extension operations"],
  answer: { outcome: "string", level: "integer", extensions: "string[]", warnings: "string[]" },
  run: async ({ schema }, { name }, { pool, logger, signal, migrationWaitMs }) => {
    if (pool === null) throw new WorkerError("configuration", "adding an extension needs a pool");
    const limit = migrationWaitMs === undefined ? {} : { timeoutMs: migrationWaitMs };
    return migrate(pool, schema, { logger, signal, extensions: [name], ...limit });
  },
  sentence: ({ extensions: added, warnings }, { name }) =>
    [
      added.includes(name) ? `Added the extension ${name}` : `The extension ${name} is up to date`,
      ...warnings,
    ].join("; "),
  members: ({ kind, level, extensions: added, warnings }) =>
    jsonOf({ outcome: kind, level, extensions: added, warnings }),
});
