// Tests when and in which order jobs run: runOnce() and run(), concurrency, priorities, flags, wake-ups, SIGTERM and
// SIGINT, lost locks, and jobs whose task no worker has.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { run, runOnce } from "../../src/worker/run.ts";
import { defineTask } from "../../src/worker/task/task.ts";
import { latch, recordingTask, waitFor, waitUntil, witness, workerQueue } from "./worker-queue.ts";

const queue = workerQueue();
const NEVER_MS = 3_600_000;
const brief = () => ({ connectionString: queue.url, recovery: false as const });

describe("runOnce", () => {
  for (const fastLane of [false, true]) {
    const mode = fastLane ? "the fast lane" : "the safe mode";
    test(`runs all ready jobs, including those of named queues and those that jobs add, in ${mode}.`, async () => {
      const family = recordingTask<{ depth: number; left?: string }>("family", () => {});
      const parent = defineTask<{ depth: number }>("parent", async ({ depth }, { addJob }) => {
        if (depth === 0) return;
        await addJob("parent", { depth: depth - 1 });
        await addJob("family", { depth }, { queueName: `q${depth % 2}`, priority: -depth });
      });
      const sullen = defineTask("sullen", async (_, { addJob }) => {
        await addJob("family", { depth: 0, left: "by a job that failed" });
        throw new Error("after it has added one");
      });
      await queue.utils.addJobs([
        ...Array.from({ length: 120 }, (_, n) => ({
          identifier: "family",
          payload: { depth: n },
          spec: { queueName: `q${n % 3}`, ...(n % 7 === 3 ? { jobKey: `key ${n}` } : {}) },
        })),
        { identifier: "parent", payload: { depth: 6 } },
        // Only one attempt, because on a slow machine the retry could become due before runOnce() ends.
        { identifier: "sullen", spec: { maxAttempts: 1 } },
      ]);
      await waitFor(
        "runOnce",
        runOnce({ ...brief(), tasks: [family, parent, sullen], concurrency: 3, fastLane }),
      );
      assert.equal(family.seen.length, 127);
      const left = await queue.remaining();
      assert.deepEqual(
        left.map(({ attempts, locked_by }) => [attempts, locked_by]),
        [[1, null]],
      );
    });
  }

  test("counts a job whose lock was lost neither as completed nor as failed.", async () => {
    const task = recordingTask<string>("task", async (result) => {
      await queue.sql("update worker._private_jobs set locked_by = 'other'");
      if (result === "fails") throw new Error("fails");
    });
    for (const result of ["succeeds", "fails"]) {
      await queue.sql("delete from worker._private_jobs");
      await queue.utils.addJob("task", result);
      const counts = await waitFor("runOnce", runOnce({ ...brief(), tasks: [task] }));
      assert.deepEqual(counts, { completed: 0, failed: 0, skipped: 0 });
    }
    assert.deepEqual(task.seen, ["succeeds", "fails"]);
  });

  test("counts a job of the fast lane once although a commit failed and the job ran again.", async (t) => {
    t.after(() => queue.sql("drop function public.once cascade; drop sequence public.commits"));
    await queue.sql(`create sequence public.commits;
      create function public.once() returns trigger language plpgsql as $$ begin
        if nextval('public.commits') = 1 then raise exception 'not yet'; end if;
        return null;
      end $$;
      create constraint trigger once after delete on worker._private_jobs
        deferrable initially deferred for each row execute function public.once()`);
    const task = recordingTask("task");
    await queue.utils.addJob("task");
    const counts = await waitFor("runOnce", runOnce({ ...brief(), tasks: [task], fastLane: true }));
    assert.ok(task.seen.length > 1);
    assert.deepEqual(counts, { completed: 1, failed: 0, skipped: 0 });
  });

  test("does not wait for scheduled jobs, or for jobs that only other workers can run.", async () => {
    const task = recordingTask("task");
    await queue.utils.addJobs([
      { identifier: "task", spec: { runAt: new Date(Date.now() + 60_000) } },
      { identifier: "task", spec: { flags: ["other"] } },
      { identifier: "unknown" },
      { identifier: "task" },
    ]);
    const options = { ...brief(), tasks: [task], forbiddenFlags: ["other"] };
    await waitFor("runOnce", runOnce(options), 3_000);
    assert.equal(task.seen.length, 1);
    assert.equal((await queue.remaining()).length, 3);
  });

  test("runs jobs that were due at any time in the past.", async () => {
    await queue.utils.addJobs(Array.from({ length: 30 }, () => ({ identifier: "task" })));
    await queue.sql(`update worker._private_jobs set run_at = '-infinity' where id > 10`);
    const task = recordingTask("task");
    const saw = witness("worker:disconnected");
    const options = { ...brief(), tasks: [task], concurrency: 2, plugins: [saw] };
    await waitFor("runOnce", runOnce(options));
    assert.equal(task.seen.length, 30);
    assert.deepEqual(saw.all("worker:disconnected"), []);
  });

  test("runs more urgent jobs that are added while it runs.", async () => {
    const order: number[] = [];
    const urgent = defineTask<number>("urgent", (n) => void order.push(n));
    const many = defineTask<number>("many", async (n, { addJob }) => {
      if (n === 150) await addJob("urgent", n, { priority: -10 });
    });
    await queue.utils.addJobs(
      Array.from({ length: 300 }, (_, n) => ({ identifier: "many", payload: n })),
    );
    await waitFor(
      "runOnce",
      runOnce({ ...brief(), tasks: [many, urgent], concurrency: 4, connections: 1 }),
    );
    assert.deepEqual(order, [150]);
  });

  test("ends early when its signal aborts.", async () => {
    const controller = new AbortController();
    const task = recordingTask("task", () => controller.abort());
    await queue.utils.addJobs(Array.from({ length: 50 }, () => ({ identifier: "task" })));
    await waitFor(
      "runOnce",
      runOnce({ ...brief(), tasks: [task], concurrency: 1, signal: controller.signal }),
    );
    const left = await queue.remaining();
    assert.equal(left.length, 50 - task.seen.length);
    assert.ok(left.length > 0 && left.every(({ locked_by }) => locked_by === null));
  });

  test("does not start if its signal has already aborted.", async () => {
    const task = recordingTask("task");
    await queue.utils.addJob("task");
    const once = runOnce({ ...brief(), tasks: [task], signal: AbortSignal.abort() });
    await assert.rejects(once, { code: "aborted" });
    assert.equal(task.seen.length, 0);
    assert.equal((await queue.remaining()).length, 1);
  });

  test("rejects if the worker cannot start.", async () => {
    const options = {
      ...brief(),
      tasks: [recordingTask("task")],
      schema: "nowhere",
      migrate: "never",
    } as const;
    await assert.rejects(runOnce(options), { code: "schema_missing" });
  });
});

