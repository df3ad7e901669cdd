// Tests what the commands that add, list and change jobs print, and what later commands print about these jobs.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { before, test } from "node:test";
import { migratedDatabase } from "../support/database.ts";
import { command, runner, worker } from "./command.ts";

let env: { DATABASE_URL: string };
before(async () => {
  env = { DATABASE_URL: (await migratedDatabase()).url };
});

const exact = '{"id": 9007199254740993, "b":1, "a":2, "b":3}';

test("A job is added, listed, shown and completed; the list has its payload byte for byte.", async () => {
  const added = await worker(
    ["add", "greet", exact, "--key", "k", "--flag", "a", "--flag", "b"],
    env,
  );
  assert.match(added.stdout, /^Added job (\d+) for task greet/);
  const id = /\d+/.exec(added.stdout)?.[0] ?? "";
  const listed = await worker(["list", "--task", "greet", "--json"], env);
  assert.ok(listed.stdout.includes(`"payload":${exact}`), listed.stdout);
  assert.match((await worker(["show", id], env)).stdout, /flags \{"a": ?true, ?"b": ?true\}/);
  const completed = await worker(["complete", id, "999", "--yes"], env);
  assert.match(completed.stdout, /Completed 1 of 2 jobs; 1 not found: #999/);
  const gone = await worker(["show", id], env);
  assert.deepEqual([gone.status, gone.stderr.trim()], [1, `worker: there is no job ${id}`]);
});

test("A payload is read from standard input.", async () => {
  const added = await worker(["add", "piped", "-", "--json"], env, exact);
  assert.equal(added.status, 0, added.stderr);
  assert.ok(added.stdout.includes(`"payload":${exact}`), added.stdout);
});

test("A job that is added with --now is due, and has a deadline only with --deadline.", async () => {
  const added = await worker(["add", "due", "--now", "--json"], env);
  const [job] = JSON.parse(added.stdout).jobs;
  assert.deepEqual([job.flags, Date.parse(job.run_at) <= Date.now() + 60_000], [null, true]);
  const later = await worker(["add", "due", "--now", "--deadline", "+1h", "--json"], env);
  assert.match(Object.keys(JSON.parse(later.stdout).jobs[0].flags).join(" "), /^deadline:\d+$/);
});

test("A job is failed, rescheduled, failed again and cleaned up, and is then not counted as failed.", async () => {
  const { stdout } = await worker(["add", "doomed", "--json"], env);
  const id = String(JSON.parse(stdout).jobs[0].id);
  await worker(["fail", id, "--reason", "no hope", "--yes"], env);
  assert.match((await worker(["list", "--state", "failed"], env)).stdout, /doomed.*no hope/);
  const back = await worker(["reschedule", id, "--run-at", "now", "--attempts", "0"], env);
  assert.match(back.stdout, /Rescheduled 1 of 1 job/);
  await worker(["fail", id, "--yes"], env);
  const cleaned = await worker(
    ["cleanup", "--task", "delete-permanently-failed-jobs", "--yes"],
    env,
  );
  assert.match(cleaned.stdout, /Deleted 1 failed job/);
  const counts = JSON.parse((await worker(["status", "--json"], env)).stdout);
  assert.equal(counts.failed, 0);
});

test("On an idle queue, the commands queues, workers and sweep succeed, and unlock and remove report that nothing matches.", async () => {
  for (const args of [["queues"], ["workers"], ["sweep", "--dry-run"]]) {
    const result = await worker(args, env);
    assert.equal(result.status, 0, result.stderr);
  }
  const unknown = await worker(["unlock", "w", "--yes"], env);
  assert.match(unknown.stdout, /^Unlocked 0 jobs .* of 0 of 1 worker; there is no worker "w"$/m);
  assert.equal(unknown.status, 1);
  const absent = await worker(["remove", "no such key", "--yes"], env);
  assert.match(absent.stdout, /no job with the key no such key/);
  assert.equal(absent.status, 1);
});

test("If the program that reads a command's output closes the pipe, the command ends with the exit status 0 and prints no error.", async () => {
  const child = spawn(runner, [...command, "list", "--json"], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout.destroy();
  let stderr = "";
  child.stderr.on("data", (text) => {
    stderr += text;
  });
  const [status] = await once(child, "close");
  assert.deepEqual([status, stderr], [0, ""]);
});

test("A unique job is added once, and a debounced job waits.", async () => {
  const add = (...more: string[]) => worker(["add", "once", '{"id": 1}', ...more], env);
  const unique = ["--unique", "args.id", "--unique", "queue", "--unique-while", "failed-too"];
  const first = await add(...unique, "--unique-period", "1d");
  const id = /^Added job (\d+) for task once/.exec(first.stdout)?.[1];
  assert.ok(id, first.stderr);
  const again = await add(...unique, "--unique-period", "1d");
  assert.match(
    again.stdout,
    new RegExp(`^Already there: job ${id} for task \\w+ is the same, and is unchanged`),
  );
  const waits = await add("--key", "d", "--debounce", "10m", "--debounce-max", "1h", "--json");
  const [job] = JSON.parse(waits.stdout).jobs;
  assert.equal(Date.parse(job.run_at) - Date.parse(job.created_at), 600_000);
  const refused = await add("--unique", "args.id");
  assert.equal(refused.status, 1, refused.stderr);
  assert.match(refused.stderr, /--unique-while/);
});
