// Tests fetched jobs: how many there are, when the worker returns (unlocks) them, and which condition they have in
// lists.
import assert from "node:assert/strict";
import { test } from "node:test";
import { listLightJobs } from "../../src/insight/pages/list-jobs.ts";
import { explainJob } from "../../src/insight/why/explain-job.ts";
import { defineTask } from "../../src/worker/task/task.ts";
import { QUICK, workerProcess } from "./worker-process.ts";
import { latch, recordingTask, waitUntil, workerQueue } from "./worker-queue.ts";

const queue = workerQueue();
const HOUR_MS = 3_600_000;

const REPORTS =
  "select from worker._private_workers where metadata -> 'running_job_ids' is not null";

/** A worker reports an unstarted job as fetched only 250 ms after the fetch. */
const IS_OLD = `select clock_timestamp() - locked_at > interval '250 milliseconds' as is_old
  from worker._private_jobs where id = $1`;

const BEAT = "select last_heartbeat_at::text as at from worker._private_workers";

const locked = async () =>
  (await queue.remaining()).filter(({ locked_by }) => locked_by !== null).map(({ id }) => id);

test("In a named queue of slow jobs an urgent job runs next, and a removed job does not run.", async () => {
  const gates = new Map(["1", "2", "URGENT", "3", "4", "5"].map((name) => [name, latch()]));
  const task = recordingTask<string>("task", (name) => gates.get(name)?.opened);
  const add = (name: string, spec = {}) =>
    queue.utils.addJob("task", name, { queueName: "q", jobKey: `k${name}`, ...spec });
  // With `recovery`, the worker reports its running jobs, so removeJob() can distinguish fetched from running jobs.
  await queue.startWorker({ tasks: [task], pollIntervalMs: HOUR_MS, recovery: {} });
  await waitUntil(
    "the worker reports its running jobs",
    async () => (await queue.sql(REPORTS)).length === 1,
  );
  for (const name of ["1", "2", "3", "4", "5"]) await add(name);
  await waitUntil("the first job runs", () => task.seen.length === 1);
  gates.get("1")?.open();
  await waitUntil("the second job runs", () => task.seen.length === 2);
  // If the first job was quick, the third may have been fetched with the second. The worker then returns the third.
  await waitUntil("only the second job is locked", async () => (await locked()).length === 1);
  await add("URGENT", { priority: -100 });
  assert.equal((await queue.utils.removeJob("k4")).outcome, "removed");
  for (const [, gate] of gates) gate.open();
  await waitUntil("all jobs are done", async () => (await queue.remaining()).length === 0);
  assert.deepEqual(task.seen, ["1", "2", "URGENT", "3", "5"]);
});

test("The first job of a task in a named queue is fetched alone. If jobs are quick, the next ones are fetched in runs.", async () => {
  // On a busy machine, fewer jobs are fetched together. With 200 jobs, some fetch still gets more than 5.
  const LAST = 200;
  const gate = latch();
  const quick = recordingTask<number>("quick", (n) => (n === LAST ? gate.opened : undefined));
  const counts: number[] = [];
  await queue.utils.addJobs(
    Array.from({ length: LAST + 1 }, (_, n) => ({
      identifier: "quick",
      payload: n,
      spec: { queueName: "q" },
    })),
  );
  await queue.startWorker({
    tasks: [quick],
    connections: 1,
    plugins: [
      {
        name: "counts",
        register: (hooks) => hooks.on("job:fetch", ({ count }) => void counts.push(count)),
      },
    ],
  });
  await waitUntil("the last job runs", () => quick.seen.length === LAST + 1);
  gate.open();
  assert.equal(counts[0], 1);
  assert.ok(Math.max(...counts) > 5, `the numbers of jobs in the fetches are ${counts}`);
  assert.deepEqual(
    quick.seen,
    Array.from({ length: LAST + 1 }, (_, n) => n),
  );
});

