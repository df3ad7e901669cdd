// Tests makeWorkerUtils() and the methods of the utilities: on their own pool, on a pool or client of the caller, and
// with invalid options.
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { InputError } from "../../src/base/errors.ts";
import { schemaName } from "../../src/database/schema-name.ts";
import { rawJson } from "../../src/domain/payload.ts";
import { makeWorkerUtils } from "../../src/utils/worker-utils.ts";
import { waitForJob } from "../../src/worker/testing.ts";
import { testQueue } from "../queue/queue-database.ts";
import { emptyDatabase, migratedDatabase } from "../support/database.ts";

const queue = testQueue();

test("Methods work on the caller's pool, which is never closed.", async () => {
  const utils = await makeWorkerUtils({ pool: queue.pool });
  assert.equal(utils.schema, "worker");
  const job = await utils.addJob("t", { n: 1 }, { jobKey: "k", queueName: "q" });
  const [other] = await utils.addJobs([{ identifier: "u" }]);
  assert.deepEqual(await utils.getJob(job.id), job);
  assert.equal((await utils.listJobs()).jobs.length, 2);
  assert.equal((await utils.listJobs({ search: "k", limit: 1 })).jobs.length, 1);
  assert.equal((await utils.countJobs()).ready, 2);
  assert.equal((await utils.listQueues()).length, 1);
  assert.deepEqual(await utils.listLockedWorkers(), []);
  assert.deepEqual(await utils.listActiveWorkers(), []);
  assert.equal((await utils.rescheduleJobs([job.id], { priority: 2 }))[0]?.priority, 2);
  const [failed] = await utils.permanentlyFailJobs([other?.id ?? ""]);
  assert.equal(failed?.lastError, "Manually marked as failed");
  assert.equal((await utils.removeJob("k")).outcome, "removed");
  assert.deepEqual(await utils.completeJobs([job.id]), []);
  assert.deepEqual(await utils.forceUnlockWorkers(["w"]), { jobs: 0, queues: 0 });
  assert.equal((await utils.sweepStaleWorkers({ dryRun: true })).dryRun, true);
  assert.equal((await utils.cleanup()).deletedJobs, 1);
  await utils.migrate();
  await utils.end();
  await utils[Symbol.asyncDispose]();
  assert.equal((await utils.countJobs()).total, 0);
  assert.ok(!queue.pool.ending);
});

test("Methods work when they are detached from the object.", async () => {
  const { addJob, countJobs } = await makeWorkerUtils({ pool: queue.pool });
  await addJob("t");
  assert.equal((await countJobs()).total, 1);
});

test("end() closes the utilities' own pool, and can be called several times. After end(), addJob() rejects.", async () => {
  const utils = await makeWorkerUtils({ connectionString: queue.url, maxConnections: 2 });
  await utils.addJob("t");
  await Promise.all([utils.end(), utils.end()]);
  await utils.end();
  await assert.rejects(utils.addJob("t"), { code: "database_unreachable" });
});

test("Jobs that are added on the caller's client are committed or rolled back with the caller's transaction.", async () => {
  const utils = await makeWorkerUtils({ pool: queue.pool });
  const client = await queue.pool.connect();
  try {
    await client.query("begin");
    const bound = utils.with(client);
    await bound.addJob("t");
    await bound.addJobs([{ identifier: "u" }, { identifier: "v" }]);
    assert.equal((await bound.countJobs()).total, 3);
    assert.equal((await utils.countJobs()).total, 0);
    await client.query("rollback");
    assert.equal((await utils.countJobs()).total, 0);
    await client.query("begin");
    await bound.addJob("t");
    await bound.end();
    await client.query("commit");
    assert.equal((await utils.countJobs()).total, 1);
    await assert.rejects(bound.migrate(), { code: "configuration" });
  } finally {
    client.release();
  }
});

test("A serialization failure in the caller's transaction is reported as database_busy.", async () => {
  const utils = await makeWorkerUtils({ pool: queue.pool });
  const { id } = await utils.addJob("t");
  const client = await queue.pool.connect();
  try {
    await client.query("begin isolation level repeatable read");
    await client.query("select 1 from worker._private_jobs");
    await utils.rescheduleJobs([id], { priority: 1 });
    await assert.rejects(utils.with(client).completeJobs([id]), {
      code: "database_busy",
      message: /could not serialize/,
    });
  } finally {
    await client.query("rollback");
    client.release();
  }
});

test("A call whose statement is cancelled because of a deadlock is attempted again.", async () => {
  const utils = await makeWorkerUtils({ pool: queue.pool });
  await utils.addJobs(["a", "b"].map((identifier) => ({ identifier })));
  const client = await queue.pool.connect();
  try {
    await client.query("begin; set local deadlock_timeout = '10s'");
    await client.query("update worker._private_jobs set priority = 1 where id = 2");
    const failing = utils.permanentlyFailJobs(["1", "2"], "x"); // locks job 1, waits for job 2
    await queue.sql("select pg_sleep(0.1)");
    await client.query("update worker._private_jobs set priority = 1 where id = 1"); // waits for job 1
    await client.query("commit");
    assert.equal((await failing).length, 2);
  } finally {
    client.release();
  }
});

