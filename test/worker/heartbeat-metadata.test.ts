// The report that a worker's heartbeats write. Its size is bounded, its text stays the same while nothing changes, and
// its rates are not extrapolated.
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { workerReport } from "../../src/insight/read/worker-report.ts";
import { TaskTally, withTallies } from "../../src/worker/execute/task-tally.ts";
import {
  HeartbeatMetadata,
  type WorkerDescription,
} from "../../src/worker/lease/heartbeat-metadata.ts";
import { WorkerRates } from "../../src/worker/lease/rates.ts";
import { defineTask } from "../../src/worker/task/task.ts";
import { migratedDatabase } from "../support/database.ts";

const config = {
  heartbeatIntervalMs: 2_000,
  thresholdMs: 7_000,
  resilientThresholdMs: 60_000,
  sweepIntervalMs: 2_000,
  delayMs: 0,
};

function description(parts: Partial<WorkerDescription> = {}): WorkerDescription {
  const nothing = { running: [], unstarted: [], unsettled: [], pausesApplied: null };
  return { concurrency: 5, tasks: new Map(), cron: [], ...nothing, ...parts };
}

const running = (id: number, startedAtMs: number) => ({
  job: { id: String(id), taskIdentifier: "t" },
  startedAtMs,
});

test("While nothing changes, the text of the report is the same, even if the clock offset changes a little.", () => {
  const metadata = new HeartbeatMetadata(config);
  const now = description({ running: [running(1, performance.now() - 5_000)] });
  const first = metadata.text(now, [], 0);
  assert.equal(metadata.text(now, [], 3.7), first);
  const { current } = workerReport(first);
  const age = Date.now() - Date.parse(current[0]?.since ?? "");
  assert.ok(age >= 4_900 && age < 60_000, `the reported start is ${age} ms ago`);
});

test("Each attempt of a job is reported with the time at which this attempt started.", () => {
  const metadata = new HeartbeatMetadata(config);
  const nowMs = performance.now();
  const starts = [nowMs - 60_000, nowMs - 1_000].map((startedAtMs) => {
    const text = metadata.text(description({ running: [running(1, startedAtMs)] }), [], 0);
    return Date.parse(workerReport(text).current[0]?.since ?? "");
  });
  assert.ok(
    Math.abs((starts[1] ?? 0) - (starts[0] ?? 0) - 59_000) < 1_000,
    `the reported starts of the attempts are ${starts}`,
  );
});

test("The start of a running job is reported by the database's clock.", () => {
  const text = new HeartbeatMetadata(config).text(
    description({ running: [running(1, performance.now())] }),
    [],
    3_600_000,
  );
  const age = Date.now() - Date.parse(workerReport(text).current[0]?.since ?? "");
  assert.ok(
    age >= 3_590_000 && age < 3_660_000,
    `the reported start is ${age} ms before the local time`,
  );
});

test("A report with more tasks and jobs than it can list is marked as incomplete.", () => {
  const names = Array.from({ length: 1_001 }, (_, n) => `task ${n}`);
  const tasks = withTallies(new Map(names.map((name) => [name, defineTask(name, () => {})])));
  const jobs = Array.from({ length: 1_500 }, (_, n) => running(n + 1, n));
  const report = workerReport(
    new HeartbeatMetadata(config).text(description({ tasks, running: jobs }), [], 0),
  );
  assert.deepEqual([report.tasks.length, report.hasAllTasks], [1_000, false]);
  assert.deepEqual([report.running, report.current.length], [1_500, 100]);
  assert.equal(report.current[0]?.id, "1", "the longest running job is first");
});

test("The largest report does not exceed the table's size limit, and still lists some tasks.", async (context) => {
  const { url } = await migratedDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  context.after(() => client.end());
  const stored = async (text: string) => {
    const { rows } = await client.query(
      `insert into worker._private_workers (id, last_heartbeat_at, metadata)
       values ('w', now(), $1::jsonb || '{"steady_since_ms": 1795666666123.4567}') on conflict (id) do
       update set metadata = excluded.metadata || '{"recovered_at": "2026-11-26T04:30:00.123456+00:00"}'
       returning octet_length(metadata::text) as bytes`,
      [text],
    );
    return rows[0].bytes as number;
  };
  for (const letter of ["t", ",", "é", "\u{1f600}", "\u0001", '"']) {
    const name = (n: number) => `${n} ${letter.repeat(1_000 / letter.length)}`;
    const ids = Array.from({ length: 1_000 }, (_, n) => String(2n ** 63n - 1n - BigInt(n)));
    const tasks = new Map(
      ids.map((_, n) => {
        const tally = Object.assign(new TaskTally(), { done: n, failed: 1, skipped: 2 });
        return [name(n), { tally }] as const;
      }),
    );
    const cron = ids.map((_, n) => ({
      entry: {
        ...{ identifier: name(n), taskIdentifier: name(n), expression: "* * * * *" },
        ...{ fillMs: 1_000, jobKey: name(n), payload: {} },
      },
      nextMs: 1,
    }));
    const running = ids.map((id, n) => ({ job: { id, taskIdentifier: name(n) }, startedAtMs: n }));
    const unsettled = ids.map((id) => ({
      id,
      error: `x${letter.repeat(100_000)}`,
      isLocked: false,
    }));
    const metadata = new HeartbeatMetadata(config);
    const text = metadata.text(description({ tasks, cron, running, unsettled }), ids, 0);
    const first = await stored(text);
    const bytes = Math.max(first, await stored(text));
    assert.ok(
      bytes > 100_000 && bytes <= 262_144,
      `the report with the letter ${letter} has ${bytes} bytes`,
    );
    const json = JSON.parse(text);
    assert.deepEqual([json.running_job_ids.length, json.fetched_job_ids.length], [1_000, 1_000]);
    assert.equal(json.unsettled.length, 20);
    const report = workerReport(text);
    assert.equal(report.hasAllTasks, false);
    assert.ok(report.tasks.length > 0, letter);
  }
});

test("A report has the numbers of done jobs and failed attempts: for all tasks together, and for each of the busiest tasks.", () => {
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

test("A rate counts the jobs of the last minute, and is not extrapolated in a worker's first minute.", () => {
  const rates = new WorkerRates();
  assert.deepEqual(rates.perMinute({ atMs: 0, done: 0, failed: 0 }), { done: 0, failed: 0 });
  assert.deepEqual(rates.perMinute({ atMs: 2_000, done: 0, failed: 1 }), { done: 0, failed: 1 });
  assert.deepEqual(rates.perMinute({ atMs: 30_000, done: 50, failed: 1 }), { done: 50, failed: 1 });
  for (let atMs = 34_000; atMs <= 90_000; atMs += 4_000) {
    rates.perMinute({ atMs, done: 50, failed: 1 });
  }
  assert.deepEqual(rates.perMinute({ atMs: 94_000, done: 50, failed: 1 }), { done: 0, failed: 0 });
});

test("Reading a worker's report does not fail, whatever the report contains.", () => {
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
