// The parts of fetching that time decides about, with a clock that is moved by hand.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ClaimedJob } from "../../src/worker/execute/claimed-job.ts";
import { BEGINNING, FetchCursor } from "../../src/worker/fetch/fetch-cursor.ts";
import { PendingFetches } from "../../src/worker/fetch/pending-fetches.ts";
import { Prefetch } from "../../src/worker/fetch/prefetch.ts";
import { manualClock } from "../support/manual-clock.ts";

describe("Pending fetches", () => {
  test("count until they have an answer, however long that takes.", async () => {
    const clock = manualClock();
    let slow = 0;
    const pending = new PendingFetches(clock, () => void slow++);
    const first = pending.sent(10);
    const second = pending.sent(3);
    assert.deepEqual([pending.asked, pending.hasPrompt], [13, true]);
    clock.advance(20);
    // Nobody waits for them before another one is sent, but what they ask for stays asked for.
    assert.deepEqual([slow, pending.asked, pending.hasPrompt], [2, 13, false]);
    clock.advance(3_600_000);
    assert.equal(pending.asked, 13);
    let ended = false;
    const end = pending.ended().then(() => {
      ended = true;
    });
    pending.answered(first);
    assert.deepEqual([pending.asked, pending.isNone, ended], [3, false, false]);
    pending.answered(second);
    await end;
    assert.deepEqual([pending.asked, pending.isNone], [0, true]);
    await pending.ended();
  });

  test("that only flush results keep no fetch waiting.", () => {
    const pending = new PendingFetches(manualClock(), () => {});
    pending.sent(0);
    assert.deepEqual([pending.hasPrompt, pending.isNone], [false, false]);
  });
});

describe("Fetching ahead", () => {
  test("follows the speed of the jobs, and forgets it after a pause.", () => {
    const clock = manualClock();
    const prefetch = new Prefetch(clock);
    assert.equal(prefetch.ahead, 0);
    // 100 jobs a millisecond: 2,500 in the horizon; a burst is believed half.
    prefetch.finished(1_000);
    clock.advance(10);
    prefetch.measure();
    assert.equal(prefetch.ahead, 1_250);
    prefetch.finished(1_000);
    clock.advance(10);
    prefetch.measure();
    assert.equal(prefetch.ahead, 1_875);
    prefetch.finished(1);
    clock.advance(2_000);
    prefetch.measure();
    assert.equal(prefetch.ahead, 0);
  });

  test("begins again with few after a fetch that failed.", () => {
    const clock = manualClock();
    const prefetch = new Prefetch(clock);
    prefetch.finished(1_000);
    clock.advance(10);
    prefetch.measure();
    prefetch.forget();
    assert.equal(prefetch.ahead, 0);
  });
});

describe("The fetch cursor", () => {
  const job = (runAtSeconds: number, isQueued = false) =>
    ({ priority: 3, runAtSeconds, isQueued }) as ClaimedJob;
  const full = (runAtSeconds: number, sentAtMs: number) => ({
    jobs: [job(runAtSeconds)],
    isFull: true,
    hasQueues: false,
    sentAtMs,
  });

  test("stands behind a full fetch for 50 ms, and then looks at everything.", () => {
    const clock = manualClock();
    const cursor = new FetchCursor(clock);
    assert.equal(cursor.position, BEGINNING);
    clock.advance(100);
    cursor.learn(full(1_000, clock.monotonic()));
    assert.equal(cursor.position.priority, 3);
    assert.ok(Number(cursor.position.runAtSeconds) < 1_000);
    clock.advance(50);
    assert.equal(cursor.position.priority, 3);
    clock.advance(1);
    assert.equal(cursor.position, BEGINNING);
  });

  test("is trusted twenty times as long as the walk took, a second at most.", () => {
    for (const [walkMs, trustMs] of [
      [10, 200],
      [500, 1_000],
    ] as const) {
      const clock = manualClock();
      const cursor = new FetchCursor(clock);
      clock.advance(100);
      const sentAtMs = clock.monotonic();
      clock.advance(walkMs);
      cursor.learn(full(1_000, sentAtMs));
      clock.advance(trustMs);
      assert.notEqual(cursor.position, BEGINNING);
      clock.advance(1);
      assert.equal(cursor.position, BEGINNING);
    }
  });

  test("goes back after a short fetch, and when something may have become ready.", () => {
    const clock = manualClock();
    const cursor = new FetchCursor(clock);
    cursor.learn(full(1_000, 0));
    cursor.learn({ ...full(2_000, 0), isFull: false });
    assert.equal(cursor.position, BEGINNING);
    cursor.learn(full(1_000, 0));
    cursor.reset();
    assert.equal(cursor.position, BEGINNING);
  });

  test("does not move past jobs of named queues, which leave others behind them.", () => {
    const cursor = new FetchCursor(manualClock());
    cursor.learn({ ...full(1_000, 0), hasQueues: true });
    cursor.learn({ ...full(1_000, 0), jobs: [job(1_000, true)] });
    assert.equal(cursor.position, BEGINNING);
  });
});
