// Tests operations on a real database: which jobs an operation changes, its pauses and stops, its canary, its receipt,
// and its undo.
import assert from "node:assert/strict";
import { test } from "node:test";
import { wait } from "../../src/base/clock.ts";
import { WorkerError } from "../../src/base/errors.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { permanentlyFailJobs } from "../../src/commands/jobs/permanently-fail-jobs.ts";
import { beginOperation, changeOperation } from "../../src/commands/operations/lifecycle.ts";
import { type JobOperation, operationJson } from "../../src/commands/operations/model/operation.ts";
import { rehearse } from "../../src/commands/operations/rehearse/rehearse.ts";
import { workOn } from "../../src/commands/operations/work.ts";
import type { Queryable } from "../../src/database/database.ts";
import { addJobs } from "../../src/queue/add/add-jobs.ts";
import { run } from "../../src/worker/run.ts";
import { defineTask } from "../../src/worker/task/task.ts";
import { lockJob, testQueue } from "../queue/queue-database.ts";
import { migratedDatabase } from "../support/database.ts";
import {
  addSome,
  beginWith,
  jobRows,
  never,
  operationTools,
  origin,
  runWith,
} from "./operation-tools.ts";

const queue = testQueue(() => migratedDatabase("worker", ["operations", "controls"]));
const tools = () => operationTools(queue.db);
const add = (count: number, identifier?: string) => addSome(queue, count, identifier);
const rows = () => jobRows(queue);

test("An operation changes as many jobs as its rehearsal reported, and its receipt lists a job that was locked.", async () => {
  await add(5, "mine");
  await add(3, "other");
  const jobs = await rows();
  await lockJob(queue, String(jobs[1]?.["id"]));
  const with_ = tools();
  const { report, operation } = await beginWith(with_, "fail", "task:mine", {
    changes: { reason: "enough" },
  });
  assert.equal(report.count.value, 5);
  assert.deepEqual([report.change.value, report.skipLocked.value], [4, 1]);
  assert.deepEqual(
    report.byTask.map(({ name, count }) => [name, count.value]),
    [["mine", 5]],
  );
  assert.equal(report.samples.length, 5);
  const ended = await workOn(with_, operation, never);
  assert.equal(ended.state, "done");
  assert.deepEqual([ended.done, ended.skippedLocked, ended.skippedChanged], [4, 1, 0]);
  const after = await queue.sql<{ last_error: string | null }>(
    "select last_error from worker._private_jobs order by id",
  );
  const errors = after.map(({ last_error: error }) => error);
  const e = "enough";
  assert.deepEqual(errors, [e, null, e, e, e, null, null, null]);
  const receipt = await with_.store.receipt(ended.id, "locked", "0", 10);
  const running = { id: jobs[1]?.["id"], taskIdentifier: "mine", errorLine: null };
  assert.deepEqual(receipt, { jobs: [running], nextCursor: null });
  const first = await with_.store.receipt(ended.id, "done", "0", 3);
  assert.equal(first.jobs.length, 3);
  const second = await with_.store.receipt(ended.id, "done", first.nextCursor ?? "", 3);
  assert.deepEqual([second.jobs.length, second.nextCursor], [1, null]);
});

test("stop-retrying by query also changes running jobs and jobs changed since the rehearsal, and can be undone.", async () => {
  await add(4);
  const jobs = await rows();
  await lockJob(queue, String(jobs[1]?.["id"]));
  const with_ = tools();
  const { report, operation } = await beginWith(with_, "stop-retrying", "task:t");
  assert.deepEqual([report.change.value, report.skipLocked.value], [4, 0]);
  await queue.sql(
    "update worker._private_jobs set attempts = 2, updated_at = now() where id = $1",
    [jobs[2]?.["id"]],
  );
  const changed = await rows();
  const ended = await workOn(with_, operation, never);
  assert.deepEqual([ended.done, ended.skippedLocked, ended.skippedChanged], [4, 0, 0]);
  const limits = () =>
    queue.sql("select attempts, max_attempts as most from worker._private_jobs order by id");
  assert.deepEqual(
    (await limits()).map(({ most }) => most),
    [1, 1, 2, 1],
  );
  const back = await workOn(with_, await changeOperation(with_.store, ended.id, "undo"), never);
  assert.equal(back.undone, 4);
  assert.deepEqual(
    (await limits()).map(({ most }) => most),
    [25, 25, 25, 25],
  );
  const times = (jobs: readonly Record<string, unknown>[]) =>
    jobs.map(({ updated_at }) => updated_at);
  assert.deepEqual(times(await rows()), times(changed));
});

