// Tests the lists of queues, tasks and cron entries.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Pool } from "pg";
import {
  indexDefinition,
  optionalIndex,
} from "../../src/database/schema/indexes/optional-index.ts";
import { migrate } from "../../src/database/schema/migrate.ts";
import { schemaName } from "../../src/database/schema-name.ts";
import { cronEntry, everyMinute } from "../../src/domain/cron/cron-entry.ts";
import { defineTask } from "../../src/worker/task/task.ts";
import { Worker } from "../../src/worker/worker.ts";
import { installStock } from "../support/stock-schema.ts";
import { waitUntil } from "../worker/worker-process.ts";
import { type Client, type Json, migratedDatabase, startAdmin } from "./admin-harness.ts";
import { openapiDocument } from "./openapi-document.ts";

const TALKATIVE = { heartbeatIntervalMs: 100, thresholdMs: 60_000 };

const endings: (() => Promise<unknown>)[] = [];
after(async () => {
  for (const end of endings) await end();
});

/** Reads all rows of a list, page by page. `path` ends with `?` or `&`. */
async function allOf(client: Client, path: string, list: string, limit = 1): Promise<Json[]> {
  const rows: Json[] = [];
  let pages = 0;
  for (let cursor: string | null = ""; cursor !== null; ) {
    const answer: Json = await client.get(`${path}limit=${limit}&cursor=${cursor}`);
    assert.equal(answer.status, 200, answer.text);
    rows.push(...answer.body[list]);
    cursor = answer.body.next_cursor;
    assert.ok(++pages < 1_000, "the list ends");
  }
  return rows;
}

/** Adds five queues. q2 is locked by a stale worker, q3 by a live worker, and q4 by an unknown worker. */
async function addQueues(pool: Pool): Promise<void> {
  await pool.query(`
    select worker.add_job('t', queue_name => 'q' || n, priority => n % 3)
      from generate_series(1, 5) as n, generate_series(1, n);
    select worker.add_job('t', queue_name => 'q1', run_at => now() + interval '1 day');
    select worker.permanently_fail_jobs(array(
      select id from worker.jobs where queue_name = 'q5' order by id limit 2));
    update worker._private_job_queues set locked_at = now() - interval '10 minutes',
      locked_by = case queue_name when 'q2' then 'gone' when 'q3' then 'here' else 'stranger' end
      where queue_name in ('q2', 'q3', 'q4');
    insert into worker._private_workers (id, last_heartbeat_at)
      values ('gone', now() - interval '8 minutes'), ('here', now())`);
}

test("A queue with a limit is not idle while its jobs run.", async () => {
  const { client, pool } = await startAdmin();
  await pool.query(`
    select worker.add_job('t', queue_name => 'limited');
    select worker.add_job('t', queue_name => 'later', run_at => now() + interval '1 day');
    update worker._private_job_queues set locked_by = 'managed:2', locked_at = 'infinity' where queue_name = 'limited'`);
  await pool.query(`update worker._private_jobs set locked_by = 'w', locked_at = now(), attempts = 1
    where run_at <= now()`);
  const { queues, states } = (await client.get("/api/queues")).body;
  assert.deepEqual(
    queues.map(({ queue_name, running }: Json) => [queue_name, running.value]),
    [
      ["limited", 1],
      ["later", 0],
    ],
  );
  assert.deepEqual([states.ready, states.scheduled, states.idle], [1, 1, 0]);
  for (const [only, count] of Object.entries({ ready: 1, idle: 0, running: 0 })) {
    const { body } = await client.get(`/api/queues?only=${only}`);
    assert.equal(body.queues.length, count, only);
  }
});

