// The numbers of a rehearsal are exact if that is cheap. Otherwise they are estimates, whose intervals must contain the
// true number in at least 18 of 20 samples. The last test is about a query whose explicit form is too long.
import assert from "node:assert/strict";
import { test } from "node:test";
import { rehearse } from "../../src/commands/operations/rehearse/rehearse.ts";
import type { Value } from "../../src/domain/value.ts";
import { testQueue } from "../queue/queue-database.ts";
import { migratedDatabase } from "../support/database.ts";
import { operationTools } from "./operation-tools.ts";

const queue = testQueue(() => migratedDatabase("worker", ["operations"]));

/** Returns options with which a count reads a sample of 80 pages, although the table is small. */
function sampled(seed: number) {
  let state = seed;
  const random = () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
  return { smallPages: 10, sampledPages: 80, random };
}

/**
 * Adds 20,000 jobs, which fill some 300 pages. About a tenth of the jobs have the task `small`, the others `big`. Every
 * 20th job is locked. About a quarter of the jobs are in none of the three queues.
 */
async function addMixed(): Promise<void> {
  await queue.sql("insert into worker._private_tasks (identifier) values ('big'), ('small')");
  await queue.sql("insert into worker._private_job_queues (queue_name) values ('a'), ('b'), ('c')");
  await queue.sql(
    `insert into worker._private_jobs (task_id, job_queue_id, payload, locked_at, locked_by, key)
     select (select id from worker._private_tasks
         where identifier = case when hashint4(n) % 10 = 0 then 'small' else 'big' end),
       (select id from worker._private_job_queues
         where queue_name = (array['a', 'b', 'c', null])[1 + abs(hashint4(n + 7)) % 4]),
       '{"a":1}', case when n % 20 = 0 then now() end, case when n % 20 = 0 then 'w' end, 'k' || n
     from generate_series(1, 20000) n`,
  );
}

const isWithin = (truth: number, { low, high }: Value) =>
  (low ?? Number.NaN) <= truth && truth <= (high ?? Number.NaN);

test("On a large table numbers are estimates with a range, and no part is larger than the whole.", async () => {
  await addMixed();
  const [truth] = await queue.sql<{ all: number; locked: number; big: number; none: number }>(
    `select count(*)::int as all, count(locked_at)::int as locked,
       count(*) filter (where identifier = 'big')::int as big,
       count(*) filter (where job_queue_id is null)::int as none
     from worker._private_jobs as jobs join worker._private_tasks as tasks on tasks.id = jobs.task_id`,
  );
  assert.ok(truth);
  const with_ = operationTools(queue.db);
  const held = { all: 0, locked: 0, change: 0, big: 0, none: 0 };
  for (let seed = 1; seed <= 20; seed++) {
    const { count, change, skipLocked, byTask, byQueue, rehearsal } = await rehearse(with_, {
      query: "id>0",
      action: "fail",
      changes: {},
      walkMs: 0,
      sample: sampled(seed),
    });
    assert.deepEqual([count.precision, count.basis], ["estimated", "sample"]);
    assert.ok((count.high ?? 0) <= 20_000, "the upper bound is at most the number of ids");
    assert.deepEqual(rehearsal.matched, count);
    assert.deepEqual(rehearsal.expected, change);
    for (const part of [change, skipLocked, ...[...byTask, ...byQueue].map((one) => one.count)]) {
      assert.equal(part.precision, "estimated");
      assert.ok(part.value <= count.value && (part.high ?? 0) <= (count.high ?? 0));
      assert.ok((part.low ?? 0) <= part.value && part.value <= (part.high ?? 0));
    }
    const of = (name: string | null, list: typeof byTask) =>
      list.find((one) => one.name === name)?.count ?? count;
    held.all += isWithin(truth.all, count) ? 1 : 0;
    held.locked += isWithin(truth.locked, skipLocked) ? 1 : 0;
    held.change += isWithin(truth.all - truth.locked, change) ? 1 : 0;
    held.big += isWithin(truth.big, of("big", byTask)) ? 1 : 0;
    held.none += isWithin(truth.none, of(null, byQueue)) ? 1 : 0;
  }
  for (const [name, times] of Object.entries(held))
    assert.ok(times >= 18, `${name}: the interval contains the true number in ${times} of 20 runs`);
});

test("Of ready jobs exactly 0 are locked; the number of matches of a query that Node evaluates is an estimate.", async () => {
  await addMixed();
  const with_ = operationTools(queue.db);
  const request = { action: "fail", changes: {}, walkMs: 0, sample: sampled(1) } as const;
  const waiting = await rehearse(with_, { ...request, query: "-is:running" });
  assert.equal(waiting.skipLocked.precision, "estimated");
  const ready = await rehearse(with_, { ...request, query: "is:ready" });
  assert.deepEqual([ready.skipLocked.value, ready.skipLocked.precision], [0, "exact"]);
  assert.deepEqual(ready.change, ready.count);
  const checked = await rehearse(with_, { ...request, query: "payload.a:1" });
  assert.equal(checked.count.precision, "estimated");
  assert.ok(isWithin(20_000, checked.count), JSON.stringify(checked.count));
});

test("Counts from an index are exact, however large the table is.", async () => {
  await addMixed();
  await queue.sql(
    `update worker._private_jobs set attempts = max_attempts, last_error = 'e', locked_at = null,
       locked_by = null where id % 1000 = 0`,
  );
  await queue.sql(
    "update worker._private_jobs set run_at = now() + interval '1 day' where id % 2000 = 1",
  );
  await queue.sql(
    `create index on worker._private_jobs (updated_at, id)
     where locked_at is null and attempts >= max_attempts`,
  );
  const [first] = await queue.sql<{ id: string }>(
    "select min(id) as id from worker._private_jobs where id % 20 = 1",
  );
  const id = Number(first?.id);
  const cases: [string, number, number][] = [
    [`id:${id},${id + 1},${id + 19}`, 3, 1],
    ["key:k5", 1, 0],
    [`id:${id}..${id + 99}`, 100, 5],
    ["is:scheduled", 10, 0],
    ["due:+1h..+2d", 10, 0],
    ["is:failed", 20, 0],
  ];
  const with_ = operationTools(queue.db);
  for (const [query, all, locked] of cases) {
    const { count, change, skipLocked, byTask } = await rehearse(with_, {
      ...{ query, action: "fail", changes: {}, walkMs: 30_000, sample: sampled(1) },
    });
    assert.deepEqual([query, count.value, count.precision], [query, all, "exact"]);
    assert.deepEqual([change.value, skipLocked.value], [all - locked, locked], query);
    const shares = byTask.reduce((sum, one) => sum + one.count.value, 0);
    assert.equal(shares, all, query);
  }
});

test("A rehearsal is refused if the explicit form of its query, for example with each word in quotes, is too long.", async () => {
  const words = Array.from(
    { length: 16 },
    (_, n) => `${String(n).padStart(2, "0")}${"x".repeat(247)}`,
  );
  const request = { action: "fail", changes: {} } as const;
  const tools = operationTools(queue.db);
  await rehearse(tools, { ...request, query: words.slice(1).join(" ") });
  await assert.rejects(rehearse(tools, { ...request, query: words.join(" ") }), {
    name: "QueryError",
    message: /4000 characters/,
  });
});
