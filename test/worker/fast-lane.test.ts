// Tests the fast lane: kept jobs, failed transactions, lost connections, and jobs that the safe mode of the same worker
// runs. A *lane* is one connection of the fast lane.
import assert from "node:assert/strict";
import { performance } from "node:perf_hooks";
import { test } from "node:test";
import pg from "pg";
import { silentLogger } from "../../src/base/logger.ts";
import { defineTask } from "../../src/worker/task/task.ts";
import { tcpProxy } from "../support/tcp-proxy.ts";
import { latch, recordingTask, waitFor, waitUntil, witness, workerQueue } from "./worker-queue.ts";

const queue = workerQueue();
const NEVER_MS = 3_600_000;

const quick = recordingTask("quick");

/** Runs a job, so that at least one connection of the fast lane is open. */
async function warmUp(): Promise<void> {
  await queue.utils.addJob("quick");
  await waitUntil("the job `quick` is done", async () => (await queue.remaining()).length === 0);
}

const keys = async () => (await queue.remaining()).map(({ key }) => key);

const jobOf = async (id: string) => (await queue.remaining()).find((job) => job.id === id);

test("If a kept job fails while a job of a later transaction runs, the attempt of the kept job counts.", async () => {
  const [first, second] = [latch(), latch()];
  const attempts: number[] = [];
  const failing = defineTask("failing", async (_, { job }) => {
    attempts.push(job.attempts);
    await first.opened;
    throw new Error("as expected");
  });
  const long = recordingTask("long", () => {
    first.open();
    return second.opened;
  });
  const watch = witness("job:interrupted");
  await queue.startWorker({
    tasks: [quick, failing, long],
    plugins: [watch],
    connections: 1,
    pollIntervalMs: 20,
    fastLane: { limitMs: 100 },
  });
  await warmUp();
  const { id } = await queue.utils.addJob("failing");
  await waitUntil(
    "the job `failing` is locked by locked_by",
    async () => (await jobOf(id))?.locked_by != null,
  );
  await queue.utils.addJob("long");
  await waitUntil(
    "the failure of the job `failing` is written",
    async () => (await jobOf(id))?.locked_by === null,
  );
  await queue.utils.rescheduleJobs([id], { runAt: new Date(0) });
  await waitUntil(
    "the job `failing` has failed again",
    async () => (await jobOf(id))?.attempts === 2,
  );
  second.open();
  assert.deepEqual(attempts, [1, 2]);
  assert.deepEqual(watch.all("job:interrupted"), []);
});

test("A lane whose transaction has failed begins a new transaction.", async () => {
  const refused: string[] = [];
  const warn = (_: object, message: string) => void refused.push(message);
  const logger = { ...silentLogger, warn };
  await queue.startWorker({ tasks: [quick], logger, pollIntervalMs: 20, fastLane: true });
  await warmUp();
  await queue.sql("alter table worker._private_tasks rename to away");
  await waitUntil("the log reports that the database is unreachable", () =>
    refused.some((line) => line.startsWith("the database is unreachable")),
  );
  await queue.sql("alter table worker.away rename to _private_tasks");
  await warmUp();
});

test("A worker without a free slot does not keep the CPU busy, however many jobs are ready.", async () => {
  const gate = latch();
  const blocking = recordingTask("held", () => gate.opened);
  await queue.startWorker({ tasks: [blocking], concurrency: 2, fastLane: { limitMs: 20 } });
  await queue.utils.addJobs(Array.from({ length: 20 }, () => ({ identifier: "held" })));
  const keptCount = async () =>
    (await queue.remaining()).filter((job) => job.locked_by !== null).length;
  await waitUntil("two jobs are locked by locked_by", async () => (await keptCount()) === 2);
  const before = performance.eventLoopUtilization();
  await queue.sql("select pg_sleep(0.5)");
  const { utilization } = performance.eventLoopUtilization(before);
  assert.ok(utilization < 0.7, `the event loop was busy for ${utilization} of the time`);
  gate.open();
  await waitUntil("all jobs have run", () => blocking.seen.length === 20);
});

