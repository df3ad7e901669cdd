// Tests the counts of jobs in small and large tables: exact counts, and estimates with an interval that usually
// contains the true number.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Interval, Value } from "../../src/domain/value.ts";
import { compileQuery } from "../../src/insight/query/compile-query.ts";
import { countJobs } from "../../src/insight/read/count-jobs.ts";
import { beginCount, countOn, isDone } from "../../src/insight/stats/count-exactly.ts";
import { countQuery } from "../../src/insight/stats/count-query.ts";
import { readGauge } from "../../src/insight/stats/gauge.ts";
import { agesOf, NameTallies } from "../../src/insight/stats/name-tallies.ts";
import { estimateFrom, selectPages } from "../../src/insight/stats/page-sample.ts";
import { readProbe, readProbeTallies } from "../../src/insight/stats/probe.ts";
import { sampleJobs } from "../../src/insight/stats/sample-jobs.ts";
import { inState, sumOf, type TallyName, tallied } from "../../src/insight/stats/tally.ts";
import { sampleNames, tallyAll, tallyChunk } from "../../src/insight/stats/tally-pages.ts";
import { NO_LOCKS, testQueue } from "../queue/queue-database.ts";

const queue = testQueue();

/** Returns a generator of numbers from 0 to less than 1. The same seed gives the same numbers. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * Adds jobs in all conditions. A third of the jobs are in queues, and some of the queues are locked. `order`: the jobs'
 * order on disk, as SQL.
 */
async function fill(jobs: number, order: string): Promise<void> {
  await queue.sql(`
    insert into worker._private_tasks (identifier) select 't' || n from generate_series(1, 10) n
      on conflict do nothing;
    insert into worker._private_job_queues (queue_name, locked_at, locked_by)
      select 'q' || n, case when n <= 4 then now() end, case when n <= 4 then 'w' || n end
      from generate_series(1, 40) n on conflict do nothing;
    insert into worker._private_jobs
      (task_id, job_queue_id, priority, run_at, attempts, max_attempts, locked_at, locked_by,
       payload, last_error)
    select 1 + n % 10, case when n % 3 = 0 then 1 + n % 40 end, n % 3,
      now() + case when kind < 2 then exp(10) * interval '1 second' when kind between 5 and 6 then interval '1 hour' else interval '-1 hour' end,
      case when kind < 2 then 25 when kind in (3, 5) then 1 else 0 end, 25,
      case when kind = 2 then now() end, case when kind = 2 then 'w' || n % 5 end,
      json_build_object('n', n), case when kind < 2 then 'no' end
    from (select n, (n * 7919) % 10 as kind from generate_series(1, ${jobs}) n) as made
    order by ${order};
    insert into worker._private_workers (id, last_heartbeat_at, metadata)
      select locked_by, now(), jsonb_build_object('fetched_job_ids', jsonb_agg(id::text))
      from (select * from worker._private_jobs where locked_at is not null limit 50) as locked
      group by locked_by on conflict do nothing`);
  await queue.sql("analyze worker._private_jobs");
}

async function tallies(rows: Promise<Parameters<NameTallies["add"]>[0] | null>) {
  const all = new NameTallies();
  all.add((await rows) ?? []);
  return all;
}

test("One pass over the table counts the jobs of each state of the HTTP API, of each task, of each queue and of each worker.", async () => {
  await fill(2_000, "n");
  const gauge = await readGauge(queue.db);
  assert.deepEqual([gauge.queues, gauge.lockedQueueIds.length], [40, 4]);
  assert.deepEqual([...gauge.queueHolders.keys()].sort(), ["w1", "w2", "w3", "w4"]);
  const found = await tallies(tallyAll(queue.db, gauge));
  const states = await countJobs(queue.db);
  for (const state of ["ready", "scheduled", "locked", "failed"] as const) {
    assert.equal(sumOf(found.all.counts, inState[state]), states[state], state);
  }
  assert.ok(tallied.every((one) => found.all.counts[one] > 0));
  const ofTasks = [...found.tasks.values()].map(({ counts }) => sumOf(counts, tallied));
  assert.deepEqual(ofTasks, new Array(10).fill(200));
  const ofQueues = [...found.queues.values()].map(({ counts }) => sumOf(counts, tallied));
  assert.equal(
    ofQueues.reduce((sum, count) => sum + count),
    Math.floor(2_000 / 3),
  );
  const held = [...found.holders.values()].reduce((sum, count) => sum + count);
  assert.equal(held, states.locked);
  const { oldestReady, nextDue, longestRunning, lastFailure } = agesOf(found.all);
  assert.ok(Number(oldestReady) < gauge.nowMs && gauge.nowMs < Number(nextDue));
  assert.ok(longestRunning !== null && lastFailure !== null);
});

