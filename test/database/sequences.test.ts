// Tests sequences that return ids which already exist in their tables. After a switchover by logical replication, the
// sequences are in this state.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setLimit } from "../../src/commands/limits/set-limit.ts";
import { readLaggingSequences } from "../../src/database/inspect/sequences.ts";
import { addJob } from "../../src/queue/add/add-job.ts";
import { addJobs } from "../../src/queue/add/add-jobs.ts";
import { testQueue } from "../queue/queue-database.ts";
import { migratedDatabase } from "../support/database.ts";

const queue = testQueue(() => migratedDatabase("worker", ["limits"]));
const limit = (name: string) =>
  setLimit(queue.db, {
    definition: { name, scope: "task", match: name, concurrency: 1, rate: null },
    setBy: null,
  });
const add = (queueName: string) => addJob(queue.db, { identifier: "t", spec: { queueName } });

test("A sequence behind its table is found, with a statement that advances it.", async () => {
  assert.deepEqual(await readLaggingSequences(queue.db), []);
  await add("a");
  await add("b");
  assert.deepEqual(await readLaggingSequences(queue.db), []);
  const restart = async (table: string) => {
    const [row] = await queue.sql<{ name: string }>(
      "select pg_get_serial_sequence($1, 'id') as name",
      [`worker.${table}`],
    );
    await queue.sql(`alter sequence ${row?.name} restart 1`);
  };
  await limit("a");
  for (const table of ["jobs", "job_queues", "tasks", "limits"]) {
    await restart(`_private_${table}`);
  }
  const behind = await readLaggingSequences(queue.db);
  assert.deepEqual(
    behind.map(({ table, nextId, lastId }) => [table, nextId, lastId]),
    [
      ["_private_job_queues", "1", "2"],
      ["_private_jobs", "1", "2"],
      ["_private_limits", "1", "1"],
      ["_private_tasks", "1", "1"],
    ],
  );
  await assert.rejects(addJobs(queue.db, [{ identifier: "t" }]), {
    code: "database_error",
    message: /the sequence of _private_jobs\.id gives ids that already exist; .*setval/,
  });
  await assert.rejects(add("c"), /the sequence of _private_(jobs|job_queues)\.id gives ids/);
  await assert.rejects(limit("b"), /the sequence of _private_limits\.id gives ids/);
  for (const { statement } of behind) await queue.sql(statement);
  assert.deepEqual(await readLaggingSequences(queue.db), []);
  assert.equal((await add("c")).id, "3");
});
