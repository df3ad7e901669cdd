// Tests workers behind a network that is slow, or that stops passing data without closing connections. Also tests the
// names of a worker's connections, because these tests select connections by name.
import assert from "node:assert/strict";
import { test } from "node:test";
import { defineTask, type Task } from "../../../src/worker/task/task.ts";
import { tcpProxy } from "../../support/tcp-proxy.ts";
import { latch, recordingTask, waitUntil, witness, workerQueue } from "../worker-queue.ts";

const queue = workerQueue();
const NEVER_MS = 3_600_000;

/** The time limit for the replacement of lost connections: twice the time that an idle machine needs. */
const PATIENCE_MS = 60_000;

const heartbeat = async () => {
  const text = "select last_heartbeat_at::text as at from worker._private_workers";
  return (await queue.sql<{ at: string }>(text))[0]?.at;
};

test("A worker behind a slow network locks no more jobs than it has slots.", async (t) => {
  const proxy = await tcpProxy(queue.url, { delayMs: 15 });
  t.after(() => proxy.close());
  const gate = latch();
  const held = recordingTask("held", () => gate.opened);
  const saw = witness("job:fetch");
  await queue.utils.addJobs(Array.from({ length: 40 }, () => ({ identifier: "held" })));
  const worker = await queue.startWorker({
    connectionString: proxy.url,
    tasks: [held],
    concurrency: 2,
    pollIntervalMs: 20,
    plugins: [saw],
  });
  await waitUntil("both slots are taken", () => held.seen.length === 2);
  // Each announcement and each poll wakes the worker, which must not lock more jobs while its slots are taken.
  for (let n = 0; n < 10; n++) await queue.utils.addJob("held");
  const locked = async () =>
    (await queue.remaining()).filter(({ locked_by }) => locked_by !== null).length;
  assert.equal(await locked(), 2);
  gate.open();
  await waitUntil("all jobs have run", () => held.seen.length === 50);
  const fetched = saw.all("job:fetch").map(({ count }) => count);
  assert.equal(
    fetched.reduce((sum, count) => sum + count, 0),
    50,
  );
  await worker.stop();
});

for (const fastLane of [false, true]) {
  const kind = fastLane ? "fast" : "safe";
  test(`Connections without answers are replaced, and then jobs run as before (${kind}).`, async (t) => {
    const proxy = await tcpProxy(queue.url);
    t.after(() => proxy.close());
    const quick = recordingTask("quick");
    const saw = witness("worker:reconnected");
    const worker = await queue.startWorker({
      connectionString: proxy.url,
      tasks: [quick],
      fastLane,
      // The interval is so long that no poll can notice that the connections do not answer.
      pollIntervalMs: NEVER_MS,
      recovery: { heartbeatIntervalMs: 300, thresholdMs: 2_000 },
      plugins: [saw],
    });
    await queue.utils.addJob("quick");
    await waitUntil("the first job has run", () => quick.seen.length === 1);
    const started = await heartbeat();
    await waitUntil("a heartbeat has succeeded", async () => (await heartbeat()) !== started);
    proxy.mute("established");
    const accepted = proxy.accepted;
    // The connections of the heartbeat and of LISTEN, and two for each fetcher.
    const mine = fastLane ? 6 : 4;
    await waitUntil(
      "all connections are replaced",
      () => proxy.accepted >= accepted + mine,
      PATIENCE_MS,
    );
    await waitUntil(
      "the worker takes jobs again",
      async () => {
        await queue.utils.addJob("quick");
        return quick.seen.length > 1;
      },
      PATIENCE_MS,
    );
    await waitUntil("all jobs are done", async () => (await queue.remaining()).length === 0);
    const before = quick.seen.length;
    await queue.utils.addJob("quick");
    await waitUntil(
      "the worker runs the next job after its announcement",
      () => quick.seen.length > before,
    );
    await worker.stop();
  });
}

