// Tests that all commands that show the condition of jobs use the same seven words for the conditions.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type pg from "pg";
import { migratedDatabase } from "../support/database.ts";
import { testPool } from "../support/test-pool.ts";
import { runInChild } from "./command.ts";
import { onTerminal } from "./terminal.ts";

let env: { DATABASE_URL: string };
let db: pg.Pool;
let closing: () => Promise<void>;
before(async () => {
  const { url } = await migratedDatabase();
  env = { DATABASE_URL: url };
  const { pool, close } = testPool(url);
  db = pool;
  closing = close;
  await db.query(`
    select worker.add_job(name) from unnest(array['ready', 'fetched', 'running', 'retrying', 'failed']) as name;
    select worker.add_job('blocked', queue_name => 'held');
    select worker.add_job('scheduled', run_at => now() + interval '1 day');
    update worker._private_job_queues set locked_at = now(), locked_by = 'w';
    update worker._private_jobs as jobs set attempts = 1, last_error = 'Error: no',
      max_attempts = case tasks.identifier when 'failed' then 1 else 25 end
    from worker._private_tasks as tasks
    where tasks.id = jobs.task_id and tasks.identifier in ('retrying', 'failed');
    update worker._private_jobs as jobs set locked_at = now() - interval '3 seconds', locked_by = 'w'
    from worker._private_tasks as tasks
    where tasks.id = jobs.task_id and tasks.identifier in ('fetched', 'running');
    insert into worker._private_workers (id, last_heartbeat_at, metadata)
    select 'w', now(), jsonb_build_object('running_jobs', 1,
      'running_job_ids', jsonb_build_array(running.id::text), 'fetched_job_ids', jsonb_build_array(fetched.id::text))
    from worker.jobs as running, worker.jobs as fetched
    where running.task_identifier = 'running' and fetched.task_identifier = 'fetched'`);
});
after(() => closing());

const conditions = ["ready", "blocked", "fetched", "running", "retrying", "scheduled", "failed"];

/** Returns the jobs. A job's task has the name of its condition. */
const jobs = async () =>
  (
    await db.query<{ id: string; name: string }>(
      "select id, task_identifier as name from worker.jobs",
    )
  ).rows;

const wordsOf = (line = "") => line.trim().split(/\s+/);

test("list, show, why and a preview name the same condition of a job.", async () => {
  const { stdout: list } = await runInChild(["list"], env);
  for (const { id, name } of await jobs()) {
    assert.match(list, new RegExp(`^${id} +${name} +${name} `, "m"));
    assert.match(
      (await runInChild(["show", id], env)).stdout,
      new RegExp(`^job ${id}  ${name}  ${name}\n`),
    );
    assert.match(
      (await runInChild(["why", id], env)).stdout,
      new RegExp(`^job ${id} is ${name}\\.`),
    );
    const preview = await runInChild(["stop-retrying", `task:${name}`, "--dry-run"], env);
    assert.match(preview.stdout, new RegExp(`such as ${id} ${name} ${name} `));
  }
});

test("status, tasks and watch count jobs by the same conditions, in the same order.", async () => {
  const [head, counts] = (await runInChild(["status"], env)).stdout.split("\n");
  assert.deepEqual(wordsOf(head), ["TOTAL", ...conditions.map((one) => one.toUpperCase())]);
  assert.deepEqual(wordsOf(counts), ["7", ...conditions.map(() => "1")]);
  const tasks = (await runInChild(["tasks"], env)).stdout.split("\n");
  assert.deepEqual(wordsOf(tasks[0]).slice(1, 8), wordsOf(head).slice(1));
  const watched = (await runInChild(["watch"], env)).stdout.split("\n");
  assert.deepEqual(
    watched[2]?.split(/ {3}/),
    conditions.map((one) => `${one} 1`),
  );
  assert.deepEqual(
    wordsOf(watched.find((line) => line.startsWith("TASK"))).slice(1),
    wordsOf(head).slice(1),
  );
});

test("status --json has the HTTP API's four states, the number of pauses, and the seven conditions.", async () => {
  const { stdout } = await runInChild(["status", "--json"], env);
  assert.deepEqual(JSON.parse(stdout), {
    ...{ total: 7, ready: 3, scheduled: 1, locked: 2, failed: 1, pauses: 0, limits_note: null },
    conditions: Object.fromEntries(conditions.map((one) => [one, 1])),
  });
});

test("The command watch first reports that it has no data yet, and later the number of jobs that were added since its start.", async () => {
  const first = (await runInChild(["watch"], env)).stdout;
  assert.match(first, /^in the last minute: no data yet$/m);
  const options = ["--interval", "500ms"];
  const { screen } = await onTerminal(["watch", ...options], env, "q", " added");
  assert.match(screen, /in \d+ s: \d+ added/);
});
