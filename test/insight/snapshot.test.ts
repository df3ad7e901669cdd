// Tests the numbers of a snapshot that may be unknown or inexact: rates, totals from the reports of workers, and counts
// from an earlier census or a sample.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ActiveWorker } from "../../src/insight/read/list-active-workers.ts";
import { fleetOf } from "../../src/insight/snapshot/fleet.ts";
import {
  type ChangesSince,
  censusNames,
  sampledNames,
} from "../../src/insight/snapshot/name-counts.ts";
import { createRateMeter } from "../../src/insight/snapshot/rates.ts";
import type { Gauge } from "../../src/insight/stats/gauge.ts";
import { NameTallies, type TallyRow } from "../../src/insight/stats/name-tallies.ts";
import { inState, type TallyName, tallied } from "../../src/insight/stats/tally.ts";

const gauge = (seconds: number, inserted: number, deleted: number) =>
  ({ nowMs: seconds * 1_000, inserted, deleted }) as Gauge;

test("Rates are those of the last minute. In the first minute there are no rates, only the counts so far.", () => {
  const meter = createRateMeter();
  meter.note(gauge(0, 1_000, 500));
  assert.deepEqual(meter.perMinute, { added: null, done: null });
  meter.note(gauge(2, 1_010, 505));
  assert.deepEqual(meter.perMinute, { added: null, done: null });
  assert.deepEqual(meter.seen, { ms: 2_000, added: 10, done: 5 });
  meter.note(gauge(62, 1_070, 510));
  assert.deepEqual(meter.perMinute, { added: 60, done: 5 });
  for (let second = 63; second <= 200; second++) meter.note(gauge(second, 1_070, 510));
  assert.deepEqual(meter.perMinute, { added: 0, done: 0 });
});

test("After a reset of the statistics, rates are measured anew.", () => {
  const meter = createRateMeter();
  meter.note(gauge(0, 1_000, 500));
  meter.note(gauge(10, 2_000, 500));
  meter.note(gauge(11, 0, 0));
  assert.deepEqual(meter.perMinute, { added: null, done: null });
  meter.note(gauge(71, 10, 0));
  assert.deepEqual(meter.perMinute, { added: 10, done: 0 });
});

test("A total over all live workers exists only if there is a live worker, and each live worker reports the number.", () => {
  const worker = (running: number | null, isStale = false) =>
    ({ running, donePerMin: 9.7, failedPerMin: 1.2, isStale }) as ActiveWorker;
  assert.deepEqual(fleetOf([]), { running: null, donePerMin: null, failedPerMin: null });
  const living = [worker(2), worker(3), worker(99, true)];
  assert.deepEqual(fleetOf(living), { running: 5, donePerMin: 19, failedPerMin: 2 });
  const { running } = fleetOf([...living, worker(null)]);
  assert.equal(running, null);
});

test("A count of a census is exact if it cannot have changed since the census, and otherwise an estimate with bounds.", () => {
  const tallies = new NameTallies();
  const row = (tallied: TallyName, count: number): TallyRow => ({
    kind: "task",
    tallied,
    ...{ keys: '["1"]', counts: `[${count}]`, times: "[null]" },
  });
  tallies.add([row("failed", 10), row("ready", 20), row("blocked", 5), row("scheduled", 30)]);
  const bounds = (since: ChangesSince, which: readonly TallyName[]) => {
    const { value, precision, low, high } = censusNames(tallies, "now", since).value(
      tallies.tasks.get(1),
      which,
    );
    return [value, precision, low, high];
  };
  const still = { writes: 0, becameDue: 0 };
  assert.deepEqual(bounds(still, ["failed"]), [10, "exact", undefined, undefined]);
  assert.deepEqual(bounds(still, inState.ready), [25, "exact", undefined, undefined]);
  // A queue may have been locked or unlocked since, so the number of blocked jobs is an estimate. Its bounds are 0 and
  // 30, so it is rounded to tens: 5 becomes 10.
  assert.deepEqual(bounds(still, ["blocked"]), [10, "estimated", 0, 30]);
  const later = { writes: 0, becameDue: 4 };
  assert.deepEqual(bounds(later, tallied), [65, "exact", undefined, undefined]);
  assert.deepEqual(bounds(later, inState.ready), [25, "estimated", 21, 29]);
  assert.deepEqual(bounds({ writes: 2, becameDue: null }, ["failed"]), [10, "estimated", 8, 12]);
  assert.deepEqual(bounds({ writes: 0, becameDue: null }, inState.scheduled).slice(1), [
    "estimated",
    0,
    60,
  ]);
});

test("In an estimate from a sample, the upper bound for a task's jobs allows for unread pages that are full of jobs of this task.", () => {
  const [sampled, pages, perPage] = [100, 10_000, 50];
  const onPages = Array.from({ length: sampled * perPage }, (_, n) => Math.floor(n / perPage));
  const tallies = new NameTallies();
  tallies.addSample({
    pages: onPages,
    // All jobs of one sampled page have the task 2.
    tasks: onPages.map((page) => (page === 0 ? 2 : 1)),
    queues: onPages.map(() => null),
    tallied: onPages.map(() => "ready"),
    holders: [],
  });
  const names = sampledNames(tallies, "2026-01-01T00:00:00Z", sampled, pages);
  const unseen = names.value(undefined, ["ready"]);
  assert.deepEqual([unseen.value, unseen.low, unseen.high], [0, 0, 3 * 100 * perPage]);
  const rare = names.value(tallies.tasks.get(2), ["ready"]);
  assert.ok(
    (rare.low ?? 0) <= 5_000 && (rare.high ?? 0) >= 20_000,
    `the interval is ${rare.low} to ${rare.high}`,
  );
});
