// Tests the commands that explain the state of the queue: why, tasks, cron, watch and doctor.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type pg from "pg";
import { widthOf } from "../../src/cli/output/table.ts";
import { emptyDatabase, migratedDatabase } from "../support/database.ts";
import { tcpProxy } from "../support/tcp-proxy.ts";
import { testPool } from "../support/test-pool.ts";
import { waitUntil } from "../support/until.ts";
import { runInChild, worker } from "./command.ts";
import { onTerminal } from "./terminal.ts";

let env: { DATABASE_URL: string };
let db: pg.Pool;
let closing: () => Promise<void>;
before(async () => {
  const database = await migratedDatabase();
  env = { DATABASE_URL: database.url };
  const { pool, close } = testPool(database.url);
  db = pool;
  closing = close;
});
after(() => closing());

const ids = async (task: string) => {
  const { rows } = await db.query<{ id: string }>(
    "select id from worker.jobs where task_identifier = $1 order by id",
    [task],
  );
  return rows.map(({ id }) => id);
};

test("why names what blocks a job, and the command that unblocks it.", async () => {
  await runInChild(["add", "mail", "{}", "--queue", "crm"], env);
  await runInChild(["add", "mail", "{}", "--queue", "crm"], env);
  const [first = "", second = ""] = await ids("mail");
  await db.query(
    "update worker._private_job_queues set locked_at = now() - interval '5 hours', locked_by = 'gone'",
  );
  await db.query(
    "update worker._private_jobs set locked_at = now() - interval '5 hours', locked_by = 'gone' where id = $1",
    [first],
  );
  const { stdout, status } = await runInChild(["why", second], env);
  assert.equal(status, 0);
  assert.match(stdout, new RegExp(`^job ${second} is blocked\\. Waits for queue crm`));
  assert.match(stdout, /root: .*\n {4}\S.*: worker unlock gone\n/);
  const { stdout: json } = await runInChild(["why", second, "--json"], env);
  const why = JSON.parse(json);
  assert.equal(why.condition, "blocked");
  assert.equal(why.causes.at(-1).is_root, true);
  const absent = await runInChild(["why", "99999"], env);
  assert.deepEqual([absent.status, absent.stdout], [1, ""]);
  assert.match(absent.stderr, /there is no job 99999/);
  assert.equal((await runInChild(["unlock", "gone", "--yes"], env)).status, 0);
});

test("why, tasks and count distinguish a fetched job from a running one.", async () => {
  for (let n = 0; n < 2; n++) await runInChild(["add", "held", "{}", "--queue", "h"], env);
  const [runs = "", fetched = ""] = await ids("held");
  await db.query(`update worker._private_jobs set locked_by = 'w-3', attempts = 1,
    locked_at = now() - interval '4 seconds' where id in (${runs}, ${fetched})`);
  await db.query(
    `insert into worker._private_workers (id, last_heartbeat_at, metadata) values ('w-3', now(), $1)`,
    [JSON.stringify({ running_jobs: 1, running_job_ids: [runs], fetched_job_ids: [fetched] })],
  );
  const { stdout } = await runInChild(["why", fetched], env);
  const explanation = `^job ${fetched} is fetched\\. Fetched by w-3, first behind #${runs}, 4[^;]* and not started;`;
  assert.match(stdout, new RegExp(explanation));
  assert.match((await runInChild(["why", runs], env)).stdout, /is running\. Has run for 4/);
  const { stdout: tasks } = await runInChild(["tasks", "--search", "held", "--json"], env);
  const [task] = JSON.parse(tasks).tasks;
  assert.deepEqual([task.fetched.value, task.running.value], [1, 1]);
  const count = async (q: string) => (await runInChild(["count", q], env)).stdout.trim();
  assert.deepEqual(
    [await count("is:fetched"), await count("is:running"), await count("is:locked task:held")],
    ["1", "1", "2"],
  );
  await db.query("delete from worker._private_jobs where locked_by = 'w-3'");
  await db.query("delete from worker._private_workers");
});

test("For a failed job, why shows that the job will not run again, and how many other jobs have the same error.", async () => {
  for (let n = 0; n < 3; n++) await runInChild(["add", "charge", "{}", "--max-attempts", "1"], env);
  await db.query(
    "update worker._private_jobs set attempts = 1, last_error = 'Error: no money' where task_id = (select id from worker._private_tasks where identifier = 'charge')",
  );
  const [id = ""] = await ids("charge");
  const { stdout } = await runInChild(["why", id], env);
  assert.match(stdout, /is failed\. Will not run again\..* 2 other jobs have this error\./);
});