describe("run", () => {
  test("works until its signal aborts.", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const task = recordingTask("task");
    const worker = await run({ ...brief(), tasks: [task], signal, handleSignals: false });
    await queue.utils.addJob("task");
    await waitUntil("the job has run", () => task.seen.length === 1);
    controller.abort();
    await waitFor("the worker's end", worker.stopped);
  });

  test("does not start if its signal has already aborted.", async () => {
    const options = { ...brief(), tasks: [recordingTask("task")], handleSignals: false };
    await assert.rejects(run({ ...options, signal: AbortSignal.abort() }), { code: "aborted" });
  });
});

describe("Jobs run", () => {
  test("in parallel, up to the worker's concurrency.", async () => {
    let now = 0;
    let most = 0;
    const busy = defineTask("busy", async () => {
      most = Math.max(most, ++now);
      await sleep(2);
      now--;
    });
    await queue.utils.addJobs(Array.from({ length: 150 }, () => ({ identifier: "busy" })));
    await waitFor("runOnce", runOnce({ ...brief(), tasks: [busy], concurrency: 7 }));
    assert.equal(most, 7);
  });

  test("in the order of priority, time and id.", async () => {
    const task = recordingTask<string>("task");
    const at = (offsetMs: number) => new Date(Date.now() - 60_000 + offsetMs);
    const runAt = at(0);
    await queue.utils.addJobs([
      { identifier: "task", payload: "5", spec: { priority: 1, runAt: at(-999) } },
      { identifier: "task", payload: "4", spec: { runAt: at(10) } },
      { identifier: "task", payload: "2", spec: { runAt } },
      { identifier: "task", payload: "3", spec: { runAt } },
      { identifier: "task", payload: "1", spec: { priority: -32_768 } },
      { identifier: "task", payload: "6", spec: { priority: 32_767 } },
    ]);
    // One connection, because the answers on two connections may arrive in any order.
    await waitFor(
      "runOnce",
      runOnce({ ...brief(), tasks: [task], concurrency: 1, connections: 1 }),
    );
    assert.deepEqual(task.seen, ["1", "2", "3", "4", "5", "6"]);
  });

  test("in order if they are of one named queue, even if all are due at the same moment.", async () => {
    const task = recordingTask<number>("task");
    const runAt = new Date(Date.now() - 1_000);
    // Makes gaps in the table's pages, so that rows of later jobs may be placed before rows of earlier jobs.
    await queue.utils.addJobs(
      Array.from({ length: 400 }, (_, n) => ({ identifier: "gap", payload: n })),
    );
    await queue.sql("delete from worker._private_jobs where id % 2 = 0");
    await queue.sql("vacuum worker._private_jobs");
    for (let n = 0; n < 120; n++) {
      await queue.utils.addJob("task", n, { queueName: "q", runAt });
    }
    await waitFor("runOnce", runOnce({ ...brief(), tasks: [task], concurrency: 4 }));
    assert.deepEqual(
      task.seen,
      Array.from({ length: 120 }, (_, n) => n),
    );
  });

  test("only if a worker has their task; other jobs stay ready.", async () => {
    const task = recordingTask("known");
    const { id } = await queue.utils.addJob("unknown");
    await queue.utils.addJob("known");
    await waitFor("runOnce", runOnce({ ...brief(), tasks: [task] }));
    const job = await queue.utils.getJob(id);
    assert.deepEqual([job?.state, job?.attempts, job?.taskIdentifier], ["ready", 0, "unknown"]);
  });

  test("only if they have no flag that the worker forbids.", async () => {
    const task = recordingTask<string>("task");
    for (const [payload, flags] of Object.entries({ no: ["a", "b"], yes: ["c"], plain: [] })) {
      await queue.utils.addJob("task", payload, { flags });
      await queue.utils.addJob("task", `${payload}, queued`, { flags, queueName: "q" });
    }
    const options = { ...brief(), tasks: [task], forbiddenFlags: ["b", "x"] };
    await waitFor("runOnce", runOnce(options));
    assert.deepEqual(task.seen.toSorted(), ["plain", "plain, queued", "yes", "yes, queued"]);
  });

  test("without prepared statements, too.", async () => {
    const task = recordingTask("task");
    await queue.utils.addJobs(
      Array.from({ length: 50 }, (_, n) => ({
        identifier: "task",
        spec: n % 2 === 0 ? { queueName: "q" } : {},
      })),
    );
    await waitFor("runOnce", runOnce({ ...brief(), tasks: [task], preparedStatements: false }));
    assert.equal(task.seen.length, 50);
  });
});

