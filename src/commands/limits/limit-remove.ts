// Declares the command that removes a limit. set-limit.ts deletes the limit from the database.
import { defineCommand, jsonOf } from "../declare/command.ts";
import { noLimit } from "./change-limit.ts";
import { limitName, namedLimit } from "./limit-fields.ts";
import { removeLimit } from "./set-limit.ts";

export const limitRemoveCommand = defineCommand({
  name: "limit-remove",
  aliases: [],
  summary: "Remove a limit",
  title: "Remove the limit",
  verb: "Remove limit",
  consequence:
    "The limit is deleted, and all jobs that wait for it can start at once. A worker whose options have this limit creates it again when it starts.",
  weight: "light",
  danger: "destroys",
  http: { path: "/api/limits", action: "remove" },
  positionals: ["name"],
  fields: { name: limitName },
  dialog: "none",
  examples: ["worker limit remove stripe --yes"],
  answer: { name: "string" },
  run: async (db, { name }) => {
    if (!(await removeLimit(db, name))) throw noLimit(name);
  },
  sentence: (_, { name }) => `Removed ${namedLimit(name)}`,
  members: (_, { name }) => jsonOf({ name }),
});
