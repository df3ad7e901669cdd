// Tests that an action on jobs by id or by key is stored as an operation, and can be undone like an operation by query.
import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../../src/base/logger.ts";
import type { Origin } from "../../../src/commands/audit/audit-entry.ts";
import type { Command } from "../../../src/commands/declare/command.ts";
import { commands } from "../../../src/commands/index.ts";
import { changeOperation } from "../../../src/commands/operations/lifecycle.ts";
import {
  type JobOperation,
  operationJson,
} from "../../../src/commands/operations/model/operation.ts";
import type { Outcome } from "../../../src/commands/operations/model/operation-store.ts";
import { workOn } from "../../../src/commands/operations/work.ts";
import { perform } from "../../../src/commands/perform.ts";
import { lockJob, type TestQueue, testQueue } from "../../queue/queue-database.ts";
import { migratedDatabase } from "../../support/database.ts";
import { addSome, beginWith, jobRows, never, operationTools } from "../operation-tools.ts";

const queue = testQueue(() => migratedDatabase("worker", ["operations"]));
const bare = testQueue();
const recordFor: Origin = { by: "tester", source: "admin" };

const act = (name: string, input: object, of: TestQueue = queue) => {
  const command = commands.find((one) => one.name === name) as Command;
  const around = { pool: of.pool, logger: silentLogger, signal: never };
  return perform(command, of.db, { ...input }, { ...around, recordFor });
};

async function kept(name: string, input: object): Promise<JobOperation> {
  const { operationId } = await act(name, input);
  const operation = await operationTools(queue.db).store.find(operationId ?? "0");
  assert.ok(operation, `no operation was stored for the command ${name}`);
  return operation;
}

async function undone({ id }: JobOperation): Promise<JobOperation> {
  const with_ = operationTools(queue.db);
  return workOn(with_, await changeOperation(with_.store, id, "undo"), never);
}

async function listed({ id }: JobOperation, outcome: Outcome): Promise<readonly string[]> {
  return (await operationTools(queue.db).store.receipt(id, outcome, "0", 100)).jobs.map(
    (job) => job.id,
  );
}

const idsOf = async () => (await jobRows(queue)).map(({ id }) => String(id));

test("Without the field attempts, run-now skips a job that has no attempts left, and stores no operation.", async () => {
  const [, spent = ""] = await addDiverse();
  const before = await jobRows(queue);
  const { operationId, tally } = await act("run-now", { ids: [spent] });
  assert.deepEqual([operationId, tally], [null, { requested: 1, done: 0 }]);
  assert.deepEqual(await jobRows(queue), before);
  assert.equal((await kept("run-now", { ids: [spent], attempts: 0 })).done, 1);
});

test("stop-retrying works on waiting and on running jobs, and can be undone.", async () => {
  const [waiting = "", running = "", fresh = ""] = (await addSome(queue, 3)).map((job) => job.id);
  await queue.sql("update worker._private_jobs set attempts = 3, last_error = 'x' where id = $1", [
    waiting,
  ]);
  await queue.sql("update worker._private_jobs set attempts = 18 where id = $1", [running]);
  await lockJob(queue, running);
  const limits = () =>
    queue.sql(
      "select attempts, max_attempts as most, is_available, locked_at is not null as is_locked from worker._private_jobs order by id",
    );
  const before = await limits();
  const ids = [waiting, running, fresh, "999999"];
  const operation = await kept("stop-retrying", { ids });
  assert.deepEqual(
    [operation.action, operation.done, operation.skippedLocked, operation.skippedGone],
    ["stop-retrying", 3, 0, 1],
  );
  assert.deepEqual(await limits(), [
    { attempts: 3, most: 3, is_available: false, is_locked: false },
    { attempts: 19, most: 19, is_available: false, is_locked: true },
    { attempts: 0, most: 1, is_available: true, is_locked: false },
  ]);
  const back = await undone(operation);
  assert.deepEqual([back.state, back.undone], ["undone", 3]);
  assert.deepEqual(await limits(), before);
  assert.equal(
    (await act("stop-retrying", { ids: [running] })).message,
    "Stopped retrying 1 of 1 job",
  );
});

test("An undo of stop-retrying does not change jobs that have since been failed, cancelled or removed.", async () => {
  const [broken = "", failed = "", cancelled = ""] = (await addSome(queue, 3)).map(({ id }) => id);
  await queue.sql("select worker.add_job('t', job_key := 'key')");
  const [keyed = ""] = (await idsOf()).slice(-1);
  const all = [broken, failed, cancelled, keyed];
  for (const id of all) await lockJob(queue, id);
  const operation = await kept("stop-retrying", { ids: all });
  await act("remove", { key: "key" });
  await queue.sql(
    `update worker._private_jobs set locked_by = null, locked_at = null, updated_at = clock_timestamp(),
       last_error = case when id = $1 then 'cancelled: no longer needed' else 'it broke' end`,
    [cancelled],
  );
  await act("fail", { ids: [failed] });
  await undone(operation);
  const rows = await queue.sql<{ id: string }>(
    "select id from worker._private_jobs where attempts < max_attempts",
  );
  assert.deepEqual(
    rows.map(({ id }) => id),
    [broken],
  );
  assert.deepEqual(await listed(operation, "undo_changed"), [failed, cancelled, keyed]);
});

