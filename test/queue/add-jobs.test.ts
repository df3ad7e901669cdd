// Tests addJobs(), which adds many jobs (a batch) in one call: the order of the jobs, job keys in every mode, and the
// notification of workers. Also tests that a call adds all of its jobs or none.
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import type { JobToAdd } from "../../src/domain/job-spec.ts";
import { RawJson, rawJson } from "../../src/domain/payload.ts";
import { addJob } from "../../src/queue/add/add-job.ts";
import { addJobs } from "../../src/queue/add/add-jobs.ts";
import { lockJob, testQueue } from "./queue-database.ts";

const queue = testQueue();

async function countRows(): Promise<number> {
  const [row] = await queue.sql<{ n: number }>(
    "select count(*)::int as n from worker._private_jobs",
  );
  return row?.n ?? -1;
}

test("An empty list adds nothing and does not query the database.", async () => {
  const client = { query: () => assert.fail("queried the database") };
  assert.deepEqual(await addJobs({ ...queue.db, client }, []), []);
});

test("Jobs of several tasks and queues are returned in the given order, with ascending ids.", async () => {
  const jobs: JobToAdd[] = Array.from({ length: 300 }, (_, n) => ({
    identifier: `task_${n % 7}`,
    payload: { n },
    spec: {
      ...(n % 3 === 0 ? { queueName: `queue_${n % 5}` } : {}),
      ...(n % 4 === 0 ? { priority: n % 9, maxAttempts: 1 + (n % 5) } : {}),
      ...(n % 6 === 0 ? { runAt: "2030-01-01T00:00:00Z" } : {}),
      ...(n % 8 === 0 ? { flags: ["one", "two"] } : {}),
    },
  }));
  await addJobs(queue.db, jobs.slice(0, 50)); // creates all of the tasks and queues
  const added = await addJobs(queue.db, jobs);
  assert.equal(added.length, 300);
  for (const [n, job] of added.entries()) {
    assert.deepEqual(job.payload, { n });
    assert.equal(job.taskIdentifier, `task_${n % 7}`);
    assert.equal(job.queueName, n % 3 === 0 ? `queue_${n % 5}` : null);
    assert.equal(job.priority, n % 4 === 0 ? n % 9 : 0);
    assert.equal(job.maxAttempts, n % 4 === 0 ? 1 + (n % 5) : 25);
    assert.equal(job.state, n % 6 === 0 ? "scheduled" : "ready");
    assert.equal(job.flagsText, n % 8 === 0 ? '{"one": true, "two": true}' : null);
    if (n > 0) assert.ok(BigInt(job.id) > BigInt(added[n - 1]?.id ?? 0));
  }
});

test("A batch is first in, first out: run_at ascends in the given order, and is never in the future.", async () => {
  await addJobs(
    queue.db,
    Array.from({ length: 100 }, (_, n) => ({ identifier: "t", payload: n })),
  );
  const rows = await queue.sql<{ payload: number; late: boolean }>(
    "select payload, run_at > now() as late from worker._private_jobs order by priority, run_at",
  );
  assert.deepEqual(
    rows.map((row) => row.payload),
    Array.from({ length: 100 }, (_, n) => n),
  );
  assert.ok(rows.every((row) => !row.late));
});

test("Payloads of a batch are returned byte for byte.", async () => {
  const texts = [
    '{"b":1,"a":2,"b":3}',
    "[12345678901234567890]",
    '"{,}\\"\\\\ NULL"',
    "null",
    ' "NULL" ',
  ];
  const added = await addJobs(
    queue.db,
    texts.map((text) => ({ identifier: "t", payload: rawJson(text) })),
  );
  assert.deepEqual(
    added.map((job) => job.payloadText),
    texts,
  );
  const keyed = await addJobs(
    queue.db,
    texts.map((text, n) => ({
      identifier: "t",
      payload: rawJson(text),
      spec: { jobKey: `k${n}` },
    })),
  );
  assert.deepEqual(
    keyed.map((job) => job.payloadText),
    texts,
  );
});

