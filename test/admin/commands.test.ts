// Every declared command has a route, is in the OpenAPI document, needs write access and the CSRF token, and refuses
// invalid fields. The tests loop over the list of commands, so they include new ones.
import assert from "node:assert/strict";
import { test } from "node:test";
import { routes } from "../../src/admin/routes.ts";
import type { Command } from "../../src/commands/declare/command.ts";
import type { FieldData } from "../../src/commands/declare/field.ts";
import { commands } from "../../src/commands/index.ts";
import { type Json, migratedDatabase, recordingLogger, startAdmin } from "./admin-harness.ts";
import { openapiDocument } from "./openapi-document.ts";

const { logger, lines } = recordingLogger();
// Commands for pauses, cancels, schedules and limits need extensions.
const { url } = await migratedDatabase("worker", ["controls", "schedules", "limits"]);
const { client, pool } = await startAdmin({ logger, url });
const document = await openapiDocument(client);
// The smallest body of the command that sets a limit has no concurrency and no rate. It is valid only for a limit that
// exists, such as this one.
await client.post("/api/limits", { action: "set", name: "x", task: "x", concurrency: 1 });

/** Returns a valid value of the field. */
function sample(field: FieldData): unknown {
  switch (field.kind) {
    case "text":
      return field.example ?? "x".repeat(Math.max(1, field.min ?? 1));
    case "integer":
    case "seconds":
      return field.max;
    case "boolean":
      return true;
    case "time":
      return "2031-01-31T08:00:00.123456Z";
    case "choice":
      return field.choices?.[0];
    case "json":
      return { a: 1 };
    case "ids":
      return [4_000_000_000];
    case "list":
      return [sample(field.item as FieldData)];
    default:
      return field.kind satisfies never;
  }
}

/** Returns the smallest valid body of the command. */
function leastBody({ fields, http, needsOneOf = [] }: Command): Record<string, unknown> {
  const needed = Object.entries(fields).filter(
    ([name, { isRequired }]) => isRequired || name === needsOneOf[0],
  );
  return {
    ...(http.action === null ? {} : { action: http.action }),
    ...Object.fromEntries(needed.map(([name, field]) => [name, sample(field)])),
  };
}

const contents = async () => {
  const jobs = await pool.query("select * from worker._private_jobs order by id");
  const tasks = await pool.query("select * from worker._private_tasks order by id");
  return JSON.stringify([jobs.rows, tasks.rows]);
};

const visible = ({ fields }: Command) =>
  Object.entries(fields).filter(([, { isHidden }]) => isHidden !== true);

test("Names, aliases and routes of commands are unique.", () => {
  const names = commands.flatMap(({ name, aliases }) => [name, ...aliases]);
  assert.equal(new Set(names).size, names.length, names.join());
  const places = commands.map(({ http }) => `${http.path} ${http.action}`);
  assert.equal(new Set(places).size, places.length, places.join());
  for (const { name, positionals, fields, needsOneOf = [] } of commands) {
    for (const field of [...positionals, ...needsOneOf]) assert.ok(field in fields, name);
  }
});

for (const command of commands) {
  const { name, http, fields } = command;
  const { path, action } = http;
  const post = (more: object) => client.post(path, { ...leastBody(command), ...more });

  test(`A POST performs "${name}", answers with the declared members, and is logged.`, async () => {
    const { status, body, text, headers } = await post({});
    assert.equal(status, 200, text);
    document.assertFits(body, document.answer("POST", path), name);
    const tally = command.tally === undefined ? [] : ["requested", "done"];
    const declared = ["message", ...Object.keys(command.answer), ...tally];
    assert.deepEqual(Object.keys(body).sort(), declared.sort());
    const line = lines.find(
      (one) => one.message === "write request" && one.fields.request === headers["x-request-id"],
    );
    assert.deepEqual([line?.fields.command, line?.fields.outcome], [name, body.message]);
    if ("ids" in fields) assert.deepEqual(line?.fields.jobs, ["4000000000"]);
  });

  test(`"${name}" is refused by a read-only admin, and without the CSRF token.`, async () => {
    const route = routes.find((one) => one.method === "POST" && one.path === path);
    assert.equal(route?.access, "write");
    const readOnly = await startAdmin({ readOnly: true });
    const refused = await readOnly.client.post(path, leastBody(command));
    assert.deepEqual([refused.status, refused.body.code], [403, "read_only"]);
    const bare = await client.send("POST", path, {
      headers: { "content-type": "application/json" },
      body: JSON.stringify(leastBody(command)),
    });
    assert.deepEqual([bare.status, bare.body.code], [403, "csrf"]);
  });

  test(`"${name}" reports all its unknown and invalid fields in one answer, by name.`, async () => {
    const wrong = Object.fromEntries(
      Object.entries(fields)
        .filter(([, { kind }]) => kind !== "json")
        .map(([field]) => [field, { wrong: true }]),
    );
    const before = await contents();
    const { status, body } = await post({ ...wrong, zzz_unknown: 1 });
    assert.equal(status, 400);
    const named: string[] = body.problems.map(({ field }: { field: string }) => field);
    assert.deepEqual(named.sort(), [...Object.keys(wrong), "zzz_unknown"].sort());
    for (const [field, data] of Object.entries(fields)) {
      for (const value of beyond(data)) {
        const answer = await post({ [field]: value });
        assert.equal(answer.status, 400, `${field} ${String(value).slice(0, 50)}`);
        assert.ok(answer.body.problems[0].field.startsWith(field), answer.text);
      }
    }
    assert.equal(await contents(), before);
  });

  test(`The OpenAPI document has "${name}" with its fields and their limits.`, () => {
    const whole = document.resolve(document.body(path));
    const schema =
      action === null
        ? whole
        : whole["oneOf"]
            .map(document.resolve)
            .find(({ properties }: Json) => properties.action.const === action);
    if (action !== null) assert.ok(whole["properties"].action.enum.includes(action));
    const members = visible(command).map(([field]) => field);
    const documented = Object.keys(schema.properties).filter((field) => field !== "action");
    assert.deepEqual(documented, members);
    for (const [field, { min, max, about }] of visible(command)) {
      const { description, minimum, minLength, minItems, maximum, maxLength, maxItems } =
        schema.properties[field];
      assert.equal(description, about);
      assert.equal(minimum ?? minLength ?? minItems, min, field);
      assert.equal(maximum ?? maxLength ?? maxItems, max, field);
    }
  });
}

/**
 * Returns invalid values of the field: just outside its limits, or of a wrong form. Returns none for a JSON field or a
 * text without limits.
 */
function beyond({ kind, min, max, item, choices }: FieldData): unknown[] {
  const tooMany = (count: number, value: unknown) => Array(count + 1).fill(value);
  switch (kind) {
    case "text":
      return [...(min ? ["x".repeat(min - 1)] : []), ...(max ? ["x".repeat(max + 1)] : [])];
    case "integer":
    case "seconds":
      return [(min as number) - 1, (max as number) + 1];
    case "ids":
      return [[], [0], [1.5], tooMany(max as number, 1)];
    case "list":
      return [
        ...(min ? [[]] : []),
        tooMany(max as number, sample(item as FieldData)),
        ...beyond(item as FieldData).map((value) => [value]),
      ];
    case "choice":
      return [`${choices?.[0]}x`, ""];
    case "time":
      return ["tomorrow", "2031-02-31T00:00:00Z", ""];
    case "boolean":
      return [1, "true"];
    default:
      return [];
  }
}
