// An admin server that an application embeds: its start, its settings and its stop.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import pg from "pg";
import { adminServerConfig } from "../../src/admin/config/config-builder.ts";
import { serve } from "../../src/admin/serve.ts";
import { lockWaits } from "../support/lock-waits.ts";
import { createClient, migratedDatabase, startAdmin } from "./admin-harness.ts";

const pools: pg.Pool[] = [];

test("serve() starts a server with the given configuration and a generated password.", async () => {
  const { url } = await migratedDatabase();
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  pools.push(pool);
  await using server = await serve(adminServerConfig(pool).listenAddr("127.0.0.1:0").build());
  assert.equal(server.url, `http://127.0.0.1:${server.address.port}/`);
  const credentials = Buffer.from(`admin:${server.generatedSecret}`).toString("base64");
  const { body } = await createClient(server.address.port).send("GET", "/api/session", {
    headers: { authorization: `Basic ${credentials}` },
  });
  assert.deepEqual(body.auth, {
    mode: "basic",
    username: "admin",
    header_name: null,
    generated_secret: true,
  });

  const samePort = adminServerConfig(pool).listenAddr(`127.0.0.1:${server.address.port}`).build();
  await assert.rejects(serve(samePort), { code: "listen", message: /is in use/ });
  assert.equal(pool.listenerCount("error"), 1, "a server that did not start removes its listener");
});

test("The time after which the server closes idle HTTP connections can be set.", async () => {
  const { url } = await migratedDatabase();
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  pools.push(pool);
  const config = adminServerConfig(pool).listenAddr("127.0.0.1:0").limits({ keepAliveMs: 65_000 });
  await using server = await serve(config.build());
  const answer = await fetch(`${server.url}healthz`);
  assert.equal(answer.headers.get("keep-alive"), "timeout=65");
});

test("A write that is running when the server stops is finished and answered.", async () => {
  const { client, pool, server } = await startAdmin();
  await client.post("/api/jobs", { identifier: "first" });
  const blocker = await pool.connect();
  await blocker.query("begin; lock table worker._private_jobs in access exclusive mode");
  const write = client.post("/api/jobs", { identifier: "second" });
  while ((await lockWaits(blocker)) === 0);
  const stopped = server.stop();
  await assert.rejects(client.get("/healthz"));
  await blocker.query("commit");
  blocker.release();
  const { status, headers } = await write;
  assert.deepEqual([status, headers.connection], [200, "close"]);
  await stopped;
  const { rows } = await pool.query("select count(*)::int from worker._private_jobs");
  assert.equal(rows[0].count, 2);
});

after(() => Promise.all(pools.map((pool) => pool.end())));
