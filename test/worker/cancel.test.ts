// Tests that jobs are cancelled while they wait, are fetched, or run. The tests cover both modes, workers with and
// without notifications, and a Graphile worker.
import assert from "node:assert/strict";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, test } from "node:test";
import { Logger, run } from "graphile-worker";
import pg from "pg";
import { silentLogger } from "../../src/base/logger.ts";
import { listLightJobs } from "../../src/insight/pages/list-jobs.ts";
import { explainJob } from "../../src/insight/why/explain-job.ts";
import { readCancelRequests } from "../../src/queue/cancel/cancellations.ts";
import { loadTasks } from "../../src/worker/files/load-tasks.ts";
import type { WorkerOptions } from "../../src/worker/options/worker-options.ts";
import { JobCancelled } from "../../src/worker/task/outcomes.ts";
import { defineBatchTask, defineTask } from "../../src/worker/task/task.ts";
import type { TaskContext } from "../../src/worker/task/task-context.ts";
import { migratedDatabase } from "../support/database.ts";
import { assertFastRounds } from "../support/fast-round.ts";
import { workerProcess } from "./worker-process.ts";
import { latch, recorder, recordingTask, waitFor, waitUntil, workerQueue } from "./worker-queue.ts";

const queue = workerQueue(() => migratedDatabase("worker", ["controls"]));
beforeEach(() => queue.sql("truncate worker._private_cancellations, worker._private_jobs"));

const modes: readonly (readonly [string, Partial<WorkerOptions>])[] = [
  ["safe mode", {}],
  ["fast lane", { fastLane: true }],
];

/**
 * Returns `task`, whose jobs run until their signals abort. `started` resolves when the first job has started.
 * `starts`: the ids of the started jobs. `reasons`: the reasons of the aborted signals.
 */
function endless() {
  const started = latch();
  const starts: string[] = [];
  const reasons: unknown[] = [];
  const task = defineTask("endless", async (_, { signal, job }: TaskContext) => {
    starts.push(job.id);
    started.open();
    await once(signal, "abort");
    reasons.push(signal.reason);
    throw signal.reason;
  });
  return { task, started: started.opened, starts, reasons };
}

/** Adds a job of the task `endless`, and waits until the job is in `starts`. Returns the job's id. */
async function startedJob(starts: readonly string[]): Promise<string> {
  const { id } = await queue.utils.addJob("endless");
  await waitUntil("the job runs", async () => starts.includes(id));
  return id;
}

async function timeUntilCancelled(id: string): Promise<number> {
  const began = performance.now();
  assert.equal(await ended(id), "cancelled");
  return performance.now() - began;
}

const requests = () => queue.sql("select * from worker._private_cancellations");
const noRequestsLeft = () =>
  waitUntil("no request to cancel a job is left", async () => (await requests()).length === 0);
const ended = async (id: string) => (await queue.utils.waitForCancelledJobs([id]))[0]?.outcome;

test("A cancelled waiting job fails with the reason, or is deleted on request; for failed and unknown jobs, cancelJobs() returns other outcomes.", async () => {
  const { id: first } = await queue.utils.addJob("task");
  const { id: second } = await queue.utils.addJob("task");
  const { id: third } = await queue.utils.addJob("task");
  await queue.utils.permanentlyFailJobs([third], "broken");
  const outcomes = await queue.utils.cancelJobs([first, third, "999999"], { reason: "wrong file" });
  assert.deepEqual(outcomes, [
    { id: first, outcome: "cancelled" },
    { id: third, outcome: "failed" },
    { id: "999999", outcome: "not_found" },
  ]);
  assert.deepEqual(await queue.utils.cancelJobs([second], { remove: true }), [
    { id: second, outcome: "cancelled" },
  ]);
  const left = await queue.remaining();
  assert.deepEqual(
    left.map(({ id, last_error: error, attempts }) => [id, error, attempts]),
    [
      [first, "cancelled: wrong file", 25],
      [third, "broken", 25],
    ],
  );
  assert.deepEqual(await requests(), []);
});

