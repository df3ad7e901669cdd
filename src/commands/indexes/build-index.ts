// Declares the command that builds an optional index. database/schema/indexes/ implements it.
import { planBuild } from "../../database/schema/indexes/build-index.ts";
import { buildAndLog } from "../../database/schema/indexes/index-builds.ts";
import { defineCommand, jsonOf } from "../declare/command.ts";
import { indexAction, indexField, indexPlace } from "./index-field.ts";

export const buildIndexCommand = defineCommand({
  name: "build-index",
  aliases: [],
  summary: "Build an optional index that speeds up reads of the admin",
  title: "Build an index",
  verb: "Build",
  consequence:
    "PostgreSQL builds the index while workers keep running. The build reads all jobs twice, and waits for older transactions.",
  weight: "heavy",
  danger: "safe",
  http: indexAction("build"),
  positionals: ["name"],
  fields: { name: indexField },
  dialog: "upkeep",
  examples: ["worker build-index failed"],
  answer: { name: "string", state: "string" },
  run: async (db, { name }, { pool, logger, signal, indexBuilds }) => {
    const place = indexPlace(db, pool);
    const state = await planBuild(place, name, indexBuilds !== undefined);
    if (state !== "to build") return state;
    if (indexBuilds === undefined) {
      await buildAndLog(place, name, signal, logger);
      return "built";
    }
    indexBuilds.start(name);
    return "begun";
  },
  sentence: (state, { name }) => {
    switch (state) {
      case "exists":
        return `The index ${name} already exists`;
      case "building":
        return `The index ${name} is already being built`;
      case "begun":
        return `Started building the index ${name}`;
      case "built":
        return `Built the index ${name}`;
      default:
        return state satisfies never;
    }
  },
  members: (state, { name }) =>
    jsonOf({ name, state: state === "exists" || state === "built" ? "valid" : "building" }),
});
