// Tests a worker's heartbeat: its thread and its report, and what the worker does if the thread, the heartbeat row, the
// table of heartbeats or the rights to this table are missing.
import assert from "node:assert/strict";
import { once } from "node:events";
import net from "node:net";
import { test } from "node:test";
import type { Worker as Thread } from "node:worker_threads";
import pg from "pg";
import { silentLogger } from "../../src/base/logger.ts";
import { Outage } from "../../src/base/outage.ts";
import { VERSION } from "../../src/base/version.ts";
import { migrate } from "../../src/database/schema/migrate.ts";
import { schemaName } from "../../src/database/schema-name.ts";
import { cronEntry } from "../../src/domain/cron/cron-entry.ts";
import { registerLease } from "../../src/queue/workers/lease.ts";
import { Heartbeat } from "../../src/worker/lease/heartbeat.ts";
import { resolveRecovery } from "../../src/worker/options/recovery-options.ts";
import type { WorkerEvents } from "../../src/worker/task/hooks.ts";
import { testQueue } from "../queue/queue-database.ts";
import { emptyDatabase, migratedDatabase } from "../support/database.ts";
import { installStock } from "../support/stock-schema.ts";
import { tcpProxy } from "../support/tcp-proxy.ts";
import { rolePool, testPool } from "../support/test-pool.ts";
import { beats, blockedWorker, IN_THREAD } from "./blocked-worker.ts";
import { jobsOf } from "./recovery-jobs.ts";
import { QUICK, waitUntil } from "./worker-process.ts";

const queue = testQueue();
const { add, isGone, workerIds } = jobsOf(queue);

const HERE = /heartbeats are sent from the worker's own thread/;

test("The heartbeat runs in a thread and reports the worker and its running jobs.", async () => {
  // The entry has ticks on 29 February only: a tick during the test would add a job, which would be counted.
  const cron = { entries: [cronEntry("0 0 29 2 *", "quick", { identifier: "leap day" })] };
  const { worker, lines, started, release } = blockedWorker({
    connectionString: queue.url,
    concurrency: 3,
    cron,
  });
  await worker.start();
  assert.ok(lines.includes(IN_THREAD));
  const { id } = await add("held");
  await started;
  const text = "select metadata from worker._private_workers where id = $1";
  const metadata = async () =>
    (await queue.sql<{ metadata: Record<string, unknown> }>(text, [worker.id]))[0]?.metadata ?? {};
  await waitUntil(
    "the running job is reported",
    async () => (await metadata())["running_jobs"] === 1,
  );
  const { host, cron: timetable, running, steady_since_ms, ...rest } = await metadata();
  assert.deepEqual([typeof host, typeof steady_since_ms], ["string", "number"]);
  const [{ next, digest, ...entry }, ...more] = timetable as Record<string, unknown>[] as [
    Record<string, unknown>,
  ];
  assert.deepEqual(
    [entry, ...more],
    [
      {
        ...{ identifier: "leap day", task: "quick", pattern: "0 0 29 2 *", time_zone: "UTC" },
        ...{ backfill_ms: 0, key: null },
      },
    ],
  );
  assert.match(String(digest), /^[0-9a-f]{12}$/);
  assert.match(String(next), /:00\.000Z$/);
  const [{ since, ...job }] = running as [Record<string, unknown>];
  assert.deepEqual(job, { id, task: "held" });
  assert.ok(Math.abs(Date.parse(String(since)) - Date.now()) < 60_000);
  assert.deepEqual(rest, {
    pid: process.pid,
    version: VERSION,
    node: process.versions.node,
    concurrency: 3,
    task_identifiers: ["held", "quick"],
    tasks_cut: false,
    cron_entries: ["leap day"],
    done: 0,
    failed: 0,
    done_per_min: 0,
    failed_per_min: 0,
    by_task: [],
    running_jobs: 1,
    running_job_ids: [id],
    fetched_job_ids: [],
    threshold_ms: QUICK.thresholdMs,
    resilient_threshold_ms: QUICK.resilientThresholdMs,
  });
  release();
  await worker.stop();
  assert.deepEqual(await workerIds(), []);
});