test("complete by query leaves alone jobs that were added or changed after the rehearsal.", async () => {
  await add(4);
  const with_ = tools();
  const report = await rehearse(with_, { query: "task:t", action: "complete", changes: {} });
  await add(2);
  const [second] = (await rows()).slice(1);
  await queue.sql("update worker._private_jobs set updated_at = now() where id = $1", [
    second?.["id"],
  ]);
  const { id } = report.rehearsal;
  const operation = await beginOperation(with_.store, id, origin, {
    rate: 0,
    canary: null,
    limit: null,
  });
  const ended = await workOn(with_, operation, never);
  assert.deepEqual([ended.done, ended.skippedChanged], [3, 1]);
  const receipt = await with_.store.receipt(ended.id, "changed", "0", 10);
  assert.deepEqual(
    receipt.jobs.map(({ id }) => id),
    [second?.["id"]],
  );
  assert.equal((await rows()).length, 3);
});

test("An operation leaves alone jobs that were added by a transaction that was open during the rehearsal.", async () => {
  await add(1);
  for (const [action, query] of [
    ["remove", "task:t"],
    ["remove", "t"],
    ["stop-retrying", "task:t"],
  ] as const) {
    await queue.sql("truncate worker._private_jobs");
    const writer = await queue.pool.connect();
    await writer.query("begin");
    await writer.query("select worker.add_job('t', '{}') from generate_series(1, 3)");
    await add(1);
    const with_ = tools();
    const { report, operation } = await beginWith(with_, action, query);
    assert.equal(report.count.value, 1, action);
    await writer.query("commit");
    writer.release();
    const ended = await workOn(with_, operation, never);
    assert.deepEqual([ended.done, ended.skippedChanged], [1, 3], `${action} ${query}`);
  }
});

test("remove by query leaves alone a job that was changed by a transaction that was open during the rehearsal.", async () => {
  await add(2);
  const writer = await queue.pool.connect();
  await writer.query("begin");
  await writer.query(
    "update worker._private_jobs set updated_at = now() where id = (select min(id) from worker._private_jobs)",
  );
  const with_ = tools();
  const { operation } = await beginWith(with_, "remove", "task:t");
  await writer.query("commit");
  writer.release();
  const ended = await workOn(with_, operation, never);
  assert.deepEqual([ended.done, ended.skippedChanged], [1, 1]);
});

const hostile = `{"b" : 1,\n "a":[12345678901234567890, "\\u0000\\ud800"],  "b":2.50}`;

async function oddJobs() {
  await queue.sql(
    `select worker.add_job('odd', $1::json, 'a queue', now() + interval '1 day 0.123457 s', 7, 'the key', -5, array['x','y'])`,
    [hostile],
  );
  await queue.sql(
    `select worker.add_job('odd', $1::json, null, 'infinity'::timestamptz, 3, null, 5, null)`,
    ["[]"],
  );
  await queue.sql(
    `update worker._private_jobs set attempts = 3, last_error = E'Error: no\\n at x', revision = 4,
       created_at = '1999-12-31 23:59:59.999999+00', updated_at = '2001-01-01 00:00:00.000001+00'`,
  );
}

for (const [action, changes] of [
  ["complete", {}],
  ["remove", {}],
  ["fail", { reason: "r" }],
  ["retry", { priority: 9, max_attempts: 30 }],
  ["run-now", {}],
  ["reschedule", { run_at: "2031-01-31T08:00:00.123456Z", attempts: 1 }],
  ["reschedule", { shift: -1800.000001, spread: 3600.5 }],
  ["reschedule", { run_at: "now", spread: 7 }],
] as const) {
  const how = "spread" in changes ? ` with ${JSON.stringify(changes)}` : "";
  test(`An undo of ${action}${how} restores every byte of the jobs.`, async () => {
    await oddJobs();
    const before = await rows();
    const with_ = tools();
    const ended = await runWith(with_, action, "task:odd", { changes });
    assert.deepEqual([ended.state, ended.done, ended.canUndo], ["done", 2, true]);
    assert.notDeepEqual(await rows(), before);
    const undoing = await changeOperation(with_.store, ended.id, "undo");
    const undone = await workOn(with_, undoing, never);
    assert.deepEqual([undone.state, undone.undone, undone.error], ["undone", 2, null]);
    assert.deepEqual(await rows(), before);
  });
}

