// Tests the option `throttle`: of jobs that are equal, at most one is added in a period.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { cleanup } from "../../src/commands/maintenance/cleanup.ts";
import type { Queryable } from "../../src/database/database.ts";
import type { Job } from "../../src/domain/job.ts";
import type { AnyJob } from "../../src/domain/job-spec.ts";
import type { Throttle } from "../../src/domain/limits/throttle.ts";
import type { ThrottledAdd } from "../../src/domain/limits/throttled-job.ts";
import { addAnyJob } from "../../src/queue/add/add-job.ts";
import { addJobs } from "../../src/queue/add/add-jobs.ts";
import { coalescedAdd } from "../../src/queue/add/coalesced-add.ts";
import { copyJobs, copyKeyedJobs } from "../../src/queue/add/copy-jobs.ts";
import { deleteOldThrottles } from "../../src/queue/tidy/old-throttles.ts";
import { makeWorkerUtils } from "../../src/utils/worker-utils.ts";
import { migratedDatabase } from "../support/database.ts";
import { testQueue } from "./queue-database.ts";

const queue = testQueue(() => migratedDatabase("worker", ["limits"]));
const plain = testQueue();

beforeEach(async () => {
  await queue.sql("truncate worker._private_throttles");
});

const HOUR_MS = 3_600_000;
const job = (payload: unknown, more: Partial<Throttle> = {}, identifier = "t"): AnyJob => ({
  identifier,
  payload,
  spec: { throttle: { periodMs: HOUR_MS, ...more } },
});
const addOne = (one: AnyJob) => addAnyJob(queue.db, one);
const add = async (one: AnyJob) => (await addAnyJob(queue.db, one)) as ThrottledAdd;
const count = async () => (await queue.sql("select from worker._private_jobs")).length;
const periods = () =>
  queue.sql<{ key: string; s: number }>(
    "select key, extract(epoch from until - now())::float8 as s from worker._private_throttles",
  );
const endPeriods = () => queue.sql("update worker._private_throttles set until = now()");

test("Of fifty concurrent adds of equal jobs, one adds its job and the others are dropped.", async () => {
  const adds = [addAnyJob.bind(null, queue.db), coalescedAdd(queue.db) as typeof addOne];
  const answers = (await Promise.all(
    Array.from({ length: 50 }, (_, n) => (adds[n % 2] as (typeof adds)[0])(job({ n: 1 }))),
  )) as ThrottledAdd[];
  assert.equal(await count(), 1);
  assert.equal(answers.filter(({ isThrottled }) => !isThrottled).length, 1);
  assert.equal(answers.filter(({ job: none }) => none === null).length, 49);
  assert.equal(new Set(answers.map(({ until }) => Number(until))).size, 1);
});

test("A period ends at a fixed time of the database's clock, even if its job is deleted before.", async () => {
  const first = await add(job({ n: 1 }));
  await queue.sql("delete from worker._private_jobs");
  const dropped = await add(job({ n: 1 }));
  assert.deepEqual([dropped.isThrottled, dropped.until], [true, first.until]);
  const [period] = await periods();
  assert.match(String(period?.key), /^t:[\w-]{43}$/);
  assert.ok(Math.abs((period?.s ?? 0) - 3_600) < 60);
  await endPeriods();
  const next = await add(job({ n: 1 }));
  assert.equal(next.isThrottled, false);
  assert.ok(next.until > first.until);
  assert.equal((await add(job({ n: 1 }))).isThrottled, true);
});

test("A stored period is shortened if the period of the next add would end earlier, for example after the clock was wrong.", async () => {
  await add(job({ n: 1 }));
  await queue.sql("update worker._private_throttles set until = until + interval '10 years'");
  for (const periodMs of [HOUR_MS, HOUR_MS / 2]) {
    const dropped = await add(job({ n: 1 }, { periodMs }));
    assert.equal(dropped.isThrottled, true);
    const [period] = await periods();
    assert.ok(Math.abs((period?.s ?? 0) - periodMs / 1_000) < 60);
    assert.ok(Math.abs(Number(dropped.until) - Date.now() - periodMs) < 60_000);
  }
  await endPeriods();
  assert.equal((await add(job({ n: 1 }))).isThrottled, false);
});

