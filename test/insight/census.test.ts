// The census counts all jobs of a table (census.ts). Of several admins, only one counts at a time.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Census, createCensus } from "../../src/insight/snapshot/census.ts";
import { readGauge } from "../../src/insight/stats/gauge.ts";
import { tallied } from "../../src/insight/stats/tally.ts";
import { testQueue } from "../queue/queue-database.ts";

const queue = testQueue();

async function untilHeard(census: Census): Promise<string> {
  let outcome: string;
  do {
    outcome = await census.step(queue.db);
  } while (outcome === "listening");
  return outcome;
}

test("Before an admin counts all jobs, it checks whether another admin is counting, and if so does not count.", async () => {
  await queue.sql("insert into worker._private_tasks (identifier) values ('mail')");
  await queue.sql(
    "insert into worker._private_jobs (task_id) select 1 from generate_series(1, 500)",
  );
  const census = createCensus();
  assert.equal(await census.step(queue.db), "listening");
  // Another admin holds this lock while it counts a chunk.
  const other = await queue.pool.connect();
  await other.query(
    "begin; select pg_advisory_xact_lock(hashtextextended('worker:census:worker', 0))",
  );
  assert.equal(await census.step(queue.db), "left");
  await other.query("commit");
  other.release();
  assert.equal(
    await census.step(queue.db),
    "listening",
    "the census checks the lock again after another admin has counted",
  );
  assert.equal(await untilHeard(census), "complete");
  const names = census.last(await readGauge(queue.db), 0);
  assert.equal(names?.value(names.tallies.all, tallied).value, 500);
  assert.equal(
    await census.step(queue.db),
    "listening",
    "after a round, the census checks again whether another admin counts",
  );
});