test("An undo leaves alone jobs that have changed since the operation, and deleted jobs whose job key another job has now.", async () => {
  await queue.sql("select worker.add_job('t', '{}', null, null, null, 'taken')");
  await add(2);
  const [keyed, second] = await rows();
  const with_ = tools();
  const deleted = await runWith(with_, "remove", "task:t");
  assert.equal(deleted.done, 3);
  await queue.sql("select worker.add_job('new', '{}', null, null, null, 'taken')");
  await queue.sql("delete from worker._private_tasks where identifier = 't'");
  const undone = await workOn(with_, await changeOperation(with_.store, deleted.id, "undo"), never);
  assert.deepEqual([undone.state, undone.undone], ["undone", 2]);
  const back = await queue.sql<{ id: string; task_identifier: string }>(
    "select id, task_identifier from worker.jobs order by id",
  );
  assert.deepEqual(
    back.map(({ id, task_identifier: task }) => [id, task]),
    [
      [second?.["id"], "t"],
      [String(Number(second?.["id"]) + 1), "t"],
      [String(Number(keyed?.["id"]) + 3), "new"],
    ],
  );
  const later = await runWith(with_, "retry", "task:t");
  await lockJob(queue, String(second?.["id"]));
  const partly = await workOn(with_, await changeOperation(with_.store, later.id, "undo"), never);
  assert.equal(partly.undone, 1);
});

test("If Node has to check which jobs match the query of an operation, the operation changes only the matching jobs.", async () => {
  await addJobs(queue.db, [
    { identifier: "t", payload: { a: { b: 7 } } },
    { identifier: "t", payload: { a: { b: 77 } } },
    { identifier: "t", payload: { b: 7 } },
  ]);
  const with_ = tools();
  const { report, operation } = await beginWith(with_, "reschedule", "payload.a.b:7", {
    changes: { priority: 3 },
  });
  assert.equal(report.count.value, 1);
  const ended = await workOn(with_, operation, never);
  assert.equal(ended.done, 1);
  const priorities = (await rows()).map(({ priority }) => priority);
  assert.deepEqual(priorities, [3, 0, 0]);
});

test("If jobs change after a cancel by query has read them, the cancel skips a job that no longer matches, and requests the end of a job that a worker has fetched.", async () => {
  await addJobs(queue.db, [
    { identifier: "t", payload: { a: { b: 7 } } },
    { identifier: "t", payload: { a: { b: 7 }, n: 2 } },
  ]);
  const [first, second] = (await rows()).map(({ id }) => String(id));
  const with_ = tools();
  const { operation } = await beginWith(with_, "cancel", "payload.a.b:7");
  const { pool } = queue;
  // Both jobs change after their payloads were read for the check in Node.
  const client: Queryable = {
    query: async (config) => {
      const result = await pool.query(config);
      if (result.rows.some((row) => "marks" in row)) {
        await queue.sql("update worker._private_jobs set payload = '{}' where id = $1", [first]);
        await lockJob(queue, second ?? "");
      }
      return result as never;
    },
  };
  const ended = await workOn({ ...with_, reads: { ...queue.db, client } }, operation, never);
  assert.deepEqual([ended.done, ended.skippedLocked, ended.skippedChanged], [0, 1, 1]);
  const requests = await queue.sql<{ id: string }>(
    "select job_id::text as id from worker._private_cancellations",
  );
  assert.deepEqual(
    requests.map(({ id }) => id),
    [second],
  );
});

test("A cancel by query requests the end of a job whose row another session has locked.", async () => {
  await add(1);
  const with_ = tools();
  const { operation } = await beginWith(with_, "cancel", "task:t");
  const fast = await queue.pool.connect();
  await fast.query("begin");
  await fast.query("select from worker._private_jobs for update");
  await workOn(with_, operation, never);
  await fast.query("rollback");
  fast.release();
  const jobs = await queue.sql(
    "select from worker._private_cancellations join worker._private_jobs on id = job_id",
  );
  assert.equal(jobs.length, 1);
});

