// Tests completeJobs(), permanentlyFailJobs() and rescheduleJobs(), which change jobs by id.
import assert from "node:assert/strict";
import { test } from "node:test";
import { InputError } from "../../src/base/errors.ts";
import type { ActionRecord } from "../../src/commands/before-images/recorded-statement.ts";
import { completeJobs } from "../../src/commands/jobs/complete-jobs.ts";
import { permanentlyFailJobs } from "../../src/commands/jobs/permanently-fail-jobs.ts";
import { type JobChanges, rescheduleJobs } from "../../src/commands/jobs/reschedule-jobs.ts";
import type { Database } from "../../src/database/database.ts";
import type { Job } from "../../src/domain/job.ts";
import { getJob } from "../../src/insight/pages/get-job.ts";
import { addJob } from "../../src/queue/add/add-job.ts";
import { addJobs } from "../../src/queue/add/add-jobs.ts";
import { lockJob, testQueue } from "../queue/queue-database.ts";
import { migratedDatabase } from "../support/database.ts";

const queue = testQueue(() => migratedDatabase("worker", ["operations"]));
const idsOf = (jobs: readonly Job[]) => jobs.map((job) => job.id);

type Act = (db: Database, ids: readonly string[]) => Promise<Job[]>;
const record = (action: string, changes = {}): ActionRecord => ({
  origin: { by: "tester", source: "admin" },
  ...{ action, changes },
});
const acts: Record<string, Act> = {
  completeJobs: async (db, ids) => (await completeJobs(db, ids)).jobs,
  permanentlyFailJobs: async (db, ids) => (await permanentlyFailJobs(db, ids, "why")).jobs,
  rescheduleJobs: async (db, ids) => (await rescheduleJobs(db, ids, { priority: 5 })).jobs,
  "completeJobs, stored for an undo,": async (db, ids) =>
    (await completeJobs(db, ids, record("complete"))).jobs,
  "permanentlyFailJobs, stored for an undo,": async (db, ids) =>
    (await permanentlyFailJobs(db, ids, "why", record("fail", { reason: "why" }))).jobs,
  "rescheduleJobs, stored for an undo,": async (db, ids) =>
    (await rescheduleJobs(db, ids, { priority: 5 }, record("reschedule", { priority: 5 }))).jobs,
};

async function addThree(): Promise<string[]> {
  const spec = { queueName: "q" };
  const jobs = await addJobs(
    queue.db,
    [1, 2, 3].map((n) => ({ identifier: `t${n}`, payload: n, spec })),
  );
  return idsOf(jobs);
}