test("Queues are listed with their workers and counts, in the order stuck, failed, ready, locked.", async () => {
  const { client, pool } = await startAdmin();
  await addQueues(pool);
  const { body } = await client.get("/api/queues");
  (await openapiDocument(client)).assertFits(
    body,
    (await openapiDocument(client)).answer("GET", "/api/queues"),
    "queues",
  );
  assert.equal(body.count, 5);
  const brief = (queues: Json[]) =>
    queues.map((one) => [one.queue_name, one.holder, one.ready.value, one.failed.value]);
  const inOrder = [
    ["q2", "stale", 2, 0],
    ["q5", null, 3, 2],
    ["q1", null, 1, 0],
    ["q3", "alive", 3, 0],
    ["q4", "unknown", 4, 0],
  ];
  assert.deepEqual(brief(body.queues), inOrder);
  assert.deepEqual(brief(await allOf(client, "/api/queues?", "queues")), inOrder);
  const [stuck, , first, , unknown] = body.queues;
  const age = Date.now() - Date.parse(stuck.stuck_since);
  assert.ok(
    Math.abs(age - 480_000) < 30_000,
    "the queue is stuck since its worker's last heartbeat",
  );
  assert.equal(
    unknown.stuck_since,
    null,
    "the queue of an unknown worker is not stuck yet: the worker may still run",
  );
  assert.deepEqual(
    [first.scheduled.value, first.total.value, first.total.precision],
    [1, 2, "exact"],
  );

  const names = async (query: string, limit = 2) =>
    (await allOf(client, `/api/queues?${query}&`, "queues", limit)).map((one) => one.queue_name);
  assert.deepEqual(await names("sort=name"), ["q1", "q2", "q3", "q4", "q5"]);
  assert.deepEqual(await names("sort=-waiting"), ["q4", "q3", "q5", "q2", "q1"]);
  assert.deepEqual(await names("sort=waiting"), ["q1", "q2", "q3", "q5", "q4"]);
  assert.deepEqual((await names("sort=-failed"))[0], "q5");
  assert.equal((await names("sort=oldest")).length, 5);
  assert.deepEqual(await names("only=stuck"), ["q2"]);
  assert.deepEqual(await names("only=locked", 1), ["q2", "q3", "q4"]);
  assert.deepEqual(await names("only=locked&sort=-waiting"), ["q4", "q3", "q2"]);
  const exclusive = { stuck: 1, failed: 1, ready: 1, running: 2, scheduled: 0, idle: 0 };
  assert.deepEqual(body.states, { ...exclusive, failing: 1, waiting: 2 });
  assert.deepEqual(await names("only=running"), ["q3", "q4"]);
  assert.deepEqual(await names("only=failing", 1), ["q5"]);
  for (const sort of ["stuck", "name", "waiting", "oldest"]) {
    assert.deepEqual((await names(`only=waiting&sort=${sort}`, 1)).sort(), ["q1", "q5"], sort);
  }
  assert.deepEqual(await names("only=idle"), []);
  assert.equal(
    (await client.get("/api/queues?search=q")).body.states,
    null,
    "a search returns no counts by state",
  );
  assert.deepEqual(await names("search=Q4"), ["q4"]);
  const countOf = async (query: string) => (await client.get(`/api/queues?${query}`)).body.count;
  for (const sort of ["stuck", "name", "-waiting"]) {
    assert.equal(await countOf(`search=Q4&sort=${sort}`), 1, sort);
    assert.equal(
      await countOf(`only=failing&sort=${sort}`),
      5,
      "the count includes all queues, not only the failing ones",
    );
  }
  for (const limit of [1, 2, 3, 4]) {
    assert.deepEqual(
      await names("", limit),
      inOrder.map(([name]) => name),
      `pages of ${limit}`,
    );
  }
  await pool.query(
    "update worker._private_job_queues set locked_at = now() - interval '5 hours' where locked_by = 'stranger'",
  );
  assert.deepEqual(
    await names("only=stuck"),
    ["q4", "q2"],
    "after four hours the queue of an unknown worker is stuck, too",
  );
  await pool.query(
    "insert into worker._private_job_queues (queue_name) values ('empty'); select worker.add_job('t', queue_name => 'empty 2', run_at => now() + interval '1 day')",
  );
  await waitUntil(
    "a queue without jobs is idle",
    async () => (await names("only=idle")).join() === "empty",
  );
  for (const bad of ["sort=size", "only=free", "limit=-1", "cursor=no", "serch=x"]) {
    assert.equal((await client.get(`/api/queues?${bad}`)).status, 400, bad);
  }
});

