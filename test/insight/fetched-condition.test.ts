// The condition `fetched`: the job has not started, and is locked by a worker that reports which jobs it runs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { query } from "../../src/database/database.ts";
import { listLightJobs } from "../../src/insight/pages/list-jobs.ts";
import { compileQuery } from "../../src/insight/query/compile-query.ts";
import { countJobs } from "../../src/insight/read/count-jobs.ts";
import { readGauge } from "../../src/insight/stats/gauge.ts";
import { readIndexed } from "../../src/insight/stats/indexed-counts.ts";
import { NameTallies } from "../../src/insight/stats/name-tallies.ts";
import { sampleJobs } from "../../src/insight/stats/sample-jobs.ts";
import { tallyAll } from "../../src/insight/stats/tally-pages.ts";
import { addJob } from "../../src/queue/add/add-job.ts";
import { lockJob, testQueue } from "../queue/queue-database.ts";

const queue = testQueue();

/**
 * Adds three jobs that the worker w locked 3 s ago. If `report` returns a report and not null, also adds a heartbeat
 * of w with this report.
 */
async function locked(report: (ids: readonly string[]) => object | null): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) {
    const { id } = await addJob(queue.db, { identifier: "t", spec: {} });
    await lockJob(queue, id, "w", "3 seconds");
    ids.push(id);
  }
  const reported = report(ids);
  if (reported !== null) {
    await queue.sql(
      "insert into worker._private_workers (id, last_heartbeat_at, metadata) values ('w', now(), $1)",
      [JSON.stringify(reported)],
    );
  }
  return ids;
}

const matching = async (text: string) => {
  const { sql, values } = await compileQuery(queue.db, text);
  const rows = await query<{ id: string }>(
    queue.db,
    (s) => `select jobs.id from ${s}._private_jobs as jobs where ${sql(1)} order by jobs.id`,
    [...values],
  );
  return rows.map(({ id }) => id);
};

/** Returns the numbers of fetched and running jobs. Fails if lists, queries and counts differ. */
async function seen(): Promise<readonly [number, number]> {
  const { jobs } = await listLightJobs(queue.db);
  const listed = (one: string) => jobs.filter(({ condition }) => condition === one).length;
  const found = [listed("fetched"), listed("running")] as const;
  assert.equal((await matching("is:fetched")).length, found[0]);
  assert.equal((await matching("is:running")).length, found[1]);
  assert.equal((await matching("is:locked")).length, 3);
  assert.equal((await matching("-is:fetched -is:running")).length, 0);
  const gauge = await readGauge(queue.db);
  const tallies = new NameTallies();
  tallies.add(await tallyAll(queue.db, gauge));
  assert.deepEqual([tallies.all.counts.fetched, tallies.all.counts.running], found);
  const indexed = await readIndexed(queue.db, new Set(["running"]), gauge.heartbeats);
  assert.deepEqual([indexed.tallies.get("fetched"), indexed.tallies.get("running")], found);
  const sample = await sampleJobs(queue.db, [0], gauge);
  assert.deepEqual([sample.counts.fetched[0], sample.counts.running[0]], found);
  assert.equal(
    (await countJobs(queue.db)).locked,
    3,
    "fetched and running jobs have the state locked",
  );
  return found;
}

test("If a worker's report has no list of fetched jobs, an unlisted job counts as fetched once it was locked at least a second before the heartbeat.", async () => {
  const [first] = await locked((ids) => ({ running_jobs: 1, running_job_ids: [ids[0]] }));
  assert.deepEqual(await seen(), [2, 1]);
  assert.deepEqual(await matching("is:running"), [first]);
});

test("If a worker's report has a list of fetched jobs, the other locked jobs count as running.", async () => {
  const [, second] = await locked((ids) => ({
    running_jobs: 1,
    running_job_ids: [ids[0]],
    fetched_job_ids: [ids[1]],
  }));
  assert.deepEqual(await seen(), [1, 2], "the third job may have started since the report");
  assert.deepEqual(await matching("is:fetched"), [second]);
});

test("If a worker's report has no list of fetched jobs, a job that was locked less than a second before the heartbeat counts as running.", async () => {
  await locked(() => ({ running_jobs: 0, running_job_ids: [] }));
  await queue.sql("update worker._private_jobs set locked_at = now() - interval '0.9 seconds'");
  await queue.sql("update worker._private_workers set last_heartbeat_at = now()");
  assert.deepEqual(await seen(), [0, 3]);
});

const silent: Record<string, object | null> = {
  "has no heartbeat, like a Graphile worker": null,
  "reports nothing": {},
  "reports a text instead of a list": {
    running_jobs: 0,
    running_job_ids: "none",
    fetched_job_ids: 1,
  },
  "runs more jobs than it lists": { running_jobs: 4, running_job_ids: ["7", "8", "9"] },
  "lists more than 1,000 jobs": {
    running_job_ids: Array.from({ length: 1_001 }, (_, n) => String(n + 1_000)),
  },
};
for (const [name, report] of Object.entries(silent)) {
  test(`All jobs locked by a worker are running if it ${name}.`, async () => {
    await locked(() => report);
    assert.deepEqual(await seen(), [0, 3]);
  });
}

test("If the table of workers does not exist, all locked jobs are running.", async () => {
  await locked(() => ({ running_job_ids: [] }));
  await queue.sql("alter table worker._private_workers rename to _private_hidden");
  try {
    assert.deepEqual(await seen(), [0, 3]);
  } finally {
    await queue.sql("alter table worker._private_hidden rename to _private_workers");
  }
});