for (const [mode, options] of modes) {
  test(`A cancelled job's signal aborts with JobCancelled; if its task then throws, the job is not retried (${mode}).`, async () => {
    const { task, started, reasons } = endless();
    const { lines, logger } = recorder();
    const { id } = await queue.utils.addJob("endless");
    await queue.startWorker({ tasks: [task], logger, ...options });
    await started;
    const outcomes = await queue.utils.cancelJobs([id], { reason: "deploy", cancelledBy: "ana" });
    assert.deepEqual(outcomes, [{ id, outcome: "cancelling" }]);
    assert.equal(await ended(id), "cancelled");
    const [reason] = reasons;
    assert.ok(reason instanceof JobCancelled);
    assert.deepEqual([reason.reason, reason.by], ["deploy", "ana"]);
    const [left] = await queue.remaining();
    assert.equal(left?.last_error, "cancelled: deploy");
    assert.equal(left?.attempts, left?.max_attempts);
    assert.equal(left?.locked_by, null);
    assert.deepEqual(
      lines.filter(({ level }) => level === "warn" || level === "error"),
      [],
    );
    await noRequestsLeft();
  });

  test(`A cancelled job whose task returns is completed (${mode}).`, async () => {
    const started = latch();
    const task = defineTask("task", async (_, { signal }: TaskContext) => {
      started.open();
      await once(signal, "abort");
    });
    const { id } = await queue.utils.addJob("task");
    await queue.startWorker({ tasks: [task], ...options });
    await started.opened;
    await queue.utils.cancelJobs([id]);
    assert.equal(await ended(id), "completed");
    await noRequestsLeft();
  });

  test(`Without notifications, the signal of a cancelled job aborts within 2.5 seconds (${mode}).`, async () => {
    const { task, starts } = endless();
    await queue.startWorker({ tasks: [task], notify: false, pollIntervalMs: 50, ...options });
    await assertFastRounds(2_500, 3, async () => {
      const id = await startedJob(starts);
      await queue.utils.cancelJobs([id]);
      return timeUntilCancelled(id);
    });
  });

  test(`A cancelled job that ignores its signal fails after abortGraceMs, but its slot stays occupied until the task ends (${mode}).`, async () => {
    const [started, end] = [latch(), latch()];
    const stubborn = recordingTask("stubborn", async () => {
      started.open();
      await end.opened;
    });
    const other = recordingTask("other");
    const { lines, logger } = recorder();
    const { id } = await queue.utils.addJob("stubborn");
    const worker = await queue.startWorker({
      ...{ tasks: [stubborn, other], concurrency: 1, logger },
      ...options,
    });
    await started.opened;
    await queue.utils.cancelJobs([id], { reason: "too long" });
    assert.equal(await ended(id), "cancelled");
    assert.match(
      (await queue.remaining())[0]?.last_error ?? "",
      /^cancelled: too long\nCaused by: it still ran 100 ms after its signal/,
    );
    assert.ok(
      lines.some(
        ({ level, message }) => level === "warn" && message.includes("ignores its signal"),
      ),
    );
    const ignoring = () => worker.jobsIgnoringSignal.map((one) => [one.id, one.taskIdentifier]);
    assert.deepEqual(ignoring(), [[id, "stubborn"]]);
    assert.match(await worker.metrics(), /^worker_jobs_ignoring_signal 1$/m);
    await queue.utils.addJob("other");
    assert.equal(other.seen.length, 0);
    end.open();
    await waitUntil("the next job runs in the free slot", () => other.seen.length === 1);
    assert.deepEqual(ignoring(), []);
  });
}

for (const queueName of ["q", undefined]) {
  const place = queueName === undefined ? "without a queue" : "of a named queue";
  test(`Cancelled jobs ${place} that are fetched and not started never run; all other jobs run.`, async () => {
    const [started, cancelled] = [latch(), latch()];
    // The first 59 jobs end at once, so the worker fetches many together. The 60th job runs until others are cancelled.
    const task = recordingTask<{ n: number }>("task", async (_, call) => {
      if (call < 60) return;
      started.open();
      await cancelled.opened;
    });
    const jobs = await queue.utils.addJobs(
      Array.from({ length: 200 }, (_, n) => ({
        identifier: "task",
        payload: { n },
        spec: { queueName },
      })),
    );
    await queue.startWorker({ tasks: [task], concurrency: 1 });
    await started.opened;
    const seen = new Set(task.seen.map(({ n }) => n));
    const waiting = (await queue.remaining()).filter(
      ({ payload }) => !seen.has(JSON.parse(payload).n),
    );
    const locked = waiting.filter(({ locked_by: by }) => by !== null);
    const ids = [...locked, ...waiting].map(({ id }) => id);
    const unstarted = [...new Set(ids)].slice(0, 3);
    await queue.utils.cancelJobs(unstarted, { reason: "stop" });
    const ends = await queue.utils.waitForCancelledJobs(unstarted);
    assert.deepEqual(new Set(ends.map(({ outcome }) => outcome)), new Set(["cancelled"]));
    cancelled.open();
    await waitUntil(
      "all jobs that are not cancelled have run",
      async () => (await queue.remaining()).length === unstarted.length,
    );
    const numbers = unstarted.map((id) => jobs.findIndex((job) => job.id === id));
    const ran = task.seen.map(({ n }) => n).toSorted((a, b) => a - b);
    assert.deepEqual(
      ran.filter((n) => !numbers.includes(n)),
      jobs.map((_, n) => n).filter((n) => !numbers.includes(n)),
    );
    const errors = (await queue.remaining()).map(({ last_error: error }) => error);
    assert.deepEqual(new Set(errors), new Set(["cancelled: stop"]));
    assert.equal(ran.length, 200 - unstarted.length);
    await noRequestsLeft();
  });
}

