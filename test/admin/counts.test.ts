// Tests GET /api/counts, the overview and the metrics, with a small table of jobs, which is read whole, and with a
// large table, which is sampled. With `smallPages: 0`, every table counts as large.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { migrate } from "../../src/database/schema/migrate.ts";
import { schemaName } from "../../src/database/schema-name.ts";
import { conditions } from "../../src/domain/condition.ts";
import type { Value } from "../../src/domain/value.ts";
import { pgbouncerProgram, startPgbouncer } from "../support/pgbouncer.ts";
import { tcpProxy } from "../support/tcp-proxy.ts";
import { type Json, migratedDatabase, startAdmin, type TestAdmin } from "./admin-harness.ts";
import { openapiDocument } from "./openapi-document.ts";

/** Adds 6,000 jobs with the conditions in `truth`, and a live worker that reports 3 running jobs. */
async function fill({ pool }: Pick<TestAdmin, "pool">, schema = "worker"): Promise<void> {
  await pool.query(`
    insert into ${schema}._private_tasks (identifier) values ('mail'), ('report');
    insert into ${schema}._private_job_queues (queue_name, locked_at, locked_by)
      values ('stuck', now(), 'stock'), ('free', null, null);
    insert into ${schema}._private_jobs
      (task_id, job_queue_id, run_at, attempts, locked_at, locked_by, payload)
    select 1 + n % 2, case when n <= 50 then 1 when n <= 100 then 2 end,
      now() + case when n between 2001 and 4000 then interval '1 hour'
        when n between 4001 and 5500 then exp(10) * interval '1 second' else interval '-1 hour' end,
      case when n between 4001 and 5500 then 25 else 0 end,
      case when n > 5500 then now() end, case when n > 5500 then 'stock' end,
      json_build_object('n', n)
    from generate_series(1, 6000) n;
    analyze ${schema}._private_jobs;
    select ${schema}.worker_heartbeat('alive', '{"running_jobs":3,"done_per_min":7,"failed_per_min":2}')`);
}

const truth = {
  total: 6_000,
  ready: 1_950,
  blocked: 50,
  fetched: 0,
  running: 500,
  retrying: 0,
  scheduled: 2_000,
  failed: 1_500,
} as const;

function contains({ value, precision, low, high }: Value, count: number): boolean {
  if (precision === "exact") return value === count;
  return Number(low) <= count && count <= (high ?? Number.POSITIVE_INFINITY);
}

/** Sends requests until the exact count of the jobs that match `q` is complete. Returns the last answer. */
async function countAll({ client }: TestAdmin, q: string): Promise<Json> {
  let answer = (await client.get(`/api/counts?exact=1&q=${encodeURIComponent(q)}`)).body;
  while (answer.cursor !== null) {
    answer = (await client.get(`/api/counts?cursor=${answer.cursor}`)).body;
  }
  return answer;
}

test("In a small table every count is exact, also the number of a query's matches.", async () => {
  const admin = await startAdmin();
  await fill(admin);
  const { body } = await admin.client.get("/api/counts");
  for (const name of ["total", ...conditions] as const) {
    assert.deepEqual([body[name].precision, body[name].value], ["exact", truth[name]], name);
  }
  const now = Date.parse(body.as_of);
  for (const name of ["oldest_ready_at", "longest_running_at", "last_failed_at"]) {
    assert.ok(Date.parse(body[name]) < now, name);
  }
  assert.ok(Date.parse(body.next_due_at) > now);
  assert.match(body.running_note, /fast mode/);
  assert.deepEqual(
    [body.running_reported, body.per_minute.done, body.per_minute.failed],
    [3, 7, 2],
  );
  const failed = await admin.client.get("/api/counts?q=is:failed");
  assert.deepEqual([failed.body.count.precision, failed.body.count.value], ["exact", 1_500]);
  assert.equal((await countAll(admin, "task:mail -is:running")).count.value, 2_750);
  assert.equal((await countAll(admin, "payload.n<=17")).count.value, 17);
});

test("A count that continues with a cursor still counts only the queried id, even if the job with this id was deleted.", async () => {
  const { url } = await migratedDatabase();
  await using proxy = await tcpProxy(url);
  const admin = await startAdmin({ url: proxy.url });
  admin.pool.on("error", () => {});
  await fill(admin);
  // With this round trip time, the first answer is sent after two or three steps of the count, before the last step.
  proxy.delay(60);
  const { count, cursor } = (await admin.client.get("/api/counts?exact=1&q=17")).body;
  proxy.calm();
  assert.deepEqual([count.low, typeof cursor], [1, "string"]);
  await admin.pool.query("delete from worker._private_jobs where id = 17");
  const { body } = await admin.client.get(`/api/counts?cursor=${cursor}`);
  assert.deepEqual([body.count.value, body.cursor], [1, null]);
});

