// Tests the list of workers of the API, and the details of a worker. Workers of this library, in both modes, and
// Graphile workers run in the tests. All other workers, such as a stale worker, are only rows.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Logger, run } from "graphile-worker";
import pg from "pg";
import { VERSION } from "../../src/base/version.ts";
import { cronEntry } from "../../src/domain/cron/cron-entry.ts";
import { defineTask } from "../../src/worker/task/task.ts";
import { Worker } from "../../src/worker/worker.ts";
import { installStock } from "../support/stock-schema.ts";
import { waitUntil } from "../worker/worker-process.ts";
import { type Json, migratedDatabase, startAdmin } from "./admin-harness.ts";
import { openapiDocument } from "./openapi-document.ts";

// A worker with these options sends heartbeats often, and its lease does not expire on a slow machine.
const TALKATIVE = { heartbeatIntervalMs: 100, thresholdMs: 60_000 };

const endings: (() => Promise<unknown>)[] = [];
after(async () => {
  for (const end of endings) await end();
});

/** Returns tasks whose jobs run until all tests of this file have ended. At that time `released` resolves. */
function blockingTasks(...names: string[]) {
  const { promise, resolve } = Promise.withResolvers<void>();
  endings.unshift(async () => resolve());
  return { released: promise, tasks: names.map((name) => defineTask(name, () => promise)) };
}

async function stockWorker(url: string, task: string, released: Promise<void>): Promise<string> {
  const runner = await run({
    connectionString: url,
    schema: "worker",
    concurrency: 1,
    noHandleSignals: true,
    pollInterval: 100,
    logger: new Logger(() => () => {}),
    taskList: { [task]: () => released },
  });
  endings.push(() => runner.stop());
  return task;
}

const wait = (what: string, condition: () => Promise<boolean>) => waitUntil(what, condition);

