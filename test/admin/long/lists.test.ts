// Tests the counts in the list of queues of a large table, which takes seconds to fill. The other tests of the lists
// are in ../lists.test.ts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { waitUntil } from "../../worker/worker-process.ts";
import { type Json, startAdmin } from "../admin-harness.ts";

test("In a large table, a count that an index provides is exact, and any other count is marked as an estimate.", async () => {
  const { client, pool } = await startAdmin();
  // A table is large if it has more than 4,096 pages. Here each of 4,300 jobs fills a page with its payload.
  await pool.query(`
    alter table worker._private_jobs alter column payload set storage plain;
    select count(*) from (select worker.add_job('t', queue_name => 'q' || n % 50,
      run_at => now() + (n - 5000) * interval '1 second',
      payload => json_build_object('a', repeat('x', 7000))) from generate_series(1, 4300) as n) as added;
    select count(*) from (select worker.add_job('rare', queue_name => 'rare')) as added;
    update worker._private_job_queues set locked_at = now(), locked_by = 'stranger'
      where queue_name = 'rare'`);
  const { body } = await client.get("/api/queues?limit=100");
  const rare = body.queues.find((one: Json) => one.queue_name === "rare");
  const other = body.queues[0];
  assert.ok(other.total.low <= other.total.value && other.total.basis !== "scan");
  // The first 5,000 due jobs of each priority are counted in an index (head-counts.ts), so these numbers are exact.
  assert.deepEqual([rare.ready.value, rare.ready.precision], [1, "exact"]);
  assert.deepEqual([other.ready.value, other.ready.precision], [86, "exact"]);
  const oldest = (await client.get("/api/queues?sort=oldest&limit=1")).body.queues[0];
  assert.equal(oldest.queue_name, "q1", "the queue with the oldest ready job is first");
  let one: Json = {};
  // On a busy machine the server may reach its time limit and return an incomplete answer.
  await waitUntil("the answer is complete", async () => {
    one = (await client.get("/api/queues/rare")).body;
    return one.next_complete;
  });
  assert.deepEqual([one.next.length, one.arrivals.length], [1, 1]);
  assert.equal(one.running, null);
  // With the cursor of a list, /api/jobs returns the jobs after the list.
  const beginning = (await client.get("/api/queues/q1?limit=10")).body;
  for (const [list, cursor, order] of [
    ["next", beginning.next_cursor, { q: "is:due", sort: "priority" }],
    ["arrivals", beginning.arrivals_cursor, { sort: "-id" }],
  ] as const) {
    const found: string[] = beginning[list].map((job: Json) => job.id);
    for (let next = cursor; next !== null; ) {
      const parameters = { ...order, queue: "q1", limit: "30", cursor: next };
      const { body: page } = await client.get(`/api/jobs?${new URLSearchParams(parameters)}`);
      found.push(...page.jobs.map((job: Json) => job.id));
      next = page.next_cursor;
    }
    assert.deepEqual([new Set(found).size, found.length], [86, 86], list);
  }
  const { body: tasks } = await client.get("/api/tasks");
  assert.deepEqual(
    tasks.tasks.map((task: Json) => task.identifier),
    ["rare", "t"],
  );
  const { body: workers } = await client.get("/api/workers");
  const [unknownWorker] = workers.workers;
  assert.deepEqual([unknownWorker.state, unknownWorker.locked_queues], ["unknown", 1]);
  assert.notEqual(
    unknownWorker.running.precision,
    "exact",
    "without an index, the count of the worker's running jobs is not exact",
  );
  await pool.query(`create index on worker._private_jobs (job_queue_id, priority, run_at) include (id)
    where is_available and job_queue_id is not null`);
  await waitUntil("the index is used", async () => {
    const { queues } = (await client.get("/api/queues?search=rare")).body;
    return queues[0].ready.basis === "probe";
  });
  const { queues } = (await client.get("/api/queues?sort=name&limit=2")).body;
  assert.deepEqual(
    queues.map((queue: Json) => [queue.ready.value, queue.ready.precision]),
    [
      [86, "exact"],
      [86, "exact"],
    ],
  );
});