test("If each batch of an operation takes 0.9 s, the operation still retries 500 matching jobs within 20 s, although 88,000 other jobs have lower ids.", async () => {
  await queue.sql("insert into worker._private_tasks (identifier) values ('t')");
  const jobs = `insert into worker._private_jobs (task_id, attempts, max_attempts, last_error, updated_at)
    select 1, $2::int, 25, $3, now() - interval '1 second' from generate_series(1, $1::int)`;
  await queue.sql(jobs, [88_000, 0, null]);
  await queue.sql(jobs, [1_200, 25, "Error: HTTP 503"]);
  let nowMs = 0;
  const real = tools();
  const { store } = real;
  const batch: typeof store.batch = (...what) => {
    nowMs += 900;
    return store.batch(...what);
  };
  const wait_ = async (ms: number) => {
    nowMs += ms;
    return true;
  };
  const busy = { ...real, monotonic: () => nowMs, wait: wait_, store: { ...store, batch } };
  const wish = { limit: 500, rate: null };
  const ended = await runWith(busy, "retry", 'is:failed group:"Error: HTTP #"', wish);
  assert.deepEqual([ended.state, ended.done], ["done", 500]);
  assert.ok(nowMs < 20_000, `the operation takes ${nowMs} ms on the simulated clock`);
  const touched =
    "select count(*)::int as n, max(id)::int as last from worker._private_jobs where attempts = 0 and id > 88000";
  assert.deepEqual(await queue.sql(touched), [{ n: 500, last: 88_500 }]);
});

test("If a second process takes over a running operation, each job is still changed exactly once.", async () => {
  await add(1_500);
  await queue.sql("create table if not exists worker.touched (id bigint, n serial)");
  await queue.sql("truncate worker.touched");
  await queue.sql(`create or replace function worker.note() returns trigger language plpgsql as
    'begin insert into worker.touched (id) values (new.id); return new; end'`);
  await queue.sql(`create or replace trigger note after update on worker._private_jobs
    for each row execute function worker.note()`);
  const [one, other] = [tools(), tools()];
  const { operation } = await beginWith(one, "reschedule", "task:t", {
    changes: { priority: 1 },
    // With this rate the first process waits after its first batch, so the second process has time to take over.
    rate: 1_000,
  });
  await assert.rejects(beginWith(other, "complete", "task:t"), { code: "conflict" });
  const first = workOn({ ...one, onProgress: steal }, operation, never);
  let stolen: Promise<JobOperation> | undefined;
  function steal() {
    stolen ??= (async () => {
      await queue.sql("update worker._private_operations set lease_until = now() - interval '1 s'");
      const taken = await changeOperation(other.store, operation.id, "resume");
      return workOn(other, taken, never);
    })();
  }
  await first;
  const ended = await stolen;
  assert.deepEqual([ended?.state, ended?.done], ["done", 1_500]);
  const [touched] = await queue.sql<{ all: string; ids: string }>(
    "select count(*) as all, count(distinct id) as ids from worker.touched",
  );
  assert.deepEqual(touched, { all: "1500", ids: "1500" });
  await queue.sql("drop trigger note on worker._private_jobs");
});

test("A paused or stopped operation changes no more jobs. A paused operation can be resumed, a stopped operation can only be undone.", async () => {
  await add(2_500);
  const with_ = tools();
  const { operation } = await beginWith(with_, "fail", "task:t");
  let pausing: Promise<JobOperation> | undefined;
  const onProgress = () => {
    pausing ??= changeOperation(with_.store, operation.id, "pause");
  };
  const paused = await workOn({ ...with_, onProgress }, operation, never);
  assert.equal((await pausing)?.state, "paused");
  assert.equal(paused.state, "paused");
  assert.ok(paused.done >= 500 && paused.done < 2_500, String(paused.done));
  const failed = () =>
    queue.sql<{ n: number }>(
      "select count(*)::int as n from worker._private_jobs where attempts >= max_attempts",
    );
  assert.equal((await failed())[0]?.n, paused.done);
  const resumed = await changeOperation(with_.store, operation.id, "resume");
  const stop = new AbortController();
  const interrupted = await workOn(
    { ...with_, onProgress: () => stop.abort() },
    resumed,
    stop.signal,
  );
  assert.equal(interrupted.state, "interrupted");
  const stopped = await changeOperation(with_.store, operation.id, "stop");
  assert.equal(stopped.state, "stopped");
  await assert.rejects(changeOperation(with_.store, operation.id, "resume"), { code: "conflict" });
  assert.equal((await failed())[0]?.n, stopped.done);
  const undone = await workOn(
    with_,
    await changeOperation(with_.store, operation.id, "undo"),
    never,
  );
  assert.deepEqual([undone.undone, (await failed())[0]?.n], [stopped.done, 0]);
});

