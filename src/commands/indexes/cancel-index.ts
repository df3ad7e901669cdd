// Declares the command that cancels the build of an optional index, whichever process has started it.
import { cancelBuild } from "../../database/schema/indexes/build-index.ts";
import { defineCommand, jsonOf } from "../declare/command.ts";
import { indexAction, indexField } from "./index-field.ts";

export const cancelIndexCommand = defineCommand({
  name: "cancel-index",
  aliases: [],
  summary: "Cancel the build of an optional index",
  title: "Cancel the build",
  verb: "Cancel the build",
  consequence:
    "PostgreSQL stops building the index. The process that builds it drops the unfinished index.",
  weight: "heavy",
  danger: "safe",
  http: indexAction("cancel"),
  positionals: ["name"],
  fields: { name: indexField },
  dialog: "upkeep",
  examples: ["worker cancel-index failed"],
  answer: { name: "string", cancelled: "boolean" },
  run: (db, { name }, { indexBuilds }) => indexBuilds?.cancel(name) ?? cancelBuild(db, name),
  sentence: (wasBuilding, { name }) =>
    wasBuilding
      ? `The build of the index ${name} is being cancelled`
      : `The index ${name} is not being built`,
  members: (cancelled, { name }) => jsonOf({ name, cancelled }),
});