test("A job for the safe mode is found even if thousands of jobs for other workers precede it.", async () => {
  const identifiers = ["foreign", "quick"];
  await queue.utils.addJobs(
    Array.from({ length: 4_200 }, (_, n) => ({ identifier: identifiers[n % 2] as string })),
  );
  await queue.sql(`update worker._private_jobs set flags = '{"other": true}' where task_id =
    (select id from worker._private_tasks where identifier = 'quick')`);
  await queue.utils.addJob("keyed", {}, { jobKey: "one" });
  const keyed = recordingTask("keyed");
  await queue.startWorker({
    tasks: [quick, keyed],
    forbiddenFlags: ["other"],
    pollIntervalMs: 20,
    fastLane: true,
  });
  await waitUntil("the job with a key runs", () => keyed.seen.length === 1);
});

test("The result of an attempt whose connection was cut does not end the job's next attempt.", async () => {
  const [first, second] = [latch(), latch()];
  const signals: AbortSignal[] = [];
  const cut = defineTask("cut", async (_, { signal }) => {
    const isFirst = signals.push(signal) === 1;
    await (isFirst ? first : second).opened;
    if (isFirst) throw new Error("too late");
  });
  const watch = witness("job:complete", "job:interrupted");
  await queue.startWorker({
    tasks: [quick, cut],
    plugins: [watch],
    connections: 1,
    pollIntervalMs: 20,
    fastLane: { limitMs: 5_000 },
  });
  await warmUp();
  const { id } = await queue.utils.addJob("cut");
  await waitUntil("the first attempt has started", () => signals.length === 1);
  await queue.sql(`select pg_terminate_backend(pid) from pg_stat_activity
    where state = 'idle in transaction' and datname = current_database()`);
  await waitUntil("the safe mode runs the job again", () => signals.length === 2);
  // The safe mode may fetch the job before the lane notices the cut. If the first attempt ended that early, the result
  // of the attempt would be unknown.
  await waitUntil("the signal of the first attempt is aborted", () => signals[0]?.aborted);
  first.open();
  await watch.saw("job:interrupted");
  assert.notEqual((await jobOf(id))?.locked_by, null);
  second.open();
  const results = () => watch.all("job:complete").filter(({ job }) => job.id === id);
  await waitUntil("the result of the second attempt is reported", () => results().length > 0);
  assert.deepEqual(
    results().map(({ result }) => result),
    ["completed"],
  );
  assert.equal(await jobOf(id), undefined);
});