test("tasks lists each task with the number of its jobs in each condition.", async () => {
  const { stdout } = await runInChild(["tasks"], env);
  const [head = "", first = ""] = stdout.split("\n");
  assert.match(head, /^TASK +READY +BLOCKED +FETCHED +RUNNING +RETRYING +SCHEDULED +FAILED/);
  assert.match(first, /^charge /);
  const { stdout: json } = await runInChild(["tasks", "--json", "--search", "MAIL"], env);
  const { tasks, count } = JSON.parse(json);
  assert.deepEqual([tasks.length, tasks[0].identifier, count], [1, "mail", 1]);
});

test("cron lists cron entries.", async () => {
  await db.query(
    "insert into worker._private_known_crontabs values ('nightly', '2026-01-01T00:00:00Z', '2026-01-02T03:00:00Z')",
  );
  const { stdout } = await runInChild(["cron"], env);
  assert.match(stdout, /\nnightly +\? +\? +\? +2026-01-02T03:00:00Z +0/);
  const { entries } = JSON.parse((await runInChild(["cron", "--json"], env)).stdout);
  assert.equal(entries[0].last_execution, "2026-01-02T03:00:00.000Z");
});

test("watch without a terminal shows one screen and ends; an interval of less than 500 ms is refused.", async () => {
  const { stdout, status } = await runInChild(["watch"], env);
  assert.equal(status, 0);
  assert.match(stdout, /^worker watch {2}worker .*\n\nready \d+ {3}blocked 0 {3}.*failed 3/);
  assert.match(stdout, /\nworkers |oldest due/);
  assert.match(stdout, /\ncharge +(0 +){6}3\n/);
  const soon = await runInChild(["watch", "--interval", "10ms"], env);
  assert.match(soon.stderr, /--interval: must be at least 500ms/);
});

test("watch on a terminal shows its screen, ends when q is typed, and restores the terminal.", async () => {
  const { status, screen } = await onTerminal(["watch", "--interval", "500ms"], env, "q", "charge");
  assert.equal(status, 0);
  assert.ok(screen.startsWith("\u001b[?1049h"));
  assert.match(screen, /worker watch {2}worker/);
  assert.ok(screen.endsWith("\u001b[?1049l"));
});

test("watch on a terminal ends when q is typed while the database does not respond.", {
  timeout: 40_000,
}, async () => {
  await using proxy = await tcpProxy(env.DATABASE_URL);
  await using own = testPool(env.DATABASE_URL);
  const locker = await own.pool.connect();
  const answer = async () => {
    await locker.query("begin");
    await locker.query("lock table worker._private_job_queues in access exclusive mode");
    await waitUntil("watch waits", async () => (await own.pool.query(WAITING)).rows.length > 0);
    proxy.mute();
    return "q";
  };
  const behind = { ...env, DATABASE_URL: proxy.url };
  const { status, screen } = await onTerminal(["watch"], behind, answer, "charge");
  locker.release(true);
  assert.equal(status, 0);
  assert.ok(screen.endsWith("\u001b[?1049l"));
});

const WAITING =
  "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";