test("The details of a queue list its due jobs in the order in which they will run, and its newest jobs.", async () => {
  const { client, pool } = await startAdmin();
  const { rows } = await pool.query<{ id: string }>(`
    select id::text from (values (1, 5, '1 hour'), (2, 0, '1 minute'), (3, 0, '2 minutes'),
        (4, 0, '-1 hour')) as given (place, priority, age) cross join lateral worker.add_job('t',
        queue_name => 'a/b', priority => priority, run_at => now() - age::interval)
    order by place`);
  const [low, young, old, ahead] = rows.map(({ id }) => Number(id));
  const { body } = await client.get(`/api/queues/${encodeURIComponent("a/b")}`);
  const ids = (jobs: Json[]) => jobs.map(({ id }) => id);
  assert.deepEqual(ids(body.next), [old, young, low]);
  assert.deepEqual(
    ids(body.arrivals),
    [low, young, old, ahead].sort((a, b) => Number(b) - Number(a)),
  );
  assert.deepEqual([body.running, body.next_complete, body.arrivals_complete], [null, true, true]);
  const document = await openapiDocument(client);
  document.assertFits(body, document.answer("GET", "/api/queues/{queue}"), "queue");
  const byId = await client.get(`/api/queues/${body.queue.id}?limit=1`);
  assert.deepEqual(ids(byId.body.next), [old]);
  await pool.query(
    "insert into worker._private_job_queues (id, queue_name) overriding system value values (2147483647, 'last')",
  );
  const last = (await client.get("/api/queues/2147483647")).body;
  assert.equal(last.queue.queue_name, "last", "the queue with the largest id is found");
  // The jobs of a run of a queue are locked at the same time; only the first of them is running.
  await pool.query(
    `update worker._private_job_queues set locked_at = now(), locked_by = 'w';
     update worker._private_jobs set locked_at = now(), locked_by = 'w' where id in (${old}, ${young})`,
  );
  const locked = (await client.get("/api/queues/a%2Fb")).body;
  assert.deepEqual([locked.running.id, locked.queue.holder], [old, "unknown"]);
  assert.deepEqual(ids(locked.next), [low]);
  for (const name of [
    "none",
    "%00",
    "x".repeat(2_000),
    "2147483648",
    "99999999999",
    "%F0%9F%90%98",
  ]) {
    const { status, text } = await client.get(`/api/queues/${name}`);
    assert.equal(status, 404, text);
  }
});

test("A queue of any name, even a name that cannot be part of a path, is found by ?name=.", async () => {
  const { client, pool } = await startAdmin();
  const names = ["", ".", "..", "a/b", "7"];
  await pool.query(
    "select count(*) from (select worker.add_job('t', queue_name => name) from unnest($1::text[]) as name) as added",
    [names],
  );
  for (const name of names) {
    const { body } = await client.get(`/api/queue?name=${encodeURIComponent(name)}`);
    assert.deepEqual([body.queue.queue_name, body.next.length], [name, 1]);
  }
  assert.equal((await client.get("/api/queue?name=none")).status, 404);
  assert.equal((await client.get("/api/queue?name=%00")).status, 400);
  assert.equal((await client.get("/api/queue")).status, 400);
});

test("The oldest ready job of a queue is found even behind hundreds of more urgent jobs.", async () => {
  const { client, pool } = await startAdmin({ feed: { smallPages: 0 } });
  await pool.query(`
    create index on worker._private_jobs ${indexDefinition(optionalIndex("queue_ready"))};
    select worker.add_job('t', queue_name => 'long') from generate_series(1, 300);
    select worker.add_job('t', queue_name => 'long', priority => 10, run_at => '2026-01-02T03:04:05Z')`);
  const oldest = async () => (await client.get("/api/queues")).body.queues[0].oldest_ready_at;
  assert.equal(await oldest(), "2026-01-02T03:04:05.000Z");
  await pool.query("delete from worker._private_jobs");
  assert.equal(await oldest(), null, "without jobs, the queue has no oldest ready job");
});