test("The option `by` decides which jobs are equal. Jobs of different tasks are never equal.", async () => {
  const by = ["args.user"] as const;
  const dropped: boolean[] = [];
  for (const one of [
    job({ user: 1, at: 1 }, { by }),
    job({ user: 1, at: 2 }, { by }),
    job({ user: 2, at: 1 }, { by }),
    job({ user: 1, at: 1 }, { by }, "other"),
    job({ at: 1, user: 1 }),
    job({ user: 1.0, at: 1 }),
  ]) {
    dropped.push((await add(one)).isThrottled);
  }
  assert.deepEqual(dropped, [false, true, false, false, false, true]);
  await assert.rejects(
    addAnyJob(queue.db, job({}, { by })),
    /spec\.throttle\.by\[0\]: the payload has no member "user"/,
  );
});

test("One call may contain a throttled job several times, and jobs without a throttle.", async () => {
  const answers = await addJobs(queue.db, [
    job({ n: 1 }),
    { identifier: "t", payload: { n: 1 } },
    job({ n: 2 }),
    job({ n: 1 }),
    { identifier: "other", payload: { n: 3 }, spec: { queueName: "q", priority: 5 } },
    job({ n: 2 }),
  ]);
  const seen = answers.map((answer) =>
    "isThrottled" in answer ? (answer.job?.payloadText ?? null) : `plain ${answer.payloadText}`,
  );
  assert.deepEqual(seen, ['{"n":1}', 'plain {"n":1}', '{"n":2}', null, 'plain {"n":3}', null]);
  const queued = answers[4] as Job;
  assert.deepEqual([queued.queueName, queued.priority, queued.taskIdentifier], ["q", 5, "other"]);
  const ids = answers.flatMap((one) => ("isThrottled" in one ? (one.job?.id ?? []) : one.id));
  assert.deepEqual(
    ids,
    [...ids].sort((a, b) => Number(a) - Number(b)),
  );
  assert.equal(await count(), 4);
  const again = await addJobs(queue.db, [job({ n: 2 }), job({ n: 1 })]);
  assert.ok(
    again.every((one) => "isThrottled" in one && one.isThrottled && one.until > new Date()),
  );
});

test("If one call adds ten thousand jobs with a thousand throttle keys, only the first job of each key is added.", async () => {
  const jobs = Array.from({ length: 10_000 }, (_, n) => job({ n: n % 1_000 }));
  const answers = (await addJobs(queue.db, jobs)) as ThrottledAdd[];
  assert.ok(answers.every(({ isThrottled }, place) => isThrottled === place >= 1_000));
  assert.equal(await count(), 1_000);
});

test("An add waits for the transaction of an equal add, and is not throttled if this transaction is rolled back.", async () => {
  const client = await queue.pool.connect();
  try {
    await client.query("begin");
    const utils = await makeWorkerUtils({ pool: queue.pool });
    const throttle = { periodMs: HOUR_MS };
    const inside = await utils.with(client).addJob("t", { n: 1 }, { throttle });
    assert.equal(inside.isThrottled, false);
    assert.equal((await utils.with(client).addJob("t", { n: 1 }, { throttle })).isThrottled, true);
    const outside = add(job({ n: 1 }));
    await client.query("rollback");
    assert.equal((await outside).isThrottled, false);
  } finally {
    client.release();
  }
  assert.equal(await count(), 1);
});

test("A connection that is killed before its commit leaves neither a job nor a period.", async () => {
  const client = await queue.pool.connect();
  client.on("error", () => {});
  await client.query("begin");
  const { rows } = await client.query("select pg_backend_pid() as pid");
  await addAnyJob({ ...queue.db, client }, job({ n: 1 }));
  const outside = add(job({ n: 1 }));
  await queue.sql("select pg_terminate_backend($1)", [rows[0].pid]);
  assert.equal((await outside).isThrottled, false);
  client.release(true);
  assert.deepEqual([await count(), (await periods()).length], [1, 1]);
});

