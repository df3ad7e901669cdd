// Tests the admin on a database that is empty, unreachable, unreadable or read-only. The admin starts and reports the
// problem. Once the problem is fixed, the admin works without a restart.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import pg from "pg";
import { createReadiness } from "../../src/admin/live/readiness.ts";
import { routes } from "../../src/admin/routes.ts";
import { schemaName } from "../../src/database/schema-name.ts";
import { rolePool } from "../support/test-pool.ts";
import { migratedDatabase, recordingLogger, startAdmin } from "./admin-harness.ts";

const pools: pg.Pool[] = [];
after(() => Promise.all(pools.map((pool) => pool.end())));

test("On an empty database the admin reports the missing schema, and migrate creates it.", async () => {
  const { emptyDatabase } = await import("../support/database.ts");
  const { client } = await startAdmin({ url: (await emptyDatabase()).url });
  const session = await client.get("/api/session");
  assert.deepEqual([session.status, session.body.problem.code], [200, "schema_missing"]);
  assert.match(
    session.body.problem.error,
    /the schema "worker" does not exist; create it with migrate\(\)/,
  );
  const ready = await client.get("/readyz");
  assert.deepEqual([ready.status, ready.body.reason], [503, "schema_missing"]);
  assert.equal((await client.get("/api/jobs")).body.code, "schema_missing");
  assert.equal((await client.get("/api/overview")).body.code, "schema_missing");
  assert.equal((await client.get("/")).status, 200);
  const { status } = await client.post("/api/maintenance", { action: "migrate" });
  assert.equal(status, 200);
  // The cached state, which is up to a second old, has been discarded by the migration.
  assert.equal((await client.get("/readyz")).status, 200);
  assert.equal((await client.get("/api/session")).body.problem, null);
  assert.equal((await client.post("/api/jobs", { identifier: "t" })).status, 200);
});

test("Without PostgreSQL the admin starts and reports the problem.", async () => {
  const { client } = await startAdmin({ url: "postgres://nobody@127.0.0.1:1/none" });
  const { body } = await client.get("/api/session");
  assert.equal(body.problem.code, "database_unreachable");
  const ready = await client.get("/readyz");
  assert.deepEqual([ready.status, ready.body.reason], [503, "database_unreachable"]);
});

test("The log gets one line when the queue cannot be read and one when it can be read again, not one for each probe.", async () => {
  const { url } = await migratedDatabase();
  const owner = new pg.Pool({ connectionString: url, max: 1 });
  pools.push(owner);
  await using role = await rolePool(
    url,
    owner,
    (name) => `grant usage on schema worker to ${name}`,
  );
  const { rows } = await role.pool.query("select current_user as name");
  const { logger, lines } = recordingLogger();
  const logged = () => lines.filter(({ message }) => message.startsWith("the queue can"));
  const readiness = createReadiness({ client: role.pool, schema: schemaName() }, logger);
  const probe = async () => {
    readiness.invalidate();
    await readiness.check();
  };
  for (let n = 0; n < 3; n++) await probe();
  assert.deepEqual(
    logged().map(({ level, fields }) => [level, fields.code]),
    [["error", "database_error"]],
  );
  assert.match(logged()[0]?.fields.error, /permission denied for table migrations/);
  await owner.query(`grant select on all tables in schema worker to ${rows[0].name}`);
  await owner.query(`alter role ${rows[0].name} bypassrls`);
  for (let n = 0; n < 3; n++) await probe();
  assert.deepEqual(
    logged().map(({ message }) => message),
    ["the queue cannot be read", "the queue can be read again"],
  );
  await owner.query(`revoke select on worker.migrations from ${rows[0].name}`);
  const asRole = new URL(url);
  asRole.searchParams.set("user", rows[0].name);
  const { client } = await startAdmin({ url: asRole.href, logger });
  const { body } = await client.get("/api/session");
  assert.equal(body.problem.error, "the database cannot be read now; the log has the details");
  assert.match(logged()[2]?.fields.error, /permission denied for table migrations/);
});

test("On a server that refuses writes the admin is read-only, and the answer to a write has the reason.", async () => {
  const { url, name } = await migratedDatabase();
  const owner = new pg.Pool({ connectionString: url, max: 1 });
  pools.push(owner);
  await owner.query(`alter database "${name}" set default_transaction_read_only = on`);
  const { client } = await startAdmin({ url });
  const { body } = await client.get("/api/session");
  assert.deepEqual([body.read_only, body.read_only_server, body.problem], [true, true, null]);
  const ready = await client.get("/readyz");
  assert.deepEqual([ready.status, ready.body], [200, { status: "ready", read_only_server: true }]);
  for (const { method, path, access } of routes) {
    if (method !== "POST") continue;
    assert.equal(access, "write", path);
    const write = await client.post(path.replace("{id}", "1"), {});
    assert.deepEqual([path, write.status, write.body.code], [path, 403, "read_only"]);
    assert.match(write.body.error, /PostgreSQL accepts no writes here: it is a standby, or/);
  }
  assert.equal((await client.get("/api/jobs")).status, 200);
});

test("If the server became read-only after the admin's last check, the answer to a write has the reason, too.", async () => {
  const { url } = await migratedDatabase();
  const { client, pool } = await startAdmin({ url });
  assert.equal((await client.post("/api/jobs", { identifier: "t" })).status, 200);
  // From here on each connection refuses writes, but the admin still has the cached result of its last check.
  pool.on("acquire", (connection) => {
    void connection.query("set default_transaction_read_only = on");
  });
  const write = await client.post("/api/jobs", { identifier: "t" });
  assert.deepEqual([write.status, write.body.code], [403, "read_only"]);
  assert.match(write.body.error, /PostgreSQL accepts no writes here/);
});

test("The session has the environment's label.", async () => {
  const { client } = await startAdmin({ configure: (builder) => builder.label("production") });
  assert.equal((await client.get("/api/session")).body.label, "production");
});