test("An operation without changed jobs cannot be undone, and the error gives the reason.", async () => {
  const with_ = tools();
  const { operation } = await beginWith(with_, "retry", "task:absent");
  assert.equal((await workOn(with_, operation, never)).state, "done");
  await assert.rejects(changeOperation(with_.store, operation.id, "undo"), {
    code: "conflict",
    message: /has changed no job: there is nothing to undo/,
  });
});

test("An operation continues if all jobs of its canary succeed, and pauses if one of them fails again.", async () => {
  await add(20);
  await queue.sql("update worker._private_jobs set attempts = max_attempts, last_error = 'x'");
  const with_ = tools();
  const play = async (becomes: string) => {
    const { operation } = await beginWith(with_, "retry", "is:failed", { canary: 3 });
    const worker = (async () => {
      for (;;) {
        const now = await with_.store.find(operation.id);
        if (now?.state === "canary") break;
        await wait(10, never);
      }
      await queue.sql(becomes);
    })();
    const ended = await workOn(with_, operation, never);
    await worker;
    return ended;
  };
  const held = await play(`update worker._private_jobs set attempts = 1, last_error = 'again',
    updated_at = now() where id = (select min(id) from worker._private_jobs where attempts = 0)`);
  assert.deepEqual([held.state, held.done], ["paused", 3]);
  assert.match(held.error ?? "", /1 of the first 3 failed again/);
  const again = await with_.store.receipt(held.id, "failed_again", "0", 10);
  assert.equal(again.jobs.length, 1);
  await changeOperation(with_.store, held.id, "stop");
  const let_ = await play("delete from worker._private_jobs where attempts = 0");
  assert.deepEqual([let_.state, let_.done, let_.isCanaryOver], ["done", 17, true]);
});

test("If the query needs payloads, a job whose payload is too large to check is left alone, and the rehearsal reports that the job may match.", async () => {
  await add(2);
  await queue.sql(`insert into worker._private_jobs (task_id, payload)
    select 1, json_build_object('n', 1, 'text', string_agg(md5(n::text), ''))
    from generate_series(1, 20000) n`);
  const with_ = tools();
  const { report, operation } = await beginWith(with_, "fail", "payload.n:1");
  const { value, precision, low, high } = report.count;
  assert.deepEqual([value, precision, low, high], [1, "estimated", 1, 2]);
  const ended = await workOn(with_, operation, never);
  assert.deepEqual([ended.state, ended.done], ["done", 1]);
  const { report: other, operation: all } = await beginWith(with_, "fail", "task:t");
  assert.equal(
    other.count.precision,
    "exact",
    "the count is exact, because the query needs no payloads",
  );
  assert.equal((await workOn(with_, all, never)).done, 3);
});

test("A rehearsal that shifts or spreads the times of jobs reports the first and the last new time.", async () => {
  await add(200);
  await queue.sql("update worker._private_jobs set run_at = '2030-01-01T00:00:00Z'");
  const with_ = tools();
  const seconds = async (changes: object, limit: number | null = null) => {
    const request = { action: "reschedule", query: "task:t", changes, limit } as const;
    const { times, rehearsal } = await rehearse(with_, request);
    const manner = { rate: null, canary: null, limit };
    const operation = await beginOperation(with_.store, rehearsal.id, origin, manner);
    await workOn(with_, operation, never);
    const order = `order by id limit ${limit ?? 1_000}`;
    const [row] = await queue.sql<{ first: string; last: string; seconds: string }>(
      `select min(run_at) as first, max(run_at) as last, count(distinct date_trunc('second', run_at)) as seconds
       from (select run_at from worker._private_jobs ${order}) as jobs`,
    );
    const ahead = (at: unknown) =>
      (new Date(String(at)).getTime() - Date.parse("2030-01-01T00:00:00Z")) / 1_000;
    assert.deepEqual(
      [ahead(times?.first), ahead(times?.last)].map(Math.floor),
      [new Date(row?.first ?? 0), new Date(row?.last ?? 0)].map(ahead).map(Math.floor),
    );
    return [ahead(times?.first), ahead(times?.last), Number(row?.seconds)] as const;
  };
  assert.deepEqual(await seconds({ shift: 7_200 }), [7_200, 7_200, 1]);
  assert.deepEqual(await seconds({ shift: -9_000 }), [-1_800, -1_800, 1]);
  const [first, last, many] = await seconds({ run_at: "2030-01-01T00:00:00Z", spread: 3_600 });
  assert.ok(
    first >= 0 && first < 180 && last > 3_420 && last < 3_600,
    `the first new time is ${first} s after the given time, the last ${last} s`,
  );
  assert.ok(many > 180, `the new times are in ${many} different seconds`);
  await seconds({ run_at: "2030-01-01T00:00:00Z", spread: 3_600 }, 20);
});

