// Tests copyJobs() and copyKeyedJobs(), which add jobs by COPY.
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { InputError } from "../../src/base/errors.ts";
import { withClient } from "../../src/database/connection/pool.ts";
import type { JobToAdd } from "../../src/domain/job-spec.ts";
import { rawJson } from "../../src/domain/payload.ts";
import { addJobs } from "../../src/queue/add/add-jobs.ts";
import { copyJobs, copyKeyedJobs } from "../../src/queue/add/copy-jobs.ts";
import { testQueue } from "./queue-database.ts";

const queue = testQueue();

const countRows = async (): Promise<number> => {
  const [row] = await queue.sql<{ n: number }>(
    "select count(*)::int as n from worker._private_jobs",
  );
  return row?.n ?? -1;
};

test("An empty list adds no jobs.", async () => {
  assert.equal(await copyJobs(queue.db, []), 0);
});

test("Each column is stored, and missing values get the schema's defaults.", async () => {
  const hostile = 'tab\t newline\n return\r backslash \\ \\. \\N "quote" 😀';
  const spec = {
    queueName: "a queue",
    runAt: "2030-01-01T00:00:00.123456Z",
    priority: -3,
    maxAttempts: 7,
    flags: ["one", 'two\\"\t'],
  };
  const jobs: JobToAdd[] = [
    { identifier: "copied", payload: { hostile }, spec },
    { identifier: "copied", payload: rawJson('{\n\t"n": 12345678901234567890}') },
  ];
  assert.equal(await copyJobs(queue.db, jobs), 2);
  const rows = await queue.sql<Record<string, unknown>>(
    `select payload::text as payload, queue_name, priority, max_attempts, flags::text as flags,
      run_at = '2030-01-01T00:00:00.123456Z' as later, run_at <= now() as due, attempts
    from worker._private_jobs j left join worker._private_job_queues q on q.id = job_queue_id
    where task_id = (select id from worker._private_tasks where identifier = 'copied')
    order by j.id`,
  );
  assert.deepEqual(JSON.parse(String(rows[0]?.["payload"])), { hostile });
  assert.equal(rows[0]?.["queue_name"], "a queue");
  assert.equal(rows[0]?.["priority"], -3);
  assert.equal(rows[0]?.["max_attempts"], 7);
  assert.equal(rows[0]?.["later"], true);
  assert.deepEqual(JSON.parse(String(rows[0]?.["flags"])), { one: true, 'two\\"\t': true });
  assert.equal(rows[1]?.["payload"], '{\n\t"n": 12345678901234567890}');
  assert.equal(rows[1]?.["flags"], null);
  assert.equal(rows[1]?.["queue_name"], null);
  assert.equal(rows[1]?.["due"], true);
  assert.equal(rows[1]?.["max_attempts"], 25);
});

test("copyJobs() stores the same times as addJobs(), to the microsecond.", async () => {
  const moments = [
    "0001-01-01T00:00:00Z",
    "1969-12-31T23:59:59.999999Z",
    "1999-12-31 23:59:59.9999995+00:00",
    "2000-01-01t00:00:00z",
    "2026-02-28T12:00:00.0000005Z",
    "2026-02-28T12:00:00.0000015Z",
    "2026-02-28T12:00:00.123456789-11:30",
    "2026-02-28T12:00+0545",
    "2026-02-28T24:00:00Z",
    "2300-07-01T00:00:00.000001Z",
    "9999-12-31T23:59:59.999999Z",
  ];
  const jobs = moments.map((runAt) => ({ identifier: "moments", spec: { runAt } }));
  await copyJobs(queue.db, jobs);
  const copied = await momentsOf("moments");
  await addJobs(
    queue.db,
    jobs.map((job) => ({ ...job, identifier: "moments_added" })),
  );
  assert.equal(copied.length, moments.length);
  assert.deepEqual(copied, await momentsOf("moments_added"));
});

