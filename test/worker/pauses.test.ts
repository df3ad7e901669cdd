// Tests pauses of queues, of tasks and of all jobs, with workers of both modes and with Graphile workers.
import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { beforeEach, test } from "node:test";
import { Logger, makeWorkerUtils, run, type WorkerEvents } from "graphile-worker";
import { silentLogger } from "../../src/base/logger.ts";
import { cleanup } from "../../src/commands/maintenance/cleanup.ts";
import { forceUnlockWorkers } from "../../src/commands/maintenance/force-unlock-workers.ts";
import { sweepStaleWorkers } from "../../src/commands/maintenance/sweep-stale-workers.ts";
import { lockHolders } from "../../src/insight/lists/lock-holders.ts";
import { queueRow } from "../../src/insight/lists/queues/queue-rows.ts";
import { explainJob } from "../../src/insight/why/explain-job.ts";
import { resetStaleLocks } from "../../src/queue/workers/reset-stale-locks.ts";
import { migratedDatabase } from "../support/database.ts";
import { assertFastRounds } from "../support/fast-round.ts";
import { latch, recordingTask, waitUntil, workerQueue } from "./worker-queue.ts";

const queue = workerQueue(() => migratedDatabase("worker", ["controls"]));
beforeEach(() => queue.sql("truncate worker._private_pauses"));

const inQueue = (count: number, identifier = "task") =>
  queue.utils.addJobs(
    Array.from({ length: count }, (_, n) => ({
      identifier,
      payload: { n },
      spec: { queueName: "q" },
    })),
  );

/** Starts a Graphile worker that resets locks older than 4 hours every 50 to 100 ms. */
async function stock(identifier: string) {
  const seen: unknown[] = [];
  const events: WorkerEvents = new EventEmitter();
  const runner = await run({
    connectionString: queue.url,
    schema: "worker",
    pollInterval: 50,
    noHandleSignals: true,
    logger: new Logger(() => () => {}),
    taskList: { [identifier]: async (payload) => void seen.push(payload) },
    preset: { worker: { minResetLockedInterval: 50, maxResetLockedInterval: 100 } },
    events,
  });
  return { seen, events, stop: () => runner.stop() };
}

/**
 * Adds a job of the task `other`, and waits until one more job of this task has run. By then, all earlier jobs that may
 * start have started.
 */
async function passThrough(seen: readonly unknown[]): Promise<void> {
  const count = seen.length;
  await queue.utils.addJob("other");
  await waitUntil("a job of another task has run", () => seen.length > count);
}

for (const [mode, options] of [
  ["safe mode", {}],
  ["fast lane", { fastLane: true }],
] as const) {
  test(`Until a paused task is resumed, its jobs do not start, and jobs of other tasks do (${mode}).`, async () => {
    const [task, other] = [recordingTask("task"), recordingTask("other")];
    await queue.startWorker({ tasks: [task, other], ...options });
    // A worker reads the pauses every 2 s, and is woken earlier by a resume.
    await assertFastRounds(500, 4, async () => {
      const count = task.seen.length;
      await queue.utils.pauseTask("task", { reason: "deploy", pausedBy: "ana" });
      await queue.utils.addJob("task");
      for (let n = 0; n < 5; n++) await passThrough(other.seen);
      assert.equal(task.seen.length, count);
      const began = performance.now();
      const outcome = await queue.utils.resumeTask("task");
      assert.deepEqual(outcome, { wasPaused: true, waitsForJob: false });
      await waitUntil("the job has run", () => task.seen.length > count);
      return performance.now() - began;
    });
  });

  test(`A pause of all jobs lasts until its resumeAt, and then ends by itself (${mode}).`, async () => {
    const task = recordingTask("task");
    await queue.utils.pauseAll({ resumeAt: new Date(Date.now() + 800) });
    await queue.utils.addJob("task");
    const pausedAt = performance.now();
    await queue.startWorker({ tasks: [task], ...options });
    await waitUntil("the job has run", () => task.seen.length === 1);
    assert.ok(performance.now() - pausedAt > 500);
    await waitUntil(
      "the pause is no longer listed",
      async () => (await queue.utils.listPauses()).length === 0,
    );
  });
}