test("An undo leaves alone jobs that have changed since the operation, even if their updated_at has not changed.", async () => {
  await add(6);
  const with_ = tools();
  const changes = { run_at: "2030-01-01T00:00:00.123456Z", max_attempts: 7 };
  const moved = await runWith(with_, "reschedule", "task:t", { changes });
  const [a, b, c] = (await rows()).map(({ id }) => String(id));
  const byHand = [
    [a, "run_at = now() - interval '1 hour'"],
    [b, "priority = 9"],
    [c, "max_attempts = 8"],
  ];
  for (const [id, set] of byHand)
    await queue.sql(`update worker._private_jobs set ${set} where id = ${id}`);
  const kept = (await rows()).slice(0, 3);
  const undone = await workOn(with_, await changeOperation(with_.store, moved.id, "undo"), never);
  assert.deepEqual([undone.undone, undone.undoSkipped.changed], [3, 3]);
  assert.deepEqual((await rows()).slice(0, 3), kept);
  const retried = await runWith(with_, "retry", "task:t");
  assert.equal(retried.done, 6);
  await queue.sql(
    `update worker._private_jobs set run_at = now() + interval '9 days' where id = ${a}`,
  );
  const again = await workOn(with_, await changeOperation(with_.store, retried.id, "undo"), never);
  assert.deepEqual([again.undone, again.undoSkipped.changed], [5, 1]);
  const failed = await runWith(with_, "fail", `id:${a},${b}`);
  await queue.sql(`update worker._private_jobs set last_error = 'noted' where id = ${a}`);
  const last = await workOn(with_, await changeOperation(with_.store, failed.id, "undo"), never);
  assert.deepEqual([last.undone, last.undoSkipped.changed], [1, 1]);
});

test("If a check of the canary's jobs fails once, the check is repeated, and the operation continues.", async () => {
  await add(20);
  await queue.sql("update worker._private_jobs set attempts = max_attempts, last_error = 'x'");
  const real = tools();
  const { store } = real;
  let watches = 0;
  const canary = async (id: string) => {
    if (++watches === 1) throw new WorkerError("database_timeout", "the statement took too long");
    await queue.sql("delete from worker._private_jobs where attempts = 0");
    return store.canary(id);
  };
  const ended = await runWith({ ...real, store: { ...store, canary } }, "retry", "is:failed", {
    canary: 3,
  });
  assert.deepEqual([ended.state, ended.done, ended.isCanaryOver], ["done", 20, true]);
});

test("An operation ends as done and its undo as undone, even if the operation's lease expires after each batch.", async () => {
  await add(5);
  const real = tools();
  const { store } = real;
  /** Wraps a method of the store. The first call fails, and each call lets the operation's lease expire. */
  const slow = <A extends unknown[], R>(work: (...args: A) => Promise<R>) => {
    let calls = 0;
    return async (...args: A) => {
      const result = ++calls === 1 ? null : await work(...args);
      await queue.sql("update worker._private_operations set lease_until = now() - interval '1 s'");
      if (result === null) throw new WorkerError("database_timeout", "the statement took too long");
      return result;
    };
  };
  const states = new Set<string>();
  const with_ = {
    ...real,
    store: { ...store, batch: slow(store.batch), undoBatch: slow(store.undoBatch) },
    onProgress: ({ state }: JobOperation) => void states.add(state),
  };
  const done = await runWith(with_, "fail", "task:t");
  assert.deepEqual([done.state, done.done], ["done", 5]);
  const undone = await workOn(with_, await changeOperation(store, done.id, "undo"), never);
  assert.deepEqual([undone.state, undone.undone], ["undone", 5]);
  assert.deepEqual([...states], ["running", "done", "undone"]);
});

