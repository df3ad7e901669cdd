// Tests the time limits of a request, and which statements the end of a request cancels.
import assert from "node:assert/strict";
import { test } from "node:test";
import { adminDatabases } from "../../src/admin/config/databases.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { type Database, query } from "../../src/database/database.ts";
import { schemaName } from "../../src/database/schema-name.ts";
import { connect, statuses } from "../http/raw-client.ts";
import { assertFastRounds, timed } from "../support/fast-round.ts";
import { lockWaits } from "../support/lock-waits.ts";
import { migratedDatabase, recordingLogger, startAdmin, type TestAdmin } from "./admin-harness.ts";

/** Locks the tables until `release` is called, so that statements wait. `waiting` counts the waiting connections. */
async function blocked({ pool }: TestAdmin, tables = "_private_jobs") {
  const blocker = await pool.connect();
  await blocker.query(`begin; lock table worker.${tables} in access exclusive mode`);
  const waiting = () => lockWaits(blocker);
  const release = async () => {
    await blocker.query("rollback");
    blocker.release();
  };
  return { waiting, release };
}

test("The answer to a read that takes too long is a 503, and the statement of the read is cancelled.", async () => {
  const admin = await startAdmin({ configure: (builder) => builder.limits({ requestMs: 150 }) });
  const { release } = await blocked(admin);
  for (const path of ["/api/jobs", "/api/jobs/1"]) {
    // Without the time limit, the read of one job would wait a second for the lock.
    await assertFastRounds(900, 1, () =>
      timed(async () => {
        const { status, body, headers } = await admin.client.get(path);
        assert.deepEqual([status, body.code], [503, "timeout"], path);
        assert.match(body.error, /^this took more than 0\.15 s and was cancelled/);
        assert.ok(headers["retry-after"]);
      }),
    );
  }
  await release();
  assert.equal((await admin.client.get("/api/jobs")).status, 200);
});

test("When a client disconnects, the statement of its request is cancelled, and no error is logged.", async () => {
  const { logger, lines } = recordingLogger();
  const admin = await startAdmin({ logger });
  const { waiting, release } = await blocked(admin);
  // Without the cancel, the statement would wait a second for the lock.
  await assertFastRounds(900, 1, async () => {
    const client = await connect(admin.port);
    client.socket.write("GET /api/jobs/1 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    while ((await waiting()) === 0);
    const began = performance.now();
    client.socket.destroy();
    while ((await waiting()) > 0);
    return performance.now() - began;
  });
  await release();
  assert.equal((await admin.client.get("/api/jobs")).status, 200);
  assert.deepEqual(
    lines.filter(({ level }) => level !== "debug"),
    [],
  );
});

test("A read of operations or of the audit trail is cancelled when its request reaches the time limit.", async () => {
  const { url } = await migratedDatabase("worker", ["operations", "schedules"]);
  const admin = await startAdmin({
    url,
    configure: (builder) => builder.limits({ requestMs: 500 }),
  });
  const { client } = admin;
  const added = await client.post("/api/schedules", {
    ...{ action: "add", identifier: "nightly", task: "t", pattern: "0 3 * * *" },
  });
  assert.equal(added.status, 200, added.text);
  const { waiting, release } = await blocked(admin, "_private_operations, worker._private_audit");
  for (const path of [
    ...["/api/activity", "/api/activity?search=x", "/api/cron-entry?name=nightly"],
    ...["/api/operations", "/api/operations/1", "/api/operations/1/results"],
    "/api/operations/1/jobs",
  ]) {
    // With the limits of the database `writes` (config/databases.ts), the statement would wait for the lock for more
    // than a second after the answer.
    await assertFastRounds(900, 1, async () => {
      const { status, body } = await client.get(path);
      assert.deepEqual([status, body.code], [503, "timeout"], path);
      const began = performance.now();
      while ((await waiting()) > 0);
      return performance.now() - began;
    });
  }
  await release();
});

test("When all connections of the pool are in use, the error is `busy`, and the database is not logged as unreachable.", async () => {
  const { logger, lines } = recordingLogger();
  const admin = await startAdmin({
    logger,
    configure: (builder) => builder.limits({ waitMs: 100 }),
  });
  const connections = await Promise.all(Array.from({ length: 4 }, () => admin.pool.connect()));
  const { status, body, headers } = await admin.client.get("/api/jobs");
  assert.deepEqual([status, body.code], [503, "busy"]);
  assert.match(body.error, /all 4 database connections are busy/);
  assert.ok(headers["retry-after"]);
  for (const client of connections) client.release();
  assert.equal((await admin.client.get("/api/jobs")).status, 200);
  assert.ok(!lines.some(({ fields }) => fields.code === "database_unreachable"));
});

test("The time that a write may wait for a lock is not shortened by a slow upload of its body.", async () => {
  // Half a second of `waitMs` is for the check whether the server is read-only, so the write may wait 1.5 s for a lock.
  // The upload takes longer than `waitMs`.
  const admin = await startAdmin({ configure: (builder) => builder.limits({ waitMs: 2_000 }) });
  const { body } = await admin.client.get("/api/session");
  const upload = await connect(admin.port);
  upload.socket.write(
    [
      ...["POST /api/jobs HTTP/1.1", "Host: localhost", "Connection: close", "Content-Length: 18"],
      ...["Content-Type: application/json", `x-worker-admin-csrf: ${body.csrf_token}`],
      ...["", '{"identifier"'],
    ].join("\r\n"),
  );
  const began = performance.now();
  while (performance.now() - began < 2_100) await admin.client.get("/healthz");
  const { waiting, release } = await blocked(admin);
  upload.socket.write(':"t"}');
  while ((await waiting()) === 0);
  await release();
  assert.deepEqual(statuses(await upload.end()), [200]);
});

test("The time limit of a request does not apply to the statements of a download.", async () => {
  const { pool } = await startAdmin();
  const schema = schemaName("worker");
  const databases = adminDatabases({ pool, schema, logger: silentLogger, connectionWaitMs: 2_000 });
  const { signal } = new AbortController();
  const { reads, downloads } = databases.of({ signal, leftMs: () => 50 });
  const sleep = (db: Database) => query(db, () => "select pg_sleep($1::float8)", [0.3]);
  await assert.rejects(sleep(reads), { code: "database_timeout" });
  assert.equal((await sleep(downloads)).length, 1);
});
