// Builds the text of docs/reference/http-api.md from the OpenAPI document. That document is built from the table of
// routes and from the declarations that validate requests.
import { anchorOf, code, generated, plain, table } from "./table.ts";

// biome-ignore lint/suspicious/noExplicitAny: a JSON document
type Json = any;

export function httpApiPage(document: Json): string {
  const { schemas, responses } = document.components;
  const operations = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  );
  const contents = operations.map(({ name, operation }) => [
    `[${code(name)}](#${anchorOf(name)})`,
    operation["x-access"],
    plain(operation.summary),
  ]);
  const errors = Object.entries<Json>(operations[0] === undefined ? {} : allErrors(document));
  return [
    "# HTTP API reference",
    "",
    generated("the table of routes and the declarations that check every request"),
    "",
    "`GET /api/openapi.json` returns this reference as a document for programs. How to log in and how to write:",
    "[the HTTP API](../http-api.md).",
    "",
    ...table(["route", "access", ""], contents),
    "## Errors",
    "",
    'Every error is `{"error": "a sentence", "code": "for_programs"}`, with `problems` if fields are invalid.',
    "",
    ...table(
      ["status", "means"],
      errors.map(([status, name]) => [status, plain(responses[name].description)]),
    ),
    ...operations.flatMap(({ name, operation }) => section(name, operation)),
    "## Shapes",
    "",
    ...Object.keys(schemas)
      .toSorted()
      .flatMap((name) => shape(name, schemas[name])),
  ].join("\n");
}

/** Returns the name of the response for each error status. */
function allErrors(document: Json): Record<string, string> {
  const found: Record<string, string> = {};
  for (const methods of Object.values<Json>(document.paths)) {
    for (const { responses } of Object.values<Json>(methods)) {
      for (const [status, { $ref }] of Object.entries<Json>(responses)) {
        if (Number(status) >= 400) found[status] = String($ref).split("/").at(-1) ?? "";
      }
    }
  }
  return found;
}

function section(
  name: string,
  { summary, parameters, requestBody, responses, ...rest }: Json,
): string[] {
  const rows = parameters.map((one: Json) => [
    `${code(one.name)}${one.required ? " *" : ""}`,
    one.in,
    typeText(one.schema),
    describe(one.schema),
  ]);
  const successes = Object.keys(responses).filter((status) => status.startsWith("2"));
  const [type = "", content = {}] =
    Object.entries<Json>(responses[successes[0] ?? 200].content)[0] ?? [];
  const answer = content.schema === undefined ? code(type) : typeText(content.schema);
  const refusals = Object.keys(responses).filter((status) => Number(status) >= 400);
  const body = requestBody?.content["application/json"].schema;
  const takes = body === undefined ? "" : `Takes ${typeText(body)}. `;
  return [
    `## ${name}`,
    "",
    `${plain(summary)}. Access: ${rest["x-access"]}.`,
    "",
    ...table(["parameter", "in", "type", ""], rows),
    `${takes}Answers ${successes.join(" or ")} with ${answer}; errors ${refusals.join(", ") || "none"}.`,
    "",
  ];
}

function shape(name: string, schema: Json): string[] {
  const required: string[] = schema.required ?? [];
  const rows = Object.entries<Json>(schema.properties ?? {}).map(([member, one]) => [
    `${code(member)}${required.includes(member) ? "" : "?"}`,
    typeText(one),
    describe(one),
  ]);
  const alternatives = [...(schema.oneOf ?? []), ...(schema.anyOf ?? [])];
  const choices = alternatives.filter(({ $ref }) => $ref !== undefined);
  return [
    `### ${name}`,
    "",
    ...(schema.description === undefined ? [] : [plain(schema.description), ""]),
    ...table(["member", "type", ""], rows),
    ...(choices.length === 0 ? [] : [`One of ${choices.map(typeText).join(", ")}.`, ""]),
  ];
}

/** Returns the meaning, the limits and the default of a field. */
function describe(schema: Json): string {
  const { description = "", minimum, maximum, maxLength, minItems, maxItems } = schema;
  const limits = [
    minimum === undefined ? "" : `at least ${minimum}`,
    maximum === undefined ? "" : `at most ${maximum}`,
    maxLength === undefined ? "" : `at most ${maxLength} characters`,
    minItems === undefined ? "" : `at least ${minItems}`,
    maxItems === undefined ? "" : `at most ${maxItems}`,
    schema.default === undefined ? "" : `default ${code(JSON.stringify(schema.default))}`,
  ].filter(Boolean);
  return [plain(description), limits.join(", ")].filter(Boolean).join("; ");
}

function typeText(schema: Json): string {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split("/").at(-1);
    return `[${name}](#${anchorOf(name)})`;
  }
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (schema.enum !== undefined) {
    return schema.enum.map((one: unknown) => code(JSON.stringify(one))).join(", ");
  }
  const types: string[] = [schema.type ?? []].flat();
  if (types.includes("array")) return `list of ${typeText(schema.items ?? {})}`;
  if (types.includes("object") && schema.properties !== undefined) {
    const members = Object.entries<Json>(schema.properties);
    return `{ ${members.map(([name, one]) => `${code(name)}: ${typeText(one)}`).join(", ")} }`;
  }
  if (types.length === 0) return schema.anyOf?.map(typeText).join(" or ") ?? "any JSON";
  return types
    .map((type) => (schema.format === "date-time" && type === "string" ? "time" : type))
    .join(" or ");
}