test("A call with ten thousand jobs is accepted, and a call with one more job is refused.", async () => {
  const many = Array.from({ length: 10_000 }, (_, n) => ({ identifier: "t", payload: n }));
  const added = await addJobs(queue.db, many);
  assert.equal(added.at(-1)?.payload, 9_999);
  await assert.rejects(addJobs(queue.db, [...many, { identifier: "t" }]), {
    code: "bad_input",
    message: /at most 10000 jobs/,
  });
  assert.equal(await countRows(), 10_000);
});

test("A batch with one invalid job is refused as a whole, and the error contains the job's place in the batch.", async () => {
  const jobs: JobToAdd[] = [{ identifier: "t" }, { identifier: "t", spec: { priority: 70_000 } }];
  await assert.rejects(addJobs(queue.db, jobs), { message: /^jobs\[1\]\.spec\.priority: / });
  await assert.rejects(addJobs(queue.db, { 0: 1 } as never), { code: "bad_input" });
  await assert.rejects(addJobs(queue.db, [null as never]), { code: "bad_input" });
  assert.equal(await countRows(), 0);
});

test("A batch can have jobs with keys, in all modes, and jobs without a key; each job is returned in its place.", async () => {
  const later = "2030-01-01T00:00:00Z";
  await addJob(queue.db, { identifier: "t", payload: "old", spec: { jobKey: "r", runAt: later } });
  await addJob(queue.db, { identifier: "t", payload: "old", spec: { jobKey: "p", runAt: later } });
  await addJob(queue.db, { identifier: "t", payload: "old", spec: { jobKey: "d", runAt: later } });
  const added = await addJobs(queue.db, [
    { identifier: "new_a", payload: 0 },
    { identifier: "t", payload: 1, spec: { jobKey: "r" } },
    { identifier: "t", payload: 2, spec: { jobKey: "p", jobKeyMode: "preserve_run_at" } },
    { identifier: "t", payload: 3, spec: { jobKey: "d", jobKeyMode: "unsafe_dedupe" } },
    { identifier: "new_b", payload: 4, spec: { queueName: "new", flags: ["f"] } },
    { identifier: "t", payload: 5, spec: { jobKey: "fresh", jobKeyMode: "unsafe_dedupe" } },
    { identifier: "t", payload: 6, spec: { jobKey: "fresh too", flags: ["g"] } },
  ]);
  assert.deepEqual(
    added.map((job) => job.payload),
    [0, 1, 2, "old", 4, 5, 6],
  );
  assert.deepEqual(
    added.map((job) => job.key),
    [null, "r", "p", "d", null, "fresh", "fresh too"],
  );
  assert.deepEqual(
    added.map((job) => job.state),
    ["ready", "ready", "scheduled", "scheduled", "ready", "ready", "ready"],
  );
  assert.equal(added[0]?.taskIdentifier, "new_a");
  assert.equal(added[4]?.taskIdentifier, "new_b");
  assert.equal(added[4]?.queueName, "new");
  assert.equal(added[4]?.flagsText, '{"f": true}');
  assert.equal(added[6]?.flagsText, '{"g": true}');
  assert.equal(await countRows(), 7);
});

test("If a batch repeats a key, the result is as if its jobs were added one after the other.", async () => {
  const add = (payload: unknown, jobKeyMode: "replace" | "preserve_run_at" | "unsafe_dedupe") => ({
    identifier: "t",
    payload,
    spec: { jobKey: "k", jobKeyMode },
  });
  const added = await addJobs(queue.db, [
    add([1], "replace"),
    add([2], "preserve_run_at"),
    add([9], "unsafe_dedupe"),
    add([3], "replace"),
  ]);
  assert.equal(new Set(added.map((job) => job.id)).size, 1);
  assert.deepEqual(
    added.map((job) => job.payload),
    [[1], [1, 2], [1, 2], [1, 2, 3]],
  );
  assert.deepEqual(
    added.map((job) => job.revision),
    [0, 1, 2, 3],
  );
});