test("In a large table at least six of the seven counts have an interval that contains the true number.", async () => {
  const admin = await startAdmin({ feed: { smallPages: 0, sampledPages: 40 } });
  await fill(admin);
  const { body } = await admin.client.get("/api/counts");
  for (const name of ["total", ...conditions] as const) {
    const { low, high, value, precision } = body[name];
    assert.ok(precision === "exact" || (low <= value && value <= high), name);
  }
  // An exact count through the index ends at 1,000 future jobs of a priority (probe.ts). This table has 2,000.
  assert.equal(body.scheduled.precision, "estimated");
  const inside = conditions.filter((one) => contains(body[one], truth[one]));
  assert.ok(inside.length >= 6, `the true number is in the intervals of only ${inside}`);
  const { stats, queues, counts } = (await admin.client.get("/api/overview")).body;
  assert.equal(stats.scheduled, counts.scheduled.value + counts.retrying.value);
  assert.deepEqual(
    queues.map(({ queue_name }: Json) => queue_name),
    ["stuck", "free"],
  );
  await admin.pool.query("delete from worker._private_jobs where locked_at is null and id > 500");
  await admin.pool.query("analyze worker._private_jobs");
  const { body: few } = await admin.client.get("/api/counts");
  const document = await openapiDocument(admin.client);
  document.assertFits(few, document.answer("GET", "/api/counts"), "/api/counts");
});

test("In a large table a few blocked jobs outside the sample are counted.", async () => {
  const admin = await startAdmin({ feed: { smallPages: 0, sampledPages: 2 } });
  await fill(admin);
  await admin.pool.query(
    "delete from worker._private_jobs where job_queue_id = 1 and locked_at is null",
  );
  await admin.pool.query(`insert into worker._private_jobs (task_id, job_queue_id, payload, run_at)
    select 1, 1, '{}', now() - interval '9 hours' from generate_series(1, 7)`);
  await admin.pool.query("analyze worker._private_jobs");
  const { blocked, ready } = (await admin.client.get("/api/counts")).body;
  assert.equal(ready.precision, "estimated", "the count of ready jobs is an estimate");
  assert.ok(blocked.value >= 7 && blocked.low >= 7, JSON.stringify(blocked));
});

for (const feed of [{}, { smallPages: 0, sampledPages: 40 }]) {
  const size = feed.smallPages === 0 ? "large" : "small";
  test(`In a ${size} table the number of overdue retries is the same as in a count with SQL.`, async () => {
    const admin = await startAdmin({ feed });
    await fill(admin);
    await admin.pool.query(
      "update worker._private_jobs set attempts = 2 where attempts = 0 and id % 3 = 0",
    );
    await admin.pool.query(
      "delete from worker._private_jobs where locked_at is null and id > 800 and id < 3700",
    );
    await admin.pool.query("analyze worker._private_jobs");
    const { rows } = await admin.pool.query(`
      select count(*)::int as due from worker._private_jobs as jobs
      left join worker._private_job_queues as queues on queues.id = jobs.job_queue_id
      where jobs.attempts between 1 and jobs.max_attempts - 1 and jobs.run_at <= now()
        and jobs.locked_at is null and queues.locked_at is null`);
    const { body } = await admin.client.get("/api/counts");
    assert.deepEqual(
      [body.retrying_due.value, body.retrying_due.precision],
      [rows[0].due, "exact"],
    );
    assert.ok(body.retrying.value > rows[0].due);
  });

  test(`In a ${size} table the oldest ready job and the next scheduled job are not retries.`, async () => {
    const admin = await startAdmin({ feed });
    await fill(admin);
    await admin.pool.query(`update worker._private_jobs set attempts = 2,
      run_at = now() + case when run_at > now() then interval '1 minute' else interval '-9 hours' end
      where attempts = 0 and id % 40 = 7`);
    const { body } = await admin.client.get("/api/counts");
    const { rows } = await admin.pool.query(`
      select min(run_at) filter (where run_at > now()) as next, min(run_at) filter (where run_at <= now()) as oldest
      from worker._private_jobs where attempts = 0 and locked_at is null`);
    assert.equal(Date.parse(body.next_due_at), Number(rows[0].next));
    assert.equal(Date.parse(body.oldest_ready_at), Number(rows[0].oldest));
  });

  test(`In a ${size} table the oldest ready job is not a job of a locked queue.`, async () => {
    const admin = await startAdmin({ feed });
    await fill(admin);
    const blocked = "job_queue_id = 1 and locked_at is null";
    await admin.pool.query(
      `update worker._private_jobs set run_at = now() - interval '9 hours' where ${blocked}`,
    );
    const { body } = await admin.client.get("/api/counts");
    const hours = (Date.parse(body.as_of) - Date.parse(body.oldest_ready_at)) / 3_600_000;
    assert.ok(hours > 0.9 && hours < 2, `the oldest ready job has been ready for ${hours} hours`);
    // The metric worker_oldest_ready_age_seconds includes blocked jobs.
    const { text } = await admin.client.get("/metrics");
    assert.match(text, /^worker_oldest_ready_age_seconds 32\d\d\d/m);
    await admin.pool.query(`delete from worker._private_jobs where not (${blocked})`);
  });
}

