// Tests named queues under a limit (managed queues) together with a killed worker, a Graphile worker, limits of tasks,
// queues without a limit, and a queue that cannot become managed while another worker has locked it.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Logger, run } from "graphile-worker";
import { defineTask } from "../../src/worker/task/task.ts";
import { migratedDatabase } from "../support/database.ts";
import { QUICK, workerProcess } from "./worker-process.ts";
import { latch, recordingTask, waitFor, waitUntil, workerQueue } from "./worker-queue.ts";

const queue = workerQueue(() => migratedDatabase("worker", ["limits"]));
beforeEach(() =>
  queue.sql(`truncate worker._private_limits, worker._private_queue_slots, worker._private_rates,
    worker._private_pauses, worker._private_back_offs restart identity cascade`),
);

const holders = async () =>
  (
    await queue.sql<{ locked_by: string | null }>(
      "select locked_by from worker._private_queue_slots order by locked_by",
    )
  ).map(({ locked_by }) => locked_by);

const isEmpty = async () => (await queue.remaining()).length === 0;

test("After a worker was killed, its slots in a managed queue become free again, and its jobs run.", async () => {
  await queue.utils.setLimit({ name: "l", queue: "q", concurrency: 2 });
  await queue.utils.addJobs(
    Array.from({ length: 2 }, () => ({ identifier: "held", spec: { queueName: "q" } })),
  );
  const first = await workerProcess(queue.url);
  await waitUntil("both slots are taken", async () => {
    const found = await holders();
    return found.length === 2 && !found.includes(null);
  });
  first.signal("SIGKILL");
  const second = await workerProcess(queue.url);
  await second.event("started");
  second.release();
  await waitUntil("all jobs are done", isEmpty);
  await waitUntil("the queue's slots are free", async () =>
    (await holders()).every((one) => one === null),
  );
  await second.stop();
});

test("A job that waits for a token of its task holds no slot of its queue.", async () => {
  await queue.utils.setLimit({ name: "tenants", queue: "t/*", concurrency: 3 });
  const rate = { limit: 10, perMs: 1_000, burst: 1 };
  await queue.utils.setLimit({ name: "rate", task: "rated", rate });
  const rated = recordingTask("rated");
  const other = recordingTask("other");
  const jobs = Array.from({ length: 400 }, (_, n) => ({
    identifier: "rated",
    spec: { queueName: `t/${n % 20}` },
  }));
  await queue.utils.addJobs([...jobs, { identifier: "other", spec: { queueName: "t/0" } }]);
  for (let n = 0; n < 2; n++) await queue.startWorker({ tasks: [rated, other], concurrency: 20 });
  await waitUntil(
    "a job of another task in one of the queues has run",
    () => other.seen.length > 0,
  );
  let most = 0;
  await waitUntil("30 jobs of the task with a rate have run", async () => {
    most = Math.max(most, (await holders()).filter((one) => one !== null).length);
    return rated.seen.length >= 30;
  });
  assert.ok(most <= 4, `${most} slots were held`);
});

test("A drain ends even if a queue cannot become managed because another worker has locked the queue.", async () => {
  await queue.utils.setLimit({ name: "l", queue: "*", concurrency: 1 });
  const task = recordingTask("task");
  await queue.utils.addJobs(
    ["locked", "free"].map((queueName) => ({ identifier: "task", spec: { queueName } })),
  );
  const lock =
    "update worker._private_job_queues set locked_by = $1, locked_at = now() where queue_name = 'locked'";
  await queue.sql(lock, ["graphile"]);
  const worker = queue.worker({ tasks: [task] });
  await waitFor("the drain ends", worker.drain());
  assert.deepEqual(
    (await queue.remaining()).map((job) => job.queue),
    ["locked"],
  );
});

test("A Graphile worker runs no job of a managed queue.", async () => {
  await queue.utils.setLimit({ name: "l", queue: "q", concurrency: 1 });
  await queue.utils.addJob("mine", { n: 0 }, { queueName: "q" });
  const hold = latch();
  const mine = recordingTask("mine", () => hold.opened);
  await queue.startWorker({ tasks: [mine] });
  await waitUntil("the job of the managed queue runs", () => mine.seen.length === 1);
  const stock: unknown[] = [];
  const runner = await run({
    ...{ connectionString: queue.url, schema: "worker", pollInterval: 50, noHandleSignals: true },
    logger: new Logger(() => () => {}),
    taskList: { mine: async (payload) => void stock.push(payload) },
  });
  await queue.utils.addJobs(
    Array.from({ length: 5 }, (_, n) => ({
      identifier: "mine",
      payload: { n: n + 1 },
      spec: { queueName: "q", priority: -1 },
    })),
  );
  await queue.utils.addJob("mine", { n: "free" }, { queueName: "other" });
  await waitUntil("the job of the other queue has run", () => stock.length + mine.seen.length >= 2);
  await runner.stop();
  assert.deepEqual(
    stock.filter((one) => (one as { n: unknown }).n !== "free"),
    [],
  );
  hold.open();
  await waitUntil("all jobs are done", isEmpty);
});

test("A job of a managed queue needs a permit, too, if the task of the job has a limit.", async () => {
  await queue.utils.setLimit({ name: "queues", queue: "*", concurrency: 5 });
  await queue.utils.setLimit({ name: "task", task: "few", concurrency: 2 });
  let running = 0;
  let most = 0;
  const few = defineTask("few", async () => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 5));
    running--;
  });
  const many = recordingTask("many");
  const specs = ["few", "many"].flatMap((identifier) =>
    Array.from({ length: 30 }, (_, n) => ({ identifier, spec: { queueName: `q${n % 3}` } })),
  );
  await queue.utils.addJobs(specs);
  await queue.startWorker({ tasks: [few, many], concurrency: 10, recovery: QUICK });
  await waitUntil("all jobs are done", isEmpty);
  assert.equal(many.seen.length, 30);
  assert.equal(most, 2);
});

test("Beside a managed queue, a queue without a limit is locked and unlocked as usual.", async () => {
  await queue.utils.setLimit({ name: "l", queue: "limited", concurrency: 2 });
  const task = recordingTask("task");
  await queue.utils.addJobs(
    Array.from({ length: 40 }, (_, n) => ({
      identifier: "task",
      payload: { n },
      spec: { queueName: n % 2 === 0 ? "limited" : "plain" },
    })),
  );
  await queue.startWorker({ tasks: [task], concurrency: 5 });
  await waitUntil("all jobs are done", isEmpty);
  assert.deepEqual(
    await queue.sql("select queue_name, locked_by from worker._private_job_queues order by 1"),
    [
      { queue_name: "limited", locked_by: "managed:2" },
      { queue_name: "plain", locked_by: null },
    ],
  );
});
