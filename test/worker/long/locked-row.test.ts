// A job that has ended while an open transaction of another session has its row locked, for example after adding a
// job with the same key.
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { tcpProxy } from "../../support/tcp-proxy.ts";
import { latch, recording, until, workerQueue } from "../worker-queue.ts";

const queue = workerQueue();

for (const connections of [1, 2])
  test(`Other jobs run while the result of one cannot be written, with ${connections} connections.`, async (t) => {
    const gate = latch();
    const held = recording("held", () => gate.opened);
    const quick = recording("quick");
    await queue.started({ tasks: [held, quick], connections, pollIntervalMs: 50 });
    await queue.utils.addJob("held", {}, { jobKey: "one" });
    await until("it runs", () => held.seen.length === 1);
    const client = new pg.Client(queue.url);
    await client.connect();
    t.after(() => client.end());
    await client.query("begin; select worker.add_job('quick', job_key := 'one')");
    gate.open();
    // Long enough for a waiting statement to time out.
    const end = performance.now() + 12_000;
    for (let n = 1; performance.now() < end; n++) {
      await queue.utils.addJob("quick");
      await until("another one runs", () => quick.seen.length === n, 6_000);
    }
    assert.equal(held.seen.length, 1);
    await client.query("rollback");
    await until("all is written", async () => (await queue.left()).length === 0);
  });

test("A queue is unlocked only together with the return of its jobs.", async (t) => {
  const gate = latch();
  const held = recording<number>("task", () => gate.opened);
  const next = recording<number>("task");
  const add = async (n: number, queueName = "one") =>
    (await queue.utils.addJob("task", n, { queueName })).id;
  const [first, second] = [await add(1), await add(2)];
  const ending = await queue.started({ tasks: [held], concurrency: 1 });
  await until("the first runs", () => held.seen.length === 1);
  await add(3);
  const client = new pg.Client(queue.url);
  await client.connect();
  t.after(() => client.end());
  await client.query(`begin; select from worker._private_jobs where id = ${second} for update`);
  const stopped = ending.stop();
  gate.open();
  const isGone = async () => !(await queue.left()).some(({ id }) => id === first);
  await until("the first has ended", isGone);
  await queue.started({ tasks: [next], pollIntervalMs: 50 });
  await add(0, "other");
  await until("a job of another queue has run", () => next.seen.length > 0);
  await client.query("rollback");
  await until("all have run", async () => (await queue.left()).length === 0);
  await stopped;
  assert.deepEqual(next.seen, [0, 2, 3]);
});

test("After an outage a worker unlocks its queue together with the jobs of its lost fetch.", async (t) => {
  await using proxy = await tcpProxy(queue.url);
  const gate = latch();
  const task = recording<number>("task", () => gate.opened);
  const add = async (n: number, queueName = "one") =>
    (await queue.utils.addJob("task", n, { queueName })).id;
  await add(1);
  const options = { tasks: [task], concurrency: 1, pollIntervalMs: 50 };
  const cutOff = await queue.started({ ...options, connectionString: proxy.url });
  await until("the first runs", () => task.seen.length === 1);
  const lane = proxy.of("worker connection");
  lane.mute("all", "answers");
  const second = await add(2);
  await add(3);
  gate.open();
  const lockedBy = async () => (await queue.left()).find(({ id }) => id === second)?.locked_by;
  await until("the second is taken", async () => (await lockedBy()) === cutOff.id);
  const client = new pg.Client(queue.url);
  await client.connect();
  t.after(() => client.end());
  await client.query(`begin; select from worker._private_jobs where id = ${second} for update`);
  lane.resume();
  lane.reset();
  const waits = `select from pg_stat_activity
    where application_name = 'worker connection' and datname = current_database() and wait_event_type = 'Lock'`;
  await until("it is to be given back", async () => (await queue.sql(waits)).length > 0);
  await add(4);
  await add(0, "other");
  await queue.started(options);
  await until("a job of another queue has run", () => task.seen.includes(0));
  await client.query("rollback");
  await until("all have run", async () => (await queue.left()).length === 0);
  assert.deepEqual(task.seen, [1, 0, 2, 3, 4]);
});

for (const fastLane of [false, true]) {
  const beside = fastLane ? ", beside a fast lane" : "";
  test(`Later jobs of a queue wait for the session that has a job's row locked${beside}.`, async (t) => {
    const task = recording<number>("task");
    const ids: string[] = [];
    for (const n of [1, 2, 3]) {
      ids.push((await queue.utils.addJob("task", n, { queueName: "one" })).id);
    }
    const client = new pg.Client(queue.url);
    await client.connect();
    t.after(() => client.end());
    const lock = `begin; select from worker._private_jobs where id = ${ids[0]} for update`;
    await client.query(lock);
    await queue.started({ tasks: [task], fastLane, pollIntervalMs: 50 });
    await queue.utils.addJob("task", 0, { queueName: "other" });
    await until("a job of another queue has run", () => task.seen.length > 0);
    await client.query("rollback");
    await until("all have run", async () => (await queue.left()).length === 0);
    assert.deepEqual(task.seen, [0, 1, 2, 3]);
  });
}
