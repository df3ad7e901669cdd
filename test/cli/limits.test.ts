// Tests the commands `worker limit` and `worker limits`, and limits that a plugin module of `worker run` exports.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import pg from "pg";
import { emptyDatabase } from "../support/database.ts";
import { runInChild, worker as runWorker } from "./command.ts";
import { filesOf } from "./run-harness.ts";

const migrated = async (...extensions: string[]) => {
  const { url } = await emptyDatabase();
  const env = { DATABASE_URL: url };
  const extra = extensions.length === 0 ? [] : ["--with", extensions.join(",")];
  await runInChild(["migrate", ...extra], env);
  return (...words: string[]) => runInChild(words, env);
};

test("A limit is set, shown, changed in parts and removed; the output describes the limit in words.", async () => {
  const worker = await migrated("limits");
  assert.equal((await worker("limits")).stdout, "There are no limits\n");
  const set = await worker(
    ...["limit", "set", "stripe", "--task", "charge_card", "--concurrency", "10"],
    ...["--rate", "100/s", "--burst", "20"],
  );
  assert.equal(
    set.stdout,
    "Set the limit stripe: at most 10 jobs of task charge_card at once, 100 in a second and 20 more at once after a quiet time; no task has this name yet\n",
  );
  await worker("add", "charge_card");
  const changed = await worker("limit", "set", "stripe", "--concurrency", "5");
  assert.match(
    changed.stdout,
    /^Changed the limit stripe: at most 5 jobs of task charge_card at once, 100 in a second and 20 more at once after a quiet time\n$/,
  );
  const again = await worker("limit", "set", "stripe", "--concurrency", "5");
  assert.match(
    again.stdout,
    /^Nothing changed: the limit stripe already has this definition: at most 5 jobs/,
  );
  const table = (await worker("limits")).stdout;
  assert.match(table, /stripe +task charge_card +5 +100\/s +0 +1 +not full/);
  assert.equal((await worker("limit", "list")).stdout, table);
  const [limit] = JSON.parse((await worker("limits", "--json")).stdout).limits;
  assert.deepEqual(limit.rate, { limit: 100, per_ms: 1_000, burst: 20 });
  assert.deepEqual([limit.running, limit.waiting, limit.waiting_precision], [0, 1, "exact"]);
  const shown = await worker("limit", "show", "stripe");
  assert.match(shown.stdout, /^stripe: at most 5 jobs of task charge_card at once/);
  assert.match(shown.stdout, /\nnot full; 0 running, 1 waits\nSet by /);

  const lone = await worker("limit", "set", "stripe", "--rate", "");
  assert.match(lone.stdout, /: at most 5 jobs of task charge_card at once\n$/);
  const refused = await worker("limit", "remove", "stripe");
  assert.notEqual(refused.status, 0);
  const removed = await worker("limit", "remove", "stripe", "--yes");
  assert.equal(removed.stdout, "Removed the limit stripe\n");
  assert.match(
    (await worker("limit", "remove", "stripe", "--yes")).stderr,
    /there is no limit "stripe"/,
  );
});

test("A limit of queues counts the jobs of each queue separately, and cannot become a limit of tasks.", async () => {
  const worker = await migrated("limits");
  await worker("add", "send", "--queue", "tenant/1");
  const set = await worker("limit", "set", "tenants", "--queue", "tenant/*", "--concurrency", "3");
  assert.equal(
    set.stdout,
    "Set the limit tenants: at most 3 jobs of each queue tenant/* at once\n",
  );
  const { full, queues, waiting } = JSON.parse(
    (await worker("limit", "show", "tenants", "--json")).stdout,
  );
  assert.deepEqual([full, queues, waiting], [[], 1, 1]);
  const other = await worker("limit", "set", "tenants", "--task", "send", "--concurrency", "3");
  assert.equal(other.status, 1);
  assert.match(other.stderr, /the limit tenants is for queues; remove it first/);
});

