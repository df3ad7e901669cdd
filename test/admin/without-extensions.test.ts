// The admin works on a schema in which one of the extensions is missing, or has the tables of an earlier version.
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { routes } from "../../src/admin/routes.ts";
import { extension } from "../../src/database/schema/extensions/extension.ts";
import { extensions } from "../../src/database/schema/extensions/index.ts";
import { migrateBy } from "../../src/database/schema/migrate.ts";
import { schemaName } from "../../src/database/schema-name.ts";
import { emptyDatabase } from "../support/database.ts";
import { type Client, startAdmin } from "./admin-harness.ts";

/** Creates a schema that has all extensions except `name` and those that need it. Returns the URL of its database. */
async function databaseWithout(name: string): Promise<string> {
  const { url } = await emptyDatabase();
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  const registry = extensions.filter(
    (one) => one.name !== name && one.needs?.includes(name) !== true,
  );
  const onRequest = registry.filter(({ added }) => added === "on request");
  await migrateBy({ registry }, pool, schemaName(), {
    extensions: onRequest.map((extension) => extension.name),
  });
  await pool.end();
  return url;
}

/**
 * Starts an operation and returns its id. Returns null if the admin refuses the operation because its tables are
 * missing or not up to date.
 */
async function beginOperation(client: Client): Promise<string | null> {
  const rehearsing = { q: "task:none", action: "retry", dry_run: true };
  const { rehearsal, missing } = (await client.post("/api/operations", rehearsing)).body;
  const { status, body, text } = await client.post("/api/operations", { rehearsal });
  if (missing === null) {
    assert.equal(status, 202, text);
    return String(body.id);
  }
  assert.deepEqual([status, body.code], [409, "extension_missing"]);
  assert.match(body.error, /"worker migrate --with-operations" adds them/);
  return null;
}

const named = new Set(["/api/queue", "/api/cron-entry", "/api/export/download"]);

for (const { name, added: when } of extensions) {
  test(`Without the extension "${name}" every route answers, and the extension can be added.`, async () => {
    const { client } = await startAdmin({ url: await databaseWithout(name) });
    const { body: added } = await client.post("/api/jobs", { identifier: "t" });
    const [{ id }] = added.jobs;
    const operation = await beginOperation(client);
    assert.equal(operation === null, name === "operations");
    const session = (await client.get("/api/session")).body;
    assert.equal(session.can_undo, name !== "operations");
    for (const { method, path } of routes) {
      // This loop skips routes that need a name, such as the name of a queue. It also skips the download, which needs a
      // ticket.
      if (method !== "GET" || /\{(?!id\})/.test(path) || named.has(path)) continue;
      const isOne = path.startsWith("/api/operations/");
      const shown = isOne ? (operation ?? "1") : id;
      const { status, text } = await client.get(path.replace("{id}", shown));
      assert.equal(status, isOne && operation === null ? 404 : 200, `${path}: ${text}`);
    }
    const writes: [path: string, body: object][] = [
      ["/api/jobs/action", { action: "reschedule", ids: [id], run_at: "2090-01-01T00:00:00Z" }],
      ["/api/jobs/action", { action: "fail", ids: [id] }],
      ["/api/jobs/action", { action: "complete", ids: [id] }],
      ["/api/maintenance", { action: "cleanup" }],
      ["/api/maintenance", { action: "force-unlock", worker_ids: ["w"] }],
      ["/api/maintenance", { action: "sweep-stale-workers", dry_run: true }],
      ["/api/maintenance", { action: "sweep-stale-workers" }],
    ];
    for (const [path, body] of writes) {
      const { status, text } = await client.post(path, body);
      assert.equal(status, 200, `${JSON.stringify(body)}: ${text}`);
    }
    const { body: outcome } =
      when === "always"
        ? await client.post("/api/maintenance", { action: "migrate" })
        : await client.post("/api/extensions", { action: "add", name });
    assert.deepEqual([outcome.outcome, outcome.extensions], ["upgraded", [name]]);
    assert.match(outcome.message, /^Updated the schema worker|^Added the extension/);
  });
}

test("Tables of an earlier version are not used until a migration updates them.", async () => {
  const { url } = await emptyDatabase();
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  const earlier = extensions.map((one) => extension({ ...one, steps: one.steps.slice(0, 1) }));
  await migrateBy({ registry: earlier }, pool, schemaName(), { extensions: ["operations"] });
  await pool.query(
    `insert into worker._private_operations (query, now_us, action, source, state, max_id, before, expected, done, kept, finished_at)
       values ('task:t', '0', 'fail', 'admin', 'done', 9, now(), 2, 1, 2, now())`,
  );
  await pool.query(
    "insert into worker._private_operation_rows (operation_id, job_id, outcome) values (1, 5, 'd'), (1, 6, 'g')",
  );
  const { client } = await startAdmin({ url });
  assert.equal((await client.get("/api/operations")).body.resumable, false);
  assert.equal((await client.get("/api/activity")).body.is_recorded, false);
  const migrated = await client.post("/api/maintenance", { action: "migrate" });
  assert.equal(migrated.status, 200, migrated.text);
  const { body } = await client.get("/api/operations");
  assert.equal(body.resumable, true);
  const [operation] = body.operations;
  assert.deepEqual([operation.done, operation.matched, operation.not_found], [1, null, null]);
  const changed = await client.get("/api/operations/1/jobs?outcome=changed");
  assert.deepEqual(changed.body.ids, [6]);
  await pool.end();
});

test("While the tables of operations are of an earlier version, an operation is refused, and the message has the command that updates them.", async () => {
  const { url } = await emptyDatabase();
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  const earlier = extensions.map((one) =>
    one.name === "operations" ? extension({ ...one, steps: one.steps.slice(0, -1) }) : one,
  );
  await migrateBy({ registry: earlier }, pool, schemaName(), { extensions: ["operations"] });
  await pool.end();
  const { client } = await startAdmin({ url });
  const { status, body, text } = await client.get("/api/operations");
  assert.deepEqual([status, body.resumable], [200, false], text);
  assert.equal(await beginOperation(client), null);
  assert.equal((await client.post("/api/maintenance", { action: "migrate" })).status, 200);
  assert.notEqual(await beginOperation(client), null);
});