test("A census, which counts in chunks, has the same counts as one pass, and reads nothing while another admin counts.", async () => {
  await fill(3_000, "n");
  const gauge = await readGauge(queue.db);
  const { pages } = gauge;
  const whole = await tallies(tallyAll(queue.db, gauge));
  const counted = new NameTallies();
  for (let page = 0; page < pages; page += 7) {
    counted.add((await tallyChunk(queue.db, gauge, page, page + 7)) ?? []);
  }
  assert.deepEqual(counted.all.counts, whole.all.counts);
  assert.deepEqual(counted.all.times, whole.all.times);
  assert.deepEqual(new Map([...counted.holders].sort()), new Map([...whole.holders].sort()));
  assert.deepEqual(counted.queues.get(3)?.counts, whole.queues.get(3)?.counts);
  assert.deepEqual(await tallyChunk(queue.db, gauge, pages, pages + 10), []);

  const other = await queue.pool.connect();
  const lock = "select pg_advisory_xact_lock(hashtextextended('worker:census:worker', 0))";
  await other.query(`begin; ${lock}`);
  assert.equal(await tallyChunk(queue.db, gauge, 0, 10), null);
  await other.query("commit");
  other.release();
  assert.ok(await tallyChunk(queue.db, gauge, 0, 10));
});

for (const [layout, order] of [
  ["shuffled", "hashint8(n)"],
  ["sorted by outcome", "kind, n"],
] as const) {
  test(`The interval has the true number in at least 90 of 100 samples of a table that is ${layout}.`, async () => {
    await fill(20_000, order);
    const gauge = await readGauge(queue.db);
    const { pages } = gauge;
    const truth = (await tallies(tallyAll(queue.db, gauge))).all.counts;
    const inside = Object.fromEntries(tallied.map((one) => [one, 0])) as Record<TallyName, number>;
    for (let seed = 1; seed <= 100; seed++) {
      const chosen = selectPages(pages, Math.floor(pages / 4), randomFrom(seed));
      const { counts } = await sampleJobs(queue.db, chosen, gauge);
      for (const one of tallied) {
        if (isInside(truth[one], estimateFrom(pages, counts[one], 54))) inside[one] += 1;
      }
    }
    for (const one of tallied)
      assert.ok(inside[one] >= 90, `${one}: ${inside[one]} of 100 intervals contain the number`);
  });
}

function isInside(truth: number, { low, high }: Interval): boolean {
  return low <= truth && truth <= high;
}

test("A sample includes empty pages, and the intervals allow for jobs that the sample missed.", async () => {
  await fill(20_000, "n");
  await queue.sql("delete from worker._private_jobs where id > 500 or attempts >= max_attempts");
  const { pages } = await readGauge(queue.db);
  const { counts } = await sampleJobs(queue.db, selectPages(pages, 60, randomFrom(7)), NO_LOCKS);
  const all = tallied.map((one) => counts[one]);
  const totals = (all[0] ?? []).map((_, page) => sumOfPage(all, page));
  const [row] = await queue.sql<{ n: number }>("select count(*)::int n from worker._private_jobs");
  const { low, high } = estimateFrom(pages, totals, 1);
  assert.ok(
    low <= Number(row?.n) && Number(row?.n) <= high && high < 5_000,
    `the interval is ${low} to ${high}`,
  );
  const none = estimateFrom(pages, counts.failed, 54);
  assert.deepEqual([none.value, none.low], [0, 0]);
  assert.ok(none.high > 100);
});

function sumOfPage(all: readonly (readonly number[])[], page: number): number {
  return all.reduce((sum, counts) => sum + (counts[page] ?? 0), 0);
}

test("A sample that reads every page is exact.", async () => {
  await fill(1_000, "n");
  const gauge = await readGauge(queue.db);
  const { pages } = gauge;
  const truth = await tallies(tallyAll(queue.db, gauge));
  const chosen = selectPages(pages, 10_000);
  const { counts } = await sampleJobs(queue.db, chosen, gauge);
  for (const one of tallied) {
    const value = truth.all.counts[one];
    assert.deepEqual(estimateFrom(pages, counts[one], 54), { value, low: value, high: value });
  }
  const names = new NameTallies();
  names.addSample(await sampleNames(queue.db, gauge, chosen));
  assert.deepEqual(names.all.counts, truth.all.counts);
  assert.deepEqual(names.tasks.get(1)?.counts, truth.tasks.get(1)?.counts);
  assert.deepEqual(names.queues.get(3)?.counts, truth.queues.get(3)?.counts);
  assert.deepEqual(names.holders, truth.holders);
});

