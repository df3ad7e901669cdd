// While a batch is added, another session adds a job with a key of the batch, and a worker locks that job before the
// batch can insert the key.
import assert from "node:assert/strict";
import { test } from "node:test";
import { addJob } from "../../src/queue/add/add-job.ts";
import { addJobs } from "../../src/queue/add/add-jobs.ts";
import { lockWaits } from "../support/lock-waits.ts";
import { waitUntil } from "../support/until.ts";
import { testQueue } from "./queue-database.ts";

const queue = testQueue();

test("A batch takes over a key if another session's new job with the key is locked before the batch inserts it.", async () => {
  const other = await queue.pool.connect();
  await other.query("begin");
  const first = await addJob({ ...queue.db, client: other }, spec("k"));
  await other.query("update worker._private_jobs set locked_at = now(), locked_by = 'w'");
  const adding = addJobs(queue.db, [spec("k"), spec("l")]);
  await waitUntil("the batch waits for the other transaction", isWaiting);
  await other.query("commit");
  other.release();
  const added = await adding;
  assert.deepEqual(
    added.map(({ key, revision }) => [key, revision]),
    [
      ["k", 0],
      ["l", 0],
    ],
  );
  const rows = await queue.sql<{ id: string; key: string | null }>(
    "select id::text, key from worker._private_jobs order by id",
  );
  assert.deepEqual(
    rows.filter(({ key }) => key === null).map(({ id }) => id),
    [first.id],
  );
  assert.equal(rows.length, 3);
});

test("A batch that has a key twice is repeated as a whole if another session's new job with the key is locked.", async () => {
  const other = await queue.pool.connect();
  await other.query("begin");
  await addJob({ ...queue.db, client: other }, spec("k"));
  await other.query("update worker._private_jobs set locked_at = now(), locked_by = 'w'");
  const adding = addJobs(queue.db, [spec("k"), { identifier: "t" }, spec("k")]);
  await waitUntil("the batch waits for the other transaction", isWaiting);
  await other.query("commit");
  other.release();
  const added = await adding;
  assert.deepEqual(
    added.map(({ key, revision }) => [key, revision]),
    [
      ["k", 0],
      [null, 0],
      ["k", 1],
    ],
  );
  assert.equal((await queue.sql("select from worker._private_jobs")).length, 3);
});

test("In the caller's transaction, a batch fails if another session's new job with its key is locked.", async () => {
  const other = await queue.pool.connect();
  await other.query("begin");
  await addJob({ ...queue.db, client: other }, spec("k"));
  await other.query("update worker._private_jobs set locked_at = now(), locked_by = 'w'");
  const client = await queue.pool.connect();
  await client.query("begin");
  const adding = addJobs({ ...queue.db, client }, [spec("k"), spec("l")]);
  const refused = assert.rejects(adding, { code: "database_busy" });
  await waitUntil("the batch waits for the other transaction", isWaiting);
  await other.query("commit");
  await refused;
  await client.query("rollback");
  for (const one of [other, client]) one.release();
  assert.equal((await queue.sql("select from worker._private_jobs")).length, 1);
});

const isWaiting = async () => (await lockWaits(queue.pool)) === 1;

const spec = (jobKey: string) => ({ identifier: "t", spec: { jobKey } });