for (const [name, act] of Object.entries(acts)) {
  test(`${name} acts on the jobs that are not locked, and returns exactly these in the order of ids.`, async () => {
    const [a = "", b = "", c = ""] = await addThree();
    await lockJob(queue, b);
    const jobs = await act(queue.db, [c, "9007199254740993", b, a, c, "9223372036854775807"]);
    assert.deepEqual(idsOf(jobs), [a, c]);
    assert.deepEqual(
      jobs.map((job) => [job.taskIdentifier, job.queueName, job.payload]),
      [
        ["t1", "q", 1],
        ["t3", "q", 3],
      ],
    );
    const locked = await getJob(queue.db, b);
    assert.deepEqual(
      [locked?.lockedBy, locked?.attempts, locked?.lastError, locked?.priority],
      ["worker-1", 1, null, 0],
    );
  });

  test(`${name} skips a job whose row another session has locked, and acts on the others.`, async () => {
    const [a = "", b = "", c = ""] = await addThree();
    const holder = await queue.pool.connect();
    const patient = await queue.pool.connect();
    try {
      await holder.query("begin");
      await holder.query("select from worker._private_jobs where id = $1 for update", [b]);
      await patient.query("set lock_timeout = 50");
      const db = { schema: queue.db.schema, client: patient };
      assert.deepEqual(idsOf(await act(db, [a, b, c])), [a, c]);
      await holder.query("rollback");
      assert.deepEqual(idsOf(await act(db, [b])), [b]);
      await holder.query("begin; lock table worker._private_jobs in access exclusive mode");
      await assert.rejects(act(db, [b]), { code: "database_busy" });
      await holder.query("rollback");
    } finally {
      holder.release(true);
      patient.release(true);
    }
  });

  test(`${name} acts on a job whose lock is older than four hours.`, async () => {
    const [a = "", b = ""] = await addThree();
    await lockJob(queue, a, "gone", "4 hours 1 second");
    await lockJob(queue, b, "slow", "3 hours 59 minutes");
    assert.deepEqual(idsOf(await act(queue.db, [a, b])), [a]);
  });

  test(`${name} rejects anything but a list of job ids.`, async () => {
    const db = { ...queue.db, client: { query: () => assert.fail("queried the database") } };
    const wrong: [unknown, RegExp][] = [
      [[], /^ids: must list at least one/],
      [["0"], /^ids\[0\]: must be a job id/],
      [["-1"], /^ids\[0\]/],
      [["1", "01"], /^ids\[1\]/],
      [["1.5"], /^ids\[0\]/],
      [["1e3"], /^ids\[0\]/],
      [["9223372036854775808"], /^ids\[0\]/],
      [["99999999999999999999"], /^ids\[0\]/],
      [["1\0"], /^ids\[0\]/],
      [["1); drop table"], /^ids\[0\]/],
      [[1], /^ids\[0\]/],
      ["12", /^ids/],
      [Array.from({ length: 10_001 }, (_, n) => `${n + 1}`), /at most 10000 ids/],
    ];
    for (const [ids, message] of wrong) {
      await assert.rejects(
        async () => act(db, ids as string[]),
        (error) => error instanceof InputError && message.test(error.message),
      );
    }
  });

  test(`Three concurrent calls of ${name} together act on every job, without an error.`, async () => {
    const added = idsOf(
      await addJobs(
        queue.db,
        Array.from({ length: 500 }, () => ({ identifier: "t" })),
      ),
    );
    const results = await Promise.all([
      act(queue.db, added),
      act(queue.db, added.toReversed()),
      act(queue.db, added.slice(100, 400)),
    ]);
    const touched = new Set(results.flatMap(idsOf));
    assert.equal(touched.size, 500);
    if (name.startsWith("completeJobs")) assert.equal(results.flat().length, 500);
  });
}

test("Completed jobs are deleted and returned in their last state.", async () => {
  const job = await addJob(queue.db, {
    identifier: "t",
    payload: { n: 1 },
    spec: { jobKey: "k", flags: ["f"], priority: 3 },
  });
  assert.deepEqual((await completeJobs(queue.db, [job.id])).jobs, [job]);
  assert.equal(await getJob(queue.db, job.id), null);
  assert.deepEqual((await completeJobs(queue.db, [job.id])).jobs, []);
});

test("A job that is failed by hand has no attempts left, and the given reason as its last error; an invalid reason is rejected.", async () => {
  const job = await addJob(queue.db, { identifier: "t" });
  const reason = `it's "broken" \\ %_ \u{1f4a5}\n${"x".repeat(60_000)}`;
  const {
    jobs: [failed],
  } = await permanentlyFailJobs(queue.db, [job.id], reason);
  assert.equal(failed?.state, "failed");
  assert.equal(failed?.attempts, 25);
  assert.equal(failed?.lastError, reason);
  assert.equal(failed?.isAvailable, false);
  const {
    jobs: [again],
  } = await permanentlyFailJobs(queue.db, [job.id], null);
  assert.equal(again?.lastError, "Manually marked as failed");
  await assert.rejects(permanentlyFailJobs(queue.db, [job.id], "a\0b"), { code: "bad_input" });
  await assert.rejects(permanentlyFailJobs(queue.db, [job.id], "x".repeat(65_537)), {
    code: "bad_input",
  });
});