test("An invalid cursor and an invalid query are refused.", async () => {
  const { client } = await startAdmin();
  const text = (fields: unknown) => Buffer.from(JSON.stringify(fields)).toString("base64url");
  const broken = [
    "x",
    text(null),
    text({}),
    text(["q", "1"]),
    text(["", "0", 1, 0, "a", "1", "2"]),
  ];
  for (const cursor of broken) {
    const { status, body } = await client.get(`/api/counts?cursor=${cursor}`);
    assert.deepEqual([status, body.problems?.[0].field], [400, "cursor"], cursor);
  }
  const { status, body } = await client.get("/api/counts?q=is:nonsense");
  assert.deepEqual([status, body.problems[0].field], [400, "q"]);
});

test("The metrics cover the jobs by state, condition, task and queue, the ages of jobs, the workers, the locks, the feed and the connection pool.", async () => {
  const admin = await startAdmin();
  await fill(admin);
  const { text } = await admin.client.get("/metrics");
  for (const line of [
    'worker_jobs{state="ready"} 2000',
    'worker_jobs_by_condition{condition="blocked"} 50',
    "worker_jobs_exact 1",
    'worker_task_jobs{task="mail",state="failed"} 750',
    'worker_queue_jobs{queue="stuck",state="ready"} 50',
    'worker_workers{state="alive"} 1',
    'worker_workers{state="stale"} 0',
    'worker_workers{state="unknown"} 1',
    'worker_locks{kind="job"} 500',
    'worker_locks{kind="queue"} 1',
  ]) {
    assert.ok(text.includes(`${line}\n`), `${line} is not in\n${text}`);
  }
  assert.match(text, /^worker_oldest_ready_age_seconds 36\d\d/m);
  assert.match(text, /^worker_admin_feed_duration_seconds\{part="pulse"\} 0\.\d+$/m);
  assert.match(text, /^worker_admin_feed_age_seconds\{part="pulse"\} /m);
  assert.match(text, /^worker_admin_pool_connections\{state="idle"\} \d$/m);
});

test("In a schema with an unusual name the counts are right.", async () => {
  const { emptyDatabase } = await import("../support/database.ts");
  const { testPool } = await import("../support/test-pool.ts");
  const schema = `o'dd "schema" $1`;
  const { url } = await emptyDatabase();
  const { pool, close } = testPool(url);
  await migrate(pool, schemaName(schema));
  await fill({ pool }, schemaName(schema).quoted);
  await close();
  for (const feed of [{}, { smallPages: 0, sampledPages: 40 }]) {
    const { client } = await startAdmin({ url, schema, feed });
    const { body } = await client.get("/api/counts");
    assert.ok(contains(body.failed, truth.failed));
    assert.equal((await client.get("/metrics")).status, 200);
  }
});

const program = pgbouncerProgram();
const skip = program === null && process.env["CI"] !== "true" && "pgbouncer is not installed";

test("Behind pgbouncer the counts are right, and no setting stays in a session.", {
  skip,
}, async () => {
  assert.ok(program !== null);
  const { serverUrl } = await import("../support/database.ts");
  const { name, url } = await migratedDatabase();
  const bouncer = await startPgbouncer(program, await serverUrl(), 1);
  after(() => bouncer.stop());
  const direct = await startAdmin({ url });
  await fill(direct);
  const admin = await startAdmin({ url: bouncer.url(name), feed: { smallPages: 0 } });
  const { body } = await admin.client.get("/api/counts");
  assert.ok(contains(body.failed, truth.failed));
  const settings = "select current_setting('jit') jit, current_setting('lock_timeout') lock";
  const { rows } = await admin.pool.query(settings);
  assert.deepEqual(rows, (await direct.pool.query(settings)).rows);
});