test("A pause whose end has passed is not listed, even before a process removes it.", async () => {
  await queue.utils.pauseTask("task");
  await queue.sql("update worker._private_pauses set resume_at = now()");
  assert.deepEqual(await queue.utils.listPauses(), []);
});

test("Neither this library's workers nor Graphile workers fetch jobs of a paused queue; both fetch them after it is resumed.", async () => {
  const [task, other] = [recordingTask("task"), recordingTask("other")];
  await queue.startWorker({ tasks: [task, other] });
  const theirs = await stock("task");
  try {
    await queue.utils.pauseQueue("q");
    await inQueue(20);
    for (let n = 0; n < 10; n++) await passThrough(other.seen);
    assert.equal(task.seen.length + theirs.seen.length, 0);
    await queue.utils.resumeQueue("q");
    await waitUntil("all jobs have run", () => task.seen.length + theirs.seen.length === 20);
  } finally {
    await theirs.stop();
  }
});

test("A queue that is paused while one of its jobs runs stays paused after the job has ended.", async () => {
  const [started, end] = [latch(), latch()];
  const task = recordingTask("task", async () => {
    started.open();
    await end.opened;
  });
  const other = recordingTask("other");
  await inQueue(3);
  await queue.startWorker({ tasks: [task, other], concurrency: 3 });
  await started.opened;
  await queue.utils.pauseQueue("q");
  end.open();
  await waitUntil(
    "the running job is completed",
    async () => (await queue.remaining()).length === 2,
  );
  for (let n = 0; n < 5; n++) await passThrough(other.seen);
  assert.equal(task.seen.length, 1);
  assert.equal((await queueRow(queue.utils.database, "q"))?.isPaused, true);
});

test("A queue that is resumed while one of its jobs runs continues after that job, and never runs two jobs at once.", async () => {
  let [started, end] = [latch(), latch()];
  let running = 0;
  let most = 0;
  let isFirst = true;
  const task = recordingTask("task", async () => {
    most = Math.max(most, ++running);
    started.open();
    if (isFirst) {
      isFirst = false;
      await end.opened;
    }
    running--;
  });
  await queue.startWorker({ tasks: [task], concurrency: 3 });
  // About 250 ms after the end of the running job, the worker reads the pauses, ends the pause and starts the next job.
  // Without this read, the next job would start up to two seconds later.
  await assertFastRounds(500, 4, async () => {
    [started, end, isFirst] = [latch(), latch(), true];
    const before = task.seen.length;
    await inQueue(3);
    await started.opened;
    await queue.utils.pauseQueue("q");
    assert.deepEqual(await queue.utils.resumeQueue("q"), { wasPaused: true, waitsForJob: true });
    const second = await queue.startWorker({ tasks: [task], concurrency: 3 });
    assert.equal(task.seen.length, before + 1);
    const endedAtMs = performance.now();
    end.open();
    await waitUntil("the next job starts", () => task.seen.length > before + 1);
    const gapMs = performance.now() - endedAtMs;
    await waitUntil("all jobs have run", () => task.seen.length === before + 3);
    await second.stop();
    return gapMs;
  });
  assert.equal(most, 1);
});

