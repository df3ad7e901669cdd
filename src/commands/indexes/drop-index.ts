// Declares the command that drops one of the optional indexes, or the remains of an interrupted build.
import { wait } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { dropIndex } from "../../database/schema/indexes/build-index.ts";
import { defineCommand, jsonOf } from "../declare/command.ts";
import { indexAction, indexField, indexPlace } from "./index-field.ts";

const MAX_WAIT_MS = 1_500;

export const dropIndexCommand = defineCommand({
  name: "drop-index",
  aliases: [],
  summary: "Drop an optional index; everything works without it, but some reads are slower",
  title: "Drop an index",
  verb: "Drop",
  consequence:
    "PostgreSQL drops the index while workers keep running. Jobs are unaffected; reads that used it are slower.",
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
    // The drop waits for transactions that may use the index. In an admin (`indexBuilds` is set), the command waits for
    // the drop at most MAX_WAIT_MS. If the drop takes longer, the command returns `dropping`, and the drop continues.
    const late = new AbortController();
    const waited = wait(MAX_WAIT_MS, late.signal).then(() => "dropping" as const);
    const state = await Promise.race([dropping, waited]).finally(() => late.abort());
    if (state === "dropping") {
      dropping.catch((error: unknown) => {
        logger.warn({ index: name, error: messageOf(error) }, "an index was not dropped");
      });
    }
    return state;
  },
  sentence: (state, { name }) => {
    if (state === "absent") return `There is no optional index ${name} to drop`;
    if (state === "dropped") return `Dropped the index ${name}`;
    return `The index ${name} will be dropped as soon as older transactions have ended`;
  },
  members: (state, { name }) => jsonOf({ name, state }),
});
