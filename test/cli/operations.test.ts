// Tests the commands that change jobs by query, by id or by key, and the command `worker operations`.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { before, test } from "node:test";
import type pg from "pg";
import { migratedDatabase } from "../support/database.ts";
import { testPool } from "../support/test-pool.ts";
import { command, runInChild, runner, worker } from "./command.ts";

let env: { DATABASE_URL: string };
let pool: pg.Pool;
before(async () => {
  const { url } = await migratedDatabase("worker", ["operations"]);
  env = { DATABASE_URL: url };
  const handle = testPool(url);
  pool = handle.pool;
  closing.push(handle.close);
});
const closing: (() => Promise<void>)[] = [];
test.after(async () => {
  for (const close of closing) await close();
});

const run = (...args: string[]) => runInChild(args, env);
const add = (count: number, task: string) =>
  pool.query(
    "select worker.add_job($1, json_build_object('n', n)) from generate_series(1, $2::int) as n",
    [task, count],
  );
const jobsOf = async (task: string) => {
  const { rows } = await pool.query(
    "select id, priority, attempts, max_attempts, last_error from worker.jobs where task_identifier = $1 order by id",
    [task],
  );
  return rows;
};

test("An operation by query is previewed, run, listed with its count, and undone.", async () => {
  await add(4, "whole");
  const result = await run("fail", "--yes", "task:whole", "--reason", "enough");
  assert.equal(result.status, 0, result.stderr);
  assert.match(result.stdout, /fail: 4 jobs that match task:whole/);
  assert.match(result.stdout, /by task: whole 4/);
  assert.match(result.stdout, /Marked as failed: 4 of 4 jobs/);
  const [, id = ""] = /worker operations (\d+) undo/.exec(result.stdout) ?? [];
  assert.ok((await jobsOf("whole")).every((job) => job.last_error === "enough"));
  const list = await run("operations");
  assert.match(list.stdout, new RegExp(`${id} +done +fail +4`));
  const undone = await run("operations", id, "undo");
  assert.match(undone.stdout, /Undone: 4 of 4 jobs/);
  assert.ok((await jobsOf("whole")).every((job) => job.last_error === null));
  const again = await run("operations", id, "undo");
  assert.equal(again.status, 1);
  assert.match(again.stderr, /operation \d+ is undone; an operation can be undone once/);
});

