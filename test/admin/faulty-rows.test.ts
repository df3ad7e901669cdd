// Rows with infinite times can be read. An error that a stored row causes has the code `database_error`. An error that
// a parameter causes has the code `bad_input`.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import pg from "pg";
import { silentLogger } from "../../src/base/logger.ts";
import { query } from "../../src/database/database.ts";
import { type EmbeddedServer, startEmbeddedServer } from "../../src/database/embedded/server.ts";
import { migrate } from "../../src/database/schema/migrate.ts";
import { schemaName } from "../../src/database/schema-name.ts";
import { TEST_SETTINGS } from "../support/database-server.ts";
import { olderBinaries } from "../support/postgres-versions.ts";
import { startAdmin, type TestAdmin } from "./admin-harness.ts";

// PostgreSQL 17 and later can subtract infinite times, so an older version is used if it is installed.
const binaries = olderBinaries("15");
const directory = mkdtempSync(join(tmpdir(), "worker-infinite-"));
let server: EmbeddedServer;
let admin: TestAdmin;

before(async () => {
  const from = binaries === null ? {} : { binaries };
  server = await startEmbeddedServer({ dataDir: directory, settings: TEST_SETTINGS, ...from });
  const pool = new pg.Pool({ connectionString: server.url() });
  await migrate(pool, schemaName(), { logger: silentLogger });
  await pool.query(`insert into worker._private_workers (id, last_heartbeat_at)
    values ('past', '-infinity'), ('future', 'infinity')`);
  await pool.end();
  admin = await startAdmin({ url: server.url() });
});
// Runs after the harness has stopped the admin.
after(async () => {
  await server.stop();
  rmSync(directory, { recursive: true, force: true });
});

test("Limits can be read even if a back-off or a rate has an infinite time.", async () => {
  const pool = new pg.Pool({ connectionString: server.url() });
  await migrate(pool, schemaName(), { logger: silentLogger, extensions: ["limits"] });
  await pool.query(`
    insert into worker._private_limits (name, scope, match, concurrency, rate, period_ms, burst)
    values ('t', 'task', 't', 1, 1, 1000, 1), ('q', 'queue', 'q', 1, 1, 1000, 1);
    insert into worker._private_back_offs (scope, name, until) values ('limit', 't', 'infinity');
    insert into worker._private_rates (limit_id, key, tat)
    select id, case scope when 'queue' then 'q' else '' end, 'infinity' from worker._private_limits`);
  await pool.end();
  for (const path of ["limits", "limits/t", "limits/q", "incidents", "overview"]) {
    const { status, text } = await admin.client.get(`/api/${path}`);
    assert.equal(status, 200, `${path}: ${text}`);
  }
});

test("Workers whose last heartbeat has an infinite time are listed, and no list fails because of them.", async () => {
  for (const path of [
    ...[
      "overview",
      "counts",
      "incidents",
      "queues",
      "tasks",
      "cron",
      "jobs?q=is:stuck",
      "database",
    ],
  ]) {
    const { status, text } = await admin.client.get(`/api/${path}`);
    assert.equal(status, 200, `${path}: ${text}`);
  }
  const { status, text } = await admin.client.get("/api/workers");
  assert.equal(status, 200, text);
  assert.match(text, /"past"/);
  assert.match(text, /"future"/);
});

const db = () => ({ client: admin.pool, schema: schemaName() });

test("An error in a stored row is a database error; an error in a parameter is an input error.", async () => {
  const row = query(db(), (s) => `select id::int from ${s}._private_workers where id <> $1::text`, [
    "x",
  ]);
  await assert.rejects(row, { code: "database_error" });
  const value = query(db(), (s) => `select id from ${s}._private_jobs where id = $1::bigint`, [
    "x",
  ]);
  await assert.rejects(value, { code: "bad_input" });
  const written = query(
    db(),
    (s) => `insert into ${s}._private_tasks (identifier) values ($1::text)`,
    ["x".repeat(200)],
  );
  await assert.rejects(written, { code: "bad_input" });
});
