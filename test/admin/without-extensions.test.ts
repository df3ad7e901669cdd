// Each extension of the schema may be missing: a stock schema has none, and the admin works on it.
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { routes } from "../../src/admin/routes.ts";
import { extensions } from "../../src/database/schema/extensions/index.ts";
import { migrateBy } from "../../src/database/schema/migrate.ts";
import { schemaName } from "../../src/database/schema-name.ts";
import { type Client, startAdmin } from "./admin-harness.ts";

/** A database whose schema has all extensions but one. */
async function databaseWithout(name: string): Promise<string> {
  const { emptyDatabase } = await import("../support/database.ts");
  const { url } = await emptyDatabase();
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  const registry = extensions.filter((extension) => extension.name !== name);
  const asked = registry.filter(({ added }) => added === "on request");
  await migrateBy({ registry }, pool, schemaName(), {
    extensions: asked.map((extension) => extension.name),
  });
  await pool.end();
  return url;
}

async function beginOperation(client: Client): Promise<string> {
  const asked = { q: "task:none", action: "retry", dry_run: true };
  const { rehearsal } = (await client.post("/api/operations", asked)).body;
  const { status, body, text } = await client.post("/api/operations", { rehearsal });
  assert.equal(status, 202, text);
  return String(body.id);
}

for (const { name, added: when } of extensions) {
  test(`Without the extension "${name}" everything is answered, and it can be added.`, async () => {
    const { client } = await startAdmin({ url: await databaseWithout(name) });
    const { body: added } = await client.post("/api/jobs", { identifier: "t" });
    const [{ id }] = added.jobs;
    const operation = await beginOperation(client);
    for (const { method, path } of routes) {
      // What is named by anything but a job's id is not there, and a download has a ticket first.
      if (method !== "GET" || /\{(?!id\})/.test(path) || path === "/api/export/download") continue;
      const shown = path.startsWith("/api/operations") ? operation : id;
      const { status, text } = await client.get(path.replace("{id}", shown));
      assert.equal(status, 200, `${path}: ${text}`);
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
    assert.match(outcome.message, /^Brought the schema worker up|^Added the extension/);
  });
}
