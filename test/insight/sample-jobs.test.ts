// The sample jobs and workers that `worker demo` inserts into a new queue.
import assert from "node:assert/strict";
import { test } from "node:test";
import { insertSampleJobs } from "../../src/cli/demo/sample-jobs.ts";
import { cleanup } from "../../src/commands/maintenance/cleanup.ts";
import { sweepStaleWorkers } from "../../src/commands/maintenance/sweep-stale-workers.ts";
import { listWorkers } from "../../src/insight/lists/list-workers.ts";
import { listJobs } from "../../src/insight/pages/list-jobs.ts";
import { countJobs } from "../../src/insight/read/count-jobs.ts";
import { listActiveWorkers } from "../../src/insight/read/list-active-workers.ts";
import { listQueues } from "../../src/insight/read/list-queues.ts";
import { testQueue } from "../queue/queue-database.ts";

const queue = testQueue();

test("Sample jobs in every state are inserted into a new queue only once, even if two processes insert them at once.", async () => {
  await Promise.all([insertSampleJobs(queue.db), insertSampleJobs(queue.db)]);
  const counts = await countJobs(queue.db);
  assert.deepEqual(counts, { total: 352, ready: 140, scheduled: 142, locked: 16, failed: 54 });
  await insertSampleJobs(queue.db);
  assert.deepEqual(await countJobs(queue.db), counts);
  await queue.sql("delete from worker._private_jobs");
  await insertSampleJobs(queue.db);
  assert.equal((await countJobs(queue.db)).total, 0);
});

test("The samples are the same each time, and their tasks, payloads, queues and workers are varied.", async () => {
  const take = async () => {
    await queue.sql(
      "truncate worker._private_jobs, worker._private_tasks, worker._private_job_queues, worker._private_workers restart identity",
    );
    await insertSampleJobs(queue.db);
    const { jobs } = await listJobs(queue.db, { limit: 500 });
    return jobs.map(({ taskIdentifier, payloadText, state, key, lastError }) => ({
      taskIdentifier,
      payloadText,
      state,
      key,
      lastError,
    }));
  };
  const first = await take();
  assert.deepEqual(await take(), first);
  assert.ok(new Set(first.map((job) => job.taskIdentifier)).size >= 12);
  assert.ok(first.some((job) => /"charge_id":\d{19}\b/.test(job.payloadText)));
  assert.ok(first.some((job) => /\p{Script=Han}/u.test(job.payloadText)));
  assert.ok(first.some((job) => job.lastError?.includes("\n    at ")));
  assert.ok(first.filter((job) => job.key !== null).length > 20);
  const queues = await listQueues(queue.db);
  assert.ok(queues.length >= 5 && queues.some((one) => one.lockedBy !== null));
  assert.ok(queues.every((one) => one.lockedCount <= 1));
  const workers = await listActiveWorkers(queue.db);
  assert.deepEqual([...new Set(workers.map((one) => one.isStale))].sort(), [false, true]);
});

test("Retrying sample jobs have failed at different times, none of them in the last minute.", async () => {
  await insertSampleJobs(queue.db);
  const rows = await queue.sql<{ label: string; last_s: number; is_old_enough: boolean }>(`
    select split_part(last_error, E'\\n', 1) as label,
      extract(epoch from min(now() - updated_at))::int as last_s,
      bool_and(updated_at >= created_at and updated_at <= now()) as is_old_enough
    from worker._private_jobs
    where attempts > 0 and attempts < max_attempts and locked_at is null
    group by 1`);
  assert.ok(rows.length > 8 && rows.every((row) => row.is_old_enough));
  assert.ok(rows.every((row) => row.last_s >= 60));
  const minutes = new Set(rows.map((row) => Math.floor(row.last_s / 60)));
  assert.ok(minutes.size > rows.length / 2, String(rows.map((row) => row.last_s)));
  const lastHours = rows.map((row) => Math.floor(row.last_s / 450));
  assert.ok(lastHours.filter((bar) => bar === 0).length < rows.length / 2, String(lastHours));
});

test("Each worker with a report has reported the jobs that it has locked, and has a slot for each running job.", async () => {
  await insertSampleJobs(queue.db);
  const { workers } = await listWorkers(queue.db, {
    sort: "id",
    search: "",
    limit: 10,
    cursor: null,
  });
  assert.equal(workers.filter((one) => one.report.slots !== null).length, 3);
  for (const { running, fetched, lockedJobs, report, current } of workers) {
    assert.ok(report.slots === null || running.value <= report.slots);
    assert.ok(report.slots === null || running.value + (fetched ?? 0) === lockedJobs);
    assert.equal(current.length, running.value);
  }
});

test("A sweep recovers some of the sample jobs, and a cleanup deletes some.", async () => {
  await insertSampleJobs(queue.db);
  const sweep = await sweepStaleWorkers(queue.db);
  assert.deepEqual([sweep.staleWorkers.length, sweep.unknownWorkers.length], [1, 1]);
  assert.ok(sweep.recoveredJobs > 0);
  assert.ok(((await cleanup(queue.db)).deletedJobs ?? 0) >= 54);
});
