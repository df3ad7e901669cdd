// Tests how fetched jobs are finished, failed and given back. There are two modes of locks. In the mode `locked_by`,
// the job's row has the worker's id (safe mode). In the mode `row`, a transaction has locked the row (fast mode).
import assert from "node:assert/strict";
import { test } from "node:test";
import { removeJob } from "../../src/commands/jobs/remove-job.ts";
import { stopRetrying } from "../../src/commands/jobs/stop-retrying.ts";
import { addJobs } from "../../src/queue/add/add-jobs.ts";
import { databaseTime } from "../../src/queue/cron/database-time.ts";
import { isForFastMode } from "../../src/queue/fetch/fetch-form.ts";
import { keepJobs } from "../../src/queue/fetch/lock-jobs.ts";
import { BY_FORMULA, failJobs } from "../../src/queue/settle/fail.ts";
import { finishJobs } from "../../src/queue/settle/finish.ts";
import { returnJobs, returnUnknownJobs } from "../../src/queue/settle/give-back.ts";
import { lockJob, testQueue } from "./queue-database.ts";

const PLAIN = { isKeyed: false, next: BY_FORMULA };

const queue = testQueue();

interface Row {
  readonly id: string;
  readonly attempts: number;
  readonly locked_by: string | null;
  readonly payload: string;
  readonly last_error: string | null;
  /** The seconds from `updated_at` to `run_at`, rounded to a tenth. */
  readonly wait: number;
}

/** Adds three jobs: an unlocked one, one locked by the worker `us`, and one locked by the worker `them`. */
async function addThree(): Promise<[free: string, ours: string, theirs: string]> {
  const jobs = await addJobs(
    queue.db,
    ["free", "ours", "theirs"].map((name) => ({ identifier: "t", payload: name })),
  );
  const [free = "", ours = "", theirs = ""] = jobs.map(({ id }) => id);
  await lockJob(queue, ours, "us");
  await lockJob(queue, theirs, "them");
  return [free, ours, theirs];
}

const rows = () =>
  queue.sql<Row>(`select id::text, attempts, locked_by, payload::text, last_error,
    round(extract(epoch from run_at - updated_at), 1)::float8 as wait
    from worker._private_jobs order by id`);

const failures = (ids: readonly string[]) =>
  ids.map((id) => ({
    id,
    message: "no\0 \ud800",
    payload: id === ids[1] ? '["rest"]' : null,
    ...PLAIN,
  }));

test("In the mode locked_by, a worker finishes only jobs whose lock it holds; the ids of all other jobs are returned.", async () => {
  const ids = await addThree();
  const [free, , theirs] = ids;
  assert.deepEqual(await finishJobs(queue.db, "us", ids, "locked_by"), [free, theirs]);
  assert.deepEqual(
    (await rows()).map(({ id }) => id),
    [free, theirs],
  );
});

test("In the mode row, only jobs without a locked_by are finished.", async () => {
  const ids = await addThree();
  const [, ours, theirs] = ids;
  const lost = await finishJobs(queue.db, "us", [...ids, "999"], "row");
  assert.deepEqual(lost.sort(), [ours, theirs, "999"]);
  assert.deepEqual(
    (await rows()).map(({ id }) => id),
    [ours, theirs],
  );
  assert.deepEqual(await finishJobs(queue.db, "us", [], "row"), []);
});

test("A failed attempt counts once and the next attempt is delayed, in the modes locked_by and row.", async () => {
  const ids = await addThree();
  // In the mode locked_by, the fetch counts the attempt. In the mode row, the failure counts the attempt. So all three
  // jobs are at their third attempt.
  await queue.sql("update worker._private_jobs set attempts = 2 where locked_by is null");
  await queue.sql("update worker._private_jobs set attempts = 3 where locked_by is not null");
  assert.deepEqual(await failJobs(queue.db, "us", failures(ids), "locked_by"), [ids[0], ids[2]]);
  assert.deepEqual(await failJobs(queue.db, "us", failures(ids.slice(0, 1)), "row"), []);
  const [free, ours, theirs] = await rows();
  for (const failed of [free, ours]) {
    assert.deepEqual([failed?.attempts, failed?.locked_by], [3, null]);
    assert.equal(failed?.last_error, "no \ufffd");
    assert.ok(
      Math.abs((failed?.wait ?? 0) - Math.exp(3)) < 1,
      `the next attempt is delayed by ${failed?.wait} s`,
    );
  }
  assert.deepEqual([free?.payload, ours?.payload], ['"free"', '["rest"]']);
  assert.deepEqual([theirs?.attempts, theirs?.last_error], [3, null]);
});

