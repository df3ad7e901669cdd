// Tests actions on jobs that a worker has locked. If the worker has fetched the job and not started it, the action
// waits up to a second for the worker to return the job. If the job has started, it is neither failed nor rescheduled.
// A removal of a started job takes only the job's key and its remaining attempts.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { permanentlyFailJobs } from "../../src/commands/jobs/permanently-fail-jobs.ts";
import { removeJob } from "../../src/commands/jobs/remove-job.ts";
import { rescheduleJobs } from "../../src/commands/jobs/reschedule-jobs.ts";
import { addJob } from "../../src/queue/add/add-job.ts";
import { returnJobs } from "../../src/queue/settle/give-back.ts";
import { lockJob, testQueue } from "./queue-database.ts";

const queue = testQueue();

/**
 * Writes the report of worker w. `ids`: the ids of its running jobs; `count`: their number, which is higher than the
 * number of ids if the worker has shortened the list.
 */
const reports = (ids: readonly string[], count = ids.length) =>
  queue.sql(
    `insert into worker._private_workers (id, last_heartbeat_at, metadata) values ('w', now(), $1::jsonb)
    on conflict (id) do update set metadata = excluded.metadata`,
    [JSON.stringify({ running_jobs: count, running_job_ids: ids })],
  );

/** Adds a job, locks it as worker w does, and returns its id. */
async function fetched(): Promise<string> {
  const { id } = await addJob(queue.db, { identifier: "t", spec: { jobKey: "k" } });
  await lockJob(queue, id, "w");
  return id;
}

beforeEach(async () => {
  await queue.sql("delete from worker._private_jobs");
  await queue.sql("delete from worker._private_workers");
});

const actions = {
  remove: async () => (await removeJob(queue.db, "k")).outcome === "removed",
  fail: async (id: string) => (await permanentlyFailJobs(queue.db, [id], "no")).jobs.length === 1,
  reschedule: async (id: string) =>
    (await rescheduleJobs(queue.db, [id], { priority: 3 })).jobs.length === 1,
};

for (const [name, act] of Object.entries(actions)) {
  test(`An action to ${name} a fetched job waits until the job is returned.`, async () => {
    const id = await fetched();
    await reports([]);
    const done = act(id);
    await returnJobs(queue.db, "w", [id], [], [id]);
    assert.equal(await done, true);
  });

  test(`An action to ${name} a started job does not succeed, also if the report of its worker is missing or has a shortened list.`, async () => {
    const id = await fetched();
    assert.equal(await act(id), false);
    await queue.sql("update worker._private_jobs set key = 'k', attempts = 1");
    await reports([id]);
    assert.equal(await act(id), false);
    await queue.sql("update worker._private_jobs set key = 'k', attempts = 1");
    await reports(["999"], 1_001);
    assert.equal(await act(id), false);
  });
}

test("A fetched job that is not returned within a second counts as started.", async () => {
  const id = await fetched();
  await reports([]);
  const { outcome, job } = await removeJob(queue.db, "k");
  assert.deepEqual([outcome, job?.id, job?.key], ["locked", id, null]);
});