test("A worker that stops before its heartbeat thread has started leaves no heartbeat row.", async () => {
  // Many workers start at once, so that they are stopped before their heartbeat threads have started.
  const workers = Array.from({ length: 12 }, () => blockedWorker({ pool: queue.pool }).worker);
  await Promise.all(workers.map((worker) => worker.start()));
  assert.equal((await workerIds()).length, 12);
  await Promise.all(workers.map((worker) => worker.stop()));
  assert.deepEqual(await workerIds(), []);
});

test("With a pool that works only in the worker's own thread, the heartbeat runs in that thread, and the worker logs this.", async () => {
  const pool = new pg.Pool({ connectionString: queue.url, stream: () => new net.Socket() });
  const { worker, lines } = blockedWorker({ pool });
  await worker.start();
  assert.match(lines.join("\n"), HERE);
  await beats(queue.sql);
  await worker.stop();
  assert.deepEqual(await workerIds(), []);
  await pool.end();
});

test("On a schema of Graphile Worker, the worker logs that recovery is off, and jobs run.", async () => {
  const { url } = await emptyDatabase();
  const { pool, close } = testPool(url);
  await installStock(pool);
  const { worker, lines } = blockedWorker({ connectionString: url });
  await worker.start();
  assert.equal(
    lines.filter((line) => /recovery is off.+"worker migrate" adds it/.test(line)).length,
    1,
  );
  const { rows } = await pool.query("select id from worker.add_job('quick')");
  await waitUntil("the job is done", async () => {
    const text = "select from worker._private_jobs where id = $1";
    return (await pool.query(text, [rows[0].id])).rowCount === 0;
  });
  await worker.stop();
  await close();
});

test("A worker whose role may not write to the table of workers runs without heartbeats and logs this.", async () => {
  const { url } = await migratedDatabase();
  const owner = testPool(url);
  const poor = await rolePool(
    url,
    owner.pool,
    (role) => `
    grant usage on schema worker to ${role};
    grant all on all tables in schema worker to ${role};
    revoke all on worker._private_workers from ${role};
    alter table worker._private_jobs disable row level security;
    alter table worker._private_job_queues disable row level security;
    alter table worker._private_tasks disable row level security`,
  );
  const { worker, lines } = blockedWorker({ pool: poor.pool });
  await worker.start();
  assert.match(lines.join("\n"), /recovery is off.+ may not write to the table _private_workers/);
  const { rows } = await owner.pool.query("select id from worker.add_job('quick')");
  await waitUntil("the job is done", async () => {
    const text = "select from worker._private_jobs where id = $1";
    return (await owner.pool.query(text, [rows[0].id])).rowCount === 0;
  });
  await worker.stop();
  await poor.close();
  await owner.close();
});

test("Without recovery there is no heartbeat.", async () => {
  const { worker } = blockedWorker({ connectionString: queue.url, recovery: false });
  await worker.start();
  const { id } = await add("quick");
  await waitUntil("the job is done", () => isGone(id));
  assert.deepEqual(await workerIds(), []);
  await worker.stop();
});

test("A worker whose row was deleted continues under a new id; running jobs end under the old id.", async () => {
  const { worker, started, release } = blockedWorker({ connectionString: queue.url });
  const lost = Promise.withResolvers<WorkerEvents["worker:leaseLost"]>();
  const interrupted: string[] = [];
  worker.hooks.on("worker:leaseLost", (event) => lost.resolve(event));
  worker.hooks.on("job:interrupted", ({ jobId }) => interrupted.push(jobId));
  await worker.start();
  const before = worker.id;
  const blocked = await add("held");
  await started;
  await queue.sql("delete from worker._private_workers");
  const { workerId, newWorkerId, reason } = await lost.promise;
  assert.deepEqual([workerId, newWorkerId, reason], [before, worker.id, "removed"]);
  assert.notEqual(worker.id, before);
  const quick = await add("quick");
  await waitUntil("a job has run under the new id", () => isGone(quick.id));
  release();
  await waitUntil("the job of the old worker id is done", () => isGone(blocked.id));
  assert.deepEqual(interrupted, []);
  await worker.stop();
  assert.deepEqual(await workerIds(), []);
});