test("In the mode locked_by, a failure does not change unlocked jobs.", async () => {
  const ids = await addThree();
  const lost = await failJobs(queue.db, "us", failures(ids), "locked_by");
  assert.deepEqual(lost, [ids[0], ids[2]]);
  const [free, ours] = await rows();
  assert.deepEqual([free?.attempts, free?.last_error], [0, null]);
  assert.deepEqual([ours?.attempts, ours?.last_error], [1, "no \ufffd"]);
});

test("The delay before a retry grows until the tenth attempt, and then stays the same.", async () => {
  const [job] = await addJobs(queue.db, [{ identifier: "t" }]);
  const id = job?.id ?? "";
  const delays: number[] = [];
  for (const attempts of [1, 2, 9, 10, 11, 24]) {
    await queue.sql(
      "update worker._private_jobs set attempts = $1, run_at = now(), locked_by = 'us', locked_at = now()",
      [attempts],
    );
    await failJobs(queue.db, "us", [{ id, message: "no", payload: null, ...PLAIN }], "locked_by");
    const [row] = await queue.sql<{ wait: number }>(
      "select extract(epoch from run_at - now())::float8 as wait from worker._private_jobs",
    );
    delays.push(Math.round(Math.log(row?.wait ?? 0)));
  }
  assert.deepEqual(delays, [1, 2, 9, 10, 10, 10]);
});

test("The attempt of a job that is given back unstarted does not count.", async () => {
  const ids = await addThree();
  assert.deepEqual(await returnJobs(queue.db, "us", ids), [ids[0], ids[2]]);
  assert.deepEqual(
    (await rows()).map(({ attempts, locked_by }) => [attempts, locked_by]),
    [
      [0, null],
      [0, null],
      [1, "them"],
    ],
  );
});

test("A job that was removed by its key while it was locked is deleted when it is given back.", async () => {
  const give = [
    (id: string) => returnJobs(queue.db, "us", [id], [], [id]),
    () => returnUnknownJobs(queue.db, "us", [], []),
  ];
  for (const back of give) {
    const spec = { jobKey: "k", maxAttempts: 3 };
    const [job] = await addJobs(queue.db, [{ identifier: "t", spec }]);
    const id = job?.id ?? "";
    await lockJob(queue, id, "us");
    assert.equal((await removeJob(queue.db, "k")).outcome, "locked");
    await back(id);
    assert.deepEqual(await rows(), []);
  }
});

test("If a job's retries are stopped while the answer to its fetch is unknown, the job is given back, and not deleted.", async () => {
  const [job] = await addJobs(queue.db, [{ identifier: "t" }]);
  const id = job?.id ?? "";
  await lockJob(queue, id, "us");
  assert.equal((await stopRetrying(queue.db, [id])).jobs.length, 1);
  await returnUnknownJobs(queue.db, "us", [], []);
  assert.deepEqual(
    (await rows()).map(({ attempts, locked_by }) => [attempts, locked_by]),
    [[0, null]],
  );
  await queue.sql("delete from worker._private_jobs");
});

test("A job whose updated_at is in the future, because the clock was set back, is given back and not deleted.", async () => {
  const [job] = await addJobs(queue.db, [{ identifier: "t", spec: { maxAttempts: 1 } }]);
  await queue.sql("update worker._private_jobs set updated_at = now() + interval '1 hour'");
  await lockJob(queue, job?.id ?? "", "us");
  await returnUnknownJobs(queue.db, "us", [], []);
  assert.deepEqual(
    (await rows()).map(({ attempts, locked_by }) => [attempts, locked_by]),
    [[0, null]],
  );
  await queue.sql("delete from worker._private_jobs");
});