test("From the index that workers fetch from, due and future jobs are counted exactly up to a cap. Larger numbers are marked as inexact.", async () => {
  await fill(1_500, "n");
  const gauge = await readGauge(queue.db);
  const { lockedQueueIds } = gauge;
  const states = await countJobs(queue.db);
  const probe = await readProbe(queue.db, gauge.nowMs - 7_200_000, gauge.lockedQueueIds);
  assert.deepEqual(
    [probe.due, probe.isDueExact, probe.ahead, probe.isAheadExact],
    [states.ready, true, states.scheduled, true],
  );
  assert.equal(probe.becameDue, states.ready);
  assert.equal((await readProbe(queue.db, gauge.nowMs, gauge.lockedQueueIds)).becameDue, 0);
  assert.ok(Number(probe.oldestMs) < Date.now() && Number(probe.nextMs) > Date.now());
  const truth = await tallies(tallyAll(queue.db, gauge));
  assert.ok(probe.blocked > 0);
  assert.equal(probe.blocked, truth.all.counts.blocked);
  const due = await readProbeTallies(queue.db, "due", lockedQueueIds);
  const ahead = await readProbeTallies(queue.db, "ahead", lockedQueueIds);
  for (const [one, count] of [...due, ...ahead]) assert.equal(count, truth.all.counts[one], one);

  await fill(6_000, "n");
  const more = await readProbe(queue.db, gauge.nowMs - 7_200_000, gauge.lockedQueueIds);
  assert.deepEqual([more.isDueExact, more.isAheadExact], [false, true]);
  assert.equal(more.becameDue, null);
  assert.ok(more.due >= 3_000);
});

test("The jobs that match a query are counted exactly in a small table. In a large table, the interval usually contains their number.", async () => {
  await fill(8_000, "kind, n");
  const gauge = await readGauge(queue.db);
  const queries = ["is:failed", "task:t3", "queue:q3 -is:failed", "payload.n<5000", "id:7"];
  for (const text of queries) {
    const jobQuery = await compileQuery(queue.db, text);
    let progress = await beginCount(queue.db);
    while (!isDone(progress)) progress = await countOn(queue.db, jobQuery, progress);
    const truth = progress.count;
    assert.ok(truth > 0, text);
    let small = await countQuery(queue.db, jobQuery, gauge);
    // On a busy machine an exact count may exceed its time limit, so that the result is an estimate.
    const untilMs = performance.now() + 15_000;
    while (small.precision !== "exact" && performance.now() < untilMs) {
      small = await countQuery(queue.db, jobQuery, gauge);
    }
    assert.deepEqual([small.precision, small.value], ["exact", truth], text);
    let inside = 0;
    for (let seed = 1; seed <= 20; seed++) {
      const options = { smallPages: 0, sampledPages: 100, random: randomFrom(seed) };
      // After a slow sample, the next sample with the same schema object is smaller. `queue.db` returns a new schema
      // object each time, so each sample has its full size.
      const client = { query: queue.pool.query.bind(queue.pool) } as typeof queue.db.client;
      const value = await countQuery({ ...queue.db, client }, jobQuery, gauge, options);
      if (contains(value, truth)) inside += 1;
    }
    assert.ok(inside >= 18, `${text}: ${inside} of 20 intervals contain the number`);
  }
});

test("An exact count skips a gap of ids of any width.", async () => {
  await fill(3_000, "kind, n");
  await queue.sql(`insert into worker._private_jobs (id, task_id, attempts, max_attempts, last_error, payload)
    overriding system value
    select id + 9000000000000000000, task_id, attempts, max_attempts, last_error, payload from worker._private_jobs`);
  for (const [text, expected] of [
    ["is:failed", 1_200],
    ["payload.n<5000", 6_000],
  ] as const) {
    const jobQuery = await compileQuery(queue.db, text);
    let progress = await beginCount(queue.db);
    for (let answers = 0; !isDone(progress); answers++) {
      progress = await countOn(queue.db, jobQuery, progress, true);
      assert.ok(
        answers < 50,
        `${text}: after more than 50 statements, the count has reached only id ${progress.afterId}`,
      );
    }
    assert.equal(progress.count, expected, text);
  }
});

function contains({ value, precision, low, high }: Value, truth: number): boolean {
  if (precision === "exact") return value === truth;
  return Number(low) <= truth && truth <= (high ?? Number.POSITIVE_INFINITY);
}
