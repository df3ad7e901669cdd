// Tests that the heartbeat thread gets the password of a pool. The test starts a PostgreSQL server that requires a
// password. The other tests of the heartbeat are in ../heartbeat.test.ts.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { startEmbeddedServer } from "../../../src/database/embedded/server.ts";
import { migrate } from "../../../src/database/schema/migrate.ts";
import { schemaName } from "../../../src/database/schema-name.ts";
import { testPool } from "../../support/test-pool.ts";
import { beats, blockedWorker, IN_THREAD } from "../blocked-worker.ts";

test("The heartbeat thread gets the password of a pool, even if a function returns the password.", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "wk-"));
  const server = await startEmbeddedServer({ dataDir });
  const admin = testPool(server.url());
  try {
    await migrate(admin.pool, schemaName());
    await admin.pool.query("create role secretive superuser login password 'open sesame'");
    const { rows } = await admin.pool.query<{ hba_file: string }>("show hba_file");
    const rules = "local all secretive scram-sha-256\nlocal all all trust\n";
    await writeFile(String(rows[0]?.hba_file), rules);
    await admin.pool.query("select pg_reload_conf()");
    const password = () => Promise.resolve("open sesame");
    const called = testPool({ ...server.connection, user: "secretive", password });
    const { worker, lines } = blockedWorker({ pool: called.pool });
    await worker.start();
    assert.ok(lines.includes(IN_THREAD));
    await beats(async (text) => (await admin.pool.query(text)).rows);
    await worker.stop();
    await called.close();
    // A plain password, which pg makes non-enumerable in a pool's options.
    const plain = testPool({ ...server.connection, user: "secretive", password: "open sesame" });
    const other = blockedWorker({ pool: plain.pool });
    await other.worker.start();
    assert.ok(other.lines.includes(IN_THREAD));
    await beats(async (text) => (await admin.pool.query(text)).rows);
    await other.worker.stop();
    await plain.close();
  } finally {
    await admin.close();
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
});