test("A task is shown as unsupported only if every worker has reported its complete list of tasks.", async () => {
  const { client, pool, url } = await adminWithUrl();
  await pool.query(
    "select worker.add_job('mine'); select worker.add_job('unsupported', max_attempts => 1)",
  );
  const tasks = async (query = "") => {
    const { body } = await client.get(`/api/tasks${query}`);
    return new Map<string, Json>(body.tasks.map((task: Json) => [task.identifier, task]));
  };
  assert.deepEqual(
    [...(await tasks()).values()].map((task) => task.is_unsupported),
    [null, null],
  );
  const worker = new Worker({
    connectionString: url,
    tasks: [defineTask("mine", () => {})],
    recovery: TALKATIVE,
  });
  await worker.start();
  endings.push(() => worker.stop());
  await waitUntil("the job has run", async () => (await tasks()).get("mine").ready.value === 0);
  const listed = await tasks();
  const support = (task: Json) => [task.supported_by, task.is_unsupported];
  assert.deepEqual(support(listed.get("mine")), [1, false]);
  assert.deepEqual(support(listed.get("unsupported")), [0, true]);
  const { body } = await client.get("/api/tasks");
  const document = await openapiDocument(client);
  document.assertFits(body, document.answer("GET", "/api/tasks"), "tasks");

  // The unknown worker that holds this lock may support the task.
  await pool.query(
    "insert into worker._private_job_queues (queue_name, locked_at, locked_by) values ('q', now(), 'stock')",
  );
  assert.deepEqual(support((await tasks()).get("unsupported")), [0, null]);
  await pool.query("delete from worker._private_job_queues");
  assert.deepEqual(support((await tasks()).get("unsupported")), [0, true]);
  // A worker whose report has only some of its tasks may support the task, too.
  await pool.query(
    `insert into worker._private_workers (id, last_heartbeat_at, metadata)
     values ('many', now(), '{"task_identifiers": ["x"], "tasks_cut": true}')`,
  );
  assert.deepEqual(support((await tasks()).get("unsupported")), [0, null]);

  await pool.query(`update worker._private_jobs set attempts = 1, updated_at = now(),
    last_error = E'Error: deadlock detected\\n    at x'`);
  const retrying = (await tasks("?search=UNSUPPORTED")).get("unsupported");
  assert.equal(retrying.last_error_line, "Error: deadlock detected", "a retrying job has an error");
  await pool.query(`select worker.permanently_fail_jobs(array(select id from worker.jobs),
    E'TypeError: no\\n    at there')`);
  // A worker sets this run_at after a failure.
  await pool.query(
    "update worker._private_jobs set run_at = updated_at + exp(least(attempts, 10)) * interval '1 second'",
  );
  const failed = (await tasks("?sort=-failed&search=UNSUPPORTED")).get("unsupported");
  assert.equal(failed.last_error_line, "TypeError: no");
  assert.deepEqual([failed.failed.value, failed.ready.value], [1, 0]);
  assert.ok(Date.now() - Date.parse(failed.last_failed_at) < 60_000);
  for (const sort of ["-ready", "worst"]) {
    const all = await allOf(client, `/api/tasks?sort=${sort}&`, "tasks");
    assert.deepEqual(all.map((task) => task.identifier).sort(), ["mine", "unsupported"]);
  }
});

test("With sort=worst, the task with the most failed and retrying jobs comes first; of an unsupported task, ready jobs count, too.", async () => {
  const { client, pool } = await startAdmin();
  await pool.query(`
    select worker.add_job('calm') from generate_series(1, 9);
    select worker.add_job('failing', max_attempts => 1) from generate_series(1, 2);
    select worker.add_job('unsupported') from generate_series(1, 3);
    select worker.permanently_fail_jobs(
      array(select id from worker.jobs where task_identifier = 'failing'));
    insert into worker._private_workers (id, last_heartbeat_at, metadata)
      values ('w', now(), '{"task_identifiers": ["calm", "failing"], "threshold_ms": 3600000}')`);
  const order = async () => {
    const { body } = await client.get("/api/tasks?sort=worst");
    return [body.count, body.tasks.map((task: Json) => task.identifier)];
  };
  assert.deepEqual(await order(), [3, ["unsupported", "failing", "calm"]]);
  await pool.query("delete from worker._private_workers");
  // Without reports of workers, the supported tasks are unknown, so ready jobs do not count.
  assert.deepEqual(await order(), [3, ["failing", "calm", "unsupported"]]);
});