test("While a worker without heartbeats holds a lock, the commands limit set, limits, status and doctor report the worker.", async () => {
  const { url } = await emptyDatabase();
  const worker = (...words: string[]) => runInChild(words, { DATABASE_URL: url });
  await worker("migrate", "--with", "limits");
  await worker("add", "t");
  const client = new pg.Client(url);
  await client.connect();
  await client.query("update worker._private_jobs set locked_by = 'stock', locked_at = now()");
  await client.end();
  const note =
    "1 worker sends no heartbeats and may be a Graphile worker: Graphile workers do not apply limits of tasks, and run no jobs of queues with a limit";
  assert.doesNotMatch((await worker("status")).stdout, /Limits/);
  const set = await worker("limit", "set", "l", "--task", "t", "--concurrency", "1");
  assert.equal(set.stdout, `Set the limit l: at most 1 job of task t at once; ${note}\n`);
  assert.equal(JSON.parse((await worker("limits", "--json")).stdout).note, note);
  assert.ok((await worker("limits")).stdout.endsWith(`\n${note}\n`));
  assert.ok((await worker("status")).stdout.endsWith(`\nLimits: ${note}\n`));
  assert.match((await worker("doctor")).stdout, /limits: 1 worker sends no heartbeats/);
});

test("A plugin module of worker run may export limits; they are created when the worker starts.", async () => {
  const { url } = await emptyDatabase();
  const env = { DATABASE_URL: url };
  const files = filesOf({
    "limits.mjs": 'export const limits = [{ name: "l", task: "t", concurrency: 3 }];',
  });
  const tasks = filesOf({ "t.mjs": "export default () => {};" });
  const options = ["--once", "--tasks", tasks, "--plugin", join(files, "limits.mjs")];
  const run = () => runWorker(["run", ...options], env);
  const refused = await run();
  assert.notEqual(refused.status, 0);
  assert.match(
    refused.stderr,
    /the option limits needs tables.*"worker migrate --with limits" adds them/,
  );
  await runInChild(["migrate", "--with", "limits"], env);
  assert.equal((await run()).status, 0);
  const [limit] = JSON.parse((await runInChild(["limits", "--json"], env)).stdout).limits;
  assert.deepEqual([limit.name, limit.concurrency, limit.from_code], ["l", 3, true]);
});

test("Invalid limits are rejected with a message about the fix, and change nothing.", async () => {
  const worker = await migrated("limits");
  const refused: [string[], RegExp][] = [
    [["--task", "t"], /needs concurrency, rate or both/],
    [["--concurrency", "3"], /needs either task or queue/],
    [["--task", "t", "--queue", "q", "--concurrency", "3"], /use either a task or a queue/],
    [["--task", "t", "--rate", "fast"], /must be a rate such as 100\/s, 300\/min, 1000\/h/],
    [["--task", "t", "--rate", "5/2d"], /the period must be at most 86400000 ms/],
    [["--task", "t", "--concurrency", "3", "--burst", "5"], /burst.*needs a rate/],
    [["--task", "t", "--concurrency", "10001"], /from 0 to 10000/],
  ];
  for (const [words, message] of refused) {
    const { status, stderr } = await worker("limit", "set", "l", ...words);
    assert.notEqual(status, 0, words.join(" "));
    assert.match(stderr, message);
  }
  await worker("limit", "set", "l", "--task", "t", "--concurrency", "3");
  const empty = await worker("limit", "set", "l", "--concurrency", "0");
  assert.match(empty.stderr, /needs concurrency, rate or both; to have no limit, remove it/);
  assert.equal(JSON.parse((await worker("limits", "--json")).stdout).limits[0].concurrency, 3);
  assert.match((await worker("limit", "show")).stderr, /<name> is missing/);
  assert.match((await worker("limit", "show", "x")).stderr, /there is no limit "x"/);
});

test("If the tables of limits are missing, the error of each command contains the command that adds them.", async () => {
  const worker = await migrated();
  for (const words of [
    ["limits"],
    ["limit", "show", "l"],
    ["limit", "set", "l", "--task", "t", "--concurrency", "1"],
    ["limit", "remove", "l", "--yes"],
    ["limit", "end-back-off", "l"],
  ]) {
    const { status, stderr } = await worker(...words);
    assert.equal(status, 1, words.join(" "));
    assert.match(stderr, /"worker migrate --with limits" adds them/);
  }
});
