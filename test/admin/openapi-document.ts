// Reads the admin's OpenAPI document, and checks values against its schemas. The check supports types, members, items,
// `$ref` and `anyOf`. It ignores other keywords, such as `enum` and `minimum`.
import assert from "node:assert/strict";
import type { Client, Json } from "./admin-harness.ts";

type Schema = Readonly<Record<string, Json>>;

export interface OpenapiDocument {
  readonly text: string;
  readonly root: Json;
  /** Returns the schema of the request body of `POST path`. */
  body(path: string): Schema;
  /** Returns the schema of the JSON that the route sends with this status, by default 200. */
  answer(method: string, path: string, status?: number): Schema;
  /** Returns the schema to which a `$ref` points; a schema without `$ref` is returned itself. */
  resolve(schema: Schema): Schema;
  /**
   * Asserts that the value, its members and its items have the described types, that each member is described, and that
   * no required member is missing. Members are checked only if the schema has `properties`. `path`: the value's name in
   * messages.
   */
  assertFits(value: unknown, schema: Schema, path: string): void;
}

export async function openapiDocument(client: Client): Promise<OpenapiDocument> {
  const { body: root, text } = await client.get("/api/openapi.json");

  const resolve = (schema: Schema): Schema => {
    const reference = schema["$ref"];
    if (reference === undefined) return schema;
    const found = root.components.schemas[reference.replace("#/components/schemas/", "")];
    assert.ok(found, `${reference} is not in the document`);
    return found;
  };

  const assertFits = (value: unknown, given: Schema, path: string): void => {
    const schema = resolve(given);
    if (Array.isArray(schema["anyOf"])) {
      const [first] = failures(schema["anyOf"], (one) => assertFits(value, one, path));
      assert.equal(first, undefined, `${path}: ${first}`);
    }
    const types = [schema["type"] ?? []].flat();
    const type = typeOf(value);
    const isOne = types.includes(type) || (type === "integer" && types.includes("number"));
    assert.ok(types.length === 0 || isOne, `${path} is ${type}, not ${types}`);
    if (type === "array") {
      for (const [index, item] of (value as unknown[]).entries()) {
        assertFits(item, schema["items"], `${path}[${index}]`);
      }
    }
    const properties: Record<string, Schema> | undefined = schema["properties"];
    if (type !== "object" || properties === undefined) return;
    const required: readonly string[] = schema["required"] ?? [];
    const described = Object.keys(properties).filter(
      (name) => required.includes(name) || name in (value as object),
    );
    assert.deepEqual(Object.keys(value as object).sort(), described.sort(), path);
    for (const [name, item] of Object.entries(value as object)) {
      assertFits(item, properties[name] ?? {}, `${path}.${name}`);
    }
  };

  const contentOf = (place: Json): Schema => place.content["application/json"].schema;
  return {
    text,
    root,
    body: (path) => contentOf(root.paths[path].post.requestBody),
    answer: (method, path, status = 200) =>
      contentOf(root.paths[path][method.toLowerCase()].responses[status]),
    resolve,
    assertFits,
  };
}

/**
 * Calls `run` with one attempt after another. Returns an empty list as soon as a call succeeds. If all calls throw,
 * returns the messages of their errors.
 */
function failures<T>(attempts: readonly T[], run: (attempt: T) => void): string[] {
  const reasons: string[] = [];
  for (const attempt of attempts) {
    try {
      run(attempt);
      return [];
    } catch (error) {
      reasons.push((error as Error).message);
    }
  }
  return reasons;
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}
