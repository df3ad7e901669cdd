// Declares the command that sets a limit. change-limit.ts implements the command.
import { InputError, type Problem } from "../../base/errors.ts";
import { limitText } from "../../domain/limits/limit-text.ts";
import { defineCommand, jsonOf } from "../declare/command.ts";
import { changeLimit } from "./change-limit.ts";
import { changedLimit, namedLimit, type SetInput, setFields } from "./limit-fields.ts";

export const limitSetCommand = defineCommand({
  name: "limit-set",
  aliases: [],
  summary:
    "Set or change a limit of a task or of queues: jobs at once, jobs in a period; omitted values stay, and a default burst follows the rate",
  title: "Set a limit",
  verb: "Set limit",
  consequence:
    "Workers of this library apply it within 2 seconds. Running jobs continue. Graphile workers do not apply limits of tasks, and run no jobs of queues with a limit.",
  weight: "light",
  danger: "changes",
  http: { path: "/api/limits", action: "set" },
  positionals: ["name"],
  fields: setFields,
  needsOneOf: ["task", "queue", "concurrency", "rate", "burst"],
  key: "m",
  dialog: "limit",
  examples: [
    "worker limit set stripe --task charge_card --concurrency 10",
    "worker limit set stripe --rate 100/s --burst 20",
    "worker limit set tenants --queue 'tenant/*' --concurrency 3",
  ],
  answer: {
    ...{ name: "string", is_new: "boolean", is_changed: "boolean", is_known: "boolean" },
    note: "string?",
  },
  problems: (input) =>
    input.task !== undefined && input.queue !== undefined
      ? [{ path: "queue", message: "use either a task or a queue" }]
      : problemsOf(input),
  run: (db, input, { by = null }) => changeLimit(db, input, by),
  sentence: ({ definition, isNew, isChanged, isKnown, note }, { name }) => {
    const text = limitText(definition);
    if (!isChanged)
      return `Nothing changed: ${namedLimit(name)} already has this definition: ${text}`;
    const { scope, match } = definition;
    const unknown = match.includes("*")
      ? `no ${scope} has a matching name yet`
      : `no ${scope} has this name yet`;
    const done = `${isNew ? "Set" : "Changed"} ${namedLimit(name)}: ${text}`;
    return [done, ...(isKnown ? [] : [unknown]), ...(note === null ? [] : [note])].join("; ");
  },
  members: ({ isNew, isChanged, isKnown, note }, { name }) =>
    jsonOf({ name, is_new: isNew, is_changed: isChanged, is_known: isKnown, note }),
});

/**
 * Checks the input as if it changed a sample limit in which every value is set. The stored limit cannot be used,
 * because it has not been read yet.
 */
function problemsOf(input: SetInput): readonly Problem[] {
  const rate = { limit: 1, perMs: 1_000, burst: 1 };
  const sample = { name: "sample", scope: "task", match: "sample", concurrency: 1, rate } as const;
  try {
    changedLimit(sample, input);
    return [];
  } catch (error) {
    if (error instanceof InputError) return error.problems;
    throw error;
  }
}