test("When the table of heartbeats is dropped, the worker waits until a migration has created the table again.", async () => {
  const { url } = await emptyDatabase();
  const { pool, close } = testPool(url);
  await migrate(pool, schemaName());
  const { worker, lines } = blockedWorker({ connectionString: url });
  await worker.start();
  await pool.query("drop table worker._private_workers cascade");
  await waitUntil("the worker logs the outage", async () =>
    lines.some((line) => /is unreachable/.test(line)),
  );
  await migrate(pool, schemaName());
  const { rows } = await pool.query("select id from worker.add_job('quick')");
  await waitUntil("the job is done", async () => {
    const text = "select from worker._private_jobs where id = $1";
    return (await pool.query(text, [rows[0].id])).rowCount === 0;
  });
  await worker.stop();
  await close();
});

test("If the network loses the heartbeat connection without notice, the worker does not lose its lease.", async (t) => {
  const proxy = await tcpProxy(queue.url);
  t.after(() => proxy.close());
  const { worker } = blockedWorker({ connectionString: proxy.url, recovery: {} });
  await worker.start();
  t.after(() => worker.stop());
  const lastMs = async () => {
    const [row] = await queue.sql<{ ms: number }>(`select
      extract(epoch from last_heartbeat_at)::float8 * 1000 as ms from worker._private_workers`);
    return row?.ms ?? 0;
  };
  const registeredMs = await lastMs();
  await waitUntil("the worker sends a heartbeat", async () => (await lastMs()) > registeredMs);
  proxy.of("worker heartbeat").mute("established");
  const beforeMs = await lastMs();
  await waitUntil("the worker sends the next heartbeat", async () => (await lastMs()) > beforeMs);
  const gapMs = (await lastMs()) - beforeMs;
  assert.ok(gapMs < 7_000, `the worker sent no heartbeat for ${gapMs} ms`);
});

test("If the heartbeat thread ends before it has written a report, the report is written without the thread.", async () => {
  const lines: string[] = [];
  const note = (_: object, message: string) => void lines.push(message);
  const thread = once(process, "worker");
  const { recovery } = resolveRecovery(QUICK);
  const heartbeat = new Heartbeat({
    ...{ connection: { connectionString: queue.url }, schema: queue.db.schema },
    ...{ config: recovery ?? assert.fail(), renewLocksEveryMs: 3_600_000 },
    ...{ logger: { debug: note, info: note, warn: note, error: note }, report: () => {} },
    ...{ outage: new Outage(silentLogger), onTrouble: () => {} },
  });
  const { uptimeMs: _, ...mark } = await registerLease(queue.db, "w", '{"pid": 1}', 0);
  await heartbeat.start([{ id: "w", ...mark }]);
  const blocker = await queue.pool.connect();
  // While the row is locked, no heartbeat is written.
  await blocker.query("begin; select from worker._private_workers for update");
  heartbeat.describe("w", '{"pid": 2}', false);
  const [started] = (await thread) as [Thread];
  await started.terminate();
  await blocker.query("commit");
  blocker.release();
  await waitUntil("the report is written", async () => {
    const text = "select metadata ->> 'pid' as pid from worker._private_workers";
    return (await queue.sql<{ pid: string }>(text))[0]?.pid === "2";
  });
  assert.match(lines.join("\n"), HERE);
  await heartbeat.stop();
});