test("If another transaction has locked a job's row, cancelJobs() does not wait, and the job is cancelled once that transaction has ended.", async () => {
  const { id } = await queue.utils.addJob("task");
  const holder = await queue.pool.connect();
  try {
    await holder.query("begin");
    await holder.query("select from worker._private_jobs where id = $1 for update", [id]);
    assert.deepEqual(await queue.utils.cancelJobs([id]), [{ id, outcome: "cancelling" }]);
    const [now] = await queue.utils.waitForCancelledJobs([id], { timeoutMs: 1 });
    assert.equal(now?.outcome, "running");
    await holder.query("commit");
    assert.equal(await ended(id), "cancelled");
    assert.deepEqual(await requests(), []);
  } finally {
    holder.release();
  }
});

test("A failed job that is retried runs, even if an old request to cancel it is still stored.", async () => {
  const { id } = await queue.utils.addJob("task");
  const task = recordingTask("task");
  await queue.sql("update worker._private_jobs set attempts = max_attempts");
  await queue.sql(
    `insert into worker._private_cancellations (job_id, reason) values (${id}, 'old')`,
  );
  await queue.utils.rescheduleJobs([id], { attempts: 0 });
  await queue.startWorker({ tasks: [task] });
  await waitUntil("the job has run", async () => (await queue.remaining()).length === 0);
  assert.equal(task.seen.length, 1);
  await noRequestsLeft();
});

test("While the removal of an old cancel request waits for a lock, another job can still be cancelled.", async () => {
  const { task, started, reasons } = endless();
  const { id } = await queue.utils.addJob("endless");
  await queue.sql("insert into worker._private_cancellations (job_id) values (999)");
  const holder = await queue.pool.connect();
  try {
    await holder.query("begin");
    await holder.query("select from worker._private_cancellations for update");
    const warnings: string[] = [];
    const warn = (_fields: object, message: string) => void warnings.push(message);
    await queue.startWorker({ tasks: [task], logger: { ...silentLogger, warn } });
    await started;
    const waiting = () =>
      queue.sql(`select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%_private_cancellations%'`);
    await waitUntil("the removal waits", async () => (await waiting()).length > 0);
    await queue.utils.cancelJobs([id]);
    await waitUntil("the signal has aborted", () => reasons.length > 0);
    assert.deepEqual(warnings, []);
  } finally {
    await holder.query("rollback");
    holder.release();
  }
  await noRequestsLeft();
});

test("Two concurrent cancels of one running job both succeed.", async () => {
  const { task, started, reasons } = endless();
  const { id } = await queue.utils.addJob("endless");
  await queue.startWorker({ tasks: [task] });
  await started;
  const both = await Promise.all([queue.utils.cancelJobs([id]), queue.utils.cancelJobs([id])]);
  for (const one of both) assert.notEqual(one[0]?.outcome, "not_found");
  assert.equal(await ended(id), "cancelled");
  assert.equal(reasons.length, 1);
});

test("The items of a cancelled batch that have not succeeded stay in its payload, and the batch is not retried.", async () => {
  const started = latch();
  const task = defineBatchTask<number>("batch", async (items, { signal }) => {
    started.open();
    await once(signal, "abort");
    return items.map((item) => (item === 1 ? undefined : signal.reason));
  });
  const { id } = await queue.utils.addJob("batch", [1, 2, 3]);
  await queue.startWorker({ tasks: [task] });
  await started.opened;
  await queue.utils.cancelJobs([id], { reason: "stop" });
  assert.equal(await ended(id), "cancelled");
  const [left] = await queue.remaining();
  assert.equal(left?.payload, "[2,3]");
  assert.equal(left?.attempts, left?.max_attempts);
});