test("Workers of all kinds are listed with their jobs, and only a worker whose lease has expired is stale.", async () => {
  const { url } = await migratedDatabase();
  const { client, pool } = await startAdmin({ url });
  const { released, tasks } = blockingTasks("mine", "quick_one", "stocks");
  const [mine, quick] = tasks as [(typeof tasks)[0], (typeof tasks)[0]];
  const safe = new Worker({
    connectionString: url,
    tasks: [mine],
    concurrency: 3,
    recovery: TALKATIVE,
    cron: { entries: [cronEntry("@yearly", "mine", { identifier: "each year" })] },
  });
  const fast = new Worker({
    connectionString: url,
    tasks: [quick],
    fastLane: { limitMs: 5_000 },
    recovery: TALKATIVE,
  });
  for (const worker of [safe, fast]) {
    await worker.start();
    endings.push(() => worker.stop());
  }
  await stockWorker(url, "stocks", released);
  const { rows } = await pool.query<{ id: string }>(
    `select id::text from (values ('mine', 'q1'), ('quick_one', null), ('stocks', 'q2'))
       as given (task, queue), worker.add_job(given.task, queue_name => given.queue)`,
  );
  const [ofSafe, ofFast, ofStock] = rows.map(({ id }) => Number(id));
  await pool.query(
    `insert into worker._private_workers (id, last_heartbeat_at, metadata)
     values ('gone', now() - interval '1 hour', '{"host": "lost-host"}')`,
  );
  const list = async (query = ""): Promise<Json> => (await client.get(`/api/workers${query}`)).body;
  const byState = async (): Promise<Json> =>
    Map.groupBy((await list()).workers, (one: Json) => one.state);
  // For 5 seconds, only the worker's report shows that the fast job runs: `locked_by` in the job's row is null.
  await wait("the fast job is reported, and its locked_by is null", async () => {
    const { workers } = await list();
    const isReported = workers.some((one: Json) => one.current[0]?.id === ofFast);
    const sql = "select locked_by from worker._private_jobs where id = $1";
    return isReported && (await pool.query(sql, [ofFast])).rows[0].locked_by === null;
  });
  await wait("all three run their jobs", async () => {
    const { workers } = await list();
    return workers.filter((one: Json) => one.current.length === 1).length === 3;
  });

  const states = await byState();
  assert.deepEqual((await list()).counts, { alive: 2, stale: 1, unknown: 1 });
  const [stale] = states.get("stale");
  assert.deepEqual([stale.worker_id, stale.level, stale.host], ["gone", "warn", "lost-host"]);
  assert.deepEqual((await list()).workers.map((one: Json) => one.state)[0], "stale");
  const [stock] = states.get("unknown");
  assert.deepEqual(
    [
      stock.level,
      stock.started_at,
      stock.last_heartbeat_at,
      stock.done_per_min,
      stock.locked_queues,
    ],
    ["ok", null, null, null, 1],
  );
  assert.deepEqual([stock.running.value, stock.running.precision], [1, "exact"]);
  assert.deepEqual([stock.locked_jobs, stale.locked_jobs], [1, 0]);
  assert.deepEqual([stock.current[0].id, stock.current[0].task], [ofStock, "stocks"]);
  const alive = new Map<string, Json>(states.get("alive").map((one: Json) => [one.worker_id, one]));
  const [ours, lane] = [alive.get(safe.id), alive.get(fast.id)];
  assert.deepEqual([ours.slots, ours.version, ours.node], [3, VERSION, process.versions.node]);
  assert.deepEqual([ours.tasks, ours.tasks_complete, ours.locked_queues], [["mine"], true, 1]);
  assert.deepEqual([ours.current[0].id, ours.current[0].task], [ofSafe, "mine"]);
  assert.deepEqual([ours.running.value, ours.running.basis], [1, "heartbeat"]);
  assert.deepEqual([lane.current[0].id, lane.current[0].task], [ofFast, "quick_one"]);

  // An unknown worker whose lock is older than four hours has the level `warn`, but it is not shown as stale.
  await pool.query(
    `update worker._private_job_queues set locked_at = now() - interval '5 hours'
     where locked_by = $1`,
    [stock.worker_id],
  );
  const [old] = (await byState()).get("unknown");
  assert.deepEqual([old.state, old.level], ["unknown", "warn"]);

  const { body: one } = await client.get(`/api/workers/${encodeURIComponent(safe.id)}`);
  assert.deepEqual(one.cron, [{ identifier: "each year", task: "mine", pattern: "@yearly" }]);
  assert.deepEqual(
    one.queues.map((queue: Json) => [queue.queue_name, queue.holder, queue.ready.value]),
    [["q1", "alive", 0]],
  );
  const document = await openapiDocument(client);
  document.assertFits(one, document.answer("GET", "/api/workers/{worker}"), "one");
  document.assertFits(await list(), document.answer("GET", "/api/workers"), "all");
  const missing = await client.get("/api/workers/absent");
  assert.deepEqual([missing.status, missing.body.code], [404, "not_found"]);

  // In each sort order, all pages of the list together have each worker once.
  for (const sort of ["state", "id", "-started", "-running", "-done"]) {
    const ids: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const page: Json = await list(`?sort=${sort}&limit=1&cursor=${cursor}`);
      ids.push(...page.workers.map((worker: Json) => worker.worker_id));
      cursor = page.next_cursor;
    }
    assert.deepEqual(ids.toSorted(), [safe.id, fast.id, "gone", stock.worker_id].sort(), sort);
  }
  const [row] = (await list("?fields=row&search=QUICK_ONE")).workers;
  assert.deepEqual(
    [row.worker_id, row.tasks, row.tasks_complete, row.current[0].id],
    [fast.id, [], false, ofFast],
  );
  for (const [text, id] of [
    ["lost-host", "gone"],
    ["QUICK_ONE", fast.id],
    [stock.worker_id, stock.worker_id],
  ]) {
    const { workers } = await list(`?search=${text}`);
    assert.deepEqual(
      workers.map((worker: Json) => worker.worker_id),
      [id],
      text,
    );
  }
  const { next_cursor: made } = await list("?sort=id&limit=1");
  const wrong = await client.get(`/api/workers?sort=state&cursor=${made}`);
  assert.match(wrong.body.error, /continues a list sorted by id/);
  assert.equal((await client.get("/api/workers?cursor=x")).status, 400);
  assert.equal((await client.get("/api/workers?sort=name")).status, 400);
});

test("A worker's details have the numbers of jobs done and failed, by task and per minute.", async () => {
  const { url } = await migratedDatabase();
  const { client, pool } = await startAdmin({ url });
  const bad = defineTask("bad", () => {
    throw new Error("no");
  });
  const worker = new Worker({
    connectionString: url,
    tasks: [defineTask("good", () => {}), bad],
    fastLane: true,
    recovery: TALKATIVE,
  });
  await worker.start();
  endings.push(() => worker.stop());
  await pool.query(
    `select worker.add_job('good') from generate_series(1, 20);
     select worker.add_job('bad', max_attempts => 1)`,
  );
  const path = `/api/workers/${encodeURIComponent(worker.id)}`;
  await wait("all are counted", async () => {
    const { body } = await client.get(path);
    return body.done === 20 && body.failed === 1;
  });
  const { body } = await client.get(path);
  assert.deepEqual(body.by_task, [
    { task: "good", done: 20, failed: 0 },
    { task: "bad", done: 0, failed: 1 },
  ]);
  assert.ok(body.done_per_min > 0 && body.failed_per_min > 0);
});