test("In a batch with repeated keys, run_at ascends with a job's place in the batch, by a microsecond for each place.", async () => {
  const keys = ["a", null, "b", "a", null, "b", "a"];
  await addJobs(
    queue.db,
    keys.map((jobKey, payload) => ({
      identifier: "t",
      payload,
      ...(jobKey === null ? {} : { spec: { jobKey } }),
    })),
  );
  const rows = await queue.sql<{ payload: number; us: number }>(
    `select payload, extract(microseconds from max(run_at) over () - run_at)::int as us
     from worker._private_jobs order by run_at`,
  );
  assert.deepEqual(
    rows.map(({ payload, us }) => [payload, us]),
    [
      [1, 5],
      [4, 2],
      [5, 1],
      [6, 0],
    ],
  );
});

test("If a batch repeats the key of a running job, one new job gets the key, and later jobs of the batch replace this new job.", async () => {
  const first = await addJob(queue.db, { identifier: "t", payload: [0], spec: { jobKey: "k" } });
  await lockJob(queue, first.id);
  const [unchanged, next, last] = await addJobs(
    queue.db,
    (["unsafe_dedupe", "replace", "replace"] as const).map((jobKeyMode, n) => ({
      identifier: "t",
      payload: [n],
      spec: { jobKey: "k", jobKeyMode },
    })),
  );
  assert.deepEqual([unchanged?.id, unchanged?.key, unchanged?.revision], [first.id, "k", 1]);
  assert.notEqual(next?.id, first.id);
  assert.deepEqual([last?.id, last?.payload, last?.revision], [next?.id, [1, 2], 1]);
  const rows = await queue.sql<{ key: string | null }>(
    "select key from worker._private_jobs order by id",
  );
  assert.deepEqual(
    rows.map(({ key }) => key),
    [null, "k"],
  );
});

test("On a pool, a batch with repeated keys is all or nothing.", async () => {
  await addJob(queue.db, { identifier: "t", payload: [1], spec: { jobKey: "k" } });
  const add = (payload: unknown) => ({ identifier: "t", payload, spec: { jobKey: "k" } });
  // If the old and the new payload of a key are arrays, they are concatenated as jsonb. A jsonb value cannot contain
  // U+0000, and only the database detects this character.
  const jobs = [{ identifier: "t" }, add([2]), add(["\0"])];
  await assert.rejects(addJobs(queue.db, jobs), { code: "bad_input" });
  const rows = await queue.sql<{ payload: string }>(
    "select payload::text from worker._private_jobs",
  );
  assert.deepEqual(rows, [{ payload: "[1]" }]);
});

test("If a trigger skips one of the rows, a batch adds nothing, whether its jobs have keys or not.", async () => {
  await queue.sql(`
    create function public.skip_bad() returns trigger language plpgsql as
      'begin return case when new.payload->>''bad'' is null then new end; end';
    create trigger skip_bad before insert or update on worker._private_jobs
      for each row execute function public.skip_bad()`);
  try {
    const keys = [[], ["k"], ["a", "b", "c"], ["k", "k", "k"]];
    for (const jobKeys of keys) {
      const jobs = [{}, { bad: 1 }, {}].map((payload, n) => ({
        identifier: "t",
        payload,
        spec: jobKeys[n] === undefined ? {} : { jobKey: jobKeys[n] },
      }));
      await assert.rejects(addJobs(queue.db, jobs), {
        code: "database_error",
        message: /not stored.*: a trigger on the table _private_jobs skips rows/,
      });
      assert.equal(await countRows(), 0, jobKeys.join());
    }
    await addJob(queue.db, { identifier: "t", spec: { jobKey: "k" } });
    const replacing = { identifier: "t", payload: { bad: 1 }, spec: { jobKey: "k" } };
    await assert.rejects(addJob(queue.db, replacing), /the job was not stored: a trigger/);
  } finally {
    await queue.sql("drop function public.skip_bad cascade");
  }
});