test("Jobs behind a slow job of their run are returned, and the queue stays locked.", async () => {
  const gate = latch();
  const task = recordingTask<string>("task", (name) => (name === "slow" ? gate.opened : undefined));
  const add = (names: readonly string[]) =>
    queue.utils.addJobs(
      names.map((payload) => ({ identifier: "task", payload, spec: { queueName: "q" } })),
    );
  // After quick jobs, the worker fetches several jobs of the queue together.
  await add(Array.from({ length: 30 }, () => "quick"));
  await queue.startWorker({ tasks: [task], connections: 1, pollIntervalMs: HOUR_MS });
  await waitUntil("the quick jobs are done", async () => (await queue.remaining()).length === 0);
  task.seen.length = 0;
  const [slow] = await add(["slow", "a", "b", "c"]);
  await waitUntil("the slow job runs", () => task.seen.length === 1);
  await waitUntil("only the slow job is locked", async () => (await locked()).length === 1);
  assert.deepEqual(await locked(), [slow?.id]);
  const left = await queue.remaining();
  assert.deepEqual(left.map(({ attempts }) => attempts).sort(), [0, 0, 0, 1]);
  const [line] = await queue.sql<{ locked_by: string | null }>(
    "select locked_by from worker._private_job_queues where queue_name = 'q'",
  );
  assert.notEqual(line?.locked_by, null);
  await queue.startWorker({ tasks: [task], pollIntervalMs: 50 });
  gate.open();
  await waitUntil("all jobs are done", async () => (await queue.remaining()).length === 0);
  assert.deepEqual(task.seen, ["slow", "a", "b", "c"]);
});

test("Jobs fetched ahead for slots that stay busy are returned within a second.", async () => {
  const gate = latch();
  const task = recordingTask<number>("task", (n) => (n < 0 ? gate.opened : undefined));
  await queue.startWorker({
    tasks: [task],
    concurrency: 2,
    connections: 1,
    pollIntervalMs: HOUR_MS,
  });
  const quick = Array.from({ length: 3_000 }, (_, payload) => ({ identifier: "task", payload }));
  await queue.utils.addJobs(quick);
  await waitUntil("more than 1,000 quick jobs have run", () => task.seen.length > 1_000);
  await queue.utils.addJobs(
    Array.from({ length: 40 }, () => ({ identifier: "task", payload: -1 })),
  );
  await waitUntil("all slots are taken", async () => {
    return (await queue.remaining()).length === 40 && task.seen.filter((n) => n < 0).length === 2;
  });
  await waitUntil("only running jobs are locked", async () => (await locked()).length === 2, 1_000);
  assert.deepEqual(
    [...new Set((await queue.remaining()).map(({ attempts }) => attempts))].sort(),
    [0, 1],
  );
  gate.open();
  await waitUntil("all jobs are done", async () => (await queue.remaining()).length === 0);
});

test("Jobs behind a long job of a fast lane are unlocked long before the lane's time limit.", async () => {
  const gate = latch();
  const task = recordingTask<number>("task", (n) => (n < 0 ? gate.opened : undefined));
  const lane = { concurrency: 1, connections: 1, fastLane: { limitMs: 5_000 } };
  await queue.startWorker({ tasks: [task], ...lane, pollIntervalMs: HOUR_MS });
  // The priorities put the jobs in this order: 2,000 quick jobs, the long job, 50 more jobs.
  const jobs = (payload: number, count: number) =>
    Array.from({ length: count }, () => ({
      ...{ identifier: "task", payload },
      spec: { priority: payload === 1 ? 0 : payload + 10 },
    }));
  await queue.utils.addJobs([...jobs(1, 2_000), ...jobs(-1, 1), ...jobs(2, 50)]);
  await waitUntil("the long job runs", () => task.seen.includes(-1));
  const free = async () =>
    await queue.sql(
      "select from worker._private_jobs where locked_by is null for update skip locked",
    );
  await waitUntil("only the long job is locked", async () => (await free()).length === 50, 1_500);
  gate.open();
  await waitUntil("all jobs are done", async () => (await queue.remaining()).length === 0);
});