test("Requests for lists succeed, whatever metadata the rows of workers have.", async () => {
  const { url } = await migratedDatabase();
  const { client, pool } = await startAdmin({ url });
  const rows = [
    "null",
    "[1]",
    "7",
    '"recovered_at"',
    '{"threshold_ms": 1e999, "done_per_min": 1e999}',
  ];
  rows.push(
    '{"task_identifiers": "x", "running": {}, "cron": 5, "running_jobs": -1, "host": "<b>"}',
  );
  for (const [n, text] of rows.entries()) {
    const values = [`w${n}`, text];
    await pool.query(
      "insert into worker._private_workers (id, last_heartbeat_at, metadata) values ($1, now(), $2::jsonb)",
      values,
    );
  }
  for (const path of [
    "/api/workers",
    "/api/tasks",
    "/api/queues",
    "/api/cron",
    "/api/workers/w4",
  ]) {
    const { status, text } = await client.get(path);
    assert.equal(status, 200, `${path}: ${text}`);
  }
  assert.equal((await client.get("/api/workers?search=%00")).status, 400);
  const sweep = { action: "sweep-stale-workers", dry_run: true };
  assert.equal((await client.post("/api/maintenance", sweep)).status, 200);
});

test("On a schema of Graphile Worker every worker that holds a lock is unknown.", async () => {
  const { emptyDatabase } = await import("../support/database.ts");
  const { url } = await emptyDatabase();
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  await installStock(pool);
  const { client } = await startAdmin({ url });
  assert.deepEqual((await client.get("/api/workers")).body, {
    workers: [],
    next_cursor: null,
    counts: { alive: 0, stale: 0, unknown: 0 },
    differences: [],
  });
  const { released } = blockingTasks();
  await stockWorker(url, "stocks", released);
  await pool.query("select worker.add_job('stocks')");
  const list = async () => (await client.get("/api/workers")).body;
  await wait("it runs", async () => (await list()).workers.length === 1);
  const [only] = (await list()).workers;
  assert.deepEqual(
    [only.state, only.running.value, only.current[0].task],
    ["unknown", 1, "stocks"],
  );
  await pool.end();
});

test("A worker that sends no reports and has locked many jobs does not hide the jobs of another worker.", async () => {
  const { client, pool } = await startAdmin();
  await pool.query(`
    select worker.add_job('t') from generate_series(1, 120);
    update worker._private_jobs set locked_at = now() - interval '1 hour', locked_by = 'many';
    select worker.add_job('t');
    update worker._private_jobs set locked_at = now(), locked_by = 'one' where locked_by is null`);
  const { workers } = (await client.get("/api/workers?sort=id")).body;
  assert.deepEqual(
    workers.map((worker: Json) => [worker.worker_id, worker.current.length]),
    [
      ["many", 50],
      ["one", 1],
    ],
  );
  assert.equal((await client.get("/api/workers/many")).body.current.length, 100);
});

test("Differences between live workers are listed: different versions, and tasks that only some of the workers support.", async () => {
  const { url } = await migratedDatabase();
  const { client, pool } = await startAdmin({ url });
  const addWorker = (id: string, metadata: object, heartbeatAgeS = 0) =>
    pool.query(
      `insert into worker._private_workers (id, last_heartbeat_at, metadata)
       values ($1, now() - $3::float8 * interval '1 second', $2)`,
      [id, JSON.stringify({ threshold_ms: 3_600_000, ...metadata }), heartbeatAgeS],
    );
  const differences = async (query = "") =>
    (await client.get(`/api/workers${query}`)).body.differences.map(
      ({ kind, name, text }: Json) => `${kind} ${name} ${text}`,
    );
  for (const id of ["a", "b", "c"])
    await addWorker(id, { version: "2.1.0", task_identifiers: ["mail"] });
  await addWorker("gone", { version: "1.0.0", task_identifiers: ["fax"] }, 4_000);
  assert.deepEqual(await differences(), []);
  await addWorker("d", { version: "2.0.4", task_identifiers: ["mail", "report"] });
  assert.deepEqual(await differences(), [
    "worker d runs 2.0.4; the others run 2.1.0.",
    "task report is supported by 1 of 4.",
  ]);
  assert.deepEqual(await differences("?search=d"), [], "differences are not listed for a search");
  await addWorker("e", { version: "2.0.4", task_identifiers: ["mail"], tasks_cut: true });
  await addWorker("f", { version: "3.0.0-beta" });
  assert.deepEqual(await differences(), [
    "workers 2 workers run 2.0.4; the most frequent version is 2.1.0.",
    "worker f runs 3.0.0-beta; the most frequent version is 2.1.0.",
  ]);
});
