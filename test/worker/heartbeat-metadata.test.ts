// What a worker says about itself: bounded, the same text as long as nothing changes, honest rates.
import assert from "node:assert/strict";
import { test } from "node:test";
import { workerReport } from "../../src/queue/workers/worker-report.ts";
import { TaskTally, tallied } from "../../src/worker/execute/task-tally.ts";
import {
  HeartbeatMetadata,
  type WorkerDescription,
} from "../../src/worker/lease/heartbeat-metadata.ts";
import { Rates } from "../../src/worker/lease/rates.ts";
import { defineTask } from "../../src/worker/task/task.ts";

const config = {
  heartbeatIntervalMs: 2_000,
  thresholdMs: 7_000,
  resilientThresholdMs: 60_000,
  sweepIntervalMs: 2_000,
  delayMs: 0,
};

function description(parts: Partial<WorkerDescription> = {}): WorkerDescription {
  const nothing = { running: [], unstarted: [], unsettled: [] };
  return { concurrency: 5, tasks: new Map(), cron: [], ...nothing, ...parts };
}

const running = (id: number, startedAtMs: number) => ({
  job: { id: String(id), taskIdentifier: "t" },
  startedAtMs,
});

test("As long as nothing changes, the text is the same, also when clocks are not.", () => {
  const metadata = new HeartbeatMetadata(config);
  const now = description({ running: [running(1, performance.now() - 5_000)] });
  const first = metadata.text(now, [], 0);
  assert.equal(metadata.text(now, [], 3.7), first);
  const { current } = workerReport(first);
  const age = Date.now() - Date.parse(current[0]?.since ?? "");
  assert.ok(age >= 4_900 && age < 60_000, `${age}`);
});

test("The start of a running job is told by the database's clock.", () => {
  const text = new HeartbeatMetadata(config).text(
    description({ running: [running(1, performance.now())] }),
    [],
    3_600_000,
  );
  const age = Date.now() - Date.parse(workerReport(text).current[0]?.since ?? "");
  assert.ok(age >= 3_590_000 && age < 3_660_000, `${age}`);
});

test("A worker with more tasks and jobs than it can list says so.", () => {
  const names = Array.from({ length: 1_001 }, (_, n) => `task ${n}`);
  const tasks = tallied(new Map(names.map((name) => [name, defineTask(name, () => {})])));
  const jobs = Array.from({ length: 1_500 }, (_, n) => running(n + 1, n));
  const report = workerReport(
    new HeartbeatMetadata(config).text(description({ tasks, running: jobs }), [], 0),
  );
  assert.deepEqual([report.tasks.length, report.hasAllTasks], [1_000, false]);
  assert.deepEqual([report.running, report.current.length], [1_500, 100]);
  assert.equal(report.current[0]?.id, "1", "what runs longest stands first");
});

test("Jobs are counted in all, and by the busiest tasks.", () => {
  const tasks = new Map(
    Array.from({ length: 30 }, (_, n) => {
      const tally = Object.assign(new TaskTally(), { done: n, failed: 1, skipped: 2 });
      return [`t${n}`, { tally }] as const;
    }),
  );
  const report = workerReport(new HeartbeatMetadata(config).text(description({ tasks }), [], 0));
  assert.deepEqual([report.done, report.failed], [435 + 60, 30]);
  assert.equal(report.byTask.length, 20);
  assert.deepEqual(report.byTask[0], { task: "t29", done: 31, failed: 1 });
});

test("A rate is of the last minute, and 0 a minute after the last job.", () => {
  const rates = new Rates();
  assert.deepEqual(rates.perMinute({ atMs: 0, done: 0, failed: 0 }), { done: 0, failed: 0 });
  assert.deepEqual(rates.perMinute({ atMs: 30_000, done: 50, failed: 1 }), {
    done: 100,
    failed: 2,
  });
  for (let atMs = 34_000; atMs <= 90_000; atMs += 4_000) {
    rates.perMinute({ atMs, done: 50, failed: 1 });
  }
  assert.deepEqual(rates.perMinute({ atMs: 94_000, done: 50, failed: 1 }), { done: 0, failed: 0 });
});

test("Whatever stands in a row that others wrote, reading it is safe.", () => {
  const nothing = workerReport(null);
  for (const text of ["", "null", "[]", "7", '"x"', "{", '{"task_identifiers":7,"running":[1]}']) {
    assert.deepEqual(workerReport(text), nothing, text);
  }
  assert.equal(nothing.hasAllTasks, false);
  const odd = workerReport(
    '{"running":[{"id":"1; drop","task":"t","since":"now"},{"id":"5","task":"t","since":"2026-01-01T00:00:00Z"}],"done":-1,"host":{}}',
  );
  assert.deepEqual(odd.current, [{ id: "5", task: "t", since: "2026-01-01T00:00:00Z" }]);
  assert.deepEqual([odd.done, odd.host], [null, null]);
});