test("A running job whose retrying was stopped is failed once its crashed worker is unlocked.", async () => {
  const [id = ""] = (await addSome(queue, 1)).map((job) => job.id);
  await queue.sql("update worker._private_jobs set attempts = 4 where id = $1", [id]);
  await lockJob(queue, id, "crashed");
  await act("stop-retrying", { ids: [id] });
  await act("unlock", { worker_ids: ["crashed"] });
  const [job] = await queue.sql(
    "select attempts, max_attempts as most, is_available from worker._private_jobs where id = $1",
    [id],
  );
  assert.deepEqual(job, { attempts: 5, most: 5, is_available: false });
});

/**
 * Adds three jobs and returns their ids. The first job has a key, a queue, flags and a payload that JSON.parse() would
 * change. The second job has failed with an error. The third job is of another task.
 */
async function addDiverse(): Promise<string[]> {
  await queue.sql(`select worker.add_job('t', '{"n":9007199254740993, "n":1}', 'q',
    now() + interval '1 day', 3, 'key', 7, array['f'])`);
  await queue.sql("select worker.add_job('t'), worker.add_job('u')");
  const ids = await idsOf();
  await queue.sql(
    `update worker._private_jobs set attempts = max_attempts, last_error = E'it broke\\nat once',
      updated_at = now() - interval '1 hour' where id = $1`,
    [ids[1]],
  );
  return ids;
}

const done: Readonly<Record<string, object>> = {
  complete: {},
  fail: { reason: "it's over" },
  retry: { priority: 4 },
  "run-now": { attempts: 0 },
  reschedule: { run_at: "2031-02-03T04:05:06.789123+02:00", priority: -1, max_attempts: 3 },
};

const moves = [{ shift: -86_400.25, spread: 60 }, { spread: 3_600 }];

for (const [name, input] of [
  ...Object.entries(done),
  ...moves.map((move) => ["reschedule", move] as const),
]) {
  const how = "spread" in input ? ` with ${JSON.stringify(input)}` : "";
  test(`An undo of ${name}${how} on jobs by id restores the rows of the jobs byte for byte.`, async () => {
    const ids = await addDiverse();
    const before = await jobRows(queue);
    const operation = await kept(name, { ids, ...input });
    assert.notDeepEqual(await jobRows(queue), before);
    assert.deepEqual(
      [operation.state, operation.done, operation.storedRows, operation.action, operation.canUndo],
      ["done", 3, 3, name, true],
    );
    assert.deepEqual(operation.origin, recordFor);
    assert.equal(operation.query, `id:${ids.join(",")}`);
    const { undone: back, undoSkipped } = await undone(operation);
    assert.deepEqual(
      [back, undoSkipped],
      [3, { keyTaken: 0, changed: 0, gone: 0, locked: 0 }],
      JSON.stringify(undoSkipped),
    );
    assert.deepEqual(await jobRows(queue), before);
  });
}

test("Actions without fields, with a blank reason, or with run_at now can be undone.", async () => {
  const ids = await addDiverse();
  for (const [name, input] of [
    ["fail", {}],
    ["fail", { reason: " " }],
    ["retry", {}],
    ["reschedule", { run_at: "now" }],
  ] as const) {
    const before = await jobRows(queue);
    assert.equal((await undone(await kept(name, { ids, ...input }))).undone, 3, name);
    assert.deepEqual(await jobRows(queue), before);
  }
});

test("An undo restores a job that was removed by its key, unless another job has the key.", async () => {
  const [keyed = ""] = await addDiverse();
  const before = await jobRows(queue);
  const removed = await kept("remove", { key: "key" });
  assert.deepEqual([removed.query, removed.action], [`id:${keyed}`, "remove"]);
  assert.equal((await undone(removed)).undone, 1);
  assert.deepEqual(await jobRows(queue), before);
  const again = await kept("remove", { key: "key" });
  await queue.sql("select worker.add_job('other', '{}', null, null, null, 'key')");
  const { undone: back, undoSkipped } = await undone(again);
  assert.deepEqual([back, undoSkipped.keyTaken], [0, 1]);
  assert.equal((await act("remove", { key: "nobody's" })).operationId, null);
});

test("The removal of a running job by its key cannot be undone: no operation is recorded.", async () => {
  const [keyed = ""] = await addDiverse();
  await lockJob(queue, keyed);
  const { operationId, message } = await act("remove", { key: "key" });
  assert.match(message, /has started/);
  assert.equal(operationId, null);
});

