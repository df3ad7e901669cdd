// Tests `worker pause`, `worker paused` and `worker resume`, and what other commands print about a pause.
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { emptyDatabase, migratedDatabase } from "../support/database.ts";
import { testPool } from "../support/test-pool.ts";
import { runInChild } from "./command.ts";

test("Without the tables of pauses, pause is refused; with these tables, pause, paused and resume work.", async () => {
  const { url } = await emptyDatabase();
  const env = { DATABASE_URL: url };
  await runInChild(["migrate"], env);
  const refused = await runInChild(["pause", "queue", "mail"], env);
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /"worker migrate --with controls" adds them/);
  assert.equal((await runInChild(["paused"], env)).stdout, "Nothing is paused\n");
  await runInChild(["migrate", "--with", "controls,schedules"], env);

  const paused = await runInChild(
    ["pause", "queue", "mail", "--for", "2h", "--reason", "deploy", "--json"],
    env,
  );
  assert.equal(JSON.parse(paused.stdout).is_known, false);
  const everything = await runInChild(["pause", "all"], env);
  assert.match(everything.stdout, /; no worker with heartbeats is alive to acknowledge it\n$/);
  const { pauses } = JSON.parse((await runInChild(["paused", "--json"], env)).stdout);
  const [all, queue] = pauses;
  assert.deepEqual([all.scope, all.name, all.until], ["all", null, null]);
  assert.deepEqual([queue.scope, queue.name, queue.reason], ["queue", "mail", "deploy"]);
  assert.equal(typeof queue.by, "string");
  assert.equal(Date.parse(queue.until) - Date.parse(queue.at), 7_200_000);
  assert.match((await runInChild(["queues"], env)).stdout, /mail .*paused/);

  const resumed = await runInChild(["resume", "queue", "mail"], env);
  assert.match(resumed.stdout, /^Resumed the queue "?mail"?\n$/);
  const again = await runInChild(["resume", "queue", "mail"], env);
  assert.match(again.stdout, /has no pause of its own/);
});

test("A resumed queue whose job still runs is shown as no longer paused.", async () => {
  const { url } = await migratedDatabase("worker", ["controls"]);
  await using own = testPool(url);
  const shown = async (...words: string[]) =>
    (await runInChild(words, { DATABASE_URL: url })).stdout;
  await shown("add", "t", "--queue", "mail");
  await shown("add", "t", "--queue", "mail");
  await own.pool.query(`update worker._private_jobs
    set locked_by = 'w', locked_at = now(), attempts = 1 where id = 1`);
  await own.pool.query(`update worker._private_job_queues set locked_by = 'w', locked_at = now()`);
  await shown("pause", "queue", "mail", "--reason", "deploy", "--no-wait");
  assert.match(await shown("why", "2"), /The queue mail is paused by .*: deploy/);
  assert.match(await shown("queues"), /mail +2 +1 +paused\n$/);
  assert.match(
    await shown("resume", "queue", "mail"),
    /it continues when the job that still runs has ended/,
  );
  const why = await shown("why", "2");
  assert.match(
    why,
    /The queue mail is no longer paused, and continues when its running job has ended and a worker/,
  );
  assert.doesNotMatch(why, /Resume…/);
  assert.match(await shown("paused"), /queue +mail +\S+ +ended /);
  assert.match(await shown("status"), /The queue mail is no longer paused/);
  assert.match(await shown("queues"), /mail +2 +1 +\S+Z +w\n$/);
});

test("While a worker without heartbeats holds a lock, the pause of a task prints a note about this worker, and so does the list of pauses.", async () => {
  const { url } = await migratedDatabase("worker", ["controls"]);
  await using own = testPool(url);
  const shown = async (...words: string[]) =>
    (await runInChild(words, { DATABASE_URL: url })).stdout;
  await shown("add", "t");
  await own.pool.query("update worker._private_jobs set locked_by = 'stock', locked_at = now()");
  await shown("pause", "queue", "mail");
  assert.doesNotMatch(await shown("paused"), /Graphile/);
  const note =
    "1 worker sends no heartbeats and may be a Graphile worker: Graphile workers apply the pause of a queue, not that of a task or of everything";
  assert.ok((await shown("pause", "task", "t")).includes(`; ${note}\n`));
  assert.ok((await shown("paused")).endsWith(`\n${note}\n`));
  assert.equal(JSON.parse(await shown("paused", "--json")).note, note);
});