test("The list of cron entries has all stored entries, and the next tick of each entry that a live worker reports.", async () => {
  const { client, pool, url } = await adminWithUrl();
  await pool.query(
    `insert into worker._private_known_crontabs values
       ('forgotten', '2026-01-01T00:00:00Z', 'infinity'), ('never', now(), null)`,
  );
  const worker = new Worker({
    connectionString: url,
    tasks: [defineTask("other", () => {})],
    recovery: TALKATIVE,
    cron: {
      entries: [
        everyMinute("nightly", { identifier: "filled", fillMs: 600_000 }),
        cronEntry("0 4 * * *", "nightly", { jobKey: "k", identifier: "keyed" }),
        cronEntry("@daily", "other", { timeZone: "Asia/Tokyo", identifier: "tokyo" }),
      ],
    },
  });
  // The backfilled job of the entry "filled" waits, because no worker supports its task.
  await pool.query(
    "insert into worker._private_known_crontabs values ('filled', now() - interval '1 day', date_trunc('minute', now()) - interval '2 minutes')",
  );
  await worker.start();
  endings.push(() => worker.stop());
  const entries = async (query = ""): Promise<Map<string, Json>> => {
    const { body } = await client.get(`/api/cron${query}`);
    return new Map(body.entries.map((entry: Json) => [entry.identifier, entry]));
  };
  await waitUntil(
    "a job of the entry `filled` waits",
    async () => (await entries()).get("filled")?.pending_job_id,
  );
  const all = await entries();
  assert.deepEqual([...all.keys()].sort(), ["filled", "forgotten", "keyed", "never", "tokyo"]);
  const tokyo = all.get("tokyo");
  assert.deepEqual(
    [tokyo.match, tokyo.time_zone, tokyo.in_words, tokyo.differs],
    ["@daily", "Asia/Tokyo", "every day at 00:00 in Asia/Tokyo", null],
  );
  assert.match(tokyo.next_execution, /T15:00:00\.000Z$/);
  assert.deepEqual(
    [all.get("filled").time_zone, all.get("forgotten").time_zone, all.get("forgotten").differs],
    ["UTC", null, null],
  );
  const filled = all.get("filled");
  assert.deepEqual([filled.task, filled.match, filled.backfill], ["nightly", "* * * * *", 600]);
  const ahead = Date.parse(filled.next_execution) - Date.now();
  assert.ok(ahead > -5_000 && ahead <= 60_000, `the next tick is in ${ahead} ms`);
  const { rows } = await pool.query(
    "select max(id)::int as id from worker.jobs where task_identifier = 'nightly' and key is null",
  );
  assert.equal(filled.pending_job_id, rows[0].id);
  assert.deepEqual([filled.in_words, filled.late_since], ["every minute", null]);
  assert.deepEqual(
    filled.quarters_ahead,
    Array.from({ length: 96 }, (_, quarter) => quarter),
  );
  assert.deepEqual([filled.workers, filled.worker_ids], [1, [worker.id]]);
  const keyed = all.get("keyed");
  assert.match(keyed.next_execution, /T04:00:00\.000Z$/);
  const untilIt = Math.floor((Date.parse(keyed.next_execution) - Date.now()) / 900_000);
  assert.equal(keyed.quarters_ahead.length, 1);
  assert.ok(
    Math.abs(keyed.quarters_ahead[0] - untilIt) <= 1,
    "the next tick is in the expected quarter of an hour, or in the quarter before or after it",
  );
  assert.equal(keyed.pending_job_id, null);
  const forgotten = all.get("forgotten");
  assert.deepEqual(
    [forgotten.match, forgotten.next_execution, forgotten.task, forgotten.backfill],
    [null, null, null, null],
  );
  assert.deepEqual(
    [forgotten.workers, forgotten.worker_ids, forgotten.late_since, forgotten.in_words],
    [0, [], null, null],
  );
  assert.match(forgotten.last_execution, /^9999-/);
  assert.deepEqual(forgotten.quarters_ahead, []);
  assert.deepEqual([...(await entries("?search=KEY")).keys()], ["keyed"]);
  for (const sort of ["next", "identifier", "-last"]) {
    const paged = await allOf(client, `/api/cron?sort=${sort}&`, "entries");
    assert.deepEqual(paged.map((entry) => entry.identifier).sort(), [...all.keys()].sort(), sort);
  }
});

