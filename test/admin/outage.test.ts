// While PostgreSQL is stopped, frozen or slow, or refuses connections, the admin answers requests for data with status
// 503. After each outage, requests succeed again without a restart of the admin.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import pg from "pg";
import { type EmbeddedServer, startEmbeddedServer } from "../../src/database/embedded/server.ts";
import { migrate } from "../../src/database/schema/migrate.ts";
import { schemaName } from "../../src/database/schema-name.ts";
import { connect } from "../http/raw-client.ts";
import { testPool } from "../support/test-pool.ts";
import { recordingLogger, startAdmin } from "./admin-harness.ts";

const dataDir = mkdtempSync(join(tmpdir(), "wk-"));
let postgres: EmbeddedServer = await startEmbeddedServer({ dataDir });
async function migrated(connectionString: string): Promise<void> {
  const { pool, close } = testPool(connectionString);
  await migrate(pool, schemaName("worker"));
  await close();
}
await migrated(postgres.url());
after(async () => {
  await postgres.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

test("While PostgreSQL is stopped, requests for data are answered 503. Afterwards requests succeed without a restart of the admin.", async () => {
  const { logger, lines } = recordingLogger();
  const admin = await startAdmin({ url: postgres.url(), logger });
  const { client } = admin;
  assert.equal((await client.post("/api/jobs", { identifier: "before" })).status, 200);
  const viewer = await connect(admin.port);
  viewer.socket.write("GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await viewer.received(/"total":1,/);

  await postgres.stop();
  for (const path of ["/api/overview", "/api/jobs", "/api/jobs/1"]) {
    const { status, body, headers } = await client.get(path);
    assert.deepEqual([status, body.code], [503, "database_unreachable"], path);
    assert.match(headers["retry-after"] ?? "", /^\d+$/);
  }
  const write = await client.post("/api/jobs", { identifier: "during" });
  assert.deepEqual([write.status, write.body.code], [503, "database_unreachable"]);
  const migration = await client.post("/api/maintenance", { action: "migrate" });
  assert.deepEqual([migration.status, migration.body.code], [503, "database_unreachable"]);
  assert.equal((await client.get("/healthz")).status, 200);
  let ready = await client.get("/readyz");
  while (ready.status === 200) ready = await client.get("/readyz");
  const reason = "database_unreachable";
  assert.deepEqual(ready.body, { error: "not ready", code: "not_ready", reason });
  const { text } = await client.get("/metrics");
  assert.match(text, /^worker_database_up 0$/m);
  assert.doesNotMatch(text, /^worker_(jobs|oldest_ready|paused)/m);
  assert.equal((await client.get("/api/session")).status, 200);
  assert.equal((await client.get("/")).status, 200);
  await viewer.received(/event: problem\ndata: \{"error":".+","code":"database_unreachable"\}/);

  postgres = await startEmbeddedServer({ dataDir });
  assert.equal((await client.post("/api/jobs", { identifier: "after" })).status, 200);
  assert.equal((await client.get("/api/overview")).body.stats.total, 2);
  await viewer.received(/event: problem[\s\S]*event: overview\ndata: .*"total":2,/);
  viewer.socket.destroy();
  while ((await client.get("/readyz")).status !== 200);

  const logged = lines.filter(
    ({ level, message }) => level !== "debug" && !message.startsWith("write"),
  );
  assert.deepEqual(
    logged.map(({ level, fields, message }) => [level, fields.code ?? message]),
    [
      ["error", "database_unreachable"],
      ["info", "the database is back"],
    ],
  );
});

/** Starts a proxy in front of PostgreSQL. After freeze(true) the proxy forwards no data, but closes no connection. */
async function freezer(target: string) {
  let frozen = false;
  const sockets = new Set<net.Socket>();
  const server = net.createServer({ pauseOnConnect: true }, (front) => {
    const back = net.connect(target);
    for (const [from, to] of [
      [front, back],
      [back, front],
    ] as const) {
      sockets.add(from);
      from.on("data", (chunk) => to.write(chunk));
      from.on("close", () => to.destroy());
      from.on("error", () => {});
      if (frozen) from.pause();
      else from.resume();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as net.AddressInfo).port,
    freeze(now: boolean) {
      frozen = now;
      for (const socket of sockets) now ? socket.pause() : socket.resume();
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

test("While PostgreSQL is frozen, requests for data are answered 503. Broken idle connections do not end the admin.", async () => {
  const { host, port, user, database } = postgres.connection;
  const front = await freezer(`${host}/.s.PGSQL.${port}`);
  const url = `postgres://${user}@127.0.0.1:${front.port}/${database}`;
  const { client } = await startAdmin({ url });
  assert.equal((await client.get("/api/overview")).status, 200);
  front.freeze(true);
  // The pool has fewer connections than there are requests, so some requests wait for a connection.
  const stuck = await Promise.all(Array.from({ length: 6 }, () => client.get("/api/jobs/1")));
  for (const { status, body } of stuck) {
    assert.ok(["timeout", "busy"].includes(body.code), body.code);
    assert.equal(status, 503);
  }
  front.freeze(false);
  assert.equal((await client.get("/api/overview")).status, 200);
  // close() breaks idle connections, and the pool emits an `error` event for each of them. If the admin did not listen
  // for this event, the event would end the process.
  front.close();
  assert.equal((await client.get("/api/overview")).status, 503);
});

test("While PostgreSQL is frozen, /metrics still answers. For a large table the answer has the last counts.", async () => {
  const { host, port, user, database } = postgres.connection;
  const front = await freezer(`${host}/.s.PGSQL.${port}`);
  const url = `postgres://${user}@127.0.0.1:${front.port}/${database}`;
  const small = await startAdmin({ url });
  // With `smallPages: 0` the table counts as large, so /metrics uses a snapshot for up to 10 s.
  const large = await startAdmin({ url, feed: { smallPages: 0 } });
  assert.match((await large.client.get("/metrics")).text, /^worker_database_up 1$/m);
  front.freeze(true);
  for (const [{ client }, known] of [
    [small, /^worker_database_up 0$/m],
    [large, /^worker_jobs\{state="ready"\} \d+$/m],
  ] as const) {
    const { status, text } = await client.get("/metrics");
    assert.equal(status, 200, text);
    assert.match(text, known);
  }
  front.close();
});

test("While PostgreSQL refuses connections, requests for data are answered 503, and worker_database_up is 0.", async () => {
  const owner = new pg.Client({ connectionString: postgres.url() });
  await owner.connect();
  const allow = (isAllowed: boolean) =>
    owner.query(`alter database closed allow_connections ${isAllowed};
      select pg_terminate_backend(pid) from pg_stat_activity where datname = 'closed'`);
  // The default template, template1, cannot be copied while it has connections.
  await owner.query("create database closed template template0");
  await migrated(postgres.url("closed"));
  const { client } = await startAdmin({ url: postgres.url("closed") });
  assert.match((await client.get("/metrics")).text, /^worker_database_up 1$/m);
  await allow(false);
  // The pool may not have noticed yet that its connections are closed.
  let answer = await client.get("/api/jobs");
  while (!answer.text.includes("not currently accepting")) answer = await client.get("/api/jobs");
  assert.deepEqual([answer.status, answer.body.code], [503, "database_unreachable"]);
  assert.match(answer.headers["retry-after"] ?? "", /^\d+$/);
  assert.match((await client.get("/metrics")).text, /^worker_database_up 0$/m);
  await allow(true);
  while ((await client.get("/api/jobs")).status !== 200);
  assert.match((await client.get("/metrics")).text, /^worker_database_up 1$/m);
  await owner.end();
});

test("A request whose statement takes too long is answered 503, and the statement's connection stays usable.", async () => {
  const { client, pool } = await startAdmin({ url: postgres.url() });
  const blocker = await pool.connect();
  await blocker.query("begin; lock table worker._private_jobs in access exclusive mode");
  const { status, body, headers } = await client.get("/api/jobs");
  assert.equal(status, 503);
  assert.ok(["database_busy", "database_timeout"].includes(body.code), body.code);
  assert.ok(headers["retry-after"]);
  await blocker.query("rollback");
  blocker.release();
  assert.equal((await client.get("/api/jobs")).status, 200);
});
