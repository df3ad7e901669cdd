// Tests the pace of an operation: the size of its batches, the pauses between batches, and the time that is left. The
// tests pass the measurements of earlier batches to pauseAfter().
import assert from "node:assert/strict";
import { test } from "node:test";
import { type BatchPace, createPace } from "../../src/commands/operations/pace.ts";

const ids = (count: number) => ({ ids: count, jobs: null });

/** Simulates batches in which every third id matches, with a constant time per job. Returns the last batch's size. */
function work(pace: BatchPace, msPerJob: number, batches: number): number {
  let limit = 0;
  for (let n = 0; n < batches; n++) {
    ({ limit } = pace.step);
    const took = { ms: limit * msPerJob, found: limit, done: limit, walked: limit * 3 };
    pace.pauseAfter({ ...took, oldestReadyMs: null }, ids(1_000_000));
  }
  return limit;
}

test("Fast batches grow to the maximum size, and slow batches shrink until a batch takes about 50 ms.", () => {
  const pace = createPace({ rate: 0, monotonic: () => 0 });
  assert.equal(work(pace, 0.011, 30), 4_000);
  const slow = work(pace, 0.213, 30);
  assert.ok(slow >= 200 && slow <= 270, String(slow));
  assert.equal(work(pace, 0.011, 30), 4_000);
  assert.equal(work(createPace({ rate: null, monotonic: () => 0 }), 0.011, 30), 2_000);
});

test("If few of many ids match, the next batch covers more ids.", () => {
  const pace = createPace({ rate: null, monotonic: () => 0 });
  const { span } = pace.step;
  pace.pauseAfter({ ms: 8, found: 3, done: 3, walked: span, oldestReadyMs: null }, ids(1_000_000));
  assert.ok(pace.step.span > 5 * span);
});

test("Slow batches keep at least 200 jobs and 25,000 ids unless a batch would take more than 2 s.", () => {
  const pace = createPace({ rate: null, monotonic: () => 0 });
  const after = (ms: number, found: number, walked: number) =>
    pace.pauseAfter({ ms, found, done: found, walked, oldestReadyMs: null }, ids(1_000_000));
  for (let n = 0; n < 30; n++) after(900, 0, pace.step.span);
  assert.equal(pace.step.span, 25_000);
  for (let n = 0; n < 30; n++) after(900, pace.step.limit, pace.step.limit);
  assert.deepEqual(pace.step, { limit: 200, span: 25_000 });
  // 200 of the next jobs would take 30 s.
  for (let n = 0; n < 30; n++) after(pace.step.limit * 150, pace.step.limit, pace.step.limit);
  assert.ok(pace.step.limit >= 10 && pace.step.limit <= 20, String(pace.step.limit));
  // tooLong() is called when PostgreSQL has cancelled a batch.
  pace.tooLong();
  for (let n = 0; n < 5; n++) after(400, pace.step.limit, pace.step.limit);
  assert.equal(pace.step.limit, 200);
});

test("A rate is not exceeded, from the first batch on.", () => {
  let now = 0;
  const pace = createPace({ rate: 50, monotonic: () => now });
  const took = { ms: 20, found: 50, done: 50, walked: 50, oldestReadyMs: null };
  now = 20;
  assert.equal(pace.pauseAfter(took, ids(500)), 980);
  assert.deepEqual(pace.speed, { ratePerS: 50, etaS: 10 });
  now = 1_020;
  pace.pauseAfter(took, ids(450));
  assert.deepEqual(pace.speed, { ratePerS: 50, etaS: 9 });
});

test("When no job is left, the time left is 0, even if ids are left.", () => {
  const pace = createPace({ rate: 20, monotonic: () => 1_000 });
  const took = { ms: 20, found: 20, done: 20, walked: 20, oldestReadyMs: null };
  pace.pauseAfter(took, { ids: 2_000_000, jobs: 0 });
  assert.equal(pace.speed.etaS, 0);
});

test("Without a rate the pause after a batch is as long as the batch took; with the rate 0 there is no pause.", () => {
  const took = { ms: 40, found: 500, done: 500, walked: 1_500, oldestReadyMs: null };
  assert.equal(createPace({ rate: null, monotonic: () => 0 }).pauseAfter(took, ids(1)), 40);
  assert.equal(createPace({ rate: 0, monotonic: () => 0 }).pauseAfter(took, ids(1)), 0);
  assert.equal(createPace({ rate: 100, monotonic: () => 0 }).pauseAfter(took, ids(1)), 5_000);
});

test("The time left decreases: it is the number of jobs left divided by the rate, however far apart the ids of the jobs are.", () => {
  let now = 0;
  const pace = createPace({ rate: 20, monotonic: () => now });
  const left: (number | null)[] = [];
  // In the first and the last batch, the ids are adjacent; in the two batches between them, the ids are far apart.
  for (const [n, walked] of [20, 50_000, 900_000, 20].entries()) {
    const took = { ms: 20, found: 20, done: 20, walked, oldestReadyMs: null };
    now = n * 1_000 + 20;
    pace.pauseAfter(took, { ids: 2_000_000, jobs: 600 - (n + 1) * 20 });
    left.push(pace.speed.etaS);
  }
  assert.deepEqual(left, [29, 28, 27, 26]);
});