test("Jobs of a named queue that are given back stay ahead of the queue's other jobs with the same run_at.", async () => {
  const runAt = new Date("2026-01-31T08:00:00Z");
  const spec = { queueName: "q", runAt };
  const jobs = await addJobs(
    queue.db,
    Array.from({ length: 9 }, () => ({ identifier: "t", spec })),
  );
  await queue.sql("update worker._private_jobs set run_at = $1", [runAt]);
  const ids = jobs.map(({ id }) => id);
  for (const id of ids.slice(0, 3)) await lockJob(queue, id, "us");
  await returnJobs(queue.db, "us", ids.slice(0, 3));
  const inOrder = await queue.sql<{ id: string }>(
    "select id::text from worker._private_jobs order by priority, run_at, ctid",
  );
  assert.deepEqual(
    inOrder.map(({ id }) => id),
    ids,
  );
  await queue.sql("delete from worker._private_jobs");
});

test("A job that is given back unstarted at its last attempt can be attempted again, with or without a key.", async () => {
  for (const spec of [{ jobKey: "k", maxAttempts: 1 }, { maxAttempts: 1 }]) {
    const [job] = await addJobs(queue.db, [{ identifier: "t", spec }]);
    const id = job?.id ?? "";
    for (const back of [
      () => returnJobs(queue.db, "us", [id], [], "jobKey" in spec ? [id] : []),
      () => returnUnknownJobs(queue.db, "us", [], []),
    ]) {
      await lockJob(queue, id, "us");
      await back();
      const [row] = await rows();
      assert.deepEqual([row?.attempts, row?.locked_by], [0, null]);
    }
    await queue.sql("delete from worker._private_jobs");
  }
});

test("returnUnknownJobs() unlocks no job that a fast lane has kept after the time sinceMs.", async () => {
  await addThree();
  const [free] = await rows();
  const lane = await queue.pool.connect();
  try {
    // The lane's transaction begins before `sinceMs`, but keepJobs() sets a `locked_at` after `sinceMs`.
    await lane.query("begin; select from worker._private_jobs where locked_by is null for update");
    const sinceMs = await databaseTime(queue.db);
    await keepJobs({ ...queue.db, client: lane }, "us", [free?.id ?? ""]);
    await lane.query("commit");
    assert.equal((await returnUnknownJobs(queue.db, "us", [], [], sinceMs)).jobs, 1);
  } finally {
    lane.release();
  }
  const holders = async () => (await rows()).map(({ locked_by }) => locked_by);
  assert.deepEqual(await holders(), ["us", null, "them"]);
  // A lock from the future is given back, too: the database's clock may have been set back.
  await queue.sql("update worker._private_jobs set locked_at = now() + interval '1 day'");
  assert.equal(
    (await returnUnknownJobs(queue.db, "us", [], [], await databaseTime(queue.db))).jobs,
    1,
  );
  assert.deepEqual(await holders(), [null, null, "them"]);
});

test("After the connection of a fast lane was lost, only the safe mode takes the lane's jobs, even after they were given back.", async () => {
  const [job] = await addJobs(queue.db, [{ identifier: "t" }]);
  const id = job?.id ?? "";
  const isForFastLanes = async () =>
    (
      await queue.sql<{ is: boolean }>(
        `select ${isForFastMode("j")} as is from worker._private_jobs j`,
      )
    )[0]?.is;
  const give = [
    () => returnJobs(queue.db, "us", [id]),
    () => returnUnknownJobs(queue.db, "us", [], []),
  ];
  for (const back of give) {
    await queue.sql("update worker._private_jobs set attempts = 0");
    assert.equal(await isForFastLanes(), true);
    // The rollback releases the row lock, as a lost connection does. lockJob() then locks the job, as the safe mode
    // does.
    const died = "do $$ begin perform from worker._private_jobs for update; raise 'dead'; end $$";
    await assert.rejects(queue.sql(died));
    assert.equal(await isForFastLanes(), false);
    await lockJob(queue, id, "us");
    await back();
    assert.equal(await isForFastLanes(), false);
  }
});