test("With wide characters in names, watch still fits into the terminal, and its columns are aligned.", async () => {
  const { url } = await migratedDatabase();
  await using own = testPool(url);
  await own.pool.query("select worker.add_job(name) from unnest($1::text[]) as name", [
    ["charge", "請求📦", "日本語".repeat(20)],
  ]);
  const wide = { DATABASE_URL: url };
  const { stdout } = await runInChild(["watch"], wide);
  const table = stdout.slice(stdout.indexOf("TASK")).trimEnd().split("\n");
  assert.equal(table.length, 4);
  assert.deepEqual([...new Set(table.map(widthOf))].length, 1, stdout);
  const { screen } = await onTerminal(["watch", "--interval", "500ms"], wide, "q", "日本", 60);
  const lines = screen
    .split(/\r+\n|\p{Cc}\[H/u)
    .map((line) => line.replaceAll(/\p{Cc}\[[?\d;]*[a-zA-Z]/gu, ""));
  assert.ok(lines.some((line) => line.startsWith("日本語") && line.endsWith("…")));
  for (const line of lines) assert.ok(widthOf(line) <= 60, JSON.stringify(line));
});

test("doctor finds no problems in a fresh installation.", async () => {
  const fresh = await migratedDatabase();
  const { stdout, status } = await worker(["doctor"], { DATABASE_URL: fresh.url });
  assert.equal(status, 0, stdout);
  for (const check of ["server", "clock", "schema", "privileges", "drift", "indexes", "queue"]) {
    assert.match(stdout, new RegExp(`^ok +${check}: `, "m"));
  }
});

test("doctor reports problems, each with a suggested command.", async () => {
  const broken = await migratedDatabase();
  const env = { DATABASE_URL: broken.url };
  await using own = testPool(broken.url);
  await own.pool.query(`
    drop index worker.jobs_main_index;
    create function worker.slow() returns trigger language plpgsql as 'begin return new; end';
    create trigger slow before insert on worker._private_jobs for each row execute function worker.slow();
    create table orders (job bigint references worker._private_jobs (id));
    insert into worker._private_workers (id, last_heartbeat_at, metadata) values ('w', now(),
      '{"unsettled": [{"id": "7", "error": "PostgreSQL refuses the result of the job: never"}]}')`);
  const { stdout, status } = await runInChild(["doctor", "--json"], env);
  assert.equal(status, 1);
  const { level, findings } = JSON.parse(stdout);
  assert.equal(level, "bad");
  const fixOf = (text: string) =>
    findings.find(({ message }: { message: string }) => message.includes(text))?.fix ?? "";
  const create =
    /^psql -d "\$DATABASE_URL" -c '(create index concurrently jobs_main_index .*)'$/.exec(
      fixOf("jobs_main_index is missing"),
    )?.[1];
  assert.ok(create);
  await own.pool.query(create);
  assert.match(fixOf("the trigger slow runs for every job"), /disable trigger "slow"/);
  assert.match(fixOf("the foreign key orders_job_fkey of orders blocks"), /drop constraint/);
  assert.equal(fixOf("job 7 stays locked: PostgreSQL refuses"), "worker why 7");
  await own.pool.query("drop table orders; delete from worker._private_workers");
  const after = await runInChild(["doctor"], env);
  assert.equal(after.status, 3, after.stdout);
  assert.match(after.stdout, /^warn {2}drift: the trigger slow/);
  const { rows } = await own.pool.query(
    "select indexdef from pg_indexes where indexname in ('jobs_main_index')",
  );
  const stock = await db.query(
    "select indexdef from pg_indexes where indexname in ('jobs_main_index')",
  );
  assert.deepEqual(rows, stock.rows);
});

test("doctor reports jobs whose queue or task was deleted, and the suggested command restores the queue under a new name.", async () => {
  const { url } = await migratedDatabase();
  await using own = testPool(url);
  await own.pool.query("select worker.add_job('t', '{}', 'q'), worker.add_job('gone')");
  await own.pool.query(`delete from worker._private_job_queues;
    delete from worker._private_tasks where identifier = 'gone'`);
  const { stdout, status } = await runInChild(["doctor"], { DATABASE_URL: url });
  assert.equal(status, 1, stdout);
  assert.match(stdout, /names: 1 job cannot run: the rows of 1 queue were deleted/);
  assert.match(stdout, /names: 1 job cannot run because the name of the task was deleted/);
  const line = /worker (cleanup --task gc-job-queues)/.exec(stdout)?.[1] ?? "";
  assert.equal((await runInChild([...line.split(" "), "--yes"], { DATABASE_URL: url })).status, 0);
  const { rows } = await own.pool.query("select queue_name from worker._private_job_queues");
  assert.deepEqual(rows, [{ queue_name: "recovered-queue-1" }]);
});

test("After a schema was renamed, doctor reports functions that still use the old name, and the suggested command repairs them.", async () => {
  const { url } = await migratedDatabase();
  await using own = testPool(url);
  await own.pool.query("alter schema worker rename to jobs");
  const env = { DATABASE_URL: url, WORKER_SCHEMA: "jobs" };
  const { stdout, status } = await runInChild(["doctor"], env);
  assert.equal(status, 1);
  assert.match(
    stdout,
    /^bad {3}drift: the function add_job .*\n +fix: worker migrate --schema=jobs$/m,
  );
  assert.match((await runInChild(["migrate"], env)).stdout, /^Updated the schema jobs/);
  assert.equal((await runInChild(["doctor"], env)).status, 0);
});
test("doctor, cron and the list of schedules report a tick for which no worker has added a job.", async () => {
  const { url } = await migratedDatabase("worker", ["schedules"]);
  await using own = testPool(url);
  const env = { DATABASE_URL: url };
  const add = ["schedule", "add", "hourly", "--task", "t", "--pattern", "0 * * * *"];
  assert.equal((await runInChild(add, env)).status, 0);
  const fine = /^ok {4}timetable: no entry is late/m;
  assert.match((await runInChild(["doctor"], env)).stdout, fine);
  await own.pool.query("update worker._private_schedules set next_at = '2026-01-02T03:00:00Z'");
  assert.match(
    (await runInChild(["doctor"], env)).stdout,
    /^warn {2}timetable: the schedule "hourly" has missed its ticks since 2026-01-02T03:00:00\.000Z: no worker/m,
  );
  assert.match((await runInChild(["cron"], env)).stdout, /^hourly .* any +2026-01-02T03:00:00Z$/m);
  const { stdout } = await runInChild(["schedule", "list"], env);
  assert.match(stdout, /^hourly .* due since 2026-01-02T03:00:00Z +allow/m);
  // After this insert, there are more schedules than a page of the list has.
  await own.pool.query(`insert into worker._private_schedules
      (identifier, task, pattern, spec, next_at)
    select 'e' || n, task, pattern, '{"lastMs": 1767322800000}', date_trunc('hour', now() + interval '1 hour')
    from worker._private_schedules, generate_series(1, 150) as n`);
  assert.match((await runInChild(["doctor"], env)).stdout, /"hourly" has missed its ticks since/);
});
test("doctor reports a tick that was missed before the worker of the entry was started.", async () => {
  const { url } = await migratedDatabase();
  await using own = testPool(url);
  const cron = [{ identifier: "digest", task: "t", pattern: "0 8 * * *", backfill_ms: 0 }];
  const metadata = JSON.stringify({ threshold_ms: 3_600_000, task_identifiers: ["t"], cron });
  await own.pool.query(
    "insert into worker._private_workers (id, last_heartbeat_at, metadata) values ('w', now(), $1)",
    [metadata],
  );
  await own.pool.query(`insert into worker._private_known_crontabs
    values ('digest', now() - interval '9 days', now() - interval '3 days')`);
  const { stdout, status } = await runInChild(["doctor"], { DATABASE_URL: url });
  assert.equal(status, 3, stdout);
  const line =
    /^warn {2}timetable: .* since .*T08:00:00\.000Z: no worker added its jobs; the next is due at .*T08:00:00\.000Z\n {6}fix: worker cron$/m;
  assert.match(stdout, line);
});
test("doctor and cron report an entry whose last tick is in the future; doctor also reports a sequence whose next id is already in the table.", async () => {
  const { url } = await migratedDatabase();
  await using own = testPool(url);
  const env = { DATABASE_URL: url };
  await runInChild(["add", "t", "{}"], env);
  await own.pool.query(`
    insert into worker._private_known_crontabs values
      ('it''s', now(), date_trunc('minute', now()) + interval '1 day'), ('fine', now(), now())`);
  await own.pool.query(
    "select setval(pg_get_serial_sequence('worker._private_jobs', 'id'), 1, false)",
  );
  const cron = await runInChild(["cron"], env);
  assert.match(
    cron.stdout,
    /^it's is ahead of the clock: no job is added before its last tick at /m,
  );
  assert.doesNotMatch(cron.stdout, /^fine is ahead/m);
  const { stdout, status } = await runInChild(["doctor", "--json"], env);
  assert.equal(status, 1);
  const { findings } = JSON.parse(stdout);
  const bad = findings.filter(({ level }: { level: string }) => level === "bad");
  assert.deepEqual(bad.map(({ check }: { check: string }) => check).sort(), [
    "sequences",
    "timetable",
  ]);
  for (const { fix } of bad) {
    const sql =
      /^psql -d "\$DATABASE_URL" -c '(.*)'$/.exec(fix)?.[1]?.replaceAll("'\\''", "'") ?? "";
    await own.pool.query(sql);
  }
  const after = await runInChild(["doctor"], env);
  assert.match(after.stdout, /^ok {4}timetable: .*/m);
  assert.match(after.stdout, /^ok {4}sequences: .*/m);
});
test("cron shows the next tick in the entry's time zone; cron and doctor name entries that differ between workers.", async () => {
  const { url } = await migratedDatabase();
  await using own = testPool(url);
  const env = { DATABASE_URL: url };
  await runInChild(["add", "t", "{}"], env);
  const entry = { identifier: "nightly", task: "t", pattern: "@daily", backfill_ms: 0 };
  const heartbeat = (id: string, time_zone: string) =>
    own.pool.query(
      "insert into worker._private_workers (id, last_heartbeat_at, metadata) values ($1, now(), $2)",
      [id, JSON.stringify({ threshold_ms: 3_600_000, cron: [{ ...entry, time_zone }] })],
    );
  await heartbeat("one", "Asia/Tokyo");
  const { stdout } = await runInChild(["cron"], env);
  assert.match(stdout, /\nnightly +t +@daily +Asia\/Tokyo +\d{4}-\d\d-\d\dT00:00:00\+09:00 +1/);
  assert.match((await runInChild(["doctor"], env)).stdout, /^ok {4}timetable: /m);
  await heartbeat("two", "UTC");
  const differs =
    /nightly differs in its time zone: @daily (Asia\/Tokyo on one; @daily UTC on two|UTC on two; @daily Asia\/Tokyo on one)\. Each tick adds one job/;
  assert.match((await runInChild(["cron"], env)).stdout, differs);
  const doctor = await runInChild(["doctor"], env);
  assert.match(doctor.stdout, new RegExp(`^warn {2}timetable: cron entry ${differs.source}`, "m"));
  assert.match(doctor.stdout, /fix: worker cron/);
});
test("doctor reports locks of stale workers and of workers without heartbeats, and missing privileges of a role.", async () => {
  const { url } = await migratedDatabase();
  await using own = testPool(url);
  await runInChild(["add", "t", "{}"], { DATABASE_URL: url });
  await own.pool.query(
    "update worker._private_jobs set locked_at = now() - interval '5 hours', locked_by = 'gone'",
  );
  const { stdout, status } = await runInChild(["doctor"], { DATABASE_URL: url });
  assert.equal(status, 3, stdout);
  assert.match(
    stdout,
    /^warn {2}locks: 1 worker without heartbeats locked .* ago: gone; check whether each still runs.*\n(?! +fix)/m,
  );
  await own.pool.query(`insert into worker._private_workers (id, last_heartbeat_at, metadata)
    values ('stale', now() - interval '6 minutes', '{}')`);
  await own.pool.query("update worker._private_jobs set locked_by = 'stale'");
  const stale = await runInChild(["doctor"], { DATABASE_URL: url });
  assert.match(
    stale.stdout,
    /locks: a sweep would recover 1 job of 1 worker\n +fix: worker sweep$/m,
  );
  const role = `worker_test_doctor_${process.pid}`;
  await own.pool.query(`create role ${role} login; grant usage on schema worker to ${role}`);
  try {
    const asRole = `${url}${url.includes("?") ? "&" : "?"}user=${role}`;
    const lacking = await runInChild(["doctor"], { DATABASE_URL: asRole });
    assert.equal(lacking.status, 1);
    assert.match(
      lacking.stdout,
      /privileges: this role lacks .*insert.* on _private_jobs\n +fix: psql -d "\$DATABASE_URL" -c 'grant .* on worker\._private_jobs to /,
    );
    await own.pool.query(
      `grant select, insert, update, delete on all tables in schema worker to ${role}`,
    );
    const hidden = await runInChild(["doctor"], { DATABASE_URL: asRole });
    assert.match(
      hidden.stdout,
      /privileges: row level security .*\n +fix: psql -d "\$DATABASE_URL" -c 'alter role .* bypassrls'/,
    );
    await own.pool.query(`alter role ${role} bypassrls`);
    const after = await runInChild(["doctor"], { DATABASE_URL: asRole });
    assert.match(
      after.stdout,
      /^ok {4}privileges: this role has all privileges that a worker needs$/m,
    );
  } finally {
    await own.pool.query(`drop owned by ${role}; drop role ${role}`);
  }
});

test("doctor reports a missing schema with its fix, and an unreachable server.", async () => {
  const empty = await emptyDatabase();
  const none = await runInChild(["doctor"], { DATABASE_URL: empty.url });
  assert.equal(none.status, 1);
  assert.match(none.stdout, /^bad +schema: worker does not exist\n +fix: worker migrate\n/m);
  const away = await runInChild(["doctor"], { DATABASE_URL: "postgres://127.0.0.1:1/x" });
  assert.equal(away.status, 1);
  assert.match(away.stderr, /^worker: cannot reach PostgreSQL/);
});