test("After an undo of a deletion, the output names the application's own columns, which are not restored.", async () => {
  await pool.query("alter table worker._private_jobs add column tenant text default 'none'");
  try {
    // The command adds the job on a connection of its own. A session of the pool would cache a plan of add_job() with
    // the column, and this plan would fail after the column was dropped.
    await run("add", "own", "{}", "--key", "own");
    const result = await run("remove", "own", "--yes");
    const [, id = ""] = /^Undo: worker operations (\d+) undo$/m.exec(result.stdout) ?? [];
    const undone = await run("operations", id, "undo");
    assert.match(
      undone.stdout,
      /^Undone: 1 of 1 job is restored, except for the application's column tenant, now at the default/m,
    );
    const shown = await run("operations", id);
    assert.match(shown.stdout, /except for the application's column tenant/);
  } finally {
    await pool.query("alter table worker._private_jobs drop column tenant");
  }
});

test("Actions on jobs by id or by key can be undone, like operations by query.", async () => {
  await pool.query("select worker.add_job('ids', '{}', job_key => 'by id'), worker.add_job('ids')");
  const before = await jobsOf("ids");
  const undo = async (...args: string[]) => {
    const result = await run(...args, "--yes");
    assert.equal(result.status, 0, result.stderr);
    const [, id = ""] = /^Undo: worker operations (\d+) undo$/m.exec(result.stdout) ?? [];
    const undone = await run("operations", id, "undo");
    assert.match(undone.stdout, /Undone: \d of \d jobs? (is|are) restored/);
    assert.deepEqual(await jobsOf("ids"), before);
  };
  await undo("complete", before[0].id, before[1].id);
  await undo("fail", before[1].id);
  await undo("remove", "by id");
  const retried = await run("retry", before[0].id, "--json");
  assert.ok(JSON.parse(retried.stdout).operation > 0);
});

test("Arguments that are integers are ids. All other arguments form one query. A query that begins with a dash is written after --.", async () => {
  await add(3, "words");
  const [first, second, third] = await jobsOf("words");
  const byId = await run("reschedule", first.id, second.id, "--priority", "3");
  assert.match(byId.stdout, /Rescheduled 2 of 2 jobs/);
  const words = await run("reschedule", "task:words", `id:${third.id}`, "--priority", "4");
  assert.match(words.stdout, /Rescheduled 1 of 1 job\b/);
  const dashed = await run("reschedule", "--priority", "5", "--", `-id:${third.id} task:words`);
  assert.equal(dashed.status, 0, dashed.stderr);
  assert.deepEqual(
    (await jobsOf("words")).map(({ priority }) => priority),
    [5, 5, 4],
  );
});

test("A dry run changes nothing, and prints the command that would change the jobs.", async () => {
  await add(2, "dry");
  const dry = await run("complete", "task:dry", "--dry-run", "--rate", "50");
  assert.match(dry.stdout, /Nothing was changed. To run it: worker complete --rate=50 task:dry/);
  assert.equal((await jobsOf("dry")).length, 2);
  const json = await run("complete", "task:dry", "--dry-run", "--json");
  const report = JSON.parse(json.stdout);
  const { change, skip_locked: skipped, change_value: value } = report.would;
  assert.deepEqual([change, skipped, value.precision, report.count.value], [2, 0, "exact", 2]);
});

test("A dry run and the action itself respect --limit.", async () => {
  await add(6, "some");
  const dry = await run("fail", "task:some", "--limit", "2", "--dry-run");
  assert.match(dry.stdout, /^fail: 2 of 6 jobs that match task:some, those of the lowest ids$/m);
  const { would } = JSON.parse(
    (await run("fail", "task:some", "--limit", "2", "--dry-run", "--json")).stdout,
  );
  assert.equal(would.change, 2);
  const done = await run("fail", "--yes", "task:some", "--limit", "2");
  assert.match(done.stdout, /Marked as failed: 2 of 2 jobs/);
  const now = await run("run-now", "task:some is:failed", "--limit", "9", "--dry-run");
  assert.match(now.stdout, /^run-now: 2 jobs that match/m);
});

test("The command remove takes a key, ids or a query.", async () => {
  await add(4, "removed");
  const [first, second] = await jobsOf("removed");
  await pool.query("select worker.add_job('removed', '{}', null, null, null, 'the key')");
  assert.match(
    (await run("remove", "--yes", "the key")).stdout,
    /Removed the job with the key the key/,
  );
  const ids = await run("remove", "--yes", "--ids", `${first.id},${second.id}`);
  assert.match(ids.stdout, /Removed 2 of 2 jobs/);
  const query = await run("remove", "--yes", "--query", "task:removed", "--json");
  const operation = JSON.parse(query.stdout);
  assert.deepEqual([operation.action, operation.state, operation.done], ["remove", "done", 2]);
  for (const args of [["remove"], ["remove", "k", "--ids", "1"], ["retry", "1", "--canary", "2"]]) {
    assert.equal((await run(...args)).status, 2, args.join(" "));
  }
});

test("Invalid commands are rejected with a message about the mistake.", async () => {
  const ids = (count: number, first: number) =>
    Array.from({ length: count }, (_, index) => first + index).join(",");
  const refusals: [string[], RegExp][] = [
    [["remove", "--ids", ids(600, 100_000)], /--ids: 600 ids are too many at once/],
    [["remove", "--ids", ids(801, 1)], /--ids: 801 ids are too many at once/],
    [["complete", "--yes", " "], /is empty.*id>0/],
    [["complete", "--yes", "tusk:x"], /did you mean|no field|unknown/i],
    [["retry", "task:x", "--canary", "0"], /--canary: must be/],
    [["reschedule", "task:x"], /at least one of/],
    [["operations", "999"], /there is no operation 999/],
  ];
  for (const [args, message] of refusals) {
    const result = await run(...args);
    assert.notEqual(result.status, 0, args.join(" "));
    assert.match(result.stderr, message);
  }
});

test("Ctrl-C pauses the operation and prints the command that resumes it.", async () => {
  await add(1_000, "held");
  const args = ["fail", "--yes", "task:held", "--rate", "200"];
  const child = spawn(runner, [...command, ...args], {
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let stdout = "";
  child.stdout.on("data", (text) => {
    stdout += text;
  });
  const failed = async () =>
    (await jobsOf("held")).filter((job) => job.attempts === job.max_attempts).length;
  while ((await failed()) === 0);
  child.kill("SIGINT");
  const [status] = await once(child, "close");
  assert.equal(status, 3);
  assert.match(stdout, /Paused after \d+ jobs; no more jobs are changed/);
  const [, id = ""] = /worker operations (\d+) resume/.exec(stdout) ?? [];
  const resumed = worker(["operations", id, "resume"], env);
  const before = await failed();
  assert.ok(before > 0 && before < 1_000, String(before));
  assert.match((await resumed).stdout, /Marked as failed: 1,000 of 1,000 jobs/);
  assert.equal(await failed(), 1_000);
});

test("An action by id and an operation by query are each recorded in the audit trail.", async () => {
  await add(1, "trail");
  const [{ id }] = await jobsOf("trail");
  await run("reschedule", id, "--priority", "2");
  await run("complete", "--yes", "task:trail");
  const { rows } = await pool.query(
    "select entry from worker._private_audit order by id desc limit 2",
  );
  const [operation, byId] = rows.map(({ entry }) => entry);
  assert.deepEqual([operation.action, operation.q], ["complete", "task:trail"]);
  assert.equal(operation.source, "command line");
  assert.deepEqual([byId.action, byId.ids, byId.done], ["reschedule", [Number(id)], 1]);
  assert.deepEqual([byId.before[0].priority, byId.after[0].priority], [0, 2]);
});

test("Without the tables of operations, an operation by query can only be previewed; --with-operations adds the tables first.", async () => {
  const { url } = await migratedDatabase();
  const bare = { DATABASE_URL: url };
  await runInChild(["add", "t"], bare);
  const dry = await runInChild(["retry", "task:t", "--dry-run"], bare);
  assert.deepEqual([dry.status, dry.stderr], [0, ""]);
  assert.match(dry.stdout, /needs tables .* "worker migrate --with-operations" adds them/);
  const json = JSON.parse(
    (await runInChild(["retry", "task:t", "--dry-run", "--json"], bare)).stdout,
  );
  assert.deepEqual([json.can_undo, json.missing.may_add], [false, true]);
  for (const args of [
    ["retry", "task:t"],
    ["retry", "task:t", "--yes"],
  ]) {
    const refused = await runInChild(args, bare);
    assert.deepEqual([refused.status, refused.stdout], [1, ""]);
    assert.match(
      refused.stderr,
      /^worker: an operation by query needs tables .* --with-operations\n$/,
    );
  }
  const refused = await runInChild(["retry", "task:t", "--json"], bare);
  assert.equal(JSON.parse(refused.stderr).code, "extension_missing");
  assert.match((await runInChild(["retry", "1"], bare)).stdout, /Retried 1 of 1 job/);
  const list = await runInChild(["operations"], bare);
  assert.deepEqual([list.status, list.stderr], [0, ""]);
  assert.match(list.stdout, /^There are no operations; an operation by query needs tables/);
  const result = await runInChild(["retry", "task:t", "--with-operations"], bare);
  assert.deepEqual([result.status, result.stderr], [0, ""]);
  assert.match(result.stdout, /^Added the extension operations\n/);
  assert.match(result.stdout, /can be undone for 24 hours.*Retried 1 of 1 job/s);
  const again = await runInChild(["retry", "task:t", "--with-operations"], bare);
  assert.match(again.stdout, /^retry: 1 job that matches task:t/);
});

test("On a terminal a prompt offers to add the tables of operations; without consent nothing is added or changed.", async () => {
  const { url } = await migratedDatabase();
  const bare = { DATABASE_URL: url };
  await runInChild(["add", "t"], bare);
  const answered = async (...answers: readonly string[]) => {
    const line = [runner, ...command, "fail", "task:t"].join(" ");
    const child = spawn("script", ["-qec", line, "/dev/null"], {
      env: { ...process.env, ...bare },
    });
    let text = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => (text += part));
    let given = 0;
    child.stdout.on("data", () => {
      const prompts = text.match(/\[y\/N\]/g)?.length ?? 0;
      while (given < Math.min(prompts, answers.length)) child.stdin.write(`${answers[given++]}\n`);
    });
    await once(child, "close");
    return text;
  };
  assert.match(await answered("n"), /Add them\? \[y\/N\].*nothing was changed/s);
  const { stdout } = await runInChild(["operations"], bare);
  assert.match(stdout, /needs tables/);
  const agreed = await answered("y", "y");
  assert.match(agreed, /Added the extension operations.*Continue\?.*Marked as failed: 1 of 1 job/s);
});

test("On a read-only server writes are rejected with the reason, and dry runs work.", async () => {
  const { url, name } = await migratedDatabase("worker", ["operations"]);
  const there = { DATABASE_URL: url };
  await runInChild(["add", "t"], there);
  const owner = testPool(url);
  await owner.pool.query(`alter database "${name}" set default_transaction_read_only = on`);
  await owner.close();
  const refused = [
    ["fail", "--yes", "task:t"],
    ["fail", "--yes", "1"],
    ["remove", "--yes", "--query", "id>0"],
    ["add", "t"],
    ["build-index", "failed"],
    ["sweep", "--yes"],
  ];
  for (const args of refused) {
    const result = await runInChild(args, there);
    assert.deepEqual([result.status, result.stdout], [1, ""], args.join(" "));
    assert.match(result.stderr, /^worker: PostgreSQL accepts no writes here: it is a standby, or/);
  }
  const dry = await runInChild(["fail", "task:t", "--dry-run"], there);
  assert.deepEqual([dry.status, dry.stderr], [0, ""]);
  assert.match(dry.stdout, /fail: 1 job that matches task:t/);
  const swept = await runInChild(["sweep", "--dry-run"], there);
  assert.deepEqual([swept.status, swept.stderr], [0, ""]);
  const current = await runInChild(["migrate"], there);
  assert.deepEqual([current.status, current.stderr], [0, ""]);
  assert.match(current.stdout, /is up to date/);
});

test("An undo that restores no job prints the number 0 and exits with status 1.", async () => {
  await run("add", "taken", "{}", "--key", "same");
  const removed = await run("remove", "--yes", "same");
  const [, id = ""] = /worker operations (\d+) undo/.exec(removed.stdout) ?? [];
  await run("add", "taken", "{}", "--key", "same");
  const undone = await run("operations", id, "undo");
  assert.match(undone.stdout, /Undone: 0 of 1 job/);
  assert.equal(undone.status, 1);
});
