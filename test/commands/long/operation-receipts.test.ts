// Tests the receipt of an operation. The receipt lists what the operation did with each job that it found, and what an
// undo did with each changed job. Jobs that matched at the rehearsal and that the operation did not find are only
// counted.
import assert from "node:assert/strict";
import { test } from "node:test";
import type pg from "pg";
import { beginOperation, changeOperation } from "../../../src/commands/operations/lifecycle.ts";
import { notFound } from "../../../src/commands/operations/model/not-found.ts";
import type { JobOperation } from "../../../src/commands/operations/model/operation.ts";
import type {
  OperationStore,
  Outcome,
} from "../../../src/commands/operations/model/operation-store.ts";
import { rehearse } from "../../../src/commands/operations/rehearse/rehearse.ts";
import { workOn } from "../../../src/commands/operations/work.ts";
import type { Database } from "../../../src/database/database.ts";
import { lockJob, testQueue } from "../../queue/queue-database.ts";
import { migratedDatabase } from "../../support/database.ts";
import {
  addSome,
  beginWith,
  jobRows,
  never,
  operationTools,
  origin,
  runWith,
} from "../operation-tools.ts";

const queue = testQueue(() => migratedDatabase("worker", ["operations"]));
const idsOfAll = async () => (await jobRows(queue)).map(({ id }) => String(id));

const idsIn = async (store: OperationStore, { id }: JobOperation, outcome: Outcome) =>
  (await store.receipt(id, outcome, "0", 100)).jobs.map((job) => job.id);

/** Returns a database that calls `happens` once, after the first batch and before the next statement. */
function meanwhile(happens: () => Promise<unknown>): Database {
  const { client, schema } = queue.db;
  let isOver = false;
  return {
    schema,
    client: {
      async query<R extends pg.QueryResultRow>(config: pg.QueryConfig) {
        const result = await client.query<R>(config);
        if (!isOver && config.text.includes("found as materialized")) {
          isOver = true;
          await happens();
        }
        return result;
      },
    },
  };
}

/** Runs `statement` in a transaction of another session. The returned function ends the transaction. */
async function holding(statement: string) {
  const client = await queue.pool.connect();
  await client.query("begin");
  await client.query(statement);
  return async (how: "commit" | "rollback") => {
    await client.query(how);
    client.release();
  };
}

test("The receipt accounts for all matching jobs: done, locked, changed, gone, and not found.", async () => {
  await addSome(queue, 10);
  const [a = "", b = "", c = "", d = "", e = "", f = "", g = ""] = await idsOfAll();
  const letGo = await holding(
    `delete from worker._private_jobs where id = ${d};
     update worker._private_jobs set task_id = 999 where id = ${e}`,
  );
  const hold = await holding(`select from worker._private_jobs where id = ${f} for update`);
  const db = meanwhile(() => letGo("commit"));
  const with_ = operationTools(db);
  const report = await rehearse(with_, { query: "task:t", action: "fail", changes: {} });
  assert.equal(report.count.value, 10);
  await lockJob(queue, a);
  await queue.sql("update worker._private_jobs set updated_at = now() where id = $1", [b]);
  await queue.sql("delete from worker._private_jobs where id = $1", [c]);
  const { id } = report.rehearsal;
  const operation = await beginOperation(with_.store, id, origin, {
    rate: 0,
    canary: null,
    limit: null,
  });
  await workOn(with_, operation, never);
  const ended = (await with_.store.find(operation.id)) as JobOperation;
  await hold("rollback");
  assert.equal(ended.state, "done");
  const of = (outcome: Outcome) => idsIn(with_.store, ended, outcome);
  assert.deepEqual(await of("locked"), [a, f]);
  assert.deepEqual(await of("changed"), [b, e]);
  assert.deepEqual(await of("gone"), [d]);
  const doneIds = await of("done");
  assert.equal(doneIds.length, 4);
  assert.equal(doneIds[0], g);
  const { done: done_, skippedLocked, skippedChanged, skippedGone } = ended;
  assert.deepEqual([done_, skippedLocked, skippedChanged, skippedGone], [4, 2, 2, 1]);
  // The number of jobs that were not found is a range, because it is unknown how many of the jobs that were skipped as
  // changed had matched at the rehearsal.
  const rest = notFound(ended);
  assert.deepEqual([rest?.low, rest?.high], [1, 3]);
  assert.equal(done_ + skippedLocked + skippedChanged + skippedGone + (rest?.value ?? 0), 10);
});

