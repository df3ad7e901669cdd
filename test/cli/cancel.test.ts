// Tests `worker cancel` by id, by query, with --wait, and in a schema without the tables that it needs.
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import pg from "pg";
import { makeWorkerUtils } from "../../src/utils/worker-utils.ts";
import { defineTask } from "../../src/worker/task/task.ts";
import { Worker } from "../../src/worker/worker.ts";
import { emptyDatabase } from "../support/database.ts";
import { runInChild } from "./command.ts";

async function prepared(...extensions: readonly string[]) {
  const { url } = await emptyDatabase();
  const env = { DATABASE_URL: url };
  await runInChild(["migrate", ...extensions.flatMap((name) => ["--with", name])], env);
  return { url, cli: (...args: readonly string[]) => runInChild([...args], env) };
}

test("If the tables for cancels are missing, cancel by id and cancel by query fail, and the error names the command that adds the tables.", async () => {
  const { cli } = await prepared("operations");
  await cli("add", "task");
  for (const args of [["1"], ["task:task"], ["task:task", "--dry-run"]]) {
    const refused = await cli("cancel", ...args, "--yes");
    assert.equal(refused.status, 1, refused.stdout);
    assert.match(
      refused.stderr,
      /cancelling jobs needs tables .*"worker migrate --with controls" adds/,
    );
  }
  assert.match((await cli("show", "1")).stdout, /ready/);
});

test("cancel by id needs a confirmation, fails waiting jobs, and reports the ids that it did not cancel.", async () => {
  const { cli } = await prepared("controls", "operations");
  await cli("add", "task");
  await cli("add", "task");
  const unsure = await cli("cancel", "1");
  assert.equal(unsure.status, 2);
  assert.match(unsure.stderr, /--yes/);
  const done = await cli("cancel", "1", "9", "--reason", "wrong file", "--yes");
  assert.equal(done.status, 3);
  assert.match(done.stdout, /^Cancelled 1 of 2 jobs; 1 not found: #9\nUndo: /);
  const again = JSON.parse((await cli("cancel", "1", "2", "--remove", "--yes", "--json")).stdout);
  assert.deepEqual(
    [again.requested, again.done, again.cancelling, again.outcomes],
    [
      2,
      1,
      0,
      [
        { id: 1, outcome: "failed" },
        { id: 2, outcome: "cancelled" },
      ],
    ],
  );
  assert.match((await cli("show", "1")).stdout, /cancelled: wrong file/);
  assert.match((await cli("why", "1")).stdout, /[Cc]ancelled: wrong file/);
});

test("--wait reports a removed job as cancelled, a failed job as failed, and a missing job as not found.", async () => {
  const { cli } = await prepared("controls");
  for (const _ of [1, 2, 3]) await cli("add", "task");
  await cli("fail", "3", "--reason", "broken", "--yes");
  const missing = await cli("cancel", "99", "--wait", "--yes");
  assert.equal(missing.status, 1);
  assert.equal(missing.stdout, "Cancelled 0 of 1 job; 1 not found: #99\n#99: not found\n");
  const removed = await cli("cancel", "1", "--remove", "--wait", "--yes");
  assert.equal(removed.stdout, "Cancelled 1 of 1 job\n#1: cancelled\n");
  const ids = ["3", "99", "2", "2"];
  const answer = await cli("cancel", ...ids, "--wait", "--yes", "--json");
  assert.deepEqual(JSON.parse(answer.stdout).ends, [
    { id: 3, outcome: "failed" },
    { id: 99, outcome: "not_found" },
    { id: 2, outcome: "cancelled" },
  ]);
});

test("cancel by query leaves out failed jobs and cancels running ones; --wait prints the outcome of a job.", async () => {
  const { url, cli } = await prepared("controls", "operations");
  const utils = await makeWorkerUtils({ connectionString: url });
  const task = defineTask("task", async (_, { signal }) => {
    await once(signal, "abort");
    throw new Error("interrupted");
  });
  const worker = new Worker({
    connectionString: url,
    tasks: [task],
    recovery: false,
    concurrency: 2,
  });
  try {
    await utils.addJob("task");
    await utils.addJob("task");
    await utils.addJob("other");
    const { id: failed } = await utils.addJob("other");
    await utils.permanentlyFailJobs([failed], "broken");
    await worker.start();
    await running(url, 2);
    const waited = await cli("cancel", "1", "--reason", "deploy", "--yes", "--wait");
    assert.equal(waited.status, 0, waited.stderr);
    assert.equal(
      waited.stdout,
      "Cancelled 0 of 1 job; 1 runs and is being cancelled: #1\n#1: cancelled\n",
    );
    assert.match(
      (await utils.getJob("1"))?.lastError ?? "",
      /^cancelled: deploy\nCaused by: Error: interrupted/,
    );
    const preview = await cli("cancel", "id>0", "--dry-run");
    assert.match(preview.stdout, /2 jobs that match id>0 -is:failed/);
    const unfailed = await cli("cancel", "--dry-run", "--", "-is:failed");
    assert.match(
      unfailed.stdout,
      /jobs that match -is:failed$/m,
      "the term -is:failed is not added again",
    );
    const removal = await cli("cancel", "task:other", "--remove", "--dry-run");
    assert.match(removal.stdout, /To run it: worker cancel --remove 'task:other -is:failed'\n$/);
    const byQuery = await cli("cancel", "id>0", "--reason", "stop", "--yes");
    assert.match(byQuery.stdout, /Cancelled 1 of 2 jobs; 1 runs and is being cancelled/);
    // In the list of operations, a running job that is being cancelled does not count as skipped.
    const { stdout: operations } = await cli("operations");
    assert.match(operations, /LEFT ALONE.*\n.* done +cancel +1 +0 /);
    const [end] = await utils.waitForCancelledJobs(["2"]);
    assert.equal(end?.outcome, "cancelled");
    assert.equal((await utils.getJob("3"))?.lastError, "cancelled: stop");
    assert.equal((await utils.getJob(failed))?.lastError, "broken");
    const wrong = await cli("cancel", "id>0", "--yes", "--wait");
    assert.match(wrong.stderr, /--wait needs job ids/);
  } finally {
    await worker.stop();
    await utils.end();
  }
});

async function running(url: string, count: number): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    for (;;) {
      const { rows } = await client.query(
        "select from worker._private_jobs where locked_at is not null",
      );
      if (rows.length === count) return;
    }
  } finally {
    await client.end();
  }
}
