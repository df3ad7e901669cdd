// Tests of pauses of queues: a pause whose time is over while a job of its queue still runs, and a pause that two
// transactions change at the same time.
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { silentLogger } from "../../src/base/logger.ts";
import { makeWorkerUtils } from "../../src/utils/worker-utils.ts";
import { ControlWatch } from "../../src/worker/control-watch.ts";
import { migratedDatabase } from "../support/database.ts";
import { waitUntil, workerQueue } from "./worker-queue.ts";

const queue = workerQueue(() => migratedDatabase("worker", ["controls"]));

const WAITING = `select from pg_stat_activity where datname = current_database()
  and wait_event_type = 'Lock' and query ~ '_private_pauses'`;

test("A pause whose time is over while a job of its queue runs is read a few times a second, not after each run of a queue. The pause ends soon after the job.", async (t) => {
  let reads = 0;
  let ends = 0;
  const { database } = queue.utils;
  const watch = new ControlWatch({
    limits: { read: async () => null },
    patient: database,
    logger: silentLogger,
    database: () => {
      reads++;
      return database;
    },
    returnUnstarted: async () => {},
    ...{ wake: () => void ends++, jobs: () => [], cancel: () => false },
    ...{ isOwn: () => false, acknowledge: () => {} },
  });
  await queue.utils.addJob("task", {}, { queueName: "q" });
  await queue.sql("update worker._private_jobs set locked_by = 'another', locked_at = now()");
  await queue.sql("update worker._private_job_queues set locked_by = 'another', locked_at = now()");
  await queue.utils.pauseQueue("q", { resumeAt: new Date(Date.now() + 60_000) });
  await queue.sql("update worker._private_pauses set resume_at = now()");
  await watch.start(database);
  t.after(() => watch.stop());
  const runs = setInterval(() => watch.queueUnlocked(), 1);
  t.after(() => clearInterval(runs));
  await waitUntil("the pause is read", () => reads > 0);
  const before = reads;
  await queue.sql("select pg_sleep(1)");
  const inASecond = reads - before;
  assert.ok(inASecond <= 10, `the pause is read ${inASecond} times in a second`);
  // Without the calls of queueUnlocked() there would be one read in two seconds.
  assert.ok(inASecond >= 2, `the pause is read ${inASecond} times in a second`);
  const wakes = ends;
  await queue.sql("delete from worker._private_jobs");
  await waitUntil("the pause has ended", () => ends > wakes);
  assert.deepEqual(await queue.sql("select from worker._private_pauses"), []);
});

for (const [name, change] of Object.entries({
  pauses: () => queue.utils.pauseQueue("q", { waitMs: 0 }),
  resumes: () => queue.utils.resumeQueue("q"),
})) {
  test(`While a pause's row is locked, a call that ${name} the queue waits without locking the queue, so there is no deadlock.`, async () => {
    await queue.utils.pauseQueue("q", { waitMs: 0 });
    const client = await queue.pool.connect();
    try {
      await client.query("begin");
      await client.query("select from worker._private_pauses for update");
      const changed = change();
      await waitUntil(
        "the call waits for the pause's row",
        async () => (await queue.sql(WAITING)).length === 1,
      );
      await client.query("select from worker._private_job_queues for update nowait");
      await client.query("commit");
      await changed;
    } finally {
      client.release();
    }
  });
}

test("A call that pauses or resumes a queue is repeated if it fails under repeatable read because of a concurrent change.", async (t) => {
  const options = "-c default_transaction_isolation=repeatable\\ read";
  const own = new pg.Pool({ connectionString: queue.url, options });
  t.after(() => own.end());
  const utils = await makeWorkerUtils({ pool: own });
  await utils.pauseQueue("q", { waitMs: 0 });
  for (const change of [
    () => utils.pauseQueue("q", { waitMs: 0, reason: "again" }),
    () => utils.resumeQueue("q"),
  ]) {
    const client = await queue.pool.connect();
    await client.query("begin");
    await client.query("update worker._private_pauses set paused_by = 'another'");
    const changed = change();
    await waitUntil(
      "the call waits for the pause's row",
      async () => (await queue.sql(WAITING)).length === 1,
    );
    await client.query("commit");
    client.release();
    await changed;
  }
  assert.deepEqual(await utils.listPauses(), []);
});
