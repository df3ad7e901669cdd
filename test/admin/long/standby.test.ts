// Tests the admin on a real hot standby. Reads work, and writes are refused with the reason. After the standby is
// promoted, writes work, too, without a restart of the admin.
import assert from "node:assert/strict";
import { chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import pg from "pg";
import { routes } from "../../../src/admin/routes.ts";
import { type EmbeddedServer, startEmbeddedServer } from "../../../src/database/embedded/server.ts";
import { migrate } from "../../../src/database/schema/migrate.ts";
import { schemaName } from "../../../src/database/schema-name.ts";
import { startAdmin, type TestAdmin } from "../admin-harness.ts";

const dataDir = mkdtempSync(join(tmpdir(), "worker-standby-"));
let standby: EmbeddedServer;
let admin: TestAdmin;

async function sql(url: string, ...texts: string[]): Promise<Record<string, string>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const results = [];
  for (const text of texts) results.push(...(await client.query(text)).rows);
  await client.end();
  return results;
}

before(async () => {
  const primary = await startEmbeddedServer({ dataDir });
  const pool = new pg.Pool({ connectionString: primary.url(), max: 1 });
  await migrate(pool, schemaName(), { extensions: ["operations"] });
  await pool.end();
  const [row] = await sql(
    primary.url(),
    "select worker.add_job('t', '{\"a\":1}') from generate_series(1, 50)",
    "update worker._private_jobs set attempts = max_attempts, last_error = 'e' where id % 2 = 0",
    "show data_directory",
  ).then((rows) => rows.slice(-1));
  await primary.stop();
  // With standby.signal the server starts as a standby. It has no primary, so it waits for one, and can be read.
  const place = row?.["data_directory"] ?? assert.fail();
  const signal = join(place, "standby.signal");
  writeFileSync(signal, "");
  const { uid, gid } = statSync(join(place, "PG_VERSION"));
  chownSync(signal, uid, gid);
  standby = await startEmbeddedServer({ dataDir });
  admin = await startAdmin({ url: standby.url(), feed: { intervalMs: 50 } });
});
after(async () => {
  await standby.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

test("On a standby each GET route that needs no parameter, or only a job's id, works; /api/session, /readyz and /api/database report that the server takes no writes.", async () => {
  const { client } = admin;
  const { body } = await client.get("/api/session");
  assert.deepEqual([body.read_only, body.read_only_server, body.problem], [true, true, null]);
  assert.deepEqual((await client.get("/readyz")).body, {
    status: "ready",
    read_only_server: true,
  });
  const named = new Set([
    ...["/api/operations/{id}", "/api/operations/{id}/jobs", "/api/operations/{id}/results"],
    ...["/api/queue", "/api/cron-entry", "/api/export/download"],
  ]);
  for (const { method, path } of routes) {
    const needsName = named.has(path) || /\{(?!id\})/.test(path);
    if (method !== "GET" || needsName) continue;
    const { status, text } = await client.get(path.replace("{id}", "2"));
    assert.equal(status, 200, `${path}: ${text}`);
  }
  const { body: database } = await client.get("/api/database");
  assert.deepEqual([database.server.is_standby, database.server.is_read_only], [true, true]);
});

test("On a standby the stream sends all requested events, and no event `problem`.", async () => {
  const events = "overview,pulse,counts,incidents,horizon,operation";
  const response = await fetch(new URL(`api/events?events=${events}`, admin.server.url));
  const reader = (response.body ?? assert.fail()).pipeThrough(new TextDecoderStream()).getReader();
  const awaited = new Set(events.split(","));
  let text = "";
  while (awaited.size > 0) {
    const { value = "", done } = await reader.read();
    assert.equal(done, false);
    text += value;
    for (const [, event = ""] of text.matchAll(/^event: (\w+)$/gm)) awaited.delete(event);
    assert.doesNotMatch(text, /^event: problem$/m);
  }
  await reader.cancel();
});

test("On a standby every write is refused with 403; after its promotion, jobs and operations can be added.", async () => {
  const { client } = admin;
  for (const { path } of routes.filter(({ method }) => method === "POST")) {
    const { status, body } = await client.post(path.replace("{id}", "1"), {});
    assert.deepEqual([path, status, body.code], [path, 403, "read_only"]);
  }
  await sql(standby.url(), "select pg_promote(true, 60)");
  let added = await client.post("/api/jobs", { identifier: "t" });
  while (added.status === 403) added = await client.post("/api/jobs", { identifier: "t" });
  assert.equal(added.status, 200, added.text);
  const { body } = await client.get("/api/session");
  assert.deepEqual([body.read_only, body.read_only_server], [false, false]);
  assert.deepEqual((await client.get("/readyz")).body, { status: "ready" });
  const rehearsing = { q: "is:failed", action: "retry", dry_run: true };
  const { rehearsal } = (await client.post("/api/operations", rehearsing)).body;
  const begun = await client.post("/api/operations", { rehearsal, rate: 0 });
  assert.deepEqual([begun.status, begun.body.resumable], [202, true]);
});
