// Tests the routes for programs: probes, metrics, the OpenAPI document and the session. Also tests the overview.
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { createMetrics } from "../../src/admin/feed/metrics.ts";
import { routes } from "../../src/admin/routes.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { databasePlace } from "../../src/database/connection/database-place.ts";
import { createPool } from "../../src/database/connection/pool.ts";
import { rightCredentials, startAdmin } from "./admin-harness.ts";
import { openapiDocument } from "./openapi-document.ts";

const { client, pool } = await startAdmin();
type TookMs = { readonly tookMs: number; readonly atMs: number };

test("Health and readiness need no login and have no details.", async () => {
  const closed = await startAdmin({ mode: "basic" });
  assert.deepEqual((await closed.client.get("/healthz")).body, { status: "ok" });
  assert.deepEqual((await closed.client.get("/readyz")).body, { status: "ready" });
});

test("Fifty probes at once take at most ten connections from the pool.", async () => {
  let queries = 0;
  const counted = await startAdmin();
  const { connect } = counted.pool;
  counted.pool.connect = function (this: unknown, ...args: unknown[]) {
    queries += 1;
    return Reflect.apply(connect, counted.pool, args);
  } as typeof connect;
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => counted.client.get("/readyz")),
  );
  assert.ok(answers.every(({ status }) => status === 200));
  assert.ok(queries <= 10, `${queries} connections were taken`);
});

