// Tests GET /api/database, for a role with all privileges and for a role with few. Also tests the requests that build
// and drop indexes, cancel the build of an index, and add extensions.
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { readTidyUp } from "../../src/admin/api/system/tidy-up.ts";
import { schemaName } from "../../src/database/schema-name.ts";
import { createSampler } from "../../src/insight/snapshot/sampler.ts";
import { emptyDatabase } from "../support/database.ts";
import { installStock } from "../support/stock-schema.ts";
import { rolePool } from "../support/test-pool.ts";
import { waitUntil } from "../support/until.ts";
import { type Client, type Json, migratedDatabase, startAdmin } from "./admin-harness.ts";
import { openapiDocument } from "./openapi-document.ts";

const { url } = await migratedDatabase();
const { client, pool } = await startAdmin({ url });
const document = await openapiDocument(client);

async function report(from: Client = client): Promise<Json> {
  const { status, body, text } = await from.get("/api/database");
  assert.equal(status, 200, text);
  document.assertFits(body, document.answer("GET", "/api/database"), "database");
  return body;
}

const indexOf = (body: Json, name: string) =>
  body.optional_indexes.find((one: Json) => one.name === name);

test("The report has the server, the schema, tables, indexes, and what each cleanup task would delete.", async () => {
  await pool.query(`
    select from worker.add_job('spent', queue_name => 'full');
    insert into worker._private_tasks (identifier) values ('unused');
    insert into worker._private_job_queues (queue_name) values ('empty 1'), ('empty 2');
    update worker._private_jobs set attempts = max_attempts`);
  const body = await report();
  assert.match(body.server.version, /^\d+/);
  assert.deepEqual([body.server.is_standby, body.server.is_read_only], [false, false]);
  assert.deepEqual(
    [body.schema.state, body.schema.origin, body.schema.level],
    ["ready", "ours", 20],
  );
  assert.deepEqual(
    body.schema.extensions.map((one: Json) => [one.name, one.version, one.is_complete]),
    [
      ["workers", 3, true],
      ["operations", null, false],
      ["controls", null, false],
      ["schedules", null, false],
      ["limits", null, false],
    ],
  );
  assert.equal(body.tables[0].name, "_private_jobs");
  assert.ok(body.tables[0].total_bytes > 0 && body.tables[0].index_bytes > 0);
  assert.ok(body.indexes.some((one: Json) => one.name === "jobs_main_index" && one.is_valid));
  assert.ok(body.connections.total >= 1 && body.connections.limit >= body.connections.total);
  assert.deepEqual(body.missing, []);
  assert.deepEqual(
    body.cleanup.map(({ task, count, names }: Json) => [
      ...[task, count.value, count.precision],
      names.join(", "),
    ]),
    [
      ["delete-permanently-failed-jobs", 1, "exact", "spent"],
      ["gc-task-identifiers", 1, "exact", "unused"],
      ["gc-job-queues", 2, "exact", "empty 1, empty 2"],
    ],
  );
});

test("If only a sample of the jobs was read, 0 unused tasks or queues is an exact number, and any higher number is an estimate.", async () => {
  const { pool: other } = await startAdmin();
  await other.query(`
    select from worker.add_job('used');
    insert into worker._private_job_queues (queue_name) values ('perhaps unused')`);
  const db = { client: other, schema: schemaName() };
  const snapshot = await createSampler(db, { smallPages: 0 }).pulse();
  const [, tasks, queues] = await readTidyUp(db, snapshot);
  assert.deepEqual([tasks?.count.value, tasks?.count.precision], [0, "exact"]);
  assert.deepEqual([queues?.count.value, queues?.count.precision], [1, "estimated"]);
});

test("The report has the oldest transaction and the session that blocks vacuum, but not the text of a statement.", async () => {
  const other = new pg.Client({ connectionString: url, application_name: "an old backup" });
  await other.connect();
  await other.query("begin isolation level repeatable read");
  await other.query("select 'secret of the backup' from worker._private_jobs");
  const body = await report();
  assert.equal(body.oldest_transaction.application, "an old backup");
  assert.equal(body.oldest_transaction.state, "idle in transaction");
  assert.deepEqual([body.oldest_xmin.kind, body.oldest_xmin.name], ["session", "an old backup"]);
  assert.doesNotMatch(JSON.stringify(body), /secret of the backup/);
  await other.end();
});

test("A session that has written and is idle in its transaction is reported as the session that blocks vacuum.", async () => {
  const other = new pg.Client({ connectionString: url, application_name: "an idle writer" });
  await other.connect();
  await other.query("begin");
  await other.query("select from worker.add_job('held')");
  await pool.query("select from worker.add_job('later')");
  const { oldest_xmin: oldest } = await report();
  await other.end();
  assert.deepEqual([oldest?.kind, oldest?.name], ["session", "an idle writer"]);
});

