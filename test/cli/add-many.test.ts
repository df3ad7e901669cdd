// `worker add-many` adds all jobs of a file of JSON Lines. If a line is invalid, the command adds no job, and its error
// contains the number of the line.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type pg from "pg";
import { migratedDatabase } from "../support/database.ts";
import { testPool } from "../support/test-pool.ts";
import { waitUntil } from "../support/until.ts";
import { command, runInChild, runner, worker } from "./command.ts";

const folder = mkdtempSync(join(tmpdir(), "wk-add-many-"));
let env: { DATABASE_URL: string };
let db: pg.Pool;
let close: () => Promise<void>;
before(async () => {
  env = { DATABASE_URL: (await migratedDatabase()).url };
  ({ pool: db, close } = testPool(env.DATABASE_URL));
});
after(async () => {
  await close();
  rmSync(folder, { recursive: true, force: true });
});

let files = 0;
function fileOf(lines: readonly string[] | string): string {
  const path = join(folder, `lines-${++files}`);
  writeFileSync(path, typeof lines === "string" ? lines : lines.join("\n"));
  return path;
}

const jobs = async (task: string) => {
  const { rows } = await db.query(
    `select payload::text, queue_name, priority, max_attempts, key, flags, run_at
     from worker._private_jobs as job
     join worker._private_tasks as task on task.id = task_id
     left join worker._private_job_queues as queue on queue.id = job_queue_id
     where identifier = $1 order by job.id`,
    [task],
  );
  return rows;
};

test("Each line adds a job; its payload is stored byte for byte, and most fields have several names.", async () => {
  const payload = '{"b": 9007199254740993, "b":1.0, "ü":"\\u00fc"}';
  const result = await runInChild(
    [
      "add-many",
      fileOf([
        `\uFEFF{"task":"mixed","payload":${payload}}`, // with a byte order mark, as some programs write it
        "",
        '{"identifier":"mixed","queue":"q","priority":-3,"max_attempts":2,"flags":["f"]}\r',
        '{"task_identifier":"mixed","queueName":"q2","maxAttempts":4,"run_at":"2030-01-01T00:00:00Z"}',
        '{"task":"mixed","payload":[1],"queue_name":null,"run_at":"+10m"}',
      ]),
    ],
    env,
  );
  assert.deepEqual([result.status, result.stdout, result.stderr], [0, "Added 4 jobs\n", ""]);
  const [first, second, third, fourth] = await jobs("mixed");
  assert.equal(first.payload, payload);
  assert.deepEqual(
    [second.queue_name, second.priority, second.max_attempts, second.flags],
    ["q", -3, 2, { f: true }],
  );
  assert.deepEqual([third.queue_name, third.max_attempts], ["q2", 4]);
  assert.equal(third.run_at.toISOString(), "2030-01-01T00:00:00.000Z");
  assert.equal(fourth.payload, "[1]");
  const { rows } = await db.query("select extract(epoch from $1::timestamptz - now()) as ahead", [
    fourth.run_at,
  ]);
  assert.ok(rows[0].ahead > 300 && rows[0].ahead <= 600);
});

test("Lines with the same key add one job; lines that add no job are counted separately.", async () => {
  const file = fileOf(['{"task":"one","key":"k"}', '{"task":"one","key":"k","priority":3}']);
  const first = await runInChild(["add-many", file], env);
  assert.equal(first.stdout, "Added 1 job; 1 line updated or kept a job of the same key\n");
  const again = await runInChild(["add-many", file, "--json"], env);
  assert.deepEqual(JSON.parse(again.stdout), { added: 0, replaced: 2 });
  assert.equal((await jobs("one")).length, 1);
});

test("Thousands of lines can be read from standard input, and their jobs are in the order of the lines.", async () => {
  const lines = Array.from({ length: 3_000 }, (_, n) => `{"task":"many","payload":{"n":${n}}}\n`);
  const result = await worker(["add-many", "-", "--json"], env, lines.join(""));
  assert.deepEqual([result.status, JSON.parse(result.stdout)], [0, { added: 3_000, replaced: 0 }]);
  const { rows } = await db.query(
    `select (payload->>'n')::int as n from worker._private_jobs
     where task_id = (select id from worker._private_tasks where identifier = 'many')
     order by priority, run_at`,
  );
  assert.deepEqual(
    rows.map(({ n }) => n),
    lines.map((_, n) => n),
  );
});