for (const [what, isCut] of [
  ["whose transaction failed at its time limit", false],
  ["whose connection was cut at the time limit of its transaction", true],
] as const) {
  test(`The result of an attempt ${what} does not end the job's next attempt.`, async (t) => {
    t.after(() => queue.sql("drop function if exists public.at_limit cascade"));
    const [first, second] = [latch(), latch()];
    const attempts: AbortSignal[] = [];
    const long = defineTask("long", async (_, { signal }) => {
      await (attempts.push(signal) === 1 ? first : second).opened;
    });
    const watch = witness("job:complete", "job:interrupted");
    const options = { connections: 1, pollIntervalMs: 20, fastLane: { limitMs: 500 } };
    const { id: worker } = await queue.startWorker({
      ...{ tasks: [quick, long], plugins: [watch], ...options },
    });
    await warmUp();
    await queue.sql(`create function public.at_limit() returns trigger language plpgsql as $$ begin
        if ${isCut} then perform pg_advisory_xact_lock(77);
        elsif tg_op = 'DELETE' then raise 'not this one'; end if;
        return coalesce(new, old);
      end $$;
      create trigger at_limit before delete or update on worker._private_jobs
      for each row when (old.locked_by is null) execute function public.at_limit()`);
    const client = await queue.pool.connect();
    await client.query("select pg_advisory_lock(77)");
    const [job] = await queue.utils.addJobs([{ identifier: "long" }, { identifier: "quick" }]);
    const id = job?.id ?? "";
    if (isCut) {
      const cut = `select pg_terminate_backend(pid) from pg_stat_activity
        where wait_event = 'advisory' and datname = current_database()`;
      await waitUntil(
        "the connection of the fast lane is cut",
        async () => (await queue.sql(cut)).length > 0,
      );
    }
    await client.query("select pg_advisory_unlock(77)");
    client.release();
    await waitUntil("the safe mode runs the job again", () => attempts.length === 2);
    await waitUntil("the signal of the first attempt is aborted", () => attempts[0]?.aborted);
    first.open();
    const interrupted = () => watch.all("job:interrupted").map(({ jobId }) => jobId);
    await waitUntil("the first attempt is reported as interrupted", () =>
      interrupted().includes(id),
    );
    assert.equal((await jobOf(id))?.locked_by, worker);
    second.open();
    await waitUntil(
      "the job is deleted after its second attempt",
      async () => (await jobOf(id)) === undefined,
    );
    const results = () => watch.all("job:complete").filter((one) => one.job.id === id);
    await waitUntil("the result of the second attempt is reported", () => results().length > 0);
    assert.deepEqual(
      results().map(({ result }) => result),
      ["completed"],
    );
  });
}

test("A result whose write gets no answer is reported as unknown, also while the lane has a kept job.", async (t) => {
  const proxy = await tcpProxy(queue.url);
  t.after(() => proxy.close());
  const lane = proxy.of("worker fast lane");
  const gate = latch();
  const kept = recordingTask("kept", () => gate.opened);
  const unanswered = recordingTask("unanswered", () => lane.mute("established", "answers"));
  const watch = witness("job:complete", "job:interrupted");
  const worker = await queue.startWorker({
    ...{ connectionString: proxy.url, connections: 1, pollIntervalMs: NEVER_MS },
    ...{ tasks: [kept, unanswered], plugins: [watch], fastLane: { limitMs: 50 } },
  });
  const { id } = await queue.utils.addJob("kept");
  await waitUntil(
    "the job `kept` is locked by locked_by",
    async () => (await jobOf(id))?.locked_by === worker.id,
  );
  const { id: done } = await queue.utils.addJob("unanswered");
  await waitUntil("the job `unanswered` is done", async () => (await jobOf(done)) === undefined);
  lane.reset();
  const ends = () => watch.all("job:complete").map(({ job, result }) => [job.id, result]);
  const interrupted = () => watch.all("job:interrupted");
  await waitUntil(
    "the end of the job `unanswered` is reported",
    () => ends().length > 0 || interrupted().length > 0,
  );
  gate.open();
  await waitUntil("the kept job is done", async () => (await jobOf(id)) === undefined);
  await waitUntil(
    "the ends of both jobs are reported",
    () => ends().length + interrupted().length === 2,
  );
  assert.deepEqual(ends(), [
    [done, "unknown"],
    [id, "completed"],
  ]);
});