test("The announcement of a cancel names the job's worker, so that other workers read nothing. For a job of the fast lane, the announcement names no worker.", async () => {
  const listener = new pg.Client({ connectionString: queue.url });
  await listener.connect();
  await listener.query(`listen "worker:control"`);
  for (const [mode, options] of modes) {
    const { task, started } = endless();
    const { id } = await queue.utils.addJob("endless");
    const worker = await queue.startWorker({ tasks: [task], ...options });
    await started;
    const announced = once(listener, "notification");
    await queue.utils.cancelJobs([id]);
    const [{ payload }] = (await announced) as [pg.Notification];
    assert.equal(payload, `cancel ${mode === "safe mode" ? worker.id : ""}`);
    assert.equal(await ended(id), "cancelled");
    await worker.stop();
  }
  await listener.end();
});

test("If the announcement of a cancel is lost, the job's signal aborts within 2.5 seconds.", async () => {
  const { task, starts } = endless();
  await queue.startWorker({ tasks: [task] });
  const listeners = `from pg_stat_activity
    where application_name = 'worker listen' and datname = current_database()`;
  await assertFastRounds(2_500, 3, async () => {
    const id = await startedJob(starts);
    const isListening = async () => (await queue.sql(`select ${listeners}`)).length === 1;
    await waitUntil("the worker listens", isListening);
    // The announcement is sent while the worker's listener is disconnected.
    await queue.sql(`select pg_terminate_backend(pid) ${listeners}`);
    await queue.utils.cancelJobs([id]);
    return timeUntilCancelled(id);
  });
});