test("Jobs that were deleted before their batch are counted exactly if nothing else has changed.", async () => {
  await addSome(queue, 6);
  const with_ = operationTools(queue.db);
  const { operation } = await beginWith(with_, "fail", "task:t");
  assert.equal(notFound(operation), null);
  await queue.sql(
    "delete from worker._private_jobs where id in (select id from worker._private_jobs limit 2)",
  );
  const ended = await workOn(with_, operation, never);
  const { value, precision } = notFound(ended) ?? {};
  assert.deepEqual([ended.done, value, precision], [4, 2, "exact"]);
});

test("Jobs that change or are deleted after their payloads were compared with the query are in the receipt as skipped.", async () => {
  await addSome(queue, 3);
  const [first = "", second = ""] = await idsOfAll();
  const { client, schema } = queue.db;
  let isOver = false;
  const db: Database = {
    schema,
    client: {
      async query<R extends pg.QueryResultRow>(config: pg.QueryConfig) {
        if (!isOver && config.text.includes("found as materialized")) {
          isOver = true;
          await queue.sql("delete from worker._private_jobs where id = $1", [first]);
          await queue.sql("update worker._private_jobs set updated_at = now() where id = $1", [
            second,
          ]);
        }
        return client.query<R>(config);
      },
    },
  };
  const with_ = operationTools(db);
  const ended = await runWith(with_, "fail", "payload.n<5");
  const now = (await with_.store.find(ended.id)) as JobOperation;
  assert.deepEqual([now.done, now.skippedChanged, now.skippedGone], [1, 1, 1]);
  assert.deepEqual(await idsIn(with_.store, now, "changed"), [second]);
  assert.deepEqual(await idsIn(with_.store, now, "gone"), [first]);
});

test("A job that fails again on a Graphile worker, which does not set updated_at, counts as failed again.", async () => {
  await addSome(queue, 2);
  const [first = ""] = await idsOfAll();
  await queue.sql("update worker._private_jobs set last_error = 'old', attempts = max_attempts");
  const with_ = operationTools(queue.db);
  const ended = await runWith(with_, "retry", "task:t");
  // This is how graphile-worker fails a job.
  await queue.sql(
    `update worker._private_jobs set attempts = 1, last_error = 'new',
       run_at = greatest(now(), run_at) + exp(1) * interval '1 second' where id = $1`,
    [first],
  );
  assert.deepEqual(await idsIn(with_.store, ended, "failed_again"), [first]);
});

test("An undo reports which jobs it has skipped, and why.", async () => {
  await addSome(queue, 6);
  const [a = "", b = "", c = "", d = "", e = "", f = ""] = await idsOfAll();
  const with_ = operationTools(queue.db);
  const ended = await runWith(with_, "reschedule", "task:t", { changes: { priority: 3 } });
  await queue.sql(
    "update worker._private_jobs set priority = 5, updated_at = now() where id = $1",
    [a],
  );
  await queue.sql("delete from worker._private_jobs where id = $1", [b]);
  await lockJob(queue, c);
  const hold = await holding(`select from worker._private_jobs where id = ${d} for update`);
  await workOn(with_, await changeOperation(with_.store, ended.id, "undo"), never);
  await hold("rollback");
  const undone = (await with_.store.find(ended.id)) as JobOperation;
  assert.deepEqual(undone.undoSkipped, { keyTaken: 0, changed: 1, gone: 1, locked: 2 });
  const of = (outcome: Outcome) => idsIn(with_.store, undone, outcome);
  assert.deepEqual(await of("undone"), [e, f]);
  assert.deepEqual(await of("undo_changed"), [a]);
  assert.deepEqual(await of("undo_gone"), [b]);
  assert.deepEqual(await of("undo_locked"), [c, d]);
  assert.deepEqual(await of("undo_key_taken"), []);
  assert.equal((await of("done")).length, 6);
});

test("A running undo reports how many jobs it has skipped.", async () => {
  await addSome(queue, 1_200);
  const with_ = operationTools(queue.db);
  const ended = await runWith(with_, "reschedule", "task:t", { changes: { priority: 3 } });
  await queue.sql("update worker._private_jobs set updated_at = now() where id % 400 = 0");
  const skippedCounts: number[] = [];
  const onProgress = ({ undoSkipped, state }: JobOperation) =>
    void (state === "undoing" && skippedCounts.push(undoSkipped.changed));
  const undoing = await changeOperation(with_.store, ended.id, "undo");
  const undone = await workOn({ ...with_, onProgress }, undoing, never);
  assert.equal(skippedCounts[0], 1, "1 of the first 500 jobs is skipped");
  assert.deepEqual([undone.undone, undone.undoSkipped.changed], [1_197, 3]);
});