test("A batch with a different key for each job is all or nothing.", async () => {
  await addJob(queue.db, { identifier: "t", payload: [1], spec: { jobKey: "k" } });
  // Only the database refuses U+0000 in an array that is appended to the payload of an existing job.
  const jobs = [
    { identifier: "t", payload: "fine", spec: { jobKey: "a" } },
    { identifier: "t", payload: ["\0"], spec: { jobKey: "k" } },
  ];
  await assert.rejects(addJobs(queue.db, jobs), { code: "bad_input" });
  assert.equal(await countRows(), 1);
});

test("A batch adds ten thousand jobs with keys, and a running job loses its key to one of them.", async () => {
  const first = await addJob(queue.db, { identifier: "t", spec: { jobKey: "k5" } });
  await lockJob(queue, first.id);
  const jobs = Array.from({ length: 10_000 }, (_, n) => ({
    identifier: "t",
    payload: n,
    spec: { jobKey: `k${n}` },
  }));
  const added = await addJobs(queue.db, jobs);
  assert.ok(added.every((job, n) => job.payload === n && job.key === `k${n}`));
  assert.notEqual(added[5]?.id, first.id);
  assert.equal(await countRows(), 10_001);
});

test("Concurrent batches with the same new names of tasks and queues are all added.", async () => {
  const batch = (salt: number) =>
    Array.from({ length: 50 }, (_, n) => ({
      identifier: `task_${(n * 7 + salt) % 50}`,
      payload: { salt },
      spec: { queueName: `queue_${(n * 3 + salt) % 50}` },
    }));
  const results = await Promise.all(
    Array.from({ length: 8 }, (_, salt) => addJobs(queue.db, batch(salt))),
  );
  assert.equal(await countRows(), 400);
  assert.ok(results.flat().every((job) => job.taskIdentifier !== null && job.queueName !== null));
  const [names] = await queue.sql<{ tasks: number; queues: number }>(
    `select (select count(*)::int from worker._private_tasks) as tasks,
            (select count(*)::int from worker._private_job_queues) as queues`,
  );
  assert.deepEqual(names, { tasks: 50, queues: 50 });
});

test("Workers are notified of a batch once.", async () => {
  const client = new pg.Client({ connectionString: queue.url });
  await client.connect();
  const notifications: unknown[] = [];
  client.on("notification", ({ payload }) => notifications.push(JSON.parse(payload ?? "")));
  await client.query('listen "jobs:insert"');
  await addJobs(queue.db, [{ identifier: "t" }, { identifier: "t" }, { identifier: "t" }]);
  await client.query("select 1");
  assert.equal(notifications.length, 1);
  assert.equal((notifications[0] as { count: number }).count, 3);
  await client.end();
});

test("A rollback removes a batch, and a repeatable-read transaction can add a batch with new names and a key.", async () => {
  const client = await queue.pool.connect();
  try {
    await client.query("begin");
    await addJobs({ ...queue.db, client }, [{ identifier: "t" }, { identifier: "new" }]);
    await client.query("rollback");
    assert.equal(await countRows(), 0);
    await client.query("begin isolation level repeatable read");
    const [job] = await addJobs({ ...queue.db, client }, [
      { identifier: "only here", spec: { jobKey: "k", queueName: "only here" } },
    ]);
    assert.equal(job?.taskIdentifier, "only here");
    assert.equal(job?.queueName, "only here");
    await client.query("commit");
    assert.equal(await countRows(), 1);
  } finally {
    client.release();
  }
});

test("A raw payload that contains U+001F, the separator between the payloads of a batch, is refused.", async () => {
  const forged = new RawJson("1\u001f2");
  await assert.rejects(
    addJobs(queue.db, [{ identifier: "task" }, { identifier: "task", payload: forged }]),
    /jobs\[1\]\.payload: is not JSON/,
  );
  assert.deepEqual(await queue.sql("select from worker._private_jobs"), []);
});
