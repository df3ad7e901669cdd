// Tests the order of 10,000 queues with different states, and the number of queues in each state. This is done with a
// table of jobs that is read whole and with a table that is counted in parts. Also tests that more than 20,000 queues
// are not sorted by state, except that locked queues come first.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pool } from "pg";
import { waitUntil } from "../../worker/worker-process.ts";
import { type Client, type Json, startAdmin } from "../admin-harness.ts";

const QUEUES = 10_000;
const ranks = ["stuck", "failed", "ready", "running", "scheduled", "idle"] as const;

/** Adds queues whose states alternate in the order of their names. */
async function fill(pool: Pool): Promise<void> {
  await pool.query(`
    insert into worker._private_tasks (identifier) values ('t');
    insert into worker._private_workers (id, last_heartbeat_at) values ('gone', now() - interval '1 hour'), ('here', now());
    insert into worker._private_job_queues (queue_name, locked_at, locked_by)
      select 'q' || lpad(n::text, 5, '0'), case when n % 6 in (0, 3) then now() end,
        case n % 6 when 0 then 'gone' when 3 then 'here' end
      from generate_series(1, ${QUEUES}) n;
    insert into worker._private_jobs (task_id, job_queue_id, attempts, run_at)
      select 1, queues.id, case state when 1 then 25 else 0 end,
        now() + case when state = 4 then interval '1 day' else interval '-1 minute' end
      from worker._private_job_queues as queues,
        lateral (select substr(queue_name, 2)::int % 6 as state) as given,
        generate_series(1, 2)
      where state <> 5;
    -- A locked queue has no other state, even if it has failed jobs.
    insert into worker._private_jobs (task_id, job_queue_id, attempts, run_at)
      select 1, id, 25, now() from worker._private_job_queues where locked_by = 'here';
    analyze worker._private_jobs`);
}

function stateOf(queue: Json): (typeof ranks)[number] {
  if (queue.locked_at !== null) return queue.stuck_since === null ? "running" : "stuck";
  if (queue.failed.value > 0) return "failed";
  if (queue.ready.value > 0) return "ready";
  return queue.scheduled.value > 0 ? "scheduled" : "idle";
}

async function all(client: Client, query: string): Promise<Json[]> {
  const rows: Json[] = [];
  for (let cursor = ""; cursor !== null; ) {
    const { body } = await client.get(`/api/queues?limit=500&${query}&cursor=${cursor}`);
    rows.push(...body.queues);
    cursor = body.next_cursor;
  }
  return rows;
}

for (const { size, feed } of [
  { size: "small", feed: {} },
  { size: "large", feed: { smallPages: 0 } },
]) {
  test(`Of 10,000 queues in a ${size} table the worst come first; the counts by state add up to 10,000.`, async () => {
    const { client, pool } = await startAdmin({ feed });
    await fill(pool);
    const first = async () => (await client.get("/api/queues?limit=1")).body;
    await waitUntil("all jobs are counted", async () => (await first()).states?.idle != null);
    const { states, count } = await first();
    assert.equal(count, QUEUES);
    assert.equal(
      ranks.reduce((sum, state) => sum + states[state], 0),
      QUEUES,
    );
    const rows = await all(client, "");
    assert.equal(new Set(rows.map(({ queue_name: name }) => name)).size, QUEUES);
    const shown = rows.map((row) => ranks.indexOf(stateOf(row)));
    assert.deepEqual(
      shown,
      shown.toSorted((a, b) => a - b),
    );
    for (const [rank, state] of ranks.entries()) {
      assert.equal(states[state], shown.filter((one) => one === rank).length, state);
      const { body } = await client.get(`/api/queues?limit=500&only=${state}`);
      assert.ok(
        body.queues.length > 50 && body.queues.every((row: Json) => stateOf(row) === state),
      );
    }
  });
}

test("Of 20,001 queues the locked ones come first. The others follow in the order of their names.", async () => {
  const { client, pool } = await startAdmin();
  await pool.query(`
    insert into worker._private_job_queues (queue_name, locked_at, locked_by)
      select 'q' || lpad(n::text, 5, '0'), case n when 7 then now() when 20001 then now() - interval '5 hours' end,
        case when n in (7, 20001) then 'stranger' end
      from generate_series(1, 20001) n`);
  const first = async () => (await client.get("/api/queues?limit=1")).body;
  await waitUntil("all jobs are counted", async () => (await first()).states?.idle != null);
  const { states, count } = await first();
  assert.equal(count, 20_001);
  assert.deepEqual(
    ranks.map((state) => states[state]),
    [1, 0, 0, 1, 0, 19_999],
  );
  // The page after the locked queues begins with the first name of the other queues, which can be the empty name.
  await pool.query("insert into worker._private_job_queues (queue_name) values ('')");
  const two = (await client.get("/api/queues?limit=2")).body;
  const next = (await client.get(`/api/queues?limit=2&cursor=${two.next_cursor}`)).body;
  assert.deepEqual(
    next.queues.map((row: Json) => row.queue_name),
    ["", "q00001"],
  );
  await pool.query("delete from worker._private_job_queues where queue_name = ''");
  const names = (await all(client, "")).map(({ queue_name: name }) => name);
  const locked = ["q20001", "q00007"];
  const others = names.slice(2);
  assert.deepEqual(names.slice(0, 2), locked);
  assert.deepEqual(others, others.toSorted());
  assert.equal(new Set(names).size, 20_001);
  const { queues } = (await client.get("/api/queues?limit=2&sort=-waiting")).body;
  assert.deepEqual(
    queues.map((row: Json) => row.queue_name),
    ["q00001", "q00002"],
  );
});