test("If PostgreSQL refuses a result of the fast lane once, the result is written again, and a kept job does not run a second time.", async (t) => {
  const gate = latch();
  const steady = recordingTask("steady", () => gate.opened);
  const short = recordingTask("short");
  await queue.startWorker({
    tasks: [quick, steady, short],
    concurrency: 10,
    connections: 1,
    // With a short interval, a fetch of the safe mode that begins before the rollback could lock the job `short`.
    pollIntervalMs: 1_000,
    fastLane: { limitMs: 5_000 },
  });
  await warmUp();
  // The first deletion of the job `short` fails. A rollback does not reset the sequence, so the second deletion
  // succeeds.
  await queue.sql(`create sequence worker.refusals;
    create function worker.refuse() returns trigger language plpgsql as $$ begin
      if nextval('worker.refusals') = 1 then raise 'refused once'; end if;
      return old;
    end $$`);
  t.after(() => queue.sql("drop function worker.refuse cascade; drop sequence worker.refusals"));
  await queue.sql(`begin;
    select worker.add_job('steady');
    select worker.add_job('short', priority => 77);
    select worker.add_job('quick', run_at := now() + interval '1 hour', job_key := 'later');
    create trigger refuse before delete on worker._private_jobs
      for each row when (old.priority = 77) execute function worker.refuse();
    commit`);
  await waitUntil("the job `short` is deleted", async () => {
    const [row] = await queue.sql("select last_value from worker.refusals");
    return Number(row?.["last_value"]) === 2;
  });
  assert.equal(steady.seen.length, 1);
  // If the lane had unlocked `steady`, the safe mode would fetch `steady` before `later`.
  await queue.sql("update worker._private_jobs set run_at = now() where key = 'later'");
  await waitUntil(
    "the job with the key `later` is done",
    async () => !(await keys()).includes("later"),
  );
  gate.open();
  await waitUntil("all jobs are done", async () => (await queue.remaining()).length === 0);
  assert.equal(steady.seen.length, 1);
});

test("If only the fetch after a commit fails, the committed results are not written again.", async (t) => {
  const gate = latch();
  const failing = defineTask("failing", async () => {
    await gate.opened;
    throw new Error("as expected");
  });
  const good = recordingTask("good", () => gate.opened);
  const watch = witness("job:complete", "job:interrupted");
  await queue.startWorker({
    tasks: [quick, failing, good],
    plugins: [watch],
    connections: 1,
    pollIntervalMs: 20,
    fastLane: { limitMs: 5_000 },
  });
  await warmUp();
  await queue.utils.addJobs([
    { identifier: "failing", spec: { maxAttempts: 1 } },
    { identifier: "good" },
  ]);
  await waitUntil("the job `good` runs", () => good.seen.length === 1);
  // This lock is granted when the lane commits the results. The fetch after the commit then waits until its lock
  // timeout.
  const other = new pg.Client({ connectionString: queue.url, application_name: "blocking" });
  await other.connect();
  t.after(() => other.end());
  const locked = other.query("begin; lock table worker._private_tasks in access exclusive mode");
  const waits = async (program: string) => {
    const sql = `select from pg_stat_activity where datname = current_database()
      and application_name = '${program}' and wait_event_type = 'Lock'`;
    return (await queue.sql(sql)).length > 0;
  };
  await waitUntil("the table lock waits for the transaction of the fast lane", () =>
    waits("blocking"),
  );
  gate.open();
  await locked;
  await waitUntil("the fetch waits for the locked table", () => waits("worker fast lane"));
  await waitUntil("the fetch has failed", async () => !(await waits("worker fast lane")));
  await other.query("commit");
  const { id } = await queue.utils.addJob("quick");
  await waitUntil("the job `quick` is done", async () => (await jobOf(id)) === undefined);
  const left = await queue.remaining();
  assert.deepEqual(
    left.map(({ attempts, last_error }) => [attempts, last_error?.split("\n")[0]]),
    [[1, "Error: as expected"]],
  );
  assert.deepEqual(watch.all("job:interrupted"), []);
});

test("A stop does not wait for a lane that has no jobs and cannot reach the database.", async (t) => {
  const proxy = await tcpProxy(queue.url);
  t.after(() => proxy.close());
  const watch = witness("job:fetch");
  const worker = await queue.startWorker({
    connectionString: proxy.url,
    tasks: [quick],
    connections: 1,
    pollIntervalMs: 2_000,
    fastLane: true,
    // Gives the worker a lease. Without a lease, the stop would wait until the worker can unlock the jobs of a fetch
    // that got no answer.
    recovery: {},
    plugins: [watch],
  });
  await warmUp();
  await watch.saw("job:fetch", watch.all("job:fetch").length + 1);
  const before = proxy.accepted;
  proxy.mute();
  proxy.reset();
  // The worker has four connections: of the listener, the safe mode, the lane and the heartbeats. At least three of
  // them reconnect and get no answer.
  await waitUntil("three connections are opened again", () => proxy.accepted >= before + 3);
  await waitFor("the stop", worker.stop(), 5_000);
  assert.equal(worker.hasAbandonedJobs, false);
});