test("A tick for which no job was added is reported as late after a while.", async () => {
  const { client, pool } = await startAdmin();
  const cron = ["each hour", "each minute", "new"].map((identifier) => {
    const pattern = identifier === "each minute" ? "* * * * *" : "0 * * * *";
    return { identifier, task: "t", pattern, backfill_ms: 0 };
  });
  await pool.query(
    `insert into worker._private_workers (id, last_heartbeat_at, metadata)
     select id, now(), $1::jsonb from unnest(array['a', 'b']) as given (id)`,
    [JSON.stringify({ threshold_ms: 3_600_000, cron })],
  );
  await pool.query(
    `insert into worker._private_known_crontabs values
       ('each hour', '2026-01-01T00:00:00Z', date_trunc('hour', now()) - interval '3 hours'),
       ('each minute', '2026-01-01T00:00:00Z', date_trunc('minute', now())),
       ('new', now(), null)`,
  );
  const { body } = await client.get("/api/cron?sort=identifier");
  assert.equal(body.count, 3);
  const [hour, minute, young] = body.entries;
  const late = await pool.query("select date_trunc('hour', now()) - interval '2 hours' as at");
  assert.equal(Date.parse(hour.late_since), late.rows[0].at.getTime());
  assert.deepEqual([minute.late_since, young.late_since], [null, null]);
  assert.deepEqual([hour.workers, hour.worker_ids], [2, ["a", "b"]]);
  const document = await openapiDocument(client);
  document.assertFits(body, document.answer("GET", "/api/cron"), "cron");
});

test("A cron entry that differs between live workers is reported, with its versions.", async () => {
  const { client, pool } = await startAdmin();
  const base = { task: "t", pattern: "0 2 * * *", backfill_ms: 0 };
  const old = ["same", "moved", "paid"].map((identifier) => ({ ...base, identifier }));
  const digests = ["aaaaaaaaaaaa", "bbbbbbbbbbbb"].map((digest) => ({ ...base, digest }));
  const workers = [
    ["a", [...old, { ...digests[0], identifier: "other" }]],
    [
      "b",
      [
        { ...digests[0], identifier: "same" },
        { ...base, identifier: "moved", time_zone: "Europe/Berlin" },
        { ...base, identifier: "paid", pattern: "@daily", task: "u" },
        { ...digests[1], identifier: "other" },
      ],
    ],
    ["c", old],
  ] as const;
  for (const [id, cron] of workers) {
    await pool.query(
      "insert into worker._private_workers (id, last_heartbeat_at, metadata) values ($1, now(), $2)",
      [id, JSON.stringify({ threshold_ms: 3_600_000, cron })],
    );
  }
  const { body } = await client.get("/api/cron?sort=identifier");
  const differs = new Map(body.entries.map((one: Json) => [one.identifier, one.differs]));
  const end =
    "Each tick adds one job, with the definition of the first worker that handles the tick.";
  assert.equal(differs.get("same"), null);
  assert.match(
    String(differs.get("moved")),
    /^differs in its time zone: .*0 2 \* \* \* UTC on (2 workers|a|c)/,
  );
  assert.match(String(differs.get("moved")), /0 2 \* \* \* Europe\/Berlin on b\b/);
  assert.match(
    String(differs.get("paid")),
    /^differs in its pattern and task: .*@daily UTC, task u on b/,
  );
  assert.match(
    String(differs.get("other")),
    /^differs in its payload or options: .* on a; .* on b\. /,
  );
  for (const name of ["moved", "paid", "other"]) assert.ok(String(differs.get(name)).endsWith(end));
  const page = await client.get("/api/workers");
  const named = page.body.differences.filter(({ name }: Json) => name.startsWith("Cron entry "));
  assert.deepEqual(
    named.map(({ name, kind }: Json) => [name, kind]).sort(),
    ["moved", "other", "paid"].map((name) => [`Cron entry ${name}`, "workers"]),
  );
});

