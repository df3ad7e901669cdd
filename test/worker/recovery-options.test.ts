// What may be said about recovery, and how it is refused.
import assert from "node:assert/strict";
import { test } from "node:test";
import { InputError } from "../../src/base/errors.ts";
import { Continuity } from "../../src/worker/continuity.ts";
import { defineTask } from "../../src/worker/task.ts";
import { resolveWorkerOptions } from "../../src/worker/worker-options.ts";

const base = { tasks: [defineTask("task", () => {})], connectionString: "postgres://localhost/db" };

function problems(recovery: unknown): string[] {
  try {
    resolveWorkerOptions({ ...base, recovery: recovery as false });
    return [];
  } catch (error) {
    assert.ok(error instanceof InputError);
    return error.problems.map(({ path, message }) => `${path}: ${message}`);
  }
}

test("Recovery is on by default: heartbeats every 2 s, dead after 7 s.", () => {
  const { recovery, resetLocksInterval_ms } = resolveWorkerOptions(base);
  assert.deepEqual(recovery, {
    heartbeatInterval_ms: 2_000,
    threshold_ms: 7_000,
    resilientThreshold_ms: 60_000,
    sweepInterval_ms: 2_000,
    delay_ms: 0,
  });
  assert.equal(resetLocksInterval_ms, 540_000);
  assert.equal(resolveWorkerOptions({ ...base, recovery: false }).recovery, null);
});

test("Durations that do not fit each other are refused, all at once.", () => {
  assert.deepEqual(problems({ heartbeatInterval_ms: 5_000, sweepInterval_ms: 1_000 }), [
    "recovery.threshold_ms: must be at least 3 times heartbeatInterval_ms",
    "recovery.sweepInterval_ms: must not be less than heartbeatInterval_ms: dead workers are looked for with a heartbeat",
  ]);
  assert.deepEqual(problems({ resilientThreshold_ms: 6_999 }), [
    "recovery.resilientThreshold_ms: must not be less than threshold_ms",
  ]);
});

test("A wrong value and a misspelt name are told with their place.", () => {
  assert.deepEqual(problems({ threshold_ms: 7_000.5 }), [
    "recovery.threshold_ms: must be a whole number",
  ]);
  assert.deepEqual(problems({ treshold_ms: 7_000 }), [
    'recovery.treshold_ms: unknown field, did you mean "threshold_ms"?',
  ]);
  assert.deepEqual(problems(true), ["recovery: must be an object"]);
});

test("A worker is steady since its last gap, whichever way the clock went.", () => {
  const continuity = new Continuity(4_500);
  assert.equal(continuity.steady_ms, 0);
  for (const at_ms of [10_000, 12_000, 14_000]) continuity.confirm(at_ms);
  assert.equal(continuity.steady_ms, 4_000);
  continuity.confirm(20_000);
  assert.equal(continuity.steady_ms, 0);
  continuity.confirm(22_000);
  assert.equal(continuity.steady_ms, 2_000);
  continuity.confirm(10_000);
  assert.equal(continuity.steady_ms, 0);
  continuity.confirm(12_000);
  continuity.break();
  assert.equal(continuity.steady_ms, 0);
  continuity.confirm(13_000);
  assert.equal(continuity.steady_ms, 0);
});