test("While a job blocks its worker's event loop, the job never counts as fetched.", async () => {
  const worker = await workerProcess(queue.url, { concurrency: 1 });
  await queue.utils.addJobs(Array.from({ length: 2_000 }, () => ({ identifier: "quick" })));
  await waitUntil("all quick jobs are done", async () => (await queue.remaining()).length === 0);
  const [blocking] = await queue.utils.addJobs([
    { identifier: "blocking", payload: { ms: 4_000 }, spec: { priority: -1 } },
    ...Array.from({ length: 20 }, () => ({ identifier: "quick" })),
  ]);
  const id = blocking?.id ?? "";
  await worker.event("started", (event) => event["id"] === id);
  const beats = async () => (await queue.sql<{ at: string }>(BEAT))[0]?.at;
  const first = await beats();
  let reads = 0;
  // Until the job has ended, the worker's heartbeat thread sends heartbeats.
  for (;;) {
    const { jobs } = await listLightJobs(queue.db);
    const own = jobs.find((job) => job.id === id);
    if (own === undefined) break;
    reads++;
    assert.equal(own.condition, "running");
    const why = await explainJob(queue.db, id);
    assert.ok(why === null || why.condition !== "fetched");
  }
  assert.ok(
    reads > 5 && first !== (await beats()),
    `${reads} reads of the job are too few, or the worker sent no heartbeat`,
  );
  await worker.stop();
});

test("A job that was reported as fetched is reported as running once it starts.", async () => {
  // A trigger makes the return of fetched jobs wait until the test releases an advisory lock.
  await queue.sql(`
    create function worker.wait_for_test() returns trigger language plpgsql as
      'begin perform pg_advisory_xact_lock_shared(4711); return new; end';
    create trigger wait_for_test before update on worker._private_jobs for each row
      when (old.locked_by is not null and new.locked_by is null and new.locked_at is null)
      execute function worker.wait_for_test()`);
  const gates = { first: latch(), second: latch() };
  const task = recordingTask<string>("task", (name) => gates[name as "first"]?.opened);
  const recovery = { heartbeatIntervalMs: 1_000, thresholdMs: 20_000 };
  await queue.startWorker({ tasks: [task], concurrency: 1, connections: 2, recovery });
  await queue.utils.addJobs(
    Array.from({ length: 2_000 }, () => ({ identifier: "task", payload: "" })),
  );
  await waitUntil("all quick jobs are done", async () => (await queue.remaining()).length === 0);
  const holder = await queue.pool.connect();
  try {
    await holder.query("select pg_advisory_lock(4711)");
    const [, second] = await queue.utils.addJobs([
      { identifier: "task", payload: "first" },
      { identifier: "task", payload: "second" },
    ]);
    const condition = async () =>
      (await listLightJobs(queue.db)).jobs.find(({ id }) => id === second?.id)?.condition;
    await waitUntil(
      "the second job is reported as fetched",
      async () => (await condition()) === "fetched",
    );
    await holder.query("select pg_advisory_unlock(4711)");
    gates.first.open();
    await waitUntil("the second job runs", () => task.seen.includes("second"));
    await waitUntil(
      "the second job is reported as running",
      async () => (await condition()) === "running",
      900,
    );
  } finally {
    holder.release();
    gates.first.open();
    gates.second.open();
    await queue.sql("drop function worker.wait_for_test cascade");
  }
});

test("A started job is shown as running from its first moment on.", async () => {
  const conditions: (string | undefined)[] = [];
  const look = async (id: string) => {
    const { jobs } = await listLightJobs(queue.db, { q: `id:${id}` });
    conditions.push(jobs[0]?.condition);
  };
  const task = defineTask<number>("look", async (_, { job }) => {
    for (let isOld = false; !isOld; ) {
      await look(job.id);
      isOld = (await queue.sql<{ is_old: boolean }>(IS_OLD, [job.id]))[0]?.is_old ?? true;
    }
  });
  await queue.startWorker({ tasks: [task], concurrency: 4, recovery: QUICK });
  await queue.utils.addJobs(
    Array.from({ length: 24 }, (_, n) => ({
      identifier: "look",
      payload: n,
      spec: n % 2 === 0 ? { queueName: "q" } : {},
    })),
  );
  await waitUntil("all jobs are done", async () => (await queue.remaining()).length === 0, 60_000);
  assert.ok(
    conditions.length > 24,
    `the jobs' conditions were read only ${conditions.length} times`,
  );
  assert.deepEqual([...new Set(conditions)], ["running"]);
});
