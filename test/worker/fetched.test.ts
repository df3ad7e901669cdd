// What a worker has fetched and not started: how much that is, and that it goes back soon.
import assert from "node:assert/strict";
import { test } from "node:test";
import { latch, recording, until, workerQueue } from "./worker-queue.ts";

const queue = workerQueue();
const HOUR_MS = 3_600_000;

const REPORTS =
  "select from worker._private_workers where metadata -> 'running_job_ids' is not null";

/** Ids of jobs that are locked. */
const locked = async () =>
  (await queue.left()).filter(({ locked_by }) => locked_by !== null).map(({ id }) => id);

test("In a queue of slow jobs an urgent one comes next, and one that was removed does not run.", async () => {
  const gates = new Map(["1", "2", "URGENT", "3", "4", "5"].map((name) => [name, latch()]));
  const task = recording<string>("task", (name) => gates.get(name)?.opened);
  const add = (name: string, spec = {}) =>
    queue.utils.addJob("task", name, { queueName: "q", jobKey: `k${name}`, ...spec });
  // With a lease, in whose row the worker reports what it runs: a removal waits for what it has fetched only.
  await queue.started({ tasks: [task], pollIntervalMs: HOUR_MS, recovery: {} });
  await until("the worker reports", async () => (await queue.sql(REPORTS)).length === 1);
  for (const name of ["1", "2", "3", "4", "5"]) await add(name);
  await until("the first runs", () => task.seen.length === 1);
  gates.get("1")?.open();
  await until("the second runs", () => task.seen.length === 2);
  // The first job may have been so quick that the third was fetched with the second: it goes back.
  await until("only the second is locked", async () => (await locked()).length === 1);
  await add("URGENT", { priority: -100 });
  assert.equal((await queue.utils.removeJob("k4")).outcome, "removed");
  for (const [, gate] of gates) gate.open();
  await until("all are done", async () => (await queue.left()).length === 0);
  assert.deepEqual(task.seen, ["1", "2", "URGENT", "3", "5"]);
});

test("The first job of a task in a queue is fetched alone, quick ones then in runs.", async () => {
  // So many that one run at least is measured without a pause of the machine.
  const LAST = 200;
  const gate = latch();
  const quick = recording<number>("quick", (n) => (n === LAST ? gate.opened : undefined));
  const counts: number[] = [];
  await queue.utils.addJobs(
    Array.from({ length: LAST + 1 }, (_, n) => ({
      identifier: "quick",
      payload: n,
      spec: { queueName: "q" },
    })),
  );
  await queue.started({
    tasks: [quick],
    lanes: 1,
    plugins: [
      {
        name: "counts",
        register: (hooks) => hooks.on("job:fetch", ({ count }) => void counts.push(count)),
      },
    ],
  });
  await until("the last runs", () => quick.seen.length === LAST + 1);
  gate.open();
  assert.equal(counts[0], 1);
  assert.ok(Math.max(...counts) > 5, `fetched ${counts}`);
  assert.deepEqual(
    quick.seen,
    Array.from({ length: LAST + 1 }, (_, n) => n),
  );
});

test("What waits behind a job of its run that takes long goes back, and the queue stays locked.", async () => {
  const gate = latch();
  const task = recording<string>("task", (name) => (name === "slow" ? gate.opened : undefined));
  const add = (names: readonly string[]) =>
    queue.utils.addJobs(
      names.map((payload) => ({ identifier: "task", payload, spec: { queueName: "q" } })),
    );
  // So its jobs are known to be quick.
  await add(Array.from({ length: 30 }, () => "quick"));
  await queue.started({ tasks: [task], lanes: 1, pollIntervalMs: HOUR_MS });
  await until("the quick ones are done", async () => (await queue.left()).length === 0);
  task.seen.length = 0;
  const [slow] = await add(["slow", "a", "b", "c"]);
  await until("the slow one runs", () => task.seen.length === 1);
  await until("it alone is locked", async () => (await locked()).length === 1);
  assert.deepEqual(await locked(), [slow?.id]);
  const left = await queue.left();
  assert.deepEqual(left.map(({ attempts }) => attempts).sort(), [0, 0, 0, 1]);
  const [line] = await queue.sql<{ locked_by: string | null }>(
    "select locked_by from worker._private_job_queues where queue_name = 'q'",
  );
  assert.notEqual(line?.locked_by, null);
  const other = recording<string>("task");
  await queue.started({ tasks: [other], pollIntervalMs: 50 });
  gate.open();
  await until("all are done", async () => (await queue.left()).length === 0);
  // In order, whoever ran them.
  assert.deepEqual([...task.seen, ...other.seen].toSorted(), ["a", "b", "c", "slow"]);
});

test("What was fetched ahead for slots that stay taken goes back.", async () => {
  const gate = latch();
  const task = recording<number>("task", (n) => (n < 0 ? gate.opened : undefined));
  await queue.started({ tasks: [task], concurrency: 2, lanes: 1, pollIntervalMs: HOUR_MS });
  const quick = Array.from({ length: 3_000 }, (_, payload) => ({ identifier: "task", payload }));
  await queue.utils.addJobs(quick);
  await until("it is known to be quick", () => task.seen.length > 1_000);
  await queue.utils.addJobs(
    Array.from({ length: 40 }, () => ({ identifier: "task", payload: -1 })),
  );
  await until("all slots are taken", async () => {
    return (await queue.left()).length === 40 && task.seen.filter((n) => n < 0).length === 2;
  });
  await until("only what runs is locked", async () => (await locked()).length === 2);
  assert.deepEqual(
    [...new Set((await queue.left()).map(({ attempts }) => attempts))].sort(),
    [0, 1],
  );
  gate.open();
  await until("all are done", async () => (await queue.left()).length === 0);
});