describe("An idle worker wakes up", () => {
  test("when a job is added, long before the poll.", async () => {
    const task = recordingTask("task");
    await queue.startWorker({ tasks: [task], pollIntervalMs: NEVER_MS });
    await queue.utils.addJob("task");
    await waitUntil("the job has run", () => task.seen.length === 1);
    await queue.sql("select worker.add_job('task', queue_name := 'q')");
    await waitUntil("the job of the named queue has run", () => task.seen.length === 2);
  });

  test("when a job becomes due, long before the poll, even just after a fetch.", async () => {
    const delays: number[] = [];
    const task = defineTask<string>(
      "task",
      (due) => void delays.push(Date.now() - Date.parse(due)),
    );
    await queue.startWorker({ tasks: [task], pollIntervalMs: NEVER_MS });
    const waitsMs = [1, 2, 3, 5, 8, 11, 13, 16, 18, 25, 60, 150];
    for (const waitMs of waitsMs) {
      const before = delays.length;
      const runAt = new Date(Date.now() + waitMs);
      await queue.utils.addJob("task", runAt.toISOString(), { runAt });
      await waitUntil(`the job due in ${waitMs} ms has run`, () => delays.length > before);
    }
    assert.ok(
      delays.every((delay) => delay >= 0),
      String(delays),
    );
  });

  test("at the poll if its option `notify` is false.", async () => {
    const task = recordingTask("task");
    const options = { tasks: [task], notify: false, pollIntervalMs: 50 };
    await queue.startWorker(options);
    await queue.utils.addJob("task");
    await waitUntil("the job has run", () => task.seen.length === 1);
    const listening = await queue.sql(
      "select from pg_stat_activity where datname = current_database() and query ilike 'listen%'",
    );
    assert.deepEqual(listening, []);
  });

  test("at the poll after a named queue was unlocked in SQL.", async () => {
    const task = recordingTask("task");
    await queue.utils.addJob("task", 1, { queueName: "q" });
    await queue.sql(`update worker._private_job_queues set locked_by = 'x', locked_at = now()`);
    const saw = witness("job:fetch");
    await queue.startWorker({ tasks: [task], pollIntervalMs: 50, plugins: [saw] });
    await saw.saw("job:fetch", 2);
    assert.equal(task.seen.length, 0);
    await queue.sql(`update worker._private_job_queues set locked_by = null, locked_at = null`);
    await waitUntil("the job has run", () => task.seen.length === 1);
  });
});