test("An undo of a removal reports jobs whose key is in use, and jobs whose id exists again.", async () => {
  await queue.sql("select worker.add_job('t', '{}', null, null, null, 'taken')");
  await addSome(queue, 2);
  const [keyed = "", again = "", back = ""] = await idsOfAll();
  const with_ = operationTools(queue.db);
  const ended = await runWith(with_, "remove", "task:t");
  await queue.sql("select worker.add_job('t', '{}', null, null, null, 'taken')");
  await queue.sql(
    `insert into worker._private_jobs (id, task_id) overriding system value
       select $1::bigint, task_id from worker._private_jobs`,
    [again],
  );
  await workOn(with_, await changeOperation(with_.store, ended.id, "undo"), never);
  const undone = (await with_.store.find(ended.id)) as JobOperation;
  assert.deepEqual(undone.undoSkipped, { keyTaken: 1, changed: 1, gone: 0, locked: 0 });
  const of = (outcome: Outcome) => idsIn(with_.store, undone, outcome);
  assert.deepEqual(await of("undo_key_taken"), [keyed]);
  assert.deepEqual(await of("undo_changed"), [again]);
  assert.deepEqual(await of("undone"), [back]);
});

test("A stored task name longer than permitted is cut in the receipt, and makes the undo fail.", async () => {
  await addSome(queue, 2);
  const with_ = operationTools(queue.db);
  const ended = await runWith(with_, "remove", "task:t");
  await queue.sql("delete from worker._private_tasks");
  await queue.sql(
    "update worker._private_operation_rows set task_identifier = pg_catalog.repeat('t', 1390000)",
  );
  const { jobs } = await with_.store.receipt(ended.id, "done", "0", 100);
  assert.deepEqual(
    jobs.map(({ taskIdentifier }) => taskIdentifier),
    ["t".repeat(128), "t".repeat(128)],
  );
  const undone = await workOn(with_, await changeOperation(with_.store, ended.id, "undo"), never);
  assert.equal(undone.state, "failed");
  assert.match(undone.error ?? "", /tasks_identifier_check/);
  assert.deepEqual(await jobRows(queue), []);
});

test("Retried jobs are counted by their present state, and those that have failed again also by their error.", async () => {
  const jobs = await addSome(queue, 12, "charge");
  await queue.sql(
    "update worker._private_jobs set attempts = max_attempts, last_error = 'Error: old'",
  );
  const { store } = operationTools(queue.db);
  const operation = await runWith(operationTools(queue.db), "retry", "is:failed");
  assert.deepEqual(await store.results(operation), {
    ...{ scanned: 12, finished: 0, failedAgain: 0, running: 0, waiting: 12, changed: 0 },
    ...{ restorable: 12, errors: [] },
  });
  const [first, second, third, fourth, fifth, sixth] = jobs.map(({ id }) => id);
  await queue.sql("delete from worker._private_jobs where id = any($1)", [[first, second]]);
  await lockJob(queue, third ?? "");
  const failAgain = (id: string | undefined, error: string) =>
    queue.sql(
      `update worker._private_jobs set attempts = 1, last_error = $2, updated_at = clock_timestamp(),
         run_at = clock_timestamp() + interval '1 minute' where id = $1`,
      [id, error],
    );
  await failAgain(fourth, "Error: no money for ch_c4ca4238a0b923820dcc509a");
  await failAgain(fifth, "Error: no money for ch_c81e728d9d4c2f636f067f89");
  await queue.sql(
    "update worker._private_jobs set priority = 9, updated_at = clock_timestamp() where id = $1",
    [sixth],
  );
  assert.deepEqual(await store.results(operation), {
    ...{ scanned: 12, finished: 2, failedAgain: 2, running: 1, waiting: 6, changed: 1 },
    ...{ restorable: 6, errors: [{ label: "Error: no money for ch_#", count: 2 }] },
  });
  // The receipt keeps the task of a finished job, and the undo restores as many jobs as `restorable` predicted.
  const { jobs: rows } = await store.receipt(operation.id, "done", "0", 1);
  assert.deepEqual(rows[0], { id: first, taskIdentifier: "charge", errorLine: null });
  const with_ = operationTools(queue.db);
  const undone = await workOn(
    with_,
    await changeOperation(with_.store, operation.id, "undo"),
    never,
  );
  assert.equal(undone.undone, 6);
});

test("An undo restores as many jobs as were reported as restorable.", async () => {
  for (const action of ["complete", "fail", "stop-retrying", "reschedule"] as const) {
    await addSome(queue, 3, action);
    const with_ = operationTools(queue.db);
    const changes = action === "reschedule" ? { priority: 5 } : {};
    const { operation } = await beginWith(with_, action, `task:${action}`, { changes });
    const ended = await workOn(with_, operation, never);
    assert.equal((await with_.store.results(ended)).restorable, 3, action);
    const undone = await workOn(with_, await changeOperation(with_.store, ended.id, "undo"), never);
    assert.equal(undone.undone, 3, action);
  }
});