test("A line with a key updates the job of this key according to the line's key mode, even if other lines have no key.", async () => {
  const keyed = (n: number, more = "") => `{"task":"keyed","key":"k","payload":{"n":${n}}${more}}`;
  const result = await runInChild(
    [
      "add-many",
      fileOf([keyed(1), '{"task":"keyed"}', keyed(2), keyed(3, ',"key_mode":"unsafe-dedupe"')]),
    ],
    env,
  );
  assert.equal(result.status, 0, result.stderr);
  const found = await jobs("keyed");
  assert.deepEqual(found.map(({ key, payload }) => [key, payload]).sort(), [
    [null, "{}"],
    ["k", '{"n":2}'],
  ]);
  const again = await runInChild(["add-many", fileOf([keyed(4)])], env);
  assert.equal(again.status, 0, again.stderr);
  assert.equal((await jobs("keyed")).find(({ key }) => key === "k").payload, '{"n":4}');
});

test("Lines accept unique and debounce, with the field names of the library and of HTTP.", async () => {
  const line = (more: string) => `{"task":"unique","payload":{"n":1},${more}}`;
  const result = await runInChild(
    [
      "add-many",
      fileOf([
        line('"unique":{"by":["args"],"while":"unfinished"}'),
        line('"unique_by":["args"],"unique_while":"failed-too"'),
        line('"key":"d","debounce":{"waitMs":5000,"maxWaitMs":9000}'),
        line('"key":"d","debounce_secs":1,"debounce_max_secs":9'),
      ]),
      "--json",
    ],
    env,
  );
  assert.deepEqual([result.stderr, JSON.parse(result.stdout)], ["", { added: 2, replaced: 2 }]);
  assert.equal((await jobs("unique")).length, 2);
});

const bad: [line: string, message: RegExp][] = [
  ['{"task":"none"', /line 1502: is not JSON/],
  ["[1]", /line 1502: must be a JSON object/],
  ['{"task":" "}', /line 1502, identifier: must not be blank/],
  ["{}", /line 1502, identifier: /],
  ['{"task":"none","priority":1e9}', /line 1502, priority: must be a whole number/],
  ['{"task":"none","run_at":"soon"}', /line 1502, run_at: must be "now"/],
  ['{"task":"none","colour":1}', /line 1502: unknown field "colour"/],
  ['{"task":"none","task":"two"}', /line 1502, task: occurs more than once/],
  [
    '{"task":"none","unique":{"by":["args.to"],"while":"waiting"}}',
    /line 1502, unique.*no member "to"/,
  ],
  ['{"task":"none","unique_by":["args"]}', /line 1502, unique.while: is required/],
  ['{"task":"none","debounce":{"waitMs":1,"maxWaitMs":1}}', /line 1502, debounce: needs a job key/],
  ['{"task":"none","key_mode":"replace"}', /line 1502, jobKeyMode: /],
];
test("An invalid line is named by its number, and nothing is added.", async () => {
  const good = Array.from({ length: 1_500 }, () => '{"task":"none","payload":{}}');
  for (const [line, message] of bad) {
    const result = await runInChild(["add-many", fileOf([...good, "", line, ...good])], env);
    assert.deepEqual([result.status, result.stdout], [1, ""], line);
    assert.match(result.stderr, message);
  }
  assert.deepEqual(await jobs("none"), []);
});

test("Invalid UTF-8 and a missing file are rejected.", async () => {
  const path = join(folder, "latin");
  writeFileSync(path, Buffer.from('{"task":"none","payload":"\xfc"}\n', "latin1"));
  assert.match((await runInChild(["add-many", path], env)).stderr, /line 1: is not UTF-8/);
  const absent = await runInChild(["add-many", join(folder, "absent")], env);
  assert.match(absent.stderr, /<file>: cannot be read: ENOENT/);
  assert.deepEqual(await jobs("none"), []);
});

test("A signal stops add-many while it waits for more lines, and nothing is added.", async () => {
  const child = spawn(runner, [...command, "add-many", "-"], {
    env: { ...process.env, ...env },
  });
  const ended = once(child, "close");
  child.stdin.write('{"task":"none"}\n'.repeat(5_000));
  await waitUntil("add-many waits for more lines", async () => {
    const { rows } = await db.query(
      "select from pg_stat_activity where datname = current_database() and state = 'idle in transaction'",
    );
    return rows.length > 0;
  });
  child.kill("SIGINT");
  assert.equal((await ended)[0], 130);
  assert.deepEqual(await jobs("none"), []);
});

test("An empty file adds nothing and reports that.", async () => {
  const result = await runInChild(["add-many", fileOf("\n")], env);
  assert.deepEqual([result.status, result.stdout], [0, "Added 0 jobs\n"]);
});
