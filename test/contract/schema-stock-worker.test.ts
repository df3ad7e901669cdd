// Tests that Graphile Worker, the package `graphile-worker`, works on this library's schema.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import {
  Logger,
  makeWorkerUtils,
  run,
  runMigrations,
  runOnce,
  type TaskList,
} from "graphile-worker";
import type pg from "pg";
import { migratedDatabase } from "../support/database.ts";
import { type TestPool, testPool } from "../support/test-pool.ts";

const quiet = new Logger(() => () => {});
let own: TestPool;
let pool: pg.Pool;

const options = () => ({ pgPool: pool, schema: "worker", logger: quiet, noHandleSignals: true });

async function rows(text: string): Promise<unknown[]> {
  return (await pool.query(text)).rows;
}

// Waits until a Graphile worker listens. The event pool:listen:success is emitted too early, before LISTEN is sent.
async function listening(): Promise<void> {
  const listeners = `
    select from pg_stat_activity
    where datname = current_database() and query like 'LISTEN%' and state = 'idle'`;
  while ((await rows(listeners)).length === 0) await setTimeout(5);
}

/** Returns a task, and a promise of the payloads of the task's first `count` runs. */
function collector(count: number): { task: TaskList[string]; done: Promise<unknown[]> } {
  const seen: unknown[] = [];
  const { promise, resolve } = Promise.withResolvers<unknown[]>();
  const task = async (payload: unknown) => {
    seen.push(payload);
    if (seen.length === count) resolve(seen);
  };
  return { task, done: promise };
}

describe("A Graphile worker on this library's schema", () => {
  before(async () => {
    own = testPool((await migratedDatabase()).url, 10);
    pool = own.pool;
    await runMigrations(options());
  });
  after(() => own.close());

  test("runs the jobs that Graphile Worker has added, and retries failed jobs; after Graphile Worker's cleanup, no job, queue or task remains.", async () => {
    const utils = await makeWorkerUtils(options());
    const seen: unknown[] = [];
    let failures = 0;
    await utils.addJob("fine", { n: 1 });
    await utils.addJob("queued", { n: 2 }, { queueName: "q" });
    await utils.addJob("queued", { n: 3 }, { queueName: "q" });
    await utils.addJobs([
      { identifier: "fine", payload: { n: 4 }, flags: ["skip"] },
      { identifier: "fine", payload: { n: 5 }, priority: -1 },
    ]);
    await utils.addJob("faulty", {}, { maxAttempts: 2 });
    const taskList: TaskList = {
      fine: async (payload) => void seen.push(payload),
      queued: async (payload) => void seen.push(payload),
      faulty: async () => {
        failures++;
        throw new Error("as expected");
      },
    };
    // runOnce() may resolve before a job's named queue is unlocked. The queue's next job then needs another call.
    const unflagged = { ...options(), taskList, forbiddenFlags: ["skip"], concurrency: 1 };
    while (seen.length < 4) await runOnce(unflagged);
    assert.deepEqual(seen, [{ n: 5 }, { n: 1 }, { n: 2 }, { n: 3 }]);
    // runOnce() may also resolve before the error of a failed job is written.
    const retry = "update worker._private_jobs set run_at = now() where last_error is not null";
    while ((await pool.query(retry)).rowCount === 0) await setTimeout(5);
    while (seen.length < 5 || failures < 2) await runOnce({ ...options(), taskList });
    assert.deepEqual(seen.at(-1), { n: 4 });
    assert.equal(failures, 2);
    const left = "select attempts, last_error, locked_by from worker.jobs";
    while (/locked_by":"/.test(JSON.stringify(await rows(left)))) await setTimeout(5);
    assert.deepEqual(await rows(left), [
      { attempts: 2, last_error: "as expected", locked_by: null },
    ]);
    await utils.cleanup({
      tasks: ["DELETE_PERMAFAILED_JOBS", "GC_JOB_QUEUES", "GC_TASK_IDENTIFIERS"],
    });
    for (const table of ["_private_jobs", "_private_job_queues", "_private_tasks"]) {
      assert.deepEqual(await rows(`select * from worker.${table}`), []);
    }
    await utils.release();
  });

  test("A second add with the same key keeps the job's time or payload, depending on the mode, and remove_job() removes the job.", async () => {
    const utils = await makeWorkerUtils(options());
    const runAt = new Date("2031-01-01T00:00:00Z");
    const spec = { jobKey: "key", runAt };
    const first = await utils.addJob("keyed", [1], spec);
    const second = await utils.addJob("keyed", [2], {
      jobKey: "key",
      jobKeyMode: "preserve_run_at",
    });
    assert.equal(second.id, first.id);
    assert.deepEqual(second.payload, [1, 2]);
    assert.deepEqual(second.run_at, runAt);
    assert.equal(second.revision, 1);
    const third = await utils.addJob("keyed", [3], { jobKey: "key", jobKeyMode: "unsafe_dedupe" });
    assert.deepEqual(third.payload, [1, 2]);
    assert.deepEqual(await rows("select worker.remove_job('key') is null as nothing"), [
      { nothing: false },
    ]);
    assert.deepEqual(await rows("select * from worker.jobs"), []);
    await utils.release();
  });

  test("is notified of new jobs and starts them at once, not at the next poll.", async () => {
    const { task, done } = collector(3);
    const runner = await run({ ...options(), taskList: { notified: task }, pollInterval: 600_000 });
    try {
      await listening();
      await pool.query("select worker.add_job('notified', '1')");
      await pool.query(
        "select worker.add_jobs(array[row('notified', '2', null, null, null, null, null, null)::worker.job_spec])",
      );
      await pool.query(
        "select worker.add_job('notified', '3', job_key => 'k', job_key_mode => 'unsafe_dedupe')",
      );
      assert.deepEqual((await done).sort(), [1, 2, 3]);
    } finally {
      await runner.stop();
    }
  });

  test("registers its crontab and backfills missed ticks.", async () => {
    const crontab = "* * * * * ticking ?id=tick&fill=3m";
    const { task, done } = collector(2);
    await pool.query(
      `insert into worker._private_known_crontabs (identifier, known_since, last_execution)
       values ('tick', now() - interval '1 h', now() - interval '150 s')`,
    );
    const runner = await run({ ...options(), taskList: { ticking: task }, crontab });
    try {
      const ticks = (await done) as { _cron: { ts: string; backfilled: boolean } }[];
      assert.ok(ticks.every(({ _cron }) => _cron.backfilled));
      assert.deepEqual(
        await rows(`select identifier, last_execution > now() - interval '2 minutes' as recent
          from worker._private_known_crontabs`),
        [{ identifier: "tick", recent: true }],
      );
    } finally {
      await runner.stop();
    }
  });

  test("stops when another program announces a breaking migration, so this library never announces one.", async () => {
    const runner = await run({
      ...options(),
      taskList: { none: async () => {} },
      pollInterval: 600_000,
    });
    await listening();
    await pool.query(
      `select pg_notify('worker:migrate', '{"migrationNumber": 21, "breaking": true}')`,
    );
    await runner.promise;
    assert.equal(process.exitCode, 57);
    process.exitCode = 0;
  });
});
