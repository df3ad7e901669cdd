// Declares the command that ends the back-offs of a limit. change-limit.ts implements it.
import { countText, shortName } from "../../domain/words.ts";
import { defineCommand, jsonOf } from "../declare/command.ts";
import { type EndedBackOff, endBackOffs } from "./change-limit.ts";
import { limitName, namedLimit } from "./limit-fields.ts";

export const limitEndBackOffCommand = defineCommand({
  name: "limit-end-back-off",
  aliases: [],
  summary: "End the back-offs of a limit, and of the tasks or queues that it matches",
  title: "End the back-off",
  verb: "End back-off",
  consequence:
    "Its jobs can start again at once, before the end of the back-off. A pause that a user has set stays.",
  weight: "light",
  danger: "changes",
  http: { path: "/api/limits", action: "end-back-off" },
  positionals: ["name"],
  fields: { name: limitName },
  dialog: "none",
  examples: ["worker limit end-back-off stripe"],
  answer: { name: "string", ended: "integer" },
  run: (db, { name }, { committed }) => endBackOffs(db, name, committed),
  sentence: (ended, { name }) =>
    ended.length === 0
      ? `Nothing changed: ${namedLimit(name)} does not back off`
      : `Ended ${namesOf(ended)}`,
  members: (ended, { name }) => jsonOf({ name, ended: ended.length }),
});

function namesOf(ended: readonly EndedBackOff[]): string {
  const [first] = ended;
  return first !== undefined && ended.length === 1
    ? `the back-off of the ${first.scope} ${shortName(first.name)}`
    : countText(ended.length, "back-off");
}