test("A fast lane reconnects if its connection is lost at the moment when a job is announced.", async () => {
  const seen = recordingTask("quick");
  await queue.startWorker({
    tasks: [seen],
    fastLane: true,
    logger: silentLogger,
    pollIntervalMs: 60_000,
  });
  await queue.utils.addJob("quick");
  await waitUntil("the first job runs", () => seen.seen.length === 1);
  for (let n = 2; n < 12; n++) {
    // With one statement, the cut and the add happen at the same moment.
    await queue.sql(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name in ('worker connection', 'worker fast lane') and query not like 'listen %'
      union all select worker.add_job('quick') is not null`);
    await waitUntil("the next job has run", () => seen.seen.length >= n);
  }
});

test("Idle lanes whose connections are lost reconnect without a wake.", async (t) => {
  const proxy = await tcpProxy(queue.url);
  t.after(() => proxy.close());
  const lanes = proxy.of("worker fast lane");
  await queue.startWorker({
    tasks: [quick],
    connectionString: proxy.url,
    pollIntervalMs: 3_600_000,
    connections: 2,
    fastLane: true,
  });
  await warmUp();
  await waitUntil("both connections of the fast lane are open", () => lanes.accepted === 2);
  lanes.reset();
  await waitUntil("both connections of the fast lane are open again", () => lanes.accepted === 4);
});

test("A ready job is found although a more urgent job is scheduled for later.", async () => {
  const task = recordingTask<{ n: number }>("task");
  await queue.startWorker({ tasks: [quick, task], pollIntervalMs: NEVER_MS, fastLane: true });
  await warmUp();
  const runAt = new Date(Date.now() + 3_600_000);
  await queue.utils.addJob("task", { n: 0 }, { runAt, priority: -5 });
  for (let n = 1; n <= 3; n++) {
    await queue.utils.addJob("task", { n });
    await waitUntil(`job ${n} has run`, () => task.seen.some((one) => one.n === n));
  }
  assert.deepEqual(
    task.seen.map(({ n }) => n),
    [1, 2, 3],
  );
});

test("With a fast lane, jobs of a named queue are locked by locked_by and run in order.", async () => {
  const [running, go] = [latch(), latch()];
  const task = recordingTask<{ n: number }>("task", async ({ n }) => {
    if (n !== 0) return;
    running.open();
    await go.opened;
  });
  const worker = await queue.startWorker({
    tasks: [quick, task],
    pollIntervalMs: NEVER_MS,
    fastLane: true,
  });
  await warmUp();
  const inQueue = (n: number) => ({
    identifier: "task",
    payload: { n },
    spec: { queueName: "q", ...(n % 5 === 2 ? { jobKey: `key ${n}` } : {}) },
  });
  const [first] = await queue.utils.addJobs([inQueue(0)]);
  await running.opened;
  assert.equal((await jobOf(first?.id ?? ""))?.locked_by, worker.id);
  await queue.utils.addJobs(Array.from({ length: 30 }, (_, n) => inQueue(n + 1)));
  await queue.utils.addJob("quick");
  const others = "select from worker._private_jobs where job_queue_id is null";
  await waitUntil("the job without a queue is done while a job of the queue runs", async () => {
    return (await queue.sql(others)).length === 0;
  });
  assert.equal(task.seen.length, 1);
  go.open();
  await waitUntil("all jobs are done", async () => (await queue.remaining()).length === 0);
  assert.deepEqual(
    task.seen.map(({ n }) => n),
    Array.from({ length: 31 }, (_, n) => n),
  );
});
