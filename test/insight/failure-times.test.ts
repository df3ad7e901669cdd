// Tests the time of a job's last failure, which is computed from the job's row. This time is correct for any retry
// delay. After most changes by hand it is unknown.
import assert from "node:assert/strict";
import { test } from "node:test";
import { permanentlyFailJobs } from "../../src/commands/jobs/permanently-fail-jobs.ts";
import { rescheduleJobs } from "../../src/commands/jobs/reschedule-jobs.ts";
import { stopRetrying } from "../../src/commands/jobs/stop-retrying.ts";
import { createInsight } from "../../src/insight/insight.ts";
import { lastErrors } from "../../src/insight/lists/last-errors.ts";
import { listLightJobs } from "../../src/insight/pages/list-jobs.ts";
import { readIndexed } from "../../src/insight/stats/indexed-counts.ts";
import { explainJob } from "../../src/insight/why/explain-job.ts";
import { addJob } from "../../src/queue/add/add-job.ts";
import { failJobs } from "../../src/queue/settle/fail.ts";
import { lockJob, testQueue } from "../queue/queue-database.ts";

const queue = testQueue();
const { sql } = queue;

const add = async () => (await addJob(queue.db, { identifier: "t" })).id;

/** Adds a job whose third attempt failed 3 hours ago. `delayMs`: the retry delay; null: that of Graphile Worker. */
async function failed3hAgo(delayMs: number | null): Promise<string> {
  const id = await add();
  await sql("update worker._private_jobs set attempts = 2 where id = $1", [id]);
  await lockJob(queue, id, "w");
  const next = { kind: "retry", delayMs } as const;
  await failJobs(
    queue.db,
    "w",
    [{ id, message: "Error: no", next, isKeyed: false, payload: null }],
    "locked_by",
  );
  await sql(
    `update worker._private_jobs set run_at = run_at - interval '3 hours 5 s',
       created_at = created_at - interval '9 hours', updated_at = updated_at - interval '3 hours 5 s' where id = $1`,
    [id],
  );
  return id;
}

const why = async (id: string) => (await explainJob(queue.db, id))?.sentence ?? "";

const hoursAgo = (time: string | null | undefined) =>
  Math.floor((Date.now() - Date.parse(time ?? "")) / 3_600_000);

test("The age of a failure is correct for any retry delay, also for one that Graphile Worker would not use.", async () => {
  for (const delayMs of [null, 1_000, 3_600_000, 4 * 3_600_000, 4 * 3_600_000 + 0.4]) {
    const id = await failed3hAgo(delayMs);
    const { jobs } = await listLightJobs(queue.db, { q: `id:${id}` });
    assert.equal(hoursAgo(jobs[0]?.conditionSince), 3, `the retry delay is ${delayMs} ms`);
    if (delayMs !== null && delayMs > 3 * 3_600_000)
      assert.match(
        await why(id),
        / 3 of 25 attempts failed; last failure 3 h ago\./,
        `the retry delay is ${delayMs} ms`,
      );
  }
});

test("The time of a recovery is the time of the failure, until the job is changed by hand.", async () => {
  const id = await failed3hAgo(null);
  const lastErrorHoursAgo = async () =>
    hoursAgo(new Date((await lastErrors(queue.db, [1], true)).of.get(1)?.atMs ?? 0).toISOString());
  for (const error of ["Recovered: worker w …", "Recovered 3 times in a row: worker w …"]) {
    await sql(
      "update worker._private_jobs set run_at = updated_at, attempts = 25, last_error = $2 where id = $1",
      [id, error],
    );
    assert.equal(await lastErrorHoursAgo(), 3, error);
  }
  const changes = [{ priority: 5 }, { attempts: 0, runAt: new Date().toISOString() }];
  for (const change of changes) {
    await rescheduleJobs(queue.db, [id], change);
    assert.deepEqual((await lastErrors(queue.db, [1], true)).of.get(1)?.atMs, null);
  }
  await sql("delete from worker._private_jobs where id = $1", [id]);
});

test("If a job was changed by hand after its last failure, the time of the failure is usually unknown.", async () => {
  const id = await failed3hAgo(4 * 3_600_000);
  await rescheduleJobs(queue.db, [id], { priority: 5 });
  assert.match(await why(id), / 3 of 25 attempts failed; last failure \d s ago or earlier\./);
  assert.equal((await explainJob(queue.db, id))?.since, null);
  await stopRetrying(queue.db, [id]);
  assert.match(
    await why(id),
    /^Will not run again\. No attempts are left; last failed or changed \d s ago\./,
  );
  const never = await addJob(queue.db, { identifier: "t" });
  await permanentlyFailJobs(queue.db, [never.id], "no longer needed");
  assert.match(
    await why(never.id),
    /^Will not run again\. No attempts are left; last failed or changed \d s ago\./,
  );
  await sql("delete from worker._private_jobs where id = $1", [never.id]);
  const insight = createInsight(queue.db);
  const [group] = (await insight.groups("error", "is:failed", 10)).groups;
  assert.deepEqual([group?.isNew, group?.firstSeen, group?.lastSeen], [false, null, null]);
  const [incident] = (await insight.incidents()).incidents;
  assert.equal(incident?.sentence, "1 job failed.");
  const { of } = await lastErrors(queue.db, [1], true);
  assert.deepEqual(of.get(1), { line: "Error: no", atMs: null });
});

test("The incident and the indexed count of failed jobs have the time of the latest failure among the jobs that were not changed by hand.", async () => {
  const [first, second] = [await failed3hAgo(null), await failed3hAgo(null)];
  await sql("update worker._private_jobs set max_attempts = 3");
  const read = async () => (await createInsight(queue.db).incidents()).incidents[0]?.sentence;
  assert.match((await read()) ?? "", /^2 jobs failed; last failure 3 h ago\./);
  const ofIndex = async () =>
    (await readIndexed(queue.db, new Set(["failed"]), null)).lastFailureMs;
  assert.equal(Math.floor((Date.now() - Number(await ofIndex())) / 3_600_000), 3);
  await rescheduleJobs(queue.db, [first], { priority: 5 });
  assert.equal(Math.floor((Date.now() - Number(await ofIndex())) / 3_600_000), 3);
  assert.match((await read()) ?? "", /^2 jobs failed; last known failure 3 h ago\./);
  await rescheduleJobs(queue.db, [second], { priority: 5 });
  assert.equal(await read(), "2 jobs failed.");
  assert.equal(await ofIndex(), undefined);
});

test("The explanation of a job that was failed by hand without a reason does not mention its attempts.", async () => {
  const id = await add();
  await permanentlyFailJobs(queue.db, [id], null);
  assert.match(await why(id), /^Will not run again\. Manually marked as failed; \d s ago\.$/);
  const causes = (await explainJob(queue.db, id))?.causes ?? [];
  assert.deepEqual(
    causes.map(({ text }) => text),
    ["Manually marked as failed"],
  );
  assert.match(causes[0]?.detail ?? "", /^\d s ago$/);
});

test("Attempts that were set by hand are neither failures nor crashes.", async () => {
  const id = await add();
  await rescheduleJobs(queue.db, [id], { attempts: 3, runAt: "2999-01-01T00:00:00Z" });
  assert.match(await why(id), / 3 of 25 attempts are used up\.$/);
  const { incidents } = await createInsight(queue.db).incidents();
  assert.deepEqual(incidents, []);
  const kinds = ((await explainJob(queue.db, id))?.causes ?? []).map(({ kind }) => kind);
  assert.deepEqual(kinds, ["not_due"]);
});