test("An add that waits for the transaction of an equal add is dropped if this transaction is committed.", async () => {
  const client = await queue.pool.connect();
  try {
    await client.query("begin");
    const inside = (await addAnyJob({ ...queue.db, client }, job({ n: 1 }))) as ThrottledAdd;
    const outside = add(job({ n: 1 }));
    await client.query("commit");
    const { isThrottled, until } = await outside;
    assert.deepEqual([isThrottled, until], [true, inside.until]);
  } finally {
    client.release();
  }
});

test("If a trigger of the database prevents the insertion of a throttled job, no period begins.", async () => {
  await queue.sql(`create function public.skip() returns trigger language plpgsql as $$ begin return null; end $$;
    create trigger skip before insert on worker._private_jobs for each row execute function public.skip()`);
  try {
    await assert.rejects(addAnyJob(queue.db, job({ n: 1 })), /was not stored: a trigger/);
    await assert.rejects(
      addJobs(queue.db, [job({ n: 1 }), job({ n: 2 })]),
      /some of 2 jobs were not stored/,
    );
    assert.deepEqual(await periods(), []);
  } finally {
    await queue.sql("drop function public.skip cascade");
  }
});

test("Cleanup deletes periods that are over, and keeps the others.", async () => {
  await queue.sql(`insert into worker._private_throttles
    select 't:' || n, now() + interval '1 h' * (case when n = 0 then 1 else -1 end) from generate_series(0, 2500) n`);
  await cleanup(queue.db, ["delete-permanently-failed-jobs"]);
  assert.deepEqual(
    (await periods()).map(({ key }) => key),
    ["t:0"],
  );
  assert.equal(await deleteOldThrottles(plain.db), 0);
});

test("A throttle is refused if its job has a job key, if its period is missing or 0, if its job is added with COPY, or if another job of the same call has a job key.", async () => {
  const throttle = { periodMs: HOUR_MS };
  for (const [spec, message] of [
    [{ throttle, jobKey: "k" }, /spec\.throttle: use either this or jobKey, unique or debounce/],
    [{ throttle: { periodMs: 0 } }, /spec\.throttle\.periodMs: must be from 1 ms to 365 days/],
    [{ throttle: { by: ["args"] } }, /spec\.throttle\.periodMs/],
  ] as const) {
    await assert.rejects(
      addAnyJob(queue.db, { identifier: "t", payload: {}, spec: spec as never }),
      message,
    );
  }
  for (const copy of [copyJobs, copyKeyedJobs]) {
    await assert.rejects(
      copy(queue.db, [job({}) as never]),
      /jobs\[0\]\.spec\.throttle: is not supported here: use addJobs/,
    );
  }
  await assert.rejects(
    addJobs(queue.db, [job({}), { identifier: "t", spec: { jobKey: "k" } }]),
    /jobs\[1\]\.spec\.jobKey: is not supported in one call with throttle/,
  );
  assert.equal(await count(), 0);
});

test("If the tables for limits are missing, a throttle is refused, and the error has the command that adds the tables.", async () => {
  await assert.rejects(addAnyJob(plain.db, job({})), {
    code: "extension_missing",
    message: /throttle needs tables .*worker migrate --with limits/,
  });
  assert.equal((await plain.sql("select from worker._private_jobs")).length, 0);
});

test("An add whose jobs are committed, but whose periods cannot be read, is rejected as outcome_unknown.", async () => {
  await add(job({ n: 1 }));
  const before = await count();
  const client: Queryable = {
    // Replaces the statement that reads the periods by a statement that PostgreSQL cancels, as after a time limit.
    query: (sent) =>
      queue.pool.query(
        sent.text.includes("with requested")
          ? { text: "select pg_cancel_backend(pg_backend_pid()), pg_sleep(60)" }
          : sent,
      ),
  };
  await assert.rejects(
    addJobs({ ...queue.db, client }, [job({ n: 1 }), { identifier: "t", payload: {} }]),
    { code: "outcome_unknown", message: /statement/ },
  );
  assert.equal(await count(), before + 1);
});
