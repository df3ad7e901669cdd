// In these tests, an open transaction of another client has locked the row of a job, as an add with the job's key does
// until its transaction ends. While the row is locked, the job ends, or the worker gives the job back, or the job is
// the next job of its queue.
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { tcpProxy } from "../../support/tcp-proxy.ts";
import { latch, recordingTask, waitUntil, workerQueue } from "../worker-queue.ts";

const queue = workerQueue();

for (const connections of [1, 2])
  test(`Other jobs run while the result of a job cannot be written, with ${connections} connections.`, async (t) => {
    const gate = latch();
    const held = recordingTask("held", () => gate.opened);
    const quick = recordingTask("quick");
    await queue.startWorker({ tasks: [held, quick], connections, pollIntervalMs: 50 });
    await queue.utils.addJob("held", {}, { jobKey: "one" });
    await waitUntil("the first job runs", () => held.seen.length === 1);
    const client = new pg.Client(queue.url);
    await client.connect();
    t.after(() => client.end());
    await client.query("begin; select worker.add_job('quick', job_key := 'one')");
    gate.open();
    // Long enough for a waiting statement to time out.
    const end = performance.now() + 12_000;
    for (let n = 1; performance.now() < end; n++) {
      await queue.utils.addJob("quick");
      await waitUntil("another job runs", () => quick.seen.length === n, 6_000);
    }
    assert.equal(held.seen.length, 1);
    await client.query("rollback");
    await waitUntil("all results are written", async () => (await queue.remaining()).length === 0);
  });

test("A queue stays locked until its fetched jobs are given back.", async (t) => {
  const gate = latch();
  const held = recordingTask<number>("task", () => gate.opened);
  const next = recordingTask<number>("task");
  const add = async (n: number, queueName = "one") =>
    (await queue.utils.addJob("task", n, { queueName })).id;
  const [first, second] = [await add(1), await add(2)];
  const ending = await queue.startWorker({ tasks: [held], concurrency: 1 });
  await waitUntil("the first job runs", () => held.seen.length === 1);
  await add(3);
  const client = new pg.Client(queue.url);
  await client.connect();
  t.after(() => client.end());
  await client.query(`begin; select from worker._private_jobs where id = ${second} for update`);
  const stopped = ending.stop();
  gate.open();
  const isGone = async () => !(await queue.remaining()).some(({ id }) => id === first);
  await waitUntil("the first job has ended", isGone);
  await queue.startWorker({ tasks: [next], pollIntervalMs: 50 });
  await add(0, "other");
  await waitUntil("a job of another queue has run", () => next.seen.length > 0);
  await client.query("rollback");
  await waitUntil("all jobs have run", async () => (await queue.remaining()).length === 0);
  await stopped;
  assert.deepEqual(next.seen, [0, 2, 3]);
});

test("After an outage a worker unlocks a queue together with the jobs of a fetch whose answer was lost.", async (t) => {
  await using proxy = await tcpProxy(queue.url);
  const gate = latch();
  const task = recordingTask<number>("task", () => gate.opened);
  const add = async (n: number, queueName = "one") =>
    (await queue.utils.addJob("task", n, { queueName })).id;
  await add(1);
  const options = { tasks: [task], concurrency: 1, pollIntervalMs: 50 };
  const cutOff = await queue.startWorker({ ...options, connectionString: proxy.url });
  await waitUntil("the first job runs", () => task.seen.length === 1);
  const lane = proxy.of("worker connection");
  lane.mute("all", "answers");
  const second = await add(2);
  await add(3);
  gate.open();
  const lockedBy = async () => (await queue.remaining()).find(({ id }) => id === second)?.locked_by;
  await waitUntil("the second job is locked", async () => (await lockedBy()) === cutOff.id);
  const client = new pg.Client(queue.url);
  await client.connect();
  t.after(() => client.end());
  await client.query(`begin; select from worker._private_jobs where id = ${second} for update`);
  lane.resume();
  lane.reset();
  const waits = `select from pg_stat_activity
    where application_name = 'worker connection' and datname = current_database() and wait_event_type = 'Lock'`;
  await waitUntil(
    "the return of the second job waits for the job's row",
    async () => (await queue.sql(waits)).length > 0,
  );
  await add(4);
  await add(0, "other");
  await queue.startWorker(options);
  await waitUntil("a job of another queue has run", () => task.seen.includes(0));
  await client.query("rollback");
  await waitUntil("all jobs have run", async () => (await queue.remaining()).length === 0);
  assert.deepEqual(task.seen, [1, 0, 2, 3, 4]);
});

for (const fastLane of [false, true]) {
  const beside = fastLane ? ", beside a fast lane" : "";
  test(`Later jobs of a queue wait while another session has locked the row of its first job${beside}.`, async (t) => {
    const task = recordingTask<number>("task");
    const ids: string[] = [];
    for (const n of [1, 2, 3]) {
      ids.push((await queue.utils.addJob("task", n, { queueName: "one" })).id);
    }
    const client = new pg.Client(queue.url);
    await client.connect();
    t.after(() => client.end());
    const lock = `begin; select from worker._private_jobs where id = ${ids[0]} for update`;
    await client.query(lock);
    await queue.startWorker({ tasks: [task], fastLane, pollIntervalMs: 50 });
    await queue.utils.addJob("task", 0, { queueName: "other" });
    await waitUntil("a job of another queue has run", () => task.seen.length > 0);
    await client.query("rollback");
    await waitUntil("all jobs have run", async () => (await queue.remaining()).length === 0);
    assert.deepEqual(task.seen, [0, 1, 2, 3]);
  });
}