describe("A worker whose lock on a job was lost", () => {
  for (const result of ["completes", "fails"]) {
    test(`changes nothing in the database when the attempt ${result}, and emits job:interrupted.`, async () => {
      const gate = latch();
      const task = recordingTask("task", async () => {
        await gate.opened;
        if (result === "fails") throw new Error("too late");
      });
      const saw = witness("job:interrupted");
      const { id } = await queue.utils.addJob("task", { n: 1 });
      const worker = await queue.startWorker({ tasks: [task], plugins: [saw] });
      await waitUntil("the job runs", () => task.seen.length === 1);
      await queue.utils.forceUnlockWorkers([worker.id]);
      await queue.sql(
        `update worker._private_jobs set locked_by = 'another', locked_at = now(), attempts = 2`,
      );
      gate.open();
      const { jobId, job, reason } = await saw.saw("job:interrupted");
      assert.deepEqual([jobId, job?.id, reason], [id, id, "lease_lost"]);
      const [left] = await queue.remaining();
      assert.deepEqual([left?.attempts, left?.locked_by, left?.last_error], [2, "another", null]);
    });
  }
});

describe("On SIGTERM a process that runs a worker", () => {
  const main = join(import.meta.dirname, "signal-child.ts");
  const register = join(import.meta.dirname, "../support/register.mjs");

  async function process_(ignoring: boolean, ...more: string[]) {
    const child = spawn(
      process.execPath,
      ["--import", register, main, queue.url, String(ignoring), ...more],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    const lines: string[] = [];
    createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
    const exited = once(child, "exit");
    await waitUntil("the job of the process runs", () => lines.includes("running"));
    return { child, lines, exited };
  }

  test("waits for its job and ends by itself.", async () => {
    await queue.utils.addJob("slow");
    const { child, lines, exited } = await process_(false);
    child.kill("SIGTERM");
    assert.deepEqual(await waitFor("the end of the process", exited), [0, null]);
    assert.deepEqual(lines, ["running", "finished", "stopped"]);
    assert.deepEqual(await queue.remaining(), []);
  });

  test("ends within its limit although a job never ends, and unlocks that job, whose attempt counts.", async () => {
    await queue.utils.addJob("slow");
    const { child, exited } = await process_(true, "300");
    const from = performance.now();
    child.kill("SIGTERM");
    // The process sends the signal to itself, because the abandoned job would keep the process running.
    assert.deepEqual(await waitFor("the end of the process", exited, 5_000), [null, "SIGTERM"]);
    assert.ok(
      performance.now() - from >= 400,
      "the stop's time limit and the abort's grace period have passed",
    );
    const [job] = await queue.remaining();
    assert.deepEqual([job?.attempts, job?.locked_by], [1, null]);
    assert.equal(
      job?.last_error,
      "interrupted: the worker was stopped (SIGTERM; not done after 300 ms)",
    );
  });

  test("aborts its job at a second signal.", async () => {
    await queue.utils.addJob("slow");
    const { child, lines, exited } = await process_(true);
    child.kill("SIGTERM");
    await waitUntil("the stop has begun", () => lines.includes("shutdown SIGTERM"));
    child.kill("SIGINT");
    assert.deepEqual(await waitFor("the end of the process", exited), [0, null]);
    assert.match((await queue.remaining())[0]?.last_error ?? "", /^interrupted/);
  });
});