test("A running VACUUM is not reported as the oldest transaction or as what blocks vacuum.", async () => {
  await pool.query(
    "create table big as select n, repeat('x', 500) from generate_series(1, 20000) as n",
  );
  await pool.query("delete from big");
  const vacuum = new pg.Client({ connectionString: url, application_name: "a vacuum" });
  await vacuum.connect();
  await vacuum.query("set vacuum_cost_delay = '100ms'; set vacuum_cost_limit = 1");
  const vacuumed = assert.rejects(vacuum.query("vacuum big"), { code: "57014" });
  await waitUntil("VACUUM runs", async () => {
    const { rowCount } = await pool.query(
      "select from pg_stat_progress_vacuum where relid = 'big'::regclass",
    );
    return rowCount === 1;
  });
  await pool.query("select from worker.add_job('later')");
  const other = new pg.Client({ connectionString: url, application_name: "a backup" });
  await other.connect();
  await other.query("begin isolation level repeatable read");
  await other.query("select from worker._private_jobs");
  const body = await report();
  await pool.query(
    "select pg_cancel_backend(pid) from pg_stat_progress_vacuum where relid = 'big'::regclass",
  );
  await vacuumed;
  await Promise.all([vacuum.end(), other.end()]);
  assert.equal(body.oldest_transaction.application, "a backup");
  assert.deepEqual([body.oldest_xmin.kind, body.oldest_xmin.name], ["session", "a backup"]);
});

test("The number of connections includes connections to other databases, because the limit applies to the whole server.", async () => {
  const other = new pg.Client({ connectionString: (await emptyDatabase()).url });
  await other.connect();
  const { total, groups } = (await report()).connections;
  await other.end();
  const ofThisDatabase = groups.reduce((sum: number, { count }: Json) => sum + count, 0);
  assert.ok(
    total > ofThisDatabase,
    `${total} connections in all, ${ofThisDatabase} connections of this database`,
  );
});

test("An index is built in the background, shown with its progress, cancelled, and dropped.", async () => {
  const writer = await pool.connect();
  await writer.query("begin; select from worker.add_job('writer')");
  const begun = await client.post("/api/indexes", { action: "build", name: "failed" });
  assert.deepEqual(
    [begun.status, begun.body.state, begun.body.message],
    [200, "building", "Started building the index failed"],
  );
  await waitUntil("the build waits for the writer", async () => {
    const { state, progress } = indexOf(await report(), "failed");
    return state === "building" && /^waiting/.test(progress.phase);
  });
  const cancelled = await client.post("/api/indexes", { action: "cancel", name: "failed" });
  assert.equal(cancelled.body.cancelled, true, cancelled.text);
  await waitUntil(
    "the build is over",
    async () => indexOf(await report(), "failed").progress === null,
  );
  await writer.query("rollback; begin");
  await waitUntil(
    "the index of the cancelled build is removed",
    async () => indexOf(await report(), "failed").state === "absent",
  );
  assert.equal(indexOf(await report(), "failed").error, null);

  await writer.query("select from worker.add_job('writer')");
  await client.post("/api/indexes", { action: "build", name: "failed" });
  const second = await client.post("/api/indexes", { action: "build", name: "running" });
  assert.equal(second.body.state, "building", second.text);
  assert.equal(indexOf(await report(), "running").state, "waiting");
  await client.post("/api/indexes", { action: "cancel", name: "running" });
  await writer.query("rollback");
  writer.release();
  await waitUntil(
    "the index is built",
    async () => indexOf(await report(), "failed").state === "valid",
  );
  const again = await client.post("/api/indexes", { action: "build", name: "failed" });
  assert.equal(again.body.message, "The index failed already exists");
  const dropped = await client.post("/api/indexes", { action: "drop", name: "failed" });
  assert.deepEqual([dropped.status, dropped.body.state], [200, "dropped"], dropped.text);
  assert.equal(indexOf(await report(), "failed").state, "absent");
});

test("An unknown index or extension is refused with a list of the known ones.", async () => {
  const index = await client.post("/api/indexes", { action: "build", name: "everything" });
  assert.equal(index.status, 400);
  assert.match(index.body.error, /name: must be one of failed, retrying/);
  const extension = await client.post("/api/extensions", { action: "add", name: "magic" });
  assert.equal(extension.status, 400);
  assert.match(extension.body.error, /name: must be one of workers, operations/);
});

test("For a schema of Graphile Worker the report has the origin graphile, and an extension can be added to the schema.", async () => {
  const stock = await emptyDatabase();
  const setup = new pg.Client({ connectionString: stock.url });
  await setup.connect();
  await installStock(setup);
  await setup.end();
  const admin = await startAdmin({ url: stock.url, schema: "worker" });
  const before = await report(admin.client);
  assert.deepEqual([before.schema.state, before.schema.origin], ["ready", "graphile"]);
  assert.equal(before.schema.extensions[0].is_installed, false);
  const added = await admin.client.post("/api/extensions", { action: "add", name: "workers" });
  assert.equal(added.body.message, "Added the extension workers", added.text);
  assert.equal((await report(admin.client)).schema.extensions[0].is_installed, true);
});

test("If the role lacks privileges, the report lists the parts that are missing and has all other parts.", async () => {
  const role = await rolePool(url, pool, (name) => `grant usage on schema worker to ${name}`);
  const { user } = (await role.pool.query("select current_user as user")).rows[0];
  const limited = new URL(url);
  limited.searchParams.set("user", user);
  const admin = await startAdmin({ url: limited.href });
  const body = await report(admin.client);
  assert.equal(body.tables[0].name, "_private_jobs");
  assert.deepEqual(body.cleanup, []);
  assert.ok(body.missing.length >= 2, body.missing.join("\n"));
  assert.match(body.missing.join("\n"), /cleanup: .*may not do this/);
  assert.match(body.missing.join("\n"), /pg_read_all_stats/);
  await role.close();
});
