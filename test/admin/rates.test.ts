// Rates from the database's statistics, and what living workers report of themselves.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createFleet } from "../../src/admin/known/fleet.ts";
import { createRateMeter } from "../../src/admin/known/rates.ts";
import type { Gauge } from "../../src/queue/stats/gauge.ts";
import type { ActiveWorker } from "../../src/queue/workers/list-active-workers.ts";

const gauge = (seconds: number, inserted: number, deleted: number) =>
  ({ nowMs: seconds * 1_000, inserted, deleted }) as Gauge;

test("Rates are those of the last minute, and unknown until there is enough to go by.", () => {
  const meter = createRateMeter();
  meter.note(gauge(0, 1_000, 500));
  assert.deepEqual(meter.perMinute, { added: null, done: null });
  meter.note(gauge(10, 1_010, 505));
  assert.deepEqual(meter.perMinute, { added: 60, done: 30 });
  for (let second = 11; second <= 200; second++) meter.note(gauge(second, 1_010, 505));
  assert.deepEqual(meter.perMinute, { added: 0, done: 0 });
});

test("After the statistics were reset rates begin anew.", () => {
  const meter = createRateMeter();
  meter.note(gauge(0, 1_000, 500));
  meter.note(gauge(10, 2_000, 500));
  meter.note(gauge(11, 0, 0));
  assert.deepEqual(meter.perMinute, { added: null, done: null });
  meter.note(gauge(21, 10, 0));
  assert.deepEqual(meter.perMinute, { added: 60, done: 0 });
});

test("A fleet's numbers are known when every living worker reports them.", () => {
  const worker = (id: string, metadataText: string | null, isStale = false) =>
    ({ workerId: id, metadataText, isStale, lastHeartbeatAtText: "now" }) as ActiveWorker;
  const says = (running: number) =>
    JSON.stringify({ running_jobs: running, done_per_min: 10, failed_per_min: 1 });
  const fleetOf = createFleet();
  assert.deepEqual(fleetOf([]), { running: null, donePerMin: null, failedPerMin: null });
  const living = [worker("a", says(2)), worker("b", says(3)), worker("c", says(99), true)];
  assert.deepEqual(fleetOf(living), { running: 5, donePerMin: 20, failedPerMin: 2 });
  const { running } = fleetOf([...living, worker("d", null)]);
  assert.equal(running, null);
});
