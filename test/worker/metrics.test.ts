// The worker's metrics for Prometheus.
import assert from "node:assert/strict";
import { test } from "node:test";
import { defineTask } from "../../src/worker/task/task.ts";
import { latch, recordingTask, waitUntil, workerQueue } from "./worker-queue.ts";

const queue = workerQueue();

/** Returns the values in the text of a worker's metrics. The keys have the form `name{labels}`, as in the text. */
function series(text: string): Map<string, number> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => {
      const space = line.lastIndexOf(" ");
      return [line.slice(0, space), Number(line.slice(space + 1))];
    }),
  );
}

for (const fastLane of [false, true]) {
  const mode = fastLane ? "fast" : "safe";
  test(`A worker in the ${mode} mode counts its jobs by task and result.`, async () => {
    const good = recordingTask("good");
    const bad = defineTask("bad", () => {
      throw new Error("no");
    });
    const release = latch();
    const slow = recordingTask("slow", () => release.opened);
    const worker = queue.worker({ tasks: [good, bad, slow], concurrency: 2, fastLane });
    await worker.metrics(); // starts measuring durations
    await worker.start();
    await queue.utils.addJobs([
      { identifier: "good" },
      { identifier: "good" },
      { identifier: "bad", spec: { maxAttempts: 1 } },
    ]);
    await worker.drain();
    await queue.utils.addJob("slow");
    await waitUntil("the slow job runs", () => slow.seen.length === 1);
    const seen = series(await worker.metrics());
    assert.equal(seen.get('worker_jobs_total{task="good",result="done"}'), 2);
    assert.equal(seen.get('worker_jobs_total{task="bad",result="failed"}'), 1);
    assert.equal(seen.get('worker_jobs_total{task="slow",result="done"}'), 0);
    assert.equal(seen.get("worker_slots"), 2);
    assert.equal(seen.get("worker_running_jobs"), 1);
    assert.equal(seen.get("worker_local_queue_jobs"), 0);
    assert.equal(seen.get('worker_job_duration_seconds_count{task="good"}'), 2);
    assert.equal(seen.get('worker_job_duration_seconds_bucket{task="good",le="+Inf"}'), 2);
    assert.equal(seen.get("worker_fetch_latency_seconds_count"), 4);
    assert.equal(
      seen.has("worker_heartbeat_age_seconds"),
      false,
      "a worker without heartbeats has no metric of their age",
    );
    release.open();
  });
}

test("The wait of a job until its fetch is measured from its creation on, and is finite.", async () => {
  const worker = queue.worker({ tasks: [recordingTask("past")] });
  await worker.metrics();
  await queue.sql("select worker.add_job('past', run_at => now() - interval '1 day')");
  const { id } = await queue.utils.addJob("past");
  await queue.sql(`update worker._private_jobs set run_at = '-infinity' where id = ${id}`);
  await worker.drain();
  const seen = series(await worker.metrics());
  await worker.stop();
  assert.equal(seen.get("worker_fetch_latency_seconds_count"), 2);
  assert.ok((seen.get("worker_fetch_latency_seconds_sum") ?? Number.NaN) < 3_600);
});

test("After the start of a worker with heartbeats, its metrics have the heartbeat's age, even if they were read before the start.", async () => {
  const worker = queue.worker({ tasks: [recordingTask("task")], recovery: {} });
  assert.ok(!series(await worker.metrics()).has("worker_heartbeat_age_seconds"));
  await worker.start();
  assert.ok((series(await worker.metrics()).get("worker_heartbeat_age_seconds") ?? -1) >= 0);
  await worker.stop();
});

test("Two workers of one process have separate registries, and the number of series for a worker's tasks is limited.", async () => {
  const many = Array.from({ length: 500 }, (_, n) => defineTask(`t${n}`, () => {}));
  const [one, other] = [
    queue.worker({ tasks: many, recovery: {} }),
    queue.worker({ tasks: [defineTask("only", () => {})] }),
  ];
  await one.start();
  await queue.utils.addJob("t499");
  await one.drain();
  const text = await one.metrics();
  const seen = series(text);
  assert.equal(seen.get('worker_jobs_total{task="(others)",result="done"}'), 1);
  const tasks = [...seen.keys()].filter((key) => key.includes('result="done"'));
  assert.equal(tasks.length, 200);
  assert.ok((seen.get("worker_heartbeat_age_seconds") ?? -1) >= 0);
  assert.match(text, /^# TYPE worker_job_duration_seconds histogram$/m);
  const [only] = [...series(await other.metrics()).keys()];
  assert.equal(only, 'worker_jobs_total{task="only",result="done"}');
});