test("If the canary's jobs cannot be checked, the operation fails, and its error gives the reason.", async () => {
  await add(2);
  const real = tools();
  const canary = () => Promise.reject(new WorkerError("database_error", "no such column"));
  const store = { ...real.store, canary };
  const ended = await runWith({ ...real, store }, "retry", "task:t", { canary: 1 });
  assert.deepEqual([ended.state, ended.error], ["failed", "no such column"]);
});

test("If a user fails a job of the canary, the job does not count as failed again, and the operation continues.", async () => {
  await add(20);
  await queue.sql("update worker._private_jobs set attempts = max_attempts, last_error = 'x'");
  const with_ = tools();
  const { operation } = await beginWith(with_, "retry", "is:failed", { canary: 3 });
  const worker = (async () => {
    while ((await with_.store.find(operation.id))?.state !== "canary") await wait(10, never);
    const retried = await queue.sql<{ id: string }>(
      "select id from worker._private_jobs where attempts = 0 order by id",
    );
    const [first = "", ...others] = retried.map(({ id }) => id);
    await permanentlyFailJobs(queue.db, [first], null);
    await queue.sql("delete from worker._private_jobs where id = any($1)", [others]);
  })();
  const ended = await workOn(with_, operation, never);
  await worker;
  assert.deepEqual([ended.state, ended.done], ["done", 20]);
  const results = await with_.store.results(ended);
  assert.deepEqual([results.failedAgain, results.finished, results.changed], [0, 2, 1]);
  assert.deepEqual((await with_.store.receipt(ended.id, "failed_again", "0", 10)).jobs, []);
});

test("If an operation is resumed before its canary has a result, the operation still waits for the result, and changes no other jobs until then.", async () => {
  await add(20);
  await queue.sql("update worker._private_jobs set attempts = max_attempts, last_error = 'x'");
  const with_ = tools();
  const { operation } = await beginWith(with_, "retry", "is:failed", { canary: 3 });
  /** Works on the operation, and calls `act` while the operation waits for the result of its canary. */
  const workUntil = async (from: JobOperation, act: (stop: AbortController) => unknown) => {
    const stop = new AbortController();
    const watch = async (ms: number, signal: AbortSignal) => {
      if ((await with_.store.find(from.id))?.state === "canary") await act(stop);
      return wait(Math.min(ms, 10), signal);
    };
    return workOn({ ...with_, wait: watch }, from, stop.signal);
  };
  const resume = () => changeOperation(with_.store, operation.id, "resume");
  const killed = await workUntil(operation, (stop) => stop.abort());
  assert.deepEqual([killed.state, killed.done], ["interrupted", 3]);
  const paused = await workUntil(await resume(), () =>
    changeOperation(with_.store, operation.id, "pause").catch(() => {}),
  );
  assert.deepEqual([paused.state, paused.done], ["paused", 3]);
  const held = await workUntil(await resume(), () =>
    queue.sql(`update worker._private_jobs set attempts = 1, last_error = 'again',
      updated_at = now() where id = (select min(id) from worker._private_jobs)`),
  );
  assert.deepEqual([held.state, held.done], ["paused", 3]);
  assert.match(held.error ?? "", /1 of the first 3 failed again/);
  // The canary has a result now, so the resumed operation changes the other jobs.
  const ended = await workOn(with_, await resume(), never);
  assert.deepEqual([ended.state, ended.done], ["done", 20]);
});

test("An operation with a limit of 7 jobs changes the first 7 jobs that are not locked, and no others.", async () => {
  await add(30);
  await queue.sql("update worker._private_jobs set attempts = max_attempts, last_error = 'x'");
  await queue.sql(`update worker._private_jobs set locked_at = now(), locked_by = 'w', attempts = 1
    where id = (select min(id) from worker._private_jobs)`);
  const with_ = tools();
  const ended = await runWith(with_, "retry", "task:t", { limit: 7 });
  assert.deepEqual(
    [ended.state, ended.done, ended.limit, ended.expected?.value],
    ["done", 7, 7, 7],
  );
  const changed = "select id from worker._private_jobs where attempts = 0 order by id";
  const all = await queue.sql<{ id: string }>(
    "select id from worker._private_jobs where locked_at is null order by id limit 7",
  );
  assert.deepEqual(await queue.sql(changed), all);
  const json = JSON.parse(operationJson(ended));
  assert.deepEqual(
    [json.limit, json.not_found],
    [7, null],
    "not_found is null, because the other jobs are not read",
  );
  assert.match(json.cli, /--limit=7/);
  // The limit is larger than the number of jobs that still match.
  const more = await runWith(with_, "retry", "is:failed", { limit: 1_000, canary: null });
  assert.deepEqual([more.state, more.done], ["done", 22]);
});