test("A run of 50 fetched jobs of a queue stops when the queue is paused.", async () => {
  const started = latch();
  const task = recordingTask("task", async (_, call) => {
    if (call < 60) return;
    started.open();
    await new Promise((resolve) => setTimeout(resolve, 20));
  });
  await inQueue(400);
  await queue.startWorker({ tasks: [task], concurrency: 1 });
  await started.opened;
  await queue.utils.pauseQueue("q");
  let last = -1;
  await waitUntil("no job is locked, and no further job has run", async () => {
    const [row] = await queue.sql<{ locked: number }>(
      "select count(*)::int as locked from worker._private_jobs where locked_at is not null",
    );
    const isStill = row?.locked === 0 && last === task.seen.length;
    last = task.seen.length;
    return isStill;
  });
  assert.ok(task.seen.length < 130, `${task.seen.length} jobs have run`);
  const attempts = (await queue.remaining()).map((job) => job.attempts);
  assert.deepEqual(new Set(attempts), new Set([0]));
});

test("The lock of a paused queue stays after a forced unlock, a sweep, a reset of old locks and a cleanup, and is not listed as a worker's lock.", async () => {
  const { database: db } = queue.utils;
  await queue.utils.pauseQueue("q", { reason: "deploy" });
  const [row] = await queue.sql<{ locked_by: string }>(
    "select locked_by from worker._private_job_queues",
  );
  assert.equal(row?.locked_by, "paused:deploy");
  assert.deepEqual(await forceUnlockWorkers(db, ["paused:deploy"]), { jobs: 0, queues: 0 });
  assert.deepEqual((await sweepStaleWorkers(db, { sweepThresholdMs: 0 })).unknownWorkers, []);
  assert.deepEqual(await resetStaleLocks(db, 0), { jobs: 0, queues: 0, refused: [] });
  assert.equal((await cleanup(db, ["gc-job-queues"])).deletedQueues, 0);
  assert.deepEqual(await queue.utils.listLockedWorkers(), []);
  assert.equal((await lockHolders(db)).holders.size, 0);
  const [listed] = await queue.utils.listQueues();
  assert.deepEqual([listed?.isPaused, listed?.lockedAt, listed?.lockedBy], [true, null, null]);
  await queue.utils.resumeQueue("q");
  assert.equal((await cleanup(db, ["gc-job-queues"])).deletedQueues, 1);
});

test("Graphile Worker's cleanup, forced unlock and reset of locks older than 4 hours end no pause.", async () => {
  await queue.utils.pauseQueue("q", { reason: "deploy" });
  await queue.utils.pauseQueue("empty");
  await queue.utils.pauseTask("gone");
  await inQueue(1);
  const theirs = await makeWorkerUtils({ connectionString: queue.url, schema: "worker" });
  try {
    await theirs.cleanup({
      tasks: ["GC_JOB_QUEUES", "GC_TASK_IDENTIFIERS", "DELETE_PERMAFAILED_JOBS"],
    });
    await theirs.forceUnlockWorkers(["another", ""]);
    const worker = await stock("other");
    let resets = 0;
    worker.events.on("resetLocked:success", () => {
      resets += 1;
    });
    await waitUntil("locks older than 4 hours are reset twice", () => resets >= 2);
    await worker.stop();
  } finally {
    await theirs.release();
  }
  const pauses = await queue.utils.listPauses();
  assert.deepEqual(
    pauses.map(({ scope, name }) => [scope, name]),
    [
      ["task", "gone"],
      ["queue", "empty"],
      ["queue", "q"],
    ],
  );
});

test("The jobs of a stale worker are recovered while their queue is paused, and the pause stays.", async () => {
  const { database: db } = queue.utils;
  await inQueue(2);
  await queue.sql(`update worker._private_jobs set locked_by = 'dead', locked_at = now() - interval '1 hour',
    attempts = 1 where id = (select min(id) from worker._private_jobs)`);
  await queue.sql(
    `update worker._private_job_queues set locked_by = 'dead', locked_at = now() - interval '1 hour'`,
  );
  await queue.utils.pauseQueue("q");
  const swept = await sweepStaleWorkers(db, { sweepThresholdMs: 1_000, recoveryDelayMs: 0 });
  assert.equal(swept.recoveredJobs, 1);
  assert.equal((await queueRow(db, "q"))?.isPaused, true);
  assert.deepEqual(await queue.utils.resumeQueue("q"), { wasPaused: true, waitsForJob: false });
  const task = recordingTask("task");
  await queue.startWorker({ tasks: [task] });
  await waitUntil("both jobs have run", () => task.seen.length === 2);
});