test("The program of a cancelled job gets SIGTERM, and the job is not retried.", async () => {
  const directory = mkdtempSync(join(tmpdir(), "worker-cancel-"));
  try {
    const file = join(directory, "long.sh");
    writeFileSync(
      file,
      "#!/bin/sh\ntrap 'echo terminated >&2; exit 0' TERM\necho begun >&2\nsleep 60 & wait\n",
    );
    chmodSync(file, 0o755);
    const { lines, logger } = recorder();
    const tasks = await loadTasks(directory, { logger });
    const { id } = await queue.utils.addJob("long");
    await queue.startWorker({ tasks, logger, abortGraceMs: 5_000 });
    await waitUntil("the program runs", () =>
      lines.some(({ fields, message }) => JSON.stringify([fields, message]).includes("begun")),
    );
    await queue.utils.cancelJobs([id], { reason: "deploy" });
    assert.equal(await ended(id), "cancelled");
    const [left] = await queue.remaining();
    assert.match(
      left?.last_error ?? "",
      /^cancelled: deploy\nCaused by: stopped: cancelled: deploy: terminated/,
    );
    assert.equal(left?.attempts, left?.max_attempts);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

test("If a worker is killed after a cancel of its job was requested, the job is cancelled and does not run again.", async () => {
  const first = await workerProcess(queue.url);
  const { id } = await queue.utils.addJob("held");
  await first.event("started");
  first.signal("SIGSTOP");
  assert.deepEqual(await queue.utils.cancelJobs([id], { reason: "deploy" }), [
    { id, outcome: "cancelling" },
  ]);
  first.signal("SIGKILL");
  const second = await workerProcess(queue.url);
  assert.equal(await ended(id), "cancelled");
  const [left] = await queue.remaining();
  assert.deepEqual([left?.last_error, left?.locked_by], ["cancelled: deploy", null]);
  await noRequestsLeft();
  await second.stop();
});

test("If a job to be cancelled was recovered, waitForCancelledJobs() waits until the job's error names the cancellation.", async () => {
  const { id } = await queue.utils.addJob("held");
  await queue.sql(
    `update worker._private_jobs set attempts = 1, max_attempts = 1, locked_at = now(), locked_by = 'w'`,
  );
  await queue.utils.cancelJobs([id], { reason: "deploy" });
  await queue.sql(`update worker._private_jobs set locked_at = null, locked_by = null,
    last_error = 'Recovered: worker w stopped without finishing attempt 1'`);
  const outcome = async (timeoutMs: number) =>
    (await queue.utils.waitForCancelledJobs([id], { timeoutMs }))[0]?.outcome;
  const session = await queue.pool.connect();
  await session.query("begin; select from worker._private_jobs for update");
  assert.equal(await outcome(300), "running");
  await session.query("rollback");
  session.release();
  assert.equal(await outcome(5_000), "cancelled");
});

test("If a cancelled task throws a snooze of another copy of the library, the job's error has the snooze as its cause.", async () => {
  const started = latch();
  const task = defineTask("task", async (_, { signal }: TaskContext) => {
    started.open();
    await once(signal, "abort");
    throw Object.assign(new Error("later"), {
      [Symbol.for("pg-job-worker.outcome")]: { kind: "snooze", untilMs: 60_000 },
    });
  });
  const { id } = await queue.utils.addJob("task");
  await queue.startWorker({ tasks: [task] });
  await started.opened;
  await queue.utils.cancelJobs([id]);
  assert.equal(await ended(id), "cancelled");
  assert.match(
    (await queue.remaining())[0]?.last_error ?? "",
    /^cancelled\nCaused by: Error: later/,
  );
});

test("The explanation of a job that is being cancelled, or was cancelled, has the reason; lists have it, too.", async () => {
  const [started, end] = [latch(), latch()];
  const task = recordingTask("task", async () => {
    started.open();
    await end.opened;
  });
  const { id } = await queue.utils.addJob("task");
  await queue.startWorker({ tasks: [task], abortGraceMs: 60_000 });
  await started.opened;
  await queue.utils.cancelJobs([id], { reason: "wrong file", cancelledBy: "ana" });
  const running = await explainJob(queue.utils.database, id);
  assert.match(running?.sentence ?? "", /^Being cancelled: wrong file, by ana\. /);
  assert.equal(running?.causes[0]?.text, "It is being cancelled: wrong file, by ana");
  const [listed] = (await listLightJobs(queue.utils.database)).jobs;
  assert.equal(listed?.cancelling, "being cancelled: wrong file, by ana");
  end.open();
  assert.equal(await ended(id), "completed");
  const { id: waiting } = await queue.utils.addJob("other");
  await queue.utils.cancelJobs([waiting], { reason: "wrong file" });
  const failed = await explainJob(queue.utils.database, waiting);
  assert.match(failed?.sentence ?? "", /^Will not run again\. Cancelled: wrong file; .* ago\.$/);
});

test("The cancel of a running job reduces max_attempts to the number of its current attempt; the end of the job changes neither attempts nor max_attempts.", async () => {
  const { task, started } = endless();
  const { id } = await queue.utils.addJob("endless");
  await queue.sql("update worker._private_jobs set attempts = 2, last_error = 'broken'");
  await queue.startWorker({ tasks: [task], abortGraceMs: 60_000 });
  await started;
  await queue.utils.cancelJobs([id]);
  const attempts = async () =>
    (await queue.remaining()).map((one) => [one.attempts, one.max_attempts]);
  assert.deepEqual(await attempts(), [[3, 3]]);
  assert.equal(await ended(id), "cancelled");
  assert.deepEqual(await attempts(), [[3, 3]]);
});

test("A running job keeps its cancel request when another add takes the job's key.", async () => {
  const { id } = await queue.utils.addJob("task", {}, { jobKey: "one" });
  await queue.sql(`update worker._private_jobs
    set locked_by = 'theirs', locked_at = now(), attempts = 1`);
  await queue.utils.cancelJobs([id]);
  await queue.utils.addJob("task", {}, { jobKey: "one" });
  const { found } = await readCancelRequests(queue.utils.database, [id]);
  assert.deepEqual(found, [{ id, reason: null, by: null }]);
});

test("A cancelled job of a Graphile worker runs to its end, and is not retried.", async () => {
  const [started, end] = [latch(), latch()];
  const runner = await run({
    connectionString: queue.url,
    schema: "worker",
    pollInterval: 50,
    noHandleSignals: true,
    logger: new Logger(() => () => {}),
    taskList: {
      theirs: async () => {
        started.open();
        await end.opened;
        throw new Error("broken");
      },
    },
  });
  try {
    const { id } = await queue.utils.addJob("theirs");
    await started.opened;
    assert.deepEqual(await queue.utils.cancelJobs([id]), [{ id, outcome: "cancelling" }]);
    end.open();
    assert.equal(await waitFor("the job ends", ended(id)), "failed");
    const [left] = await queue.remaining();
    assert.deepEqual([left?.last_error, left?.attempts], ["broken", left?.max_attempts]);
    assert.deepEqual(await requests(), []);
  } finally {
    await runner.stop();
  }
});