const LISTS = ["/api/queues", "/api/queues/q", "/api/tasks", "/api/workers", "/api/cron"];

test("The lists work in a schema of any name and in a schema of Graphile Worker.", async () => {
  const { emptyDatabase } = await import("../support/database.ts");
  const { testPool } = await import("../support/test-pool.ts");
  const odd = `o'dd "schema" $1`;
  const [named, stock] = [await emptyDatabase(), await emptyDatabase()];
  const [one, other] = [testPool(named.url), testPool(stock.url)];
  await migrate(one.pool, schemaName(odd));
  await installStock(other.pool);
  await Promise.all([one.close(), other.close()]);
  for (const [schema, { url }] of [
    [odd, named],
    ["worker", stock],
  ] as const) {
    const { client } = await startAdmin({ url, schema });
    const { body: added } = await client.post("/api/jobs", { identifier: "t", queue: "q" });
    for (const path of LISTS) {
      const { status, text } = await client.get(path);
      assert.equal(status, 200, `${schema} ${path}: ${text}`);
    }
    const { next } = (await client.get("/api/queues/q")).body;
    assert.equal(next[0].id, added.jobs[0].id);
    const [task] = (await client.get("/api/tasks")).body.tasks;
    assert.deepEqual([task.ready.value, task.supported_by, task.is_unsupported], [1, 0, null]);
  }
});

async function adminWithUrl() {
  const { migratedDatabase } = await import("./admin-harness.ts");
  const { url } = await migratedDatabase();
  return { ...(await startAdmin({ url })), url };
}

test("With limit=0 each page of the lists of queues, tasks, workers, cron entries, schedules, operations and activity still has one row, so reading a list page by page returns all rows and ends.", async () => {
  const { url } = await migratedDatabase("worker", ["operations", "schedules"]);
  const { client, pool } = await startAdmin({ url });
  await addQueues(pool);
  await pool.query(`
    select worker.add_job('u') from generate_series(1, 3);
    insert into worker._private_schedules (identifier, task, pattern)
      select 's' || n, 't', '@daily' from generate_series(1, 3) as n`);
  let last = 0;
  for (const reason of ["one", "two"]) {
    const shown = { q: "task:u", action: "fail", changes: { reason }, dry_run: true };
    const { rehearsal } = (await client.post("/api/operations", shown)).body;
    last = (await client.post("/api/operations", { rehearsal, rate: 0 })).body.id;
    const isDone = async () => (await client.get(`/api/operations/${last}`)).body.state === "done";
    await waitUntil("the operation is done", isDone);
  }
  for (const [path, list] of [
    ["/api/queues?", "queues"],
    ["/api/queues?sort=name&", "queues"],
    ["/api/tasks?", "tasks"],
    ["/api/workers?", "workers"],
    ["/api/cron?", "entries"],
    ["/api/schedules?", "schedules"],
    ["/api/operations?", "operations"],
    [`/api/operations/${last}/jobs?`, "ids"],
    ["/api/activity?", "entries"],
  ] as const) {
    const all = (await client.get(path)).body[list];
    assert.ok(all.length > 1, `${path}: the list has ${all.length} rows`);
    assert.equal((await allOf(client, path, list, 0)).length, all.length, path);
  }
});