test("A pause whose end passes while no process runs is over for the first worker that starts.", async () => {
  const task = recordingTask("task");
  await queue.utils.addJob("task");
  await inQueue(1);
  const resumeAt = new Date(Date.now() + 60_000);
  await queue.utils.pauseAll({ resumeAt });
  await queue.utils.pauseTask("task", { resumeAt });
  await queue.utils.pauseQueue("q", { resumeAt });
  await queue.sql("update worker._private_pauses set resume_at = now() - interval '1 minute'");
  await queue.startWorker({ tasks: [task] });
  await waitUntil("both jobs have run", () => task.seen.length === 2);
  await waitUntil(
    "no pause is left",
    async () => (await queue.sql("select from worker._private_pauses")).length === 0,
  );
});

test("Pauses remain after the last worker has stopped, and apply to the next worker until the pauses end.", async () => {
  const [task, other] = [recordingTask("task"), recordingTask("other")];
  const first = await queue.startWorker({ tasks: [task, other] });
  await queue.utils.pauseTask("task");
  await queue.utils.pauseQueue("q", { resumeAt: new Date(Date.now() + 60_000) });
  await first.stop();
  await queue.utils.addJob("task");
  await inQueue(1, "other");
  await queue.startWorker({ tasks: [task, other] });
  await passThrough(other.seen);
  assert.equal(task.seen.length, 0);
  assert.equal(other.seen.length, 1);
  await queue.sql("update worker._private_pauses set resume_at = now() where scope = 'queue'");
  await waitUntil("the queue's job has run", () => other.seen.length === 2);
  assert.deepEqual(
    (await queue.utils.listPauses()).map(({ scope, name }) => [scope, name]),
    [["task", "task"]],
  );
});

test("The explanation of a waiting job contains the author and the reason of the pause for which the job waits.", async () => {
  const { database: db } = queue.utils;
  const job = await queue.utils.addJob("task");
  await queue.utils.pauseTask("task", { reason: "deploy", pausedBy: "ana" });
  assert.match(
    (await explainJob(db, job.id))?.sentence ?? "",
    /task.* is paused by ana: deploy\.$/,
  );
  const [queued] = await inQueue(1, "other");
  await queue.utils.pauseQueue("q", { reason: "repair", pausedBy: "ben" });
  const why = await explainJob(db, queued?.id ?? "");
  assert.match(why?.sentence ?? "", /queue.* is paused by ben: repair\.$/);
  assert.equal(why?.causes.find(({ kind }) => kind === "paused")?.links.queue, "q");
});

test("A second pause of a task replaces the reason and the end; resuming a queue or task that is not paused has no effect.", async () => {
  await queue.utils.pauseTask("task", { reason: "a", resumeAt: new Date(Date.now() + 60_000) });
  await queue.utils.pauseTask("task", { reason: "b" });
  const [pause, ...others] = await queue.utils.listPauses();
  assert.deepEqual([pause?.reason, pause?.resumeAt, others.length], ["b", null, 0]);
  assert.equal((await queue.utils.resumeQueue("q")).wasPaused, false);
  assert.equal((await queue.utils.resumeTask("another")).wasPaused, false);
});

test("Pauses with an invalid name, reason or end are refused.", async () => {
  const past = { resumeAt: new Date(0), reason: "x".repeat(201) };
  await assert.rejects(queue.utils.pauseQueue("q", past), { code: "bad_input" });
  await assert.rejects(queue.utils.pauseTask(""), { code: "bad_input" });
  const far = { resumeAt: new Date("+010000-01-01T00:00:00Z") };
  await assert.rejects(queue.utils.pauseAll(far), { code: "bad_input", message: /^resumeAt: / });
});