test("Rescheduling changes the given fields only.", async () => {
  const job = await addJob(queue.db, { identifier: "t", spec: { priority: 1, maxAttempts: 9 } });
  await permanentlyFailJobs(queue.db, [job.id], "why");
  const runAt = new Date("2031-02-03T04:05:06.789Z");
  const {
    jobs: [moved],
  } = await rescheduleJobs(queue.db, [job.id], { runAt, attempts: 0 });
  assert.deepEqual(
    [moved?.runAt, moved?.attempts, moved?.maxAttempts, moved?.priority, moved?.state],
    [runAt, 0, 9, 1, "scheduled"],
  );
  assert.equal(moved?.lastError, "why");
  const {
    jobs: [now],
  } = await rescheduleJobs(queue.db, [job.id], { runAt: "now", maxAttempts: 32_767 });
  assert.equal(now?.state, "ready");
  assert.equal(now?.maxAttempts, 32_767);
  const {
    jobs: [text],
  } = await rescheduleJobs(queue.db, [job.id], {
    runAt: "2031-02-03T04:05:06.789123+02:00",
  });
  assert.equal(text?.runAt.toISOString(), "2031-02-03T02:05:06.789Z");
  const {
    jobs: [low],
  } = await rescheduleJobs(queue.db, [job.id], { priority: -32_768, attempts: 32_767 });
  assert.deepEqual([low?.priority, low?.attempts, low?.state], [-32_768, 32_767, "failed"]);
});

test("Rescheduling can shift each job from its own run_at, and can spread jobs over a period.", async () => {
  const runAt = new Date("2031-02-03T04:05:06.789Z");
  const ids: string[] = [];
  for (const ms of [0, 1_000]) {
    const spec = { runAt: new Date(runAt.getTime() + ms) };
    ids.push((await addJob(queue.db, { identifier: "t", spec })).id);
  }
  const timesOf = async (changes: JobChanges) =>
    (await rescheduleJobs(queue.db, ids, changes)).jobs.map(
      (job) => job.runAt.getTime() - runAt.getTime(),
    );
  assert.deepEqual(await timesOf({ shiftMs: 7_200_000 }), [7_200_000, 7_201_000]);
  assert.deepEqual(await timesOf({ shiftMs: -7_200_500 }), [-500, 500]);
  const spread = await timesOf({ runAt, spreadMs: 3_600_000 });
  assert.ok(spread.every((ms) => ms >= 0 && ms < 3_600_000) && spread[0] !== spread[1]);
  assert.deepEqual(
    await timesOf({ runAt, spreadMs: 3_600_000 }),
    spread,
    "a repeated call spreads the jobs to the same times",
  );
});

test("Rescheduling without a change, with a value out of range or with an unknown field is rejected.", async () => {
  const { id } = await addJob(queue.db, { identifier: "t" });
  const wrong: [unknown, RegExp][] = [
    [{}, /at least one of/],
    [{ runAt: undefined }, /at least one of/],
    [{ runAt: "soon" }, /^runAt: must be "now", a Date, or/],
    [{ runAt: new Date(Number.NaN) }, /^runAt: must be/],
    [{ runAt: "now", shiftMs: 1 }, /use either runAt or shiftMs/],
    [{ shiftMs: 31_536_000_001 }, /^shiftMs: must be from -31536000000 to/],
    [{ spreadMs: -1 }, /^spreadMs: must be from 0 to/],
    [{ priority: 32_768 }, /^priority: must be a whole number from -32768 to 32767/],
    [{ priority: "1" }, /^priority: must be a number/],
    [{ attempts: -1 }, /^attempts/],
    [{ maxAttempts: 0 }, /^maxAttempts/],
    [{ max_attempts: 1 }, /max_attempts: unknown field, did you mean "maxAttempts"/],
    [null, /must be an object/],
  ];
  for (const [changes, message] of wrong) {
    await assert.rejects(
      async () => rescheduleJobs(queue.db, [id], changes as never),
      (error) => error instanceof InputError && message.test(error.message),
    );
  }
});
