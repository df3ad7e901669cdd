// Tests that results do not depend on the settings of the application's session, or on the application's settings of
// the package pg. The last test is for the error after a session has lost its prepared statements.
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { rescheduleJobs } from "../../src/commands/jobs/reschedule-jobs.ts";
import { rawJson } from "../../src/domain/payload.ts";
import { getJob } from "../../src/insight/pages/get-job.ts";
import { listJobs } from "../../src/insight/pages/list-jobs.ts";
import { countJobs } from "../../src/insight/read/count-jobs.ts";
import { listActiveWorkers } from "../../src/insight/read/list-active-workers.ts";
import { listQueues } from "../../src/insight/read/list-queues.ts";
import { addJob } from "../../src/queue/add/add-job.ts";
import { addJobs } from "../../src/queue/add/add-jobs.ts";
import { testQueue } from "./queue-database.ts";

const queue = testQueue();

async function onClient(settings: string, work: (client: pg.Client) => Promise<void>) {
  const client = new pg.Client({ connectionString: queue.url });
  await client.connect();
  try {
    if (settings !== "") await client.query(settings);
    await work(client);
  } finally {
    await client.end();
  }
}

const strange = [
  "set timezone = 'Asia/Kathmandu'; set datestyle = 'SQL, DMY'",
  "set timezone = 'America/St_Johns'; set datestyle = 'German'; set intervalstyle = 'sql_standard'",
  "set datestyle = 'Postgres, MDY'; set extra_float_digits = -15; set bytea_output = 'escape'",
  "set standard_conforming_strings = off; set backslash_quote = off",
  "set search_path = ''; set default_transaction_isolation = 'serializable'",
  "set plan_cache_mode = force_generic_plan; set enable_seqscan = off; set enable_sort = off",
  "set lc_numeric = 'C'; set timezone = 'UTC+13'; set xmlbinary = 'hex'",
];

for (const settings of strange) {
  test(`Results do not depend on the settings of the session: ${settings}.`, async () => {
    const runAt = "2031-02-03T04:05:06.789Z";
    const payload = rawJson('{"b\\\\":1, "a":12345678901234567890}');
    await onClient(settings, async (client) => {
      const db = { ...queue.db, client };
      const spec = { runAt, queueName: "q\\'", jobKey: "k" };
      const job = await addJob(db, { identifier: "t\\'", payload, spec });
      assert.equal(job.runAt.toISOString(), runAt);
      assert.equal(job.payloadText, payload.text);
      assert.equal(job.queueName, "q\\'");
      assert.ok(Math.abs(job.createdAt.getTime() - Date.now()) < 60_000);
      assert.deepEqual(await getJob(db, job.id), await getJob(queue.db, job.id));
      assert.deepEqual((await listJobs(db, { search: "T\\'" })).jobs, [
        await getJob(queue.db, "1"),
      ]);
      const { jobs: moved } = await rescheduleJobs(db, [job.id], { runAt: new Date(0) });
      assert.equal(moved[0]?.runAt.getTime(), 0);
      assert.deepEqual(
        (await addJobs(db, [{ identifier: "u", payload }]))[0]?.payloadText,
        payload.text,
      );
      assert.equal((await countJobs(db)).ready, 2);
      assert.equal((await listQueues(db))[0]?.readyCount, 1);
      await client.query("select worker.worker_heartbeat('w')");
      const [worker] = await listActiveWorkers(db);
      assert.ok(Math.abs((worker?.lastHeartbeatAt.getTime() ?? 0) - Date.now()) < 60_000);
    });
  });
}

test("Results do not depend on the type parsers that the application has set on its pg.", async () => {
  const job = await addJob(queue.db, { identifier: "t", spec: { queueName: "q", flags: ["f"] } });
  const oids = Object.values(pg.types.builtins).filter((oid) => typeof oid === "number");
  const before = new Map(oids.map((oid) => [oid, pg.types.getTypeParser(oid)]));
  for (const oid of oids) pg.types.setTypeParser(oid, () => "broken");
  try {
    await onClient("", async (client) => {
      const db = { ...queue.db, client };
      assert.deepEqual(await getJob(db, job.id), job);
      assert.deepEqual((await listJobs(db)).jobs, [job]);
      assert.deepEqual((await listJobs(db, { search: "t", identifier: "t", queue: "q" })).jobs, [
        job,
      ]);
      assert.equal((await countJobs(db)).total, 1);
    });
  } finally {
    for (const [oid, parser] of before) pg.types.setTypeParser(oid, parser);
  }
});

test("Results do not depend on how the application's pg converts parameters and rows.", async () => {
  const { parseInt8, parseInputDatesAsUTC } = pg.defaults as never as Record<string, boolean>;
  Object.assign(pg.defaults, { parseInt8: true, parseInputDatesAsUTC: true });
  try {
    await onClient("set timezone = 'Asia/Tokyo'", async (client) => {
      const db = { ...queue.db, client };
      const runAt = new Date("2031-01-01T00:00:00.001Z");
      const job = await addJob(db, { identifier: "t", spec: { runAt } });
      assert.deepEqual([job.id, job.runAt], ["1", runAt]);
    });
  } finally {
    Object.assign(pg.defaults, { parseInt8, parseInputDatesAsUTC });
  }
});

test("If a session has lost its prepared statements, the error names the option `preparedStatements`.", async () => {
  await onClient("", async (client) => {
    const db = { ...queue.db, client, preparedStatements: true };
    const jobs = [{ identifier: "task" }];
    await addJobs(db, jobs);
    await client.query("deallocate all");
    await assert.rejects(addJobs(db, jobs), /pgbouncer set preparedStatements to false/);
    assert.equal((await addJobs({ ...db, preparedStatements: false }, jobs)).length, 1);
  });
});