test("The end of a pause must be in the future by the database's clock.", async () => {
  const { client } = queue.utils.database;
  // Returns utilities for which the database's clock is `hours` ahead.
  const ahead = (hours: number) =>
    queue.utils.with({
      query: ({ text, ...rest }) =>
        client.query({
          ...rest,
          text: text.replace("clock_timestamp()", `clock_timestamp() + interval '${hours} hours'`),
        }),
    });
  const inMinutes = (minutes: number) => ({
    resumeAt: new Date(Date.now() + minutes * 60_000),
    waitMs: 0,
  });
  const message = "resumeAt: must be in the future";
  await assert.rejects(ahead(1).pauseQueue("q", inMinutes(30)), { code: "bad_input", message });
  assert.deepEqual(await queue.utils.listPauses(), []);
  await ahead(-1).pauseQueue("q", inMinutes(-30));
});

test("Without the tables of pauses, a pause is refused with a message that contains the command to add them; a running worker applies pauses once the tables exist.", async () => {
  const { migrate } = await import("../../src/database/schema/migrate.ts");
  const { database: db } = queue.utils;
  await queue.sql("drop table worker._private_pauses, worker._private_cancellations");
  await queue.sql("delete from worker._private_extensions where name = 'controls'");
  const [task, other] = [recordingTask("task"), recordingTask("other")];
  await queue.startWorker({ tasks: [task, other] });
  await passThrough(other.seen);
  const refusal = {
    code: "extension_missing",
    message: /"worker migrate --with controls" adds them/,
  };
  await assert.rejects(queue.utils.pauseTask("task"), refusal);
  await assert.rejects(queue.utils.resumeAll(), refusal);
  assert.deepEqual(await queue.utils.listPauses(), []);
  await migrate(queue.pool, db.schema, { extensions: ["controls"] });
  await queue.utils.pauseTask("task");
  await waitUntil("a new job of the paused task does not run", async () => {
    const before = task.seen.length;
    await queue.utils.addJob("task");
    await passThrough(other.seen);
    return task.seen.length === before;
  });
});

test("A pause whose end has passed is removed even if the requests to cancel jobs cannot be read.", async () => {
  await queue.sql(
    "insert into worker._private_pauses (scope, name, resume_at) values ('task', 'task', now())",
  );
  await queue.sql("alter table worker._private_cancellations rename to hidden");
  await queue.startWorker({ tasks: [recordingTask("task")] });
  const left = () => queue.sql("select from worker._private_pauses");
  await waitUntil("the pause has ended", async () => (await left()).length === 0);
  await queue.sql("alter table worker.hidden rename to _private_cancellations");
});

test("Pauses are applied even if PostgreSQL refuses to delete an ended pause. The refusal is logged once.", async () => {
  await queue.sql(`create function public.refuse() returns trigger language plpgsql as
    $$ begin raise exception 'pauses are kept'; end $$`);
  await queue.sql(`create trigger refuse before delete on worker._private_pauses
    for each row execute function public.refuse()`);
  await queue.sql(
    "insert into worker._private_pauses (scope, name, resume_at) values ('task', 'over', now())",
  );
  const warnings: string[] = [];
  const logger = {
    ...silentLogger,
    warn: (_fields: object, message: string) => void warnings.push(message),
  };
  const [task, other] = [recordingTask("task"), recordingTask("other")];
  await queue.startWorker({ tasks: [task, other], logger });
  for (let n = 0; n < 3; n++) {
    await queue.utils.pauseTask("task", { reason: `look ${n}` });
    await queue.utils.addJob("task");
    await passThrough(other.seen);
  }
  assert.equal(task.seen.length, 0);
  await waitUntil("the failure is logged", () => warnings.length > 0);
  assert.deepEqual(warnings, [
    "pauses could not be ended, or requests to cancel could not be deleted",
  ]);
  await queue.sql("drop function public.refuse() cascade");
});