test("The receipt has all requested ids: those of changed jobs, those of running jobs, and those that no job has.", async () => {
  const [a = "", b = "", c = ""] = await addDiverse();
  await lockJob(queue, b);
  const operation = await kept("complete", { ids: [c, "999999", b, a, c] });
  assert.deepEqual(await listed(operation, "done"), [a, c]);
  assert.deepEqual(await listed(operation, "locked"), [b]);
  assert.deepEqual(await listed(operation, "gone"), ["999999"]);
  const jobsWith = async (outcome: Outcome) =>
    (await operationTools(queue.db).store.receipt(operation.id, outcome, "0", 9)).jobs;
  await queue.sql("delete from worker._private_tasks where identifier = 'u'");
  assert.deepEqual(await jobsWith("done"), [
    { id: a, taskIdentifier: "t", errorLine: null },
    { id: c, taskIdentifier: "u", errorLine: null },
  ]);
  assert.deepEqual(await jobsWith("locked"), [
    { id: b, taskIdentifier: "t", errorLine: "it broke" },
  ]);
  assert.deepEqual(await jobsWith("gone"), [
    { id: "999999", taskIdentifier: null, errorLine: null },
  ]);
  const { matched, not_found: rest } = JSON.parse(operationJson(operation));
  assert.deepEqual([matched.value, matched.precision, rest.value], [4, "exact", 0]);
  assert.ok(Math.abs(Date.parse(matched.as_of) - Date.now()) < 600_000, matched.as_of);
  assert.equal((await undone(operation)).undone, 2);
  assert.deepEqual(await idsOf(), [a, b, c]);
});

test("An undo does not restore jobs that were changed or deleted after the operation, and reports how many were changed and how many were deleted.", async () => {
  const [a = "", b = "", c = ""] = await addDiverse();
  const operation = await kept("retry", { ids: [a, b, c] });
  await queue.sql("update worker._private_jobs set priority = 9 where id = $1", [a]);
  await queue.sql("delete from worker._private_jobs where id = $1", [b]);
  const { undone: back, undoSkipped } = await undone(operation);
  assert.deepEqual([back, undoSkipped], [1, { keyTaken: 0, changed: 1, gone: 1, locked: 0 }]);
});

test("An action that changes no job stores no operation.", async () => {
  const [a = ""] = await addDiverse();
  await lockJob(queue, a);
  assert.equal((await act("complete", { ids: [a, "888888"] })).operationId, null);
  const kept = await queue.sql("select from worker._private_operation_rows where job_id = 888888");
  assert.equal(kept.length, 0);
});

test("An action on 10,000 ids is one operation, without a query or command line, and can be undone.", async () => {
  await addSome(queue, 10_000);
  const before = await jobRows(queue);
  const operation = await kept("complete", { ids: await idsOf() });
  assert.deepEqual([operation.done, operation.storedRows], [10_000, 10_000]);
  assert.deepEqual([operation.query, JSON.parse(operationJson(operation)).cli], ["", ""]);
  assert.equal((await jobRows(queue)).length, 0);
  assert.equal((await undone(operation)).undone, 10_000);
  assert.deepEqual(await jobRows(queue), before);
});

test("Without the extension 'operations', an action works and stores no operation.", async () => {
  await addSome(bare, 1);
  const [{ id } = { id: "" }] = await bare.sql<{ id: string }>("select id from worker.jobs");
  const { operationId, json, tally } = await act("complete", { ids: [id] }, bare);
  assert.deepEqual([operationId, JSON.parse(json).operation, tally?.done], [null, null, 1]);
});

test("An operation by query stays the current one after newer actions on jobs, until one of these actions is undone.", async () => {
  await addSome(queue, 3);
  const [a = "", b = ""] = await idsOf();
  const with_ = operationTools(queue.db);
  const { operation } = await beginWith(with_, "fail", "task:t");
  const single = await kept("complete", { ids: [a] });
  assert.equal((await with_.store.currentOrLast())?.id, operation.id);
  await assert.rejects(changeOperation(with_.store, single.id, "undo"), { code: "conflict" });
  await workOn(with_, operation, never);
  await kept("complete", { ids: [b] });
  assert.equal((await with_.store.currentOrLast())?.id, operation.id);
  assert.equal((await undone(single)).undone, 1);
  assert.equal((await with_.store.currentOrLast())?.id, single.id);
});

test("A receipt is deleted once newer receipts together have a million jobs, or once 20,000 newer operations exist.", async () => {
  await addSome(queue, 3);
  const [a = "", b = "", c = ""] = await idsOf();
  const { store } = operationTools(queue.db);
  const first = await kept("complete", { ids: [a] });
  const large = await kept("complete", { ids: [b] });
  await queue.sql("update worker._private_operations set kept = 1000000 where id = $1", [large.id]);
  const last = await kept("complete", { ids: [c] });
  const known = async () => {
    while (await store.tidy());
    const of = [first, large, last].map(async ({ id }) => (await store.find(id))?.canUndo ?? false);
    return Promise.all(of);
  };
  assert.deepEqual(await known(), [false, true, true]);
  await queue.sql(
    `insert into worker._private_operations (id, query, now_us, action, source, state, max_id, before)
     overriding system value values ($1, '', '0', 'fail', 'admin', 'paused', 1, now())`,
    [Number(large.id) + 20_000],
  );
  assert.deepEqual(await known(), [false, false, true]);
});