test("A rehearsal can be used for only one operation.", async () => {
  await add(1);
  const with_ = tools();
  const report = await rehearse(with_, { query: "task:t", action: "complete", changes: {} });
  const { id } = report.rehearsal;
  const manner = { rate: 0, canary: null, limit: null };
  await assert.rejects(
    beginOperation(with_.store, id, origin, { rate: 0, canary: 2, limit: null }),
    /canary/,
  );
  const operation = await beginOperation(with_.store, id, origin, manner);
  await workOn(with_, operation, never);
  await assert.rejects(beginOperation(with_.store, id, origin, manner), { code: "not_found" });
});

test("Receipts and undo data are deleted when they expire.", async () => {
  await add(3);
  const with_ = tools();
  const ended = await runWith(with_, "fail", "task:t");
  await queue.sql(
    "update worker._private_operations set finished_at = now() - interval '25 hours'",
  );
  assert.equal((await with_.store.find(ended.id))?.canUndo, false);
  while (await with_.store.tidy());
  const left = await queue.sql(
    "select from worker._private_operation_rows where operation_id = $1",
    [ended.id],
  );
  assert.equal(left.length, 0);
});

const abandoned: Readonly<Record<string, string>> = {
  paused: "state = 'paused', owner = null, lease_until = now() - interval '25 hours'",
  interrupted: "state = 'interrupted', owner = null, lease_until = now() - interval '25 hours'",
  "left running by a killed process":
    "state = 'running', owner = 'a', lease_until = now() - interval '25 hours'",
  "paused by an earlier version":
    "state = 'paused', owner = null, lease_until = null, created_at = now() - interval '25 hours'",
};

for (const [name, becomes] of Object.entries(abandoned)) {
  test(`If an operation that was ${name} is not resumed for 24 hours, the operation is stopped and its receipt is deleted.`, async () => {
    await add(3);
    const with_ = tools();
    const stop = new AbortController();
    const { operation } = await beginWith(with_, "fail", "task:t");
    const { id } = operation;
    const begun = await workOn(
      { ...with_, onProgress: () => stop.abort() },
      operation,
      stop.signal,
    );
    assert.deepEqual([begun.state, begun.done], ["interrupted", 3]);
    const images = () =>
      queue.sql("select from worker._private_operation_rows where operation_id = $1", [id]);
    await queue.sql("update worker._private_operations set created_at = now() - interval '2 days'");
    while (await with_.store.tidy());
    assert.deepEqual(
      [(await with_.store.find(id))?.state, (await images()).length],
      ["interrupted", 3],
      "an operation that was interrupted just now keeps its state and its receipt",
    );
    await queue.sql(`update worker._private_operations set ${becomes} where id = $1`, [id]);
    while (await with_.store.tidy());
    const stopped = await with_.store.find(id);
    assert.deepEqual([stopped?.state, stopped?.canUndo], ["stopped", false]);
    assert.equal(stopped?.error, "not resumed before its receipt expired");
    assert.equal((await images()).length, 0);
    await assert.rejects(changeOperation(with_.store, id, "resume"), { code: "conflict" });
  });
}

test("If a worker runs during an operation that deletes jobs, every job is either run once or deleted, never both.", async () => {
  await add(2_000);
  const ran: string[] = [];
  const task = defineTask("t", async (_payload, { job }) => void ran.push(job.id));
  const with_ = tools();
  const { operation } = await beginWith(with_, "complete", "task:t", { rate: 2_000 });
  const worker = await run({
    connectionString: queue.url,
    tasks: [task],
    concurrency: 10,
    logger: silentLogger,
  });
  const ended = await workOn(with_, operation, never);
  while ((await rows()).length > 0) await wait(20, never);
  await worker.stop();
  assert.equal(ended.state, "done");
  assert.equal(new Set(ran).size, ran.length);
  assert.equal(ran.length + ended.done, 2_000);
  let after = "0";
  const taken: string[] = [];
  for (let more = true; more; ) {
    const page = await with_.store.receipt(ended.id, "done", after, 1_000);
    taken.push(...page.jobs.map(({ id }) => id));
    after = page.nextCursor ?? "";
    more = page.nextCursor !== null;
  }
  assert.equal(new Set([...taken, ...ran]).size, 2_000);
});
