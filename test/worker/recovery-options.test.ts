// Tests the defaults of the option `recovery`, and the checks of its values.
import assert from "node:assert/strict";
import { test } from "node:test";
import { InputError } from "../../src/base/errors.ts";
import { resolveWorkerOptions } from "../../src/worker/options/worker-options.ts";
import { defineTask } from "../../src/worker/task/task.ts";

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

test("Recovery is on by default: a worker sends a heartbeat every 2 s, and is stale 7 s after its last one.", () => {
  const { recovery, resetLocksIntervalMs, staleLockThresholdMs } = resolveWorkerOptions(base);
  assert.deepEqual(recovery, {
    heartbeatIntervalMs: 2_000,
    thresholdMs: 7_000,
    resilientThresholdMs: 60_000,
    sweepIntervalMs: 2_000,
    delayMs: 0,
  });
  assert.equal(resetLocksIntervalMs, 540_000);
  assert.equal(staleLockThresholdMs, 4 * 3_600_000);
  assert.equal(resolveWorkerOptions({ ...base, recovery: false }).recovery, null);
});

test("Durations that contradict each other are reported all at once.", () => {
  assert.deepEqual(problems({ heartbeatIntervalMs: 5_000, sweepIntervalMs: 1_000 }), [
    "recovery.thresholdMs: must be at least 3 times heartbeatIntervalMs",
    "recovery.sweepIntervalMs: must not be less than heartbeatIntervalMs, because each search for stale workers is sent with a heartbeat",
  ]);
  assert.deepEqual(problems({ resilientThresholdMs: 6_999 }), [
    "recovery.resilientThresholdMs: must not be less than thresholdMs",
  ]);
});

test("An invalid value and a misspelt name are reported with their places.", () => {
  assert.deepEqual(problems({ thresholdMs: 7_000.5 }), [
    "recovery.thresholdMs: must be a whole number",
  ]);
  assert.deepEqual(problems({ tresholdMs: 7_000 }), [
    'recovery.tresholdMs: unknown field, did you mean "thresholdMs"?',
  ]);
  assert.deepEqual(problems(true), ["recovery: must be an object"]);
});
