// A role that may only create objects in `public` creates overloads of PostgreSQL's functions and operators there. A
// call of an overload would run that role's code as the queue's role. These tests check that workers, the library and the
// admin call no overload; long/captured-writes.test.ts checks this for the command line and for further actions. The last test checks that the application's triggers can still use names without a schema.
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { makeWorkerUtils } from "../../src/utils/worker-utils.ts";
import { defineTask } from "../../src/worker/task/task.ts";
import { Worker } from "../../src/worker/worker.ts";
import { startAdmin } from "../admin/admin-harness.ts";
import { waitUntil } from "../worker/worker-queue.ts";
import { overloadedDatabase } from "./overloaded-database.ts";

const overloaded = overloadedDatabase();

test("A call of an overload is recorded.", async () => {
  const client = new pg.Client({ connectionString: overloaded.url });
  await client.connect();
  await client.query("select cardinality(array[1::bigint])");
  const { rows } = await client.query("delete from public.run_as returning role");
  assert.equal(rows.length, 1);
  await client.end();
});

for (const [mode, options] of Object.entries({
  safe: {},
  fast: { fastLane: true },
})) {
  test(`A worker in the ${mode} mode calls no overload.`, async () => {
    const utils = await makeWorkerUtils({ connectionString: overloaded.url });
    const done: string[] = [];
    const good = defineTask("good", async (_, { job }) => void done.push(job.id));
    const bad = defineTask("bad", async () => {
      done.push("bad");
      throw new Error("as expected");
    });
    await utils.addJobs([
      ...Array.from({ length: 50 }, () => ({ identifier: "good" })),
      { identifier: "good", spec: { queueName: "q", flags: ["f"], priority: 3 } },
      { identifier: "good", spec: { queueName: "q" } },
      { identifier: "bad" },
    ]);
    const worker = new Worker({
      connectionString: overloaded.url,
      tasks: [good, bad],
      concurrency: 4,
      ...options,
    });
    await worker.start();
    await waitUntil("all jobs have run", () => done.length === 53);
    await utils.addJob("good");
    await waitUntil("a job that was added later has run", () => done.length === 54);
    await worker.stop();
    const jobs = await utils.listJobs();
    assert.deepEqual(
      jobs.jobs.map(({ lastError }) => lastError?.split("\n")[0]),
      ["Error: as expected"],
    );
    await utils.completeJobs(jobs.jobs.map(({ id }) => id));
    await utils.end();
    await overloaded.assertNothingRun();
  });
}

test("The library calls no overload.", async () => {
  const utils = await makeWorkerUtils({ connectionString: overloaded.url });
  const jobs = await utils.addJobs([
    { identifier: "a" },
    { identifier: "b", spec: { queueName: "q" } },
  ]);
  const ids = jobs.map(({ id }) => id);
  await utils.copyJobs([{ identifier: "a" }, { identifier: "c", spec: { flags: ["f"] } }]);
  await utils.addJob("a", { some: "payload" });
  for (const jobKeyMode of ["replace", "preserve_run_at", "unsafe_dedupe"] as const) {
    for (const jobKey of ["k", "k", jobKeyMode]) {
      await utils.addJob("a", [1], { jobKey, jobKeyMode, flags: ["f"], queueName: "q" });
    }
    await utils.addJobs([
      { identifier: "a", payload: [2], spec: { jobKey: "k", jobKeyMode, flags: ["f"] } },
      { identifier: "a", spec: { jobKey: "l" } },
      { identifier: "a" },
    ]);
    await utils.addJobs(
      [[1], [2], [3]].map((payload) => ({
        identifier: "a",
        payload,
        spec: { jobKey: "k", jobKeyMode, queueName: "q", flags: ["f"] },
      })),
    );
  }
  const outcomes = await Promise.all(["k", "l"].map((key) => utils.removeJob(key)));
  assert.deepEqual(
    outcomes.map(({ outcome }) => outcome),
    ["removed", "removed"],
  );
  await utils.rescheduleJobs(ids, { runAt: "now", priority: 1 });
  await utils.permanentlyFailJobs(ids);
  for (const q of ["is:failed", "payload.some:payload", "text", "error:no", "task:a", "is:stuck"]) {
    await utils.listJobs({ q });
  }
  await utils.getJob(ids[0] ?? "");
  await utils.countJobs();
  await utils.listQueues();
  await utils.listActiveWorkers();
  await utils.listLockedWorkers();
  await utils.completeJobs(ids);
  await utils.forceUnlockWorkers(["w"]);
  await utils.sweepStaleWorkers();
  await utils.cleanup();
  await utils.migrate();
  await utils.end();
  await overloaded.assertNothingRun();
});

test("The admin calls no overload.", async () => {
  const utils = await makeWorkerUtils({ connectionString: overloaded.url });
  const [one] = await utils.addJobs(Array.from({ length: 20 }, () => ({ identifier: "a" })));
  await utils.end();
  const { client } = await startAdmin({ url: overloaded.url });
  const id = one?.id ?? "";
  const reads = [
    ...[
      "overview",
      "counts",
      "incidents",
      "jobs",
      "jobs?q=is:ready",
      "jobs?q=payload.a:1",
      "horizon",
    ],
    ...[
      `jobs/${id}`,
      `jobs/${id}/why`,
      "groups?by=error",
      "groups?by=task",
      "groups/common?q=is:ready",
    ],
    ...[
      "queues",
      "tasks",
      "workers",
      "cron",
      "operations",
      "activity",
      "database",
      "counts?q=task:a",
    ],
    ...["explain?q=is:failed", "suggest?q=payload.&at=8", "suggest?q=task:&at=5"],
  ];
  for (const path of reads) {
    const { status, text } = await client.get(`/api/${path}`);
    assert.equal(status, 200, `${path}: ${text}`);
  }
  for (const body of [
    { action: "run-now", ids: [Number(id)] },
    { action: "reschedule", ids: [Number(id)], priority: 3 },
    { action: "fail", ids: [Number(id)] },
    { action: "retry", ids: [Number(id)] },
    { action: "complete", ids: [Number(id)] },
  ]) {
    const { status, text } = await client.post("/api/jobs/action", body);
    assert.equal(status, 200, `${body.action}: ${text}`);
  }
  await client.post("/api/jobs", { task: "a" });
  for (const [path, body] of [
    ["/api/jobs", { identifier: "a", key: "admin", payload: "[1]" }],
    ["/api/jobs", { identifier: "a", key: "admin", payload: "[1]" }],
    ["/api/jobs/remove-by-key", { key: "admin" }],
  ] as const) {
    const { status, text } = await client.post(path, body);
    assert.ok(status < 300, `${path}: ${text}`);
  }
  await overloaded.assertNothingRun();
});

test("A trigger of the application can use names without a schema.", async () => {
  const client = new pg.Client({ connectionString: overloaded.url });
  await client.connect();
  await client.query(`set search_path = pg_catalog;
    create table public.seen (task int);
    create function public.see() returns trigger language plpgsql as
      'begin insert into seen values (new.task_id); return new; end';
    create trigger see after insert on worker._private_jobs for each row execute function public.see()`);
  const utils = await makeWorkerUtils({ connectionString: overloaded.url });
  await utils.addJob("a");
  await utils.addJobs([{ identifier: "a" }, { identifier: "b" }]);
  await utils.end();
  const { rows } = await client.query("select count(*)::int as count from public.seen");
  assert.deepEqual(rows, [{ count: 3 }]);
  await client.end();
});
