// Named queues in fast lanes: what joins a queue in mid-run, keys in the way, jobs that outlast a
// transaction. Nobody polls here, so what is not seen at once never runs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { defineTask } from "../../src/worker/task/task.ts";
import { latch, recording, until, workerQueue } from "./worker-queue.ts";

const queue = workerQueue();
const NEVER_MS = 3_600_000;
const LIMIT_MS = 5_000;
const FAST = { pollIntervalMs: NEVER_MS, fastLane: { queues: true, limitMs: LIMIT_MS } } as const;
const IN_Q = { queueName: "q" } as const;

const quick = recording<{ n: number }>("quick");
const ran = () => quick.seen.map(({ n }) => n);

/** Runs a first job, so that everything is connected and then idle. */
async function warmedUp(): Promise<void> {
  await queue.utils.addJob("quick", { n: -1 });
  await until("the first job is done", async () => (await queue.left()).length === 0);
  quick.seen.length = 0;
}

const queueRow = async () => {
  const [row] = await queue.sql<{ locked_by: string | null }>(
    "select locked_by from worker._private_job_queues where queue_name = 'q'",
  );
  return row;
};

/** From now on counts how often a queue's row is written. */
async function countedQueueWrites(): Promise<() => Promise<number>> {
  await queue.sql(`
    create table if not exists queue_writes (at timestamptz default clock_timestamp());
    create or replace function count_queue_write() returns trigger language plpgsql as
      'begin insert into queue_writes default values; return null; end';
    create or replace trigger count_queue_write after update on worker._private_job_queues
      for each row execute function count_queue_write()`);
  return async () => {
    const [row] = await queue.sql<{ n: number }>("select count(*)::int as n from queue_writes");
    return row?.n ?? 0;
  };
}

test("A queue's jobs run in order, and its row is not written for each of them.", async () => {
  await queue.started({ tasks: [quick], ...FAST });
  await warmedUp();
  await queue.utils.addJob("quick", { n: 0 }, IN_Q);
  await until("the first of the queue is done", async () => (await queue.left()).length === 0);
  const writes = await countedQueueWrites();
  const more = Array.from({ length: 300 }, (_, n) => ({
    identifier: "quick",
    payload: { n: n + 1 },
    spec: IN_Q,
  }));
  await queue.utils.addJobs(more);
  await until("all are done", async () => (await queue.left()).length === 0);
  assert.deepEqual(
    ran(),
    Array.from({ length: 301 }, (_, n) => n),
  );
  // Mostly not at all. But the safe mode takes a run where it looked at the queue while a transaction
  // of the fast mode held it, and asked for its lock just after that had ended.
  assert.ok((await writes()) < 150, `${await writes()} writes for 300 jobs`);
});

test("A job that joins a queue while a job of it runs follows at once.", async () => {
  const [running, go] = [latch(), latch()];
  const slow = defineTask("slow", async () => {
    running.open();
    await go.opened;
  });
  await queue.started({ tasks: [quick, slow], ...FAST });
  await warmedUp();
  await queue.utils.addJob("slow", {}, IN_Q);
  await running.opened;
  await queue.utils.addJob("quick", { n: 1 }, IN_Q);
  // Elsewhere all goes on meanwhile.
  await queue.utils.addJob("quick", { n: 2 }, { queueName: "another" });
  await queue.utils.addJob("quick", { n: 3 });
  await until("those of no queue and of another one have run", () => ran().length === 2);
  assert.deepEqual(ran().sort(), [2, 3]);
  go.open();
  await until("it has run", () => ran().includes(1));
});

test("Jobs with keys run in their places.", async () => {
  await queue.started({ tasks: [quick], ...FAST });
  await warmedUp();
  await queue.utils.addJobs(
    Array.from({ length: 60 }, (_, n) => ({
      identifier: "quick",
      payload: { n },
      spec: n % 20 === 7 ? { ...IN_Q, jobKey: `key ${n}` } : IN_Q,
    })),
  );
  await until("all are done", async () => (await queue.left()).length === 0);
  assert.deepEqual(
    ran(),
    Array.from({ length: 60 }, (_, n) => n),
  );
});