test("The lists, the status and the doctor show what is paused: a queue, a task and everything.", async () => {
  const { url } = await emptyDatabase();
  const env = { DATABASE_URL: url };
  await runInChild(["migrate", "--with", "controls"], env);
  await runInChild(["add", "send", "--queue", "mail"], env);
  await runInChild(["add", "report"], env);
  const shown = async (command: string) => (await runInChild([command], env)).stdout;
  await runInChild(["pause", "queue", "mail", "--reason", "deploy"], env);
  await runInChild(["pause", "task", "report", "--reason", "repair"], env);
  const status = await shown("status");
  assert.match(status, /^The queue mail is paused by .*: deploy$/m);
  assert.match(status, /^The task report is paused by .*: repair$/m);
  assert.equal(JSON.parse((await runInChild(["status", "--json"], env)).stdout).pauses, 2);
  assert.match(await shown("tasks"), /^report .*, paused$/m);
  const jobs = await shown("list");
  assert.match(jobs, /blocked, paused +send/);
  assert.match(jobs, /ready, paused +report/);
  const why = await runInChild(["why", "2"], env);
  assert.match(why.stdout, /The task report is paused by .*: repair/);
  assert.match((await runInChild(["doctor"], env)).stdout, /report is paused/);

  await runInChild(["resume", "queue", "mail"], env);
  await runInChild(["resume", "task", "report"], env);
  assert.doesNotMatch(await shown("list"), /paused/);
  await runInChild(["pause", "all", "--reason", "failover"], env);
  for (const command of ["status", "queues", "tasks"]) {
    assert.match(await shown(command), /^Everything is paused by .*: failover$/m);
  }
  assert.match(await shown("list"), /ready, paused +send[\s\S]*ready, paused +report/);
  assert.match((await runInChild(["doctor"], env)).stdout, /Everything is paused/);
});

test("pause names the workers that have not acknowledged it, with and without --no-wait.", async () => {
  const { url } = await emptyDatabase();
  const env = { DATABASE_URL: url };
  await runInChild(["migrate", "--with", "controls"], env);
  const client = new pg.Client(url);
  await client.connect();
  await client.query(`insert into worker._private_workers (id, last_heartbeat_at, metadata)
    values ('worker-3', now(), '{"threshold_ms": 600000}')`);
  await client.end();
  const quick = await runInChild(["pause", "task", "t", "--no-wait", "--json"], env);
  const { acknowledged, waiting, waiting_for: missing } = JSON.parse(quick.stdout);
  assert.deepEqual([acknowledged, waiting, missing], [0, 1, ["worker-3"]]);
  const soFar = await runInChild(["pause", "task", "t", "--no-wait"], env);
  assert.match(soFar.stdout, /; acknowledged by 0 of 1 worker so far\nWaiting for: worker-3\n$/);
  const { status, stdout } = await runInChild(["pause", "task", "t"], env);
  assert.equal(status, 0);
  assert.match(
    stdout,
    /; acknowledged by 0 of 1 worker; not by worker-3 \(frozen or outdated\?\)\n$/,
  );
  const listed = await runInChild(["paused"], env);
  assert.match(listed.stdout, /The pauses are acknowledged by 0 of 1 worker; not by worker-3/);
});

test("Invalid arguments of pause are refused, and nothing is paused.", async () => {
  const { url } = await emptyDatabase();
  const env = { DATABASE_URL: url };
  await runInChild(["migrate", "--with", "controls"], env);
  for (const [args, problem] of [
    [["pause", "queue"], /the name of the queue/],
    [["pause", "all", "mail"], /must be left out/],
    [["pause", "task", "t", "--for", "1h", "--until", "+2h"], /either a time or a duration/],
    [["pause", "shop", "t"], /all, queue, task/],
    [["pause", "queue", "mail", "--until", "2020-01-01T00:00Z"], /--until: must be in the future/],
    [
      ["pause", "all", "--no-wait", "--cancel-running"],
      /cannot be used without waiting for the workers/,
    ],
  ] as const) {
    const { status, stderr } = await runInChild([...args], env);
    assert.notEqual(status, 0);
    assert.match(stderr, problem);
  }
  assert.equal((await runInChild(["paused"], env)).stdout, "Nothing is paused\n");
});

test("A time without a zone is repeated in full on stderr, after the name of its option.", async () => {
  const { url } = await migratedDatabase("worker", ["controls"]);
  const { stderr } = await runInChild(["pause", "all", "--until", "2099-01-01 09:00"], {
    DATABASE_URL: url,
  });
  assert.match(stderr, /^--until: Thu, 1 Jan 2099, 09:00:00 /);
});

test("why and doctor print the command that ends a pause.", async () => {
  const { url } = await emptyDatabase();
  const env = { DATABASE_URL: url };
  await runInChild(["migrate", "--with", "controls"], env);
  await runInChild(["add", "send", "{}", "--queue", "my mail"], env);
  await runInChild(["pause", "queue", "my mail"], env);
  const { stdout } = await runInChild(["why", "1"], env);
  assert.match(stdout, /^ +Resume…: worker resume queue 'my mail'$/m);
  assert.match((await runInChild(["doctor"], env)).stdout, /fix: worker resume queue 'my mail'$/m);
});