async function momentsOf(identifier: string): Promise<string[]> {
  const rows = await queue.sql<{ moment: string }>(
    `select (run_at at time zone 'UTC')::text as moment from worker._private_jobs
    where task_id = (select id from worker._private_tasks where identifier = $1) order by id`,
    [identifier],
  );
  return rows.map(({ moment }) => moment);
}

test("Large payloads with characters of one to four bytes are stored unchanged.", async () => {
  const texts = ["", "é", "漢", "😀", "x"].map((one) => one.repeat(50_000));
  const jobs = texts.map((text) => ({ identifier: "wide", payload: { text } }));
  await copyJobs(queue.db, jobs);
  const rows = await queue.sql<{ text: string }>(
    `select payload->>'text' as text from worker._private_jobs
    where task_id = (select id from worker._private_tasks where identifier = 'wide') order by id`,
  );
  assert.deepEqual(
    rows.map(({ text }) => text),
    texts,
  );
});

test("Jobs with large payloads are written while the list is still read, not all at its end.", async () => {
  const payload = "x".repeat(20_000);
  let behind = 0;
  await withClient(queue.pool, async (client) => {
    // This client is in no transaction, so each part of the list is committed at once. countLarge() counts the
    // committed jobs.
    async function* large(): AsyncGenerator<JobToAdd> {
      for (let n = 0; n < 5_000; n++) {
        if (n % 250 === 0) behind = Math.max(behind, n - (await countLarge()));
        yield { identifier: "large", payload };
      }
    }
    await copyJobs({ ...queue.db, client }, large());
  });
  assert.equal(await countLarge(), 5_000);
  assert.ok(behind <= 2_000, `${behind} jobs were in memory at once`);
});

async function countLarge(): Promise<number> {
  const [row] = await queue.sql<{ n: number }>(
    `select count(*)::int as n from worker._private_jobs
    where task_id = (select id from worker._private_tasks where identifier = 'large')`,
  );
  return row?.n ?? -1;
}

test("Many jobs of a stream keep their order, and none is due in the future.", async () => {
  async function* stream(): AsyncGenerator<JobToAdd> {
    for (let n = 0; n < 6_001; n++) yield { identifier: `stream_${n % 3}`, payload: { n } };
  }
  assert.equal(await copyJobs(queue.db, stream()), 6_001);
  const [row] = await queue.sql<{ n: number; ordered: boolean; late: number }>(
    `select count(*)::int as n, bool_and(n = place) as ordered, count(*) filter (where early) as late
    from (select (payload->>'n')::int as n, run_at > now() as early,
        row_number() over (order by run_at, j.id) - 1 as place
      from worker._private_jobs j join worker._private_tasks t on t.id = task_id
      where starts_with(identifier, 'stream_')) jobs`,
  );
  assert.equal(row?.n, 6_001);
  assert.equal(row.ordered, true);
  assert.equal(Number(row.late), 0);
});

test("A job that cannot be stored is reported with its index, and no job of the list is added.", async () => {
  const before = await countRows();
  const jobs: JobToAdd[] = Array.from({ length: 6_000 }, () => ({ identifier: "none" }));
  jobs[5_999] = { identifier: "" };
  await assert.rejects(copyJobs(queue.db, jobs), (error) => {
    assert.ok(error instanceof InputError);
    assert.equal(error.problems[0]?.path, "jobs[5999].identifier");
    return true;
  });
  jobs[5_999] = { identifier: "none", spec: { jobKey: "key" } };
  await assert.rejects(copyJobs(queue.db, jobs), /jobs\[5999\]\.spec\.jobKey/);
  assert.equal(await countRows(), before);
});

test("An error of PostgreSQL is thrown, nothing is added, and the pool still works.", async () => {
  const before = await countRows();
  const jobs: JobToAdd[] = Array.from({ length: 6_000 }, () => ({ identifier: "none" }));
  jobs[100] = { identifier: "none", payload: rawJson('"\\ud800"') };
  jobs[101] = { identifier: "none", spec: { runAt: "9999-12-31T23:59:59Z" } };
  await queue.sql("alter table worker._private_jobs add constraint refused check (priority <> 77)");
  jobs[102] = { identifier: "none", spec: { priority: 77 } };
  await assert.rejects(copyJobs(queue.db, jobs), /refused/);
  await queue.sql("alter table worker._private_jobs drop constraint refused");
  assert.equal(await countRows(), before);
});