test("A job that outlasts its transaction keeps its queue, and lets it go at its end.", async () => {
  const go = latch();
  const slow = defineTask("slow", () => go.opened);
  await queue.started({
    tasks: [quick, slow],
    pollIntervalMs: NEVER_MS,
    fastLane: { queues: true, limitMs: 30 },
  });
  await warmedUp();
  await queue.utils.addJob("slow", {}, IN_Q);
  await queue.utils.addJob("quick", { n: 1 }, IN_Q);
  await until("job and queue are locked in the ordinary way", async () => {
    const [job] = await queue.left();
    return job?.locked_by != null && (await queueRow())?.locked_by === job.locked_by;
  });
  assert.deepEqual(ran(), []);
  go.open();
  await until("all are done", async () => (await queue.left()).length === 0);
  assert.deepEqual(ran(), [1]);
  await until("the queue is free", async () => (await queueRow())?.locked_by === null);
});

test("A job that fails comes back later, and the rest of its queue does not wait for it.", async () => {
  const failing = defineTask("failing", () => "as expected");
  await queue.started({ tasks: [quick, failing], ...FAST });
  await warmedUp();
  await queue.utils.addJobs([
    { identifier: "failing", spec: IN_Q },
    { identifier: "quick", payload: { n: 1 }, spec: IN_Q },
  ]);
  await until("the other is done", () => ran().length === 1);
  await until("the failure is written", async () => (await queue.left())[0]?.attempts === 1);
  const [left] = await queue.left();
  assert.equal(left?.last_error, "as expected");
  assert.ok(left.wait_s > 0.5, `waits ${left.wait_s} s`);
});

test("A ready job is found behind a more urgent one that is scheduled.", async () => {
  await queue.started({
    tasks: [quick],
    pollIntervalMs: NEVER_MS,
    fastLane: true,
  });
  await warmedUp();
  const runAt = new Date(Date.now() + 3_600_000);
  await queue.utils.addJob("quick", { n: 0 }, { runAt, priority: -5 });
  for (let n = 1; n <= 3; n++) {
    await queue.utils.addJob("quick", { n });
    await until(`job ${n} has run`, () => ran().includes(n));
  }
  assert.deepEqual(ran(), [1, 2, 3]);
});

test("A job with a key that joins a queue in mid-run follows at once.", async () => {
  await queue.started({ tasks: [quick], ...FAST });
  await warmedUp();
  for (let n = 0; n < 20; n++) {
    await queue.utils.addJob("quick", { n: 2 * n }, IN_Q);
    await queue.utils.addJob("quick", { n: 2 * n + 1 }, { ...IN_Q, jobKey: `key ${n}` });
    await until(`job ${n} with a key has run`, () => ran().includes(2 * n + 1));
  }
});

test("A long queue leaves slots to other queues and to jobs without one.", async () => {
  const short = recording<{ queue: string }>("short", () => sleep(2));
  const long = Array.from({ length: 600 }, () => "long");
  const others = ["a", "b", "c", "d", "long too", ...Array.from({ length: 300 }, () => "long too")];
  const queued = [...long, ...others].map((queueName) => ({
    identifier: "short",
    payload: { queue: queueName },
    spec: { queueName },
  }));
  await queue.utils.addJobs([
    ...queued,
    { identifier: "short", payload: { queue: "none" } },
    { identifier: "short", payload: { queue: "e" }, spec: { queueName: "e" } },
  ]);
  await queue.started({ tasks: [short], concurrency: 10, lanes: 1, ...FAST });
  const isThere = (name: string) => short.seen.some((payload) => payload.queue === name);
  await until("the others have run", () => ["a", "b", "c", "d", "e", "none"].every(isThere));
  const done = short.seen.filter((payload) => payload.queue === "long").length;
  assert.ok(done < 300, `the long queue has done ${done} of 600 before`);
});

test("What outlasts an abort is written before it ends, and its queue is free.", async () => {
  const both = latch();
  let begun = 0;
  const deaf = defineTask("deaf", () => {
    if (++begun === 2) both.open();
    return new Promise(() => {});
  });
  const worker = await queue.started({
    tasks: [quick, deaf],
    pollIntervalMs: NEVER_MS,
    abortGraceMs: 50,
    fastLane: { queues: true, limitMs: 5_000 },
  });
  await warmedUp();
  await queue.utils.addJobs([
    { identifier: "deaf", spec: IN_Q },
    { identifier: "deaf" },
    { identifier: "quick", payload: { n: 1 }, spec: IN_Q },
  ]);
  await both.opened;
  await worker.abort("enough");
  const left = await queue.left();
  assert.deepEqual(
    left.map(({ attempts, last_error }) => [attempts, last_error]),
    [
      [1, "interrupted: the worker was stopped (enough)"],
      [1, "interrupted: the worker was stopped (enough)"],
      [0, null],
    ],
  );
  // Refused where a transaction is still open.
  const free = await queue.sql("select id from worker._private_jobs for update nowait");
  assert.equal(free.length, 3);
});
