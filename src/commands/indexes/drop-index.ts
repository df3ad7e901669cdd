// Declares the dropping of an optional index that we have built, or of what a broken build has left.
import { wait } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { dropIndex } from "../../database/schema/indexes/build-index.ts";
import { defineCommand, jsonOf } from "../declare/command.ts";
import { indexAction, indexField, indexPlace } from "./index-field.ts";

const PATIENCE_MS = 1_500;

export const dropIndexCommand = defineCommand({
  name: "drop-index",
  aliases: [],
  summary: "Drop an optional index; everything works without it, some reads are slower",
  title: "Drop an index",
  verb: "Drop",
  consequence:
    "PostgreSQL drops the index while workers go on. No job is touched; reads that used it are slower.",
  weight: "heavy",
  danger: "changes",
  http: indexAction("drop"),
  positionals: ["name"],
  fields: { name: indexField },
  dialog: "upkeep",
  examples: ["worker drop-index failed"],
  answer: { name: "string", state: "string" },
  run: async (db, { name }, { pool, indexBuilds, logger }) => {
    const dropping = dropIndex(indexPlace(db, pool), name).then((had) =>
      had ? "dropped" : "absent",
    );
    if (indexBuilds === undefined) return dropping;
    // It waits for transactions that may use the index; who asks over HTTP does not.
    const late = new AbortController();
    const waited = wait(PATIENCE_MS, late.signal).then(() => "dropping" as const);
    const state = await Promise.race([dropping, waited]).finally(() => late.abort());
    if (state === "dropping") {
      dropping.catch((error: unknown) => {
        logger.warn({ index: name, error: messageOf(error) }, "an index was not dropped");
      });
    }
    return state;
  },
  sentence: (state, { name }) => {
    if (state === "absent") return `There is no index ${name} of ours to drop`;
    if (state === "dropped") return `Dropped the index ${name}`;
    return `The index ${name} is being dropped, as soon as older transactions are over`;
  },
  members: (state, { name }) => jsonOf({ name, state }),
});
