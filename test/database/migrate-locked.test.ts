// Tests that a migration waits up to `timeoutMs` for a lock of another session, and then fails with the reason.
import assert from "node:assert/strict";
import { test } from "node:test";
import { migrate } from "../../src/database/schema/migrate.ts";
import { schemaName } from "../../src/database/schema-name.ts";
import { emptyDatabase, migratedDatabase } from "../support/database.ts";
import { testPool } from "../support/test-pool.ts";

const schema = schemaName("worker");

test("A migration waits for a lock on a table that it only reads, and after the time limit fails with the reason.", async () => {
  const { url } = await migratedDatabase();
  const { pool, close } = testPool(url);
  const blocker = await pool.connect();
  await blocker.query("begin; lock table worker.migrations in access exclusive mode");
  const began = performance.now();
  await assert.rejects(migrate(pool, schema, { timeoutMs: 300 }), {
    code: "database_busy",
    message: /^another session has held a lock on tables of the schema "worker" for 0\.3 s/,
  });
  assert.ok(performance.now() - began < 5_000);
  await blocker.query("rollback");
  blocker.release();
  assert.equal((await migrate(pool, schema, { timeoutMs: 300 })).kind, "current");
  await close();
});

test("A migration also waits for a lock on a table that it changes, and after the time limit fails with database_busy.", async () => {
  const { url } = await migratedDatabase();
  const { pool, close } = testPool(url);
  await pool.query("drop function worker.worker_deregister(text)");
  const blocker = await pool.connect();
  await blocker.query("begin; lock table worker._private_extensions in share mode");
  await assert.rejects(migrate(pool, schema, { timeoutMs: 300 }), { code: "database_busy" });
  await blocker.query("rollback");
  blocker.release();
  await close();
});

test("A migration waits while another process migrates the schema, and after the time limit fails with this reason.", async () => {
  const { url } = await emptyDatabase();
  const { pool, close } = testPool(url);
  const builder = await pool.connect();
  await builder.query("begin");
  await builder.query("select pg_advisory_xact_lock(hashtextextended('worker:migrate:worker', 0))");
  await assert.rejects(migrate(pool, schema, { timeoutMs: 300 }), {
    code: "database_busy",
    message: /another process has been migrating the schema "worker" for 0\.3 s/,
  });
  const patient = migrate(pool, schema);
  await builder.query("commit");
  builder.release();
  assert.equal((await patient).kind, "created");
  await close();
});