test("Each schema, whatever its name, is a separate queue.", async () => {
  const { url } = await emptyDatabase();
  const names = ["jobs", 'it\'s "q" $$ %s', "Straße"];
  for (const schema of names) {
    await using utils = await makeWorkerUtils({ connectionString: url, schema, maxConnections: 1 });
    await assert.rejects(utils.addJob("t"), { code: "schema_missing" });
    assert.deepEqual(await utils.listActiveWorkers().catch((error) => error.code), []);
    await utils.migrate();
    const { id } = await utils.addJob("t", {}, { queueName: "q", jobKey: "k" });
    assert.equal(id, "1");
    await utils.addJobs([{ identifier: "t" }, { identifier: "t", spec: { jobKey: "l" } }]);
    assert.equal((await utils.listJobs({ search: "t" })).jobs.length, 3);
    assert.equal((await utils.sweepStaleWorkers()).hasHeartbeats, true);
  }
});

test("makeWorkerUtils() rejects invalid options. For a misspelt option, the error suggests the correct name.", async () => {
  const wrong: [object, RegExp][] = [
    [{}, /needs either connectionString or pool/],
    [
      { pool: queue.pool, connectionString: queue.url },
      /either connectionString or pool, and not both/,
    ],
    [{ conectionString: queue.url }, /did you mean "connectionString"/],
    [{ connectionString: "mysql://root:secret@localhost/x" }, /is neither postgres:/],
    [{ connectionString: queue.url, maxConnections: 0 }, /maxConnections/],
    [{ connectionString: queue.url, schema: "" }, /schema: must have 1 to 63 bytes/],
    [{ pool: {} }, /pool: must be a pg Pool/],
  ];
  for (const [options, message] of wrong) {
    await assert.rejects(
      makeWorkerUtils(options),
      (error) =>
        error instanceof InputError &&
        message.test(error.message) &&
        !error.message.includes("secret"),
    );
  }
});

test("If the database is unreachable, makeWorkerUtils() resolves, and the first operation rejects.", async () => {
  await using utils = await makeWorkerUtils({ connectionString: "postgres://u:p@127.0.0.1:1/d" });
  await assert.rejects(utils.addJob("t"), {
    code: "database_unreachable",
    message: /DATABASE_URL/,
  });
  const pool = new pg.Pool({ connectionString: "postgres://u:p@127.0.0.1:1/d" });
  const lent = await makeWorkerUtils({ pool });
  await assert.rejects(lent.listJobs(), { code: "database_unreachable" });
  await pool.end();
});

test("Invalid options and names are rejected with an InputError.", async () => {
  const { url } = await migratedDatabase("worker", ["limits", "schedules"]);
  await using utils = await makeWorkerUtils({ connectionString: url });
  const limit = { name: "n", task: "t", concurrency: 1 };
  const none = null as never;
  const calls: Record<string, () => Promise<unknown>> = {
    "limit, no options": () => utils.setLimit(limit, none),
    "limit, no user": () => utils.setLimit(limit, { setBy: "" }),
    "limit, long user": () => utils.setLimit(limit, { setBy: "x".repeat(129) }),
    "limit, misspelt": () => utils.setLimit(limit, { setby: "ana" } as never),
    "workers, no options": () => utils.listActiveWorkers(none),
    "workers, misspelt": () => utils.listActiveWorkers({ staleAfterMS: 1 } as never),
    "schedule, no options": () => utils.addSchedule("@daily", "t", none),
    "schedule, no name": () => utils.getSchedule(none),
    "schedule, no name to change": () => utils.changeSchedule(none, { priority: 1 }),
    "schedule, no name to pause": () => utils.pauseSchedule(none),
    "schedule, no name to remove": () => utils.removeSchedule(none),
    "queue, no name to resume": () => utils.resumeQueue(none),
    "task, no name to resume": () => utils.resumeTask(none),
    "migrate, a text": () => utils.migrate({ extensions: "limits" as never }),
    "migrate, a text as time": () => utils.migrate({ timeoutMs: "1" as never }),
    "wait, no options": () => waitForJob(utils, "1", none),
    "payload, a number": async () => rawJson(5 as never),
    "schema, a number": async () => schemaName(5 as never),
  };
  for (const [name, call] of Object.entries(calls)) {
    await assert.rejects(call, { name: "InputError" }, name);
  }
  assert.deepEqual(await utils.listLimits(), []);
});

test("migrate() adds the requested extensions, and rejects an unknown one.", async () => {
  const utils = await makeWorkerUtils({ connectionString: (await emptyDatabase()).url });
  await utils.migrate({ extensions: ["limits"] });
  await utils.setLimit({ name: "n", task: "t", concurrency: 1 });
  await assert.rejects(utils.migrate({ extensions: ["limit"] }), /unknown extension "limit"/);
  await utils.end();
});