test("A statement on a lost connection has no effect when it arrives later.", async (t) => {
  const proxy = await tcpProxy(queue.url);
  t.after(() => proxy.close());
  const gate = latch();
  const held = recordingTask("held", () => gate.opened);
  await queue.startWorker({
    connectionString: proxy.url,
    tasks: [held],
    concurrency: 1,
    pollIntervalMs: NEVER_MS,
  });
  const lanes = proxy.of("worker connection");
  // The fetches that follow the announcement do not reach the server, and time out after 7.5 seconds.
  lanes.mute("established", "requests");
  const accepted = lanes.accepted;
  await queue.utils.addJobs(Array.from({ length: 5 }, () => ({ identifier: "held" })));
  await waitUntil("new connections are made", () => lanes.accepted >= accepted + 2, PATIENCE_MS);
  await waitUntil("a job runs", () => held.seen.length === 1);
  const open = lanes.open;
  proxy.resume();
  await waitUntil("the old connections have ended", () => lanes.open === open - 2);
  const locked = (await queue.remaining()).filter(({ locked_by }) => locked_by !== null);
  assert.equal(locked.length, 1);
  gate.open();
  await waitUntil("all jobs have run", () => held.seen.length === 5);
  await waitUntil("all jobs are done", async () => (await queue.remaining()).length === 0);
});

test("A job that adds another job over a lost connection is retried, and does not block its queue.", async (t) => {
  const proxy = await tcpProxy(queue.url);
  t.after(() => proxy.close());
  const child = recordingTask("child");
  const codes: unknown[] = [];
  const parent = defineTask("parent", async (_, { addJob }) => {
    await addJob("child").catch((error) => {
      codes.push(error.code);
      throw error;
    });
  });
  await queue.startWorker({
    connectionString: proxy.url,
    tasks: [parent, child] as Task<never>[],
    concurrency: 2,
  });
  const spec = { queueName: "one after another" };
  await queue.utils.addJob("parent", {}, spec);
  await waitUntil(
    "the first job and its child are done",
    async () => (await queue.remaining()).length === 0,
  );
  assert.equal(child.seen.length, 1);
  proxy.of("worker").mute("established");
  await queue.utils.addJobs([
    { identifier: "parent", spec },
    { identifier: "parent", spec },
  ]);
  await waitUntil(
    "all jobs are done",
    async () => (await queue.remaining()).length === 0,
    PATIENCE_MS,
  );
  assert.deepEqual(codes, ["outcome_unknown"]);
  assert.equal(child.seen.length, 3);
});

test("Each kind of connection has its own name in pg_stat_activity.", async () => {
  await queue.startWorker({
    tasks: [recordingTask("quick")],
    connections: 2,
    fastLane: true,
    recovery: {},
  });
  const names = async () => {
    const rows = await queue.sql<{ name: string }>(`select application_name as name
      from pg_stat_activity where datname = current_database() and application_name like 'worker %'`);
    return rows.map(({ name }) => name).sort();
  };
  const lanes = ["worker fast lane", "worker fast lane", "worker connection", "worker connection"];
  const expected = [...lanes, "worker heartbeat", "worker listen"].sort();
  await waitUntil(
    "each connection has the expected name",
    async () => `${await names()}` === `${expected}`,
  );
});

test("A fast lane does not start the jobs of a fetch whose answer arrives after the worker's lease has expired.", async (t) => {
  const proxy = await tcpProxy(queue.url);
  t.after(() => proxy.close());
  const late = recordingTask("task");
  const saw = witness("worker:leaseLost");
  const recovery = { heartbeatIntervalMs: 100, thresholdMs: 1_000 };
  const options = { fastLane: true, recovery };
  const first = { tasks: [late], connectionString: proxy.url, plugins: [saw] };
  await queue.startWorker({ ...options, ...first });
  await queue.utils.addJob("task");
  await waitUntil("the first job is done", async () => (await queue.remaining()).length === 0);
  // The server executes the first worker's fetch, but the worker does not receive the answer. The worker's heartbeats
  // do not reach the server.
  proxy.of("worker fast lane").mute("all", "answers");
  proxy.of("worker heartbeat").mute();
  await queue.utils.addJob("task");
  const open = `select from pg_stat_activity where datname = current_database()
    and application_name = 'worker fast lane' and state = 'idle in transaction'`;
  await waitUntil(
    "the first worker's fetch has locked the job",
    async () => (await queue.sql(open)).length > 0,
  );
  const other = recordingTask("task");
  await queue.startWorker({ ...options, tasks: [other] });
  await waitUntil("the second worker has run the job", () => other.seen.length === 1);
  proxy.resume();
  for (const name of ["worker fast lane", "worker heartbeat"]) proxy.of(name).resume();
  await saw.saw("worker:leaseLost");
  await queue.utils.addJob("task");
  await waitUntil("all jobs are done", async () => (await queue.remaining()).length === 0);
  assert.equal(late.seen.length + other.seen.length, 3);
});
