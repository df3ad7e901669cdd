// The OpenAPI schemas of the bodies and answers of commands, made from their declarations.
import type { Command } from "../../commands/declare/command.ts";
import { type JsonSchema, record, schemaOfField } from "./json-schema.ts";

/** Returns the schema of a path's request body: the fields of its command, or one alternative for each `action`. */
export function commandBody(here: readonly Command[], name: string): JsonSchema {
  const actions = here.flatMap(({ http }) => http.action ?? []);
  const [only] = here;
  if (actions.length === 0 && only !== undefined) return bodyOf(only, name);
  return {
    title: name,
    type: "object",
    properties: { action: { type: "string", enum: actions } },
    required: ["action"],
    oneOf: here.map((command) => bodyOf(command, `${titleOf(command)}${name}`)),
  };
}

/**
 * Returns the schema of a path's answer: one schema if the answers of all its commands have the same members, otherwise
 * one schema for each command.
 */
export function commandAnswer(here: readonly Command[], name: string): JsonSchema {
  const answers = here.map((command) => {
    const tally = command.tally === undefined ? {} : { requested: "integer", done: "integer" };
    return { command, members: { message: "string", ...command.answer, ...tally } };
  });
  const shapes = new Set(answers.map(({ members }) => JSON.stringify(members)));
  const [first] = answers;
  if (shapes.size === 1 && first !== undefined) return record(first.members, `${name}Result`);
  const each = answers.map(({ command, members }) => record(members, `${titleOf(command)}Result`));
  return { title: `${name}Result`, anyOf: each };
}

/** Returns a title such as `RunNow` for `run-now`. */
function titleOf({ name }: Command): string {
  return name.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Returns the schema of an object with the command's `action`, if it has one, and its fields that are not hidden. */
function bodyOf({ fields, http, needsOneOf }: Command, title: string): JsonSchema {
  const shown = Object.entries(fields).filter(([, { isHidden }]) => isHidden !== true);
  const required = shown.filter(([, { isRequired }]) => isRequired).map(([name]) => name);
  const properties = shown.map(([name, field]) => [name, schemaOfField(field)]);
  const { action } = http;
  return {
    title,
    type: "object",
    properties: {
      ...(action === null ? {} : { action: { const: action } }),
      ...Object.fromEntries(properties),
    },
    required: [...(action === null ? [] : ["action"]), ...required],
    additionalProperties: false,
    ...(needsOneOf === undefined
      ? {}
      : { anyOf: needsOneOf.map((name) => ({ required: [name] })) }),
  };
}
