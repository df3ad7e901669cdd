// Tests the removal of a job by its key. Also tests which keys and ids removeJob() and getJob() reject.
import assert from "node:assert/strict";
import { test } from "node:test";
import { removeJob } from "../../src/commands/jobs/remove-job.ts";
import { getJob } from "../../src/insight/pages/get-job.ts";
import { addJob } from "../../src/queue/add/add-job.ts";
import { lockJob, testQueue } from "../queue/queue-database.ts";

const queue = testQueue();

test("A waiting job is removed and returned in its last state.", async () => {
  const spec = { jobKey: 'it\'s "k" %', queueName: "q" };
  const job = await addJob(queue.db, { identifier: "t", payload: [1], spec });
  assert.deepEqual(await removeJob(queue.db, spec.jobKey), { outcome: "removed", job });
  assert.deepEqual(await removeJob(queue.db, spec.jobKey), { outcome: "absent", job: null });
});

test("The removal of a running job by its key deletes the key, and the job has no further attempts.", async () => {
  const job = await addJob(queue.db, { identifier: "t", spec: { jobKey: "k" } });
  await lockJob(queue, job.id);
  const { outcome, job: now } = await removeJob(queue.db, "k");
  assert.equal(outcome, "locked");
  assert.deepEqual(
    [now?.id, now?.key, now?.attempts, now?.lockedBy],
    [job.id, null, 25, "worker-1"],
  );
  assert.equal((await removeJob(queue.db, "k")).outcome, "absent");
});

test("A job whose lock is older than four hours is removed.", async () => {
  const job = await addJob(queue.db, { identifier: "t", spec: { jobKey: "k" } });
  await lockJob(queue, job.id, "gone", "5 hours");
  assert.equal((await removeJob(queue.db, "k")).outcome, "removed");
  assert.equal(await getJob(queue.db, job.id), null);
});

test("An invalid key or id is rejected.", async () => {
  for (const key of ["", "k".repeat(513), "a\0b", 7 as never]) {
    await assert.rejects(removeJob(queue.db, key), { code: "bad_input" });
  }
  for (const id of ["", "0", "abc", "9223372036854775808", 1 as never]) {
    await assert.rejects(getJob(queue.db, id), { code: "bad_input" });
  }
  assert.equal(await getJob(queue.db, "9223372036854775807"), null);
});

test("Concurrent removals of one key remove the job once.", async () => {
  await addJob(queue.db, { identifier: "t", spec: { jobKey: "k" } });
  const results = await Promise.all(Array.from({ length: 8 }, () => removeJob(queue.db, "k")));
  assert.deepEqual(results.map(({ outcome }) => outcome).sort(), [
    ...Array(7).fill("absent"),
    "removed",
  ]);
});