test("The overview counts jobs by state, and has a worker's metadata as they are stored.", async () => {
  const metadata = '{"b": 12345678901234567890, "a" : "é"}';
  // jsonb rewrites JSON when it is stored; the admin passes on the stored text.
  const { rows } = await pool.query("select $1::jsonb::text as text", [metadata]);
  await pool.query("select worker.worker_heartbeat('w1', $1::json)", [metadata]);
  const add = (fields: object) =>
    client.post("/api/jobs", { identifier: "t", queue: "q", ...fields });
  await add({});
  await add({ run_at: "2090-01-01T00:00:00Z" });
  const locked = (await add({})).body.jobs[0].id;
  await pool.query(
    "update worker._private_jobs set locked_by = 'w1', locked_at = now() where id = $1",
    [locked],
  );
  await client.post("/api/jobs/action", { action: "fail", ids: [(await add({})).body.jobs[0].id] });
  const { body, text } = await client.get("/api/overview");
  assert.deepEqual(body.stats, { total: 4, ready: 1, scheduled: 1, locked: 1, failed: 1 });
  const { id, ...queue } = body.queues[0];
  assert.equal(typeof id, "number");
  assert.deepEqual(queue, {
    queue_name: "q",
    locked_at: null,
    locked_by: null,
    job_count: 4,
    ready_count: 1,
    scheduled_count: 1,
    locked_count: 1,
    failed_count: 1,
    is_paused: false,
  });
  assert.deepEqual(body.workers, [{ worker_id: "w1", locked_jobs: 1, locked_queues: 0 }]);
  const [worker] = body.active_workers;
  assert.deepEqual([worker.worker_id, worker.is_stale], ["w1", false]);
  assert.ok(text.includes(`"metadata":${rows[0].text}`));
  assert.match(body.as_of, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test("The session names host and database, never the user or the password.", async () => {
  const url = "postgres://ana:s3cret@db.example:5433,replica.example/app%20one";
  const pools = {
    "db.example:5433,replica.example/app one": createPool({
      connectionString: url,
      logger: silentLogger,
    }),
    "[::1]:5434/shop": new pg.Pool({ connectionString: "postgres://ana:s3cret@[::1]:5434/shop" }),
    "db.example/shop": new pg.Pool({
      host: "db.example",
      user: "ana",
      password: "s3cret",
      database: "shop",
    }),
    "localhost/shop": new pg.Pool({ host: "/var/run/postgresql", user: "ana", database: "shop" }),
  };
  for (const [place, pool] of Object.entries(pools)) {
    assert.equal(databasePlace(pool), place);
    await pool.end();
  }
  const { body, text } = await client.get("/api/session");
  assert.match(body.database, /^[^/@]+\/[^/@]+$/);
  assert.doesNotMatch(text, /postgres:/);
});

test("Metrics count jobs by state and requests by route, and never contain a request's path.", async () => {
  await client.get("/api/jobs/123456");
  await client.get("/no-such-path");
  const { text, headers } = await client.get("/metrics");
  assert.match(headers["content-type"] ?? "", /^text\/plain; version=/);
  assert.match(text, /^worker_jobs\{state="failed"\} 1$/m);
  assert.match(text, /^worker_database_up 1$/m);
  assert.match(text, /_count\{method="GET",route="\/api\/jobs\/\{id\}",status="404"\} 1/);
  assert.match(text, /route="unmatched",status="404"/);
  assert.match(text, /^process_cpu_seconds_total /m);
  assert.doesNotMatch(text, /no-such-path|\/jobs\/123456/);
});

test("Two scrapes at once each have their own numbers.", async () => {
  const metrics = await createMetrics(null);
  const parts = { names: null, pauses: null, limits: null };
  const pool = { totalCount: 0, idleCount: 0, waitingCount: 0 };
  const scrape = async (viewers: number, feedParts: ReadonlyMap<"pulse", TookMs>) => {
    const feed = { viewers, parts: feedParts };
    const text = await metrics.expose({ snapshot: "unknown", ...parts, feed, pool });
    return text.split("\n").filter((line) => /^worker_admin_(event|feed_dur)/.test(line));
  };
  const pulse = new Map([["pulse", { tookMs: 7_000, atMs: 0 }]] as const);
  assert.deepEqual(await Promise.all([scrape(1, pulse), scrape(2, new Map())]), [
    ["worker_admin_event_streams 1", 'worker_admin_feed_duration_seconds{part="pulse"} 7'],
    ["worker_admin_event_streams 2"],
  ]);
});

test("The OpenAPI document has exactly the routes of the admin.", async () => {
  const { body } = await client.get("/api/openapi.json");
  assert.equal(body.openapi, "3.1.0");
  const documented = Object.entries(body.paths as object).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  assert.deepEqual(documented.sort(), routes.map(({ method, path }) => `${method} ${path}`).sort());
  const ids = Object.values(body.paths as object).flatMap((methods) =>
    Object.values(methods as object).map(({ operationId }) => operationId),
  );
  assert.equal(new Set(ids).size, routes.length);
});

test("In the OpenAPI document every reference has a target, and no schema of the contract is missing.", async () => {
  const { root, text } = await openapiDocument(client);
  const references = [...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = ""]) => path);
  assert.ok(references.length > 50);
  for (const path of references) {
    let place = root;
    for (const part of path.split("/")) place = place[part];
    assert.ok(place, path);
  }
  const named = Object.keys(root.components.schemas);
  const contract = ["Session", "Overview", "JobList", "ListedJob", "AddJob", "JobAction"];
  for (const name of [...contract, "JobActionResult", "Maintenance", "Error"]) {
    assert.ok(named.includes(name), name);
  }
  const { limit } = Object.fromEntries(
    root.paths["/api/jobs"].get.parameters.map((parameter: { name: string; schema: unknown }) => [
      parameter.name,
      parameter.schema,
    ]),
  );
  assert.deepEqual([limit.minimum, limit.maximum], [0, 500]);
});

test("The OpenAPI document describes the login and the errors.", async () => {
  const schemes = {
    basic: { type: "http", scheme: "basic" },
    bearer: { type: "http", scheme: "bearer" },
    header: { type: "apiKey", in: "header", name: "x-queue-token" },
    none: undefined,
  };
  for (const mode of ["basic", "bearer", "header", "none"] as const) {
    const admin = await startAdmin({ mode });
    const { body } = await admin.client.send("GET", "/api/openapi.json", {
      headers: rightCredentials[mode],
    });
    assert.deepEqual(body.components.securitySchemes.login, schemes[mode]);
    for (const { path, method, operation: declared } of routes) {
      const operation = body.paths[path][method.toLowerCase()];
      const needsLogin =
        (await admin.client.send(method, path.replace("{id}", "1"))).status === 401;
      assert.equal(operation.security.length === 1, needsLogin, `${mode} ${path}`);
      assert.equal("401" in operation.responses, needsLogin, `${mode} ${path}`);
      assert.equal("415" in operation.responses, declared.body !== undefined, path);
      assert.ok("503" in operation.responses && "500" in operation.responses, path);
    }
  }
});

test("The session describes the server's configuration without a secret.", async () => {
  const header = await startAdmin({ mode: "header", readOnly: true, schema: "worker" });
  const { body } = await header.client.send("GET", "/api/session", {
    headers: rightCredentials.header,
  });
  const { csrf_token, version, database: _place, ...rest } = body;
  assert.ok(Buffer.from(csrf_token, "base64url").length >= 16);
  assert.match(version, /^\d+\.\d+\.\d+/);
  assert.deepEqual(rest, {
    schema: "worker",
    label: null,
    read_only: true,
    read_only_server: false,
    problem: null,
    can_undo: false,
    csrf_header: "x-worker-admin-csrf",
    auth: { mode: "header", username: null, header_name: "x-queue-token", generated_secret: false },
  });
});