test("A pool of one connection is enough, also for many lists at once.", async () => {
  const pool = new pg.Pool({ connectionString: queue.url, max: 1 });
  const lists = ["a", "b", "c"].map((identifier) =>
    copyJobs({ ...queue.db, client: pool }, [{ identifier, spec: { queueName: identifier } }]),
  );
  assert.deepEqual(await Promise.all(lists), [1, 1, 1]);
  await pool.end();
});

test("Jobs without keys may follow a job with a key, even if all have the same new task and queue.", async () => {
  const jobs = Array.from({ length: 1_500 }, (_, n): JobToAdd => {
    const spec = { queueName: "new queue", ...(n === 499 ? { jobKey: "the only key" } : {}) };
    return { identifier: "new task", spec };
  });
  assert.deepEqual(await copyKeyedJobs(queue.db, jobs), { added: 1_500, replaced: 0 });
});

test("An error that the list throws is thrown unchanged, a value that is no list is refused, and nothing is added.", async () => {
  const before = await countRows();
  async function* failing(): AsyncGenerator<JobToAdd> {
    for (let n = 0; n < 12_000; n++) yield { identifier: "none" };
    throw new RangeError("no more");
  }
  await assert.rejects(copyJobs(queue.db, failing()), RangeError);
  for (const jobs of [5, null, {}, "text"]) {
    await assert.rejects(copyJobs(queue.db, jobs as never), {
      name: "InputError",
      message: /jobs: must be a list of jobs/,
    });
  }
  assert.equal(await countRows(), before);
});

test("On a client inside a transaction, the call does not commit the jobs.", async () => {
  const before = await countRows();
  await withClient(queue.pool, async (client) => {
    await client.query("begin");
    const jobs = [{ identifier: "within", spec: { queueName: "within" } }];
    assert.equal(await copyJobs({ ...queue.db, client }, jobs), 1);
    await client.query("rollback");
  });
  assert.equal(await countRows(), before);
});

test("Listeners are notified once, with the number of jobs.", async () => {
  await withClient(queue.pool, async (client) => {
    const notifications: string[] = [];
    client.on("notification", ({ payload }) => notifications.push(payload ?? ""));
    await client.query('listen "jobs:insert"');
    await copyJobs(
      queue.db,
      Array.from({ length: 3_000 }, () => ({ identifier: "told" })),
    );
    while (notifications.length === 0) await client.query("select 1");
    await client.query('unlisten "jobs:insert"');
    assert.equal(notifications.length, 1);
    assert.equal(JSON.parse(notifications[0] ?? "").count, 3_000);
  });
});

test("If a trigger skips rows, the error has the numbers of stored and given jobs. On a pool, no job is stored.", async () => {
  await queue.sql(`
    create function worker.skip_bad() returns trigger language plpgsql as
      'begin return case when new.payload->>''bad'' is null then new end; end';
    create trigger skip_bad before insert on worker._private_jobs
      for each row execute function worker.skip_bad()`);
  try {
    const jobs = [{}, { bad: 1 }, {}].map((payload) => ({ identifier: "t", payload }));
    await assert.rejects(copyJobs(queue.db, jobs), {
      code: "database_error",
      message: /^only 2 of 3 jobs were stored, so the whole call was rolled back: a trigger/,
    });
    assert.equal(await countRows(), 0);
    assert.equal(await copyJobs(queue.db, [{ identifier: "t" }]), 1);
    // On a client outside a transaction, the COPY commits the two jobs that the trigger does not skip.
    await withClient(queue.pool, (client) =>
      assert.rejects(copyJobs({ ...queue.db, client }, jobs), {
        message: /^only 2 of 3 jobs were stored: a trigger/,
      }),
    );
    assert.equal(await countRows(), 3);
  } finally {
    await queue.sql("drop function worker.skip_bad cascade");
  }
});
