// Tests the counts of the horizon. Locked jobs are not counted. Each other job is counted once, under its condition, in
// the bucket of the time at which the job failed, or was or will be due.
import assert from "node:assert/strict";
import { test } from "node:test";
import { conditionOf } from "../../src/insight/expressions/condition.ts";
import { drawn, type Horizon, type HorizonFilter } from "../../src/insight/horizon/buckets.ts";
import { timeAxis } from "../../src/insight/horizon/edges.ts";
import { readHorizon } from "../../src/insight/horizon/horizon.ts";
import { readNameIds } from "../../src/insight/horizon/name-ids.ts";
import { readGauge } from "../../src/insight/stats/gauge.ts";
import { addJobs } from "../../src/queue/add/add-jobs.ts";
import { testQueue } from "../queue/queue-database.ts";

const queue = testQueue();
const { sql } = queue;

const ANY: HorizonFilter = { taskId: null, queueId: null };

/** Adds jobs in all conditions except fetched, some of them with infinite or very late times. */
async function fill() {
  await addJobs(
    queue.db,
    Array.from({ length: 400 }, (_, n) => ({
      identifier: `t${n % 3}`,
      spec: n % 4 === 0 ? { queueName: `q${n % 5}` } : { priority: n % 2 },
    })),
  );
  await sql(`update worker._private_jobs set
    attempts = case id % 5 when 0 then 25 when 1 then 3 else 0 end,
    run_at = now() + (id - 200) * (id % 7) * interval '97 seconds',
    locked_at = case when id % 11 = 0 then now() end, locked_by = case when id % 11 = 0 then 'w' end`);
  await sql(
    `update worker._private_job_queues set locked_at = now(), locked_by = 'w' where id = 1`,
  );
  await sql(`update worker._private_jobs set run_at = 'infinity' where id = 3`);
  await sql(`update worker._private_jobs set run_at = '-infinity' where id = 4`);
  await sql(`update worker._private_jobs set run_at = '294000-01-01' where id = 8`);
}

const sums = ({ series }: Horizon) =>
  Object.fromEntries(drawn.map((one) => [one, series[one].reduce((sum, count) => sum + count, 0)]));

async function counted(where = "true") {
  const isQueueLocked =
    "jobs.job_queue_id in (select id from worker._private_job_queues where locked_at is not null)";
  const rows = await sql<{ condition: string; count: string }>(
    `select ${conditionOf("jobs", null, { isQueueLocked })} as condition, count(*) as count
     from worker._private_jobs as jobs where ${where} group by 1`,
  );
  const counts = Object.fromEntries(rows.map(({ condition, count }) => [condition, Number(count)]));
  return Object.fromEntries(drawn.map((one) => [one, counts[one] ?? 0]));
}

test("For a small table, the sums of the horizon are exact: for all jobs, for the jobs of one task, and 0 for an unknown queue.", async () => {
  await fill();
  const gauge = await readGauge(queue.db);
  const horizon = await readHorizon(queue.db, 57, ANY, gauge);
  assert.deepEqual(sums(horizon), await counted());
  assert.ok(horizon.exact.every(Boolean) && horizon.error.every((error) => error === 0));
  assert.deepEqual([horizon.basis, horizon.edges.length], ["scan", 58]);
  const filter = await readNameIds(queue.db, "t1", null);
  const ofTask = await readHorizon(queue.db, 57, filter, gauge);
  assert.deepEqual(sums(ofTask), await counted("task_id = 2"));
  const none = await readNameIds(queue.db, "t1", "it's none");
  const nothing = sums(await readHorizon(queue.db, 57, none, gauge));
  assert.deepEqual(new Set(Object.values(nothing)), new Set([0]));
});

test("Due jobs are counted before the present, scheduled jobs after it, and failed jobs at the time of their failure.", async () => {
  await fill();
  await sql(`update worker._private_jobs set run_at = now() + interval '1 day',
    updated_at = now() - interval '3 minutes' where attempts = 25`);
  const { edges, series } = await readHorizon(queue.db, 57, ANY, await readGauge(queue.db));
  const now = edges.indexOf(0);
  for (const one of ["ready", "blocked", "failed"] as const) {
    assert.ok(
      series[one].slice(now).every((count) => count === 0),
      one,
    );
  }
  assert.ok(series.scheduled.slice(0, now).every((count) => count === 0));
  const bucket = edges.findIndex((edge) => edge > -180) - 1;
  assert.equal(series.failed[bucket], (await counted())["failed"]);
});

test("For a large table, the counts of small future buckets are read from the index and are exact; the counts of failed jobs come from a sample.", async () => {
  await fill();
  const gauge = await readGauge(queue.db);
  // With this value every table counts as large. The table has so few pages that the sample includes all of them.
  const smallPages = -1;
  const { edges, series, exact, error, basis } = await readHorizon(
    queue.db,
    57,
    ANY,
    gauge,
    smallPages,
  );
  const truth = await readHorizon(queue.db, 57, ANY, await readGauge(queue.db));
  const now = edges.indexOf(0);
  assert.equal(basis, "sample");
  assert.ok(exact.slice(now).every(Boolean) && !exact.slice(0, now).some(Boolean));
  assert.ok(error.slice(now).every((one) => one === 0));
  assert.deepEqual(series, truth.series);
});

test("The axis ascends from two days ago to two days ahead, and one of its edges is the present.", () => {
  for (const buckets of [10, 57, 120]) {
    const { edges, firstAhead } = timeAxis(buckets);
    assert.equal(edges.length, buckets + 1);
    assert.equal(edges[firstAhead], 0);
    assert.deepEqual(
      edges,
      [...new Set(edges)].sort((a, b) => a - b),
    );
    assert.deepEqual([edges[0], edges.at(-1)], [-172_800, 172_800]);
  }
});
