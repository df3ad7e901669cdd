// Tests back-offs. Workers of this library apply all back-offs; Graphile workers apply only those of named queues.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, test } from "node:test";
import { Logger, run } from "graphile-worker";
import { explainJob } from "../../../src/insight/why/explain-job.ts";
import { beginBackOff } from "../../../src/queue/limits/back-off.ts";
import { makeWorkerUtils } from "../../../src/utils/worker-utils.ts";
import { loadTasks } from "../../../src/worker/files/load-tasks.ts";
import { type BackOffTarget, RetryAfter } from "../../../src/worker/task/outcomes.ts";
import { exponential, fixed } from "../../../src/worker/task/retry.ts";
import { defineBatchTask, defineTask } from "../../../src/worker/task/task.ts";
import { migratedDatabase } from "../../support/database.ts";
import { recorder, recordingTask, waitUntil, workerQueue } from "../worker-queue.ts";

const queue = workerQueue(() => migratedDatabase("worker", ["limits"]));
afterEach(() =>
  queue.sql(
    "truncate worker._private_pauses, worker._private_back_offs, worker._private_limits cascade",
  ),
);

/** Without heartbeats, a worker starts no job that needs a permit. */
const BEATS = { recovery: { heartbeatIntervalMs: 500, thresholdMs: 5_000 } } as const;

interface BackOff {
  readonly scope: string;
  readonly name: string;
  readonly reason: string;
  readonly job_id: string;
  readonly task: string;
  readonly left_ms: number;
  readonly is_pause: boolean;
}

const backOffs = () =>
  queue.sql<BackOff>(`select scope, name, reason, job_id::text, task,
    extract(epoch from until - now())::float8 * 1000 as left_ms,
    exists (select from worker._private_pauses p
      where p.scope = b.scope and p.name = b.name and p.resume_at = b.until) as is_pause
    from worker._private_back_offs b order by began_at`);

const oneBackOff = async () => {
  await waitUntil("the back-off is written", async () => (await backOffs()).length > 0);
  return (await backOffs())[0] as BackOff;
};

/**
 * Waits until all workers have read the present limits and their back-offs. A worker reads the limits after the pauses,
 * so the limits have been read once the worker has acknowledged a second pause.
 */
async function limitsAreRead(): Promise<void> {
  for (const name of ["none 1", "none 2"]) await queue.utils.pauseTask(name);
  for (const name of ["none 1", "none 2"]) await queue.utils.resumeTask(name);
}

/** Returns a task whose first call requests a back-off, and the times of all calls. */
function limited(identifier: string, target: BackOffTarget, ms: number) {
  const times: number[] = [];
  const task = recordingTask(identifier, (_, call) => {
    times.push(performance.now());
    if (call > 1) return;
    const message = "429 from api.example.com";
    throw new RetryAfter(ms, { backOff: target, message });
  });
  return { task, times };
}

const add = (identifier: string, count: number, spec = {}) =>
  queue.utils.addJobs(
    Array.from({ length: count }, (_, n) => ({ identifier, payload: { n }, spec })),
  );

for (const [mode, options] of [
  ["safe mode", {}],
  ["fast lane", { fastLane: true }],
] as const) {
  describe(`In the ${mode}`, () => {
    for (const target of ["task", "queue", "key", "limit:api"] as const) {
      test(`a back-off with the target ${target} delays the jobs of this target, in all workers, until the back-off ends; other jobs run.`, async () => {
        await queue.utils.setLimit({ name: "api", task: "call", concurrency: 5 });
        const { task, times } = limited("call", target, 2_500);
        const other = recordingTask("other");
        const workers = { tasks: [task, other], concurrency: 2, ...BEATS, ...options };
        await queue.startWorker(workers);
        await queue.startWorker(workers);
        const [first] = await add("call", 1, { queueName: "q" });
        const backOff = await oneBackOff();
        const scope = target.startsWith("limit:") ? "limit" : target === "key" ? "queue" : target;
        assert.equal(backOff.scope, scope);
        const names: Record<string, string> = { limit: "api", queue: "q", task: "call" };
        assert.equal(backOff.name, names[scope]);
        assert.equal(backOff.reason, "429 from api.example.com");
        assert.deepEqual([backOff.job_id, backOff.task], [first?.id, "call"]);
        assert.equal(backOff.is_pause, scope !== "limit");
        if (scope === "limit") await limitsAreRead();
        const spec = target === "queue" || target === "key" ? { queueName: "q" } : {};
        await add("call", 5, spec);
        await add("other", 5);
        await waitUntil("the jobs of other tasks have run", () => other.seen.length === 5);
        assert.equal(times.length, 1);
        await waitUntil("the task of the back-off has run 7 times", () => task.seen.length === 7);
        const waitedMs = (times[1] as number) - (times[0] as number);
        assert.ok(waitedMs > 2_350 && waitedMs < 4_500, `the next job starts after ${waitedMs} ms`);
        await waitUntil("no job is left", async () => (await queue.remaining()).length === 0);
        await waitUntil(
          "the pause has ended",
          async () => (await queue.sql("select from worker._private_pauses")).length === 0,
        );
      });
    }

    test("an attempt that requests a back-off of a given duration does not count, even if it is the job's last attempt.", async () => {
      const { task } = limited("call", "task", 60_000);
      await queue.startWorker({ tasks: [task], ...options });
      await add("call", 1, { maxAttempts: 1 });
      await oneBackOff();
      // In the fast lane `locked_by` is also null while the job runs, so the time of the next attempt is checked, too.
      await waitUntil("the job waits for its next attempt", async () => {
        const [left] = await queue.remaining();
        return left?.locked_by === null && (left?.wait_s ?? 0) > 30;
      });
      const [left] = await queue.remaining();
      assert.equal(left?.attempts, 0);
      assert.ok(Math.abs((left?.wait_s ?? 0) - 60) < 2, `the job waits ${left?.wait_s} s`);
    });

    for (const [title, response] of [
      ["for a response without Retry-After", () => new Response(null, { status: 429 })],
      [
        "for a response with Retry-After: 0",
        () => new Response(null, { status: 429, headers: { "retry-after": "0" } }),
      ],
    ] as const) {
      test(`${title}, the back-off has the delay of the retry policy.`, async () => {
        const task = defineTask(
          "call",
          () => {
            throw new RetryAfter(response(), { backOff: "task" });
          },
          { retry: fixed(30_000) },
        );
        await queue.startWorker({ tasks: [task], ...options });
        await add("call", 1);
        const { left_ms, reason } = await oneBackOff();
        assert.ok(left_ms > 25_000 && left_ms < 31_000, `the back-off ends in ${left_ms} ms`);
        assert.equal(reason, "HTTP 429");
        await waitUntil(
          "the job waits",
          async () => (await queue.remaining())[0]?.locked_by === null,
        );
        assert.equal((await queue.remaining())[0]?.attempts, 0);
      });
    }

    for (const [title, retry] of [
      ["a fixed delay of 0", fixed(0)],
      ["an exponential delay from 0", exponential({ firstMs: 0 })],
    ] as const) {
      test(`if a response has no Retry-After, and the retry policy is ${title}, the default delay applies.`, async () => {
        const response = new Response(null, { status: 429 });
        const task = recordingTask("call", (_, call) => {
          if (call === 1) throw new RetryAfter(response, { backOff: "task" });
        });
        await queue.startWorker({ tasks: [{ ...task, retry }], ...options });
        await add("call", 1);
        const { left_ms } = await oneBackOff();
        assert.ok(left_ms > 500 && left_ms < 2_719, `the back-off ends in ${left_ms} ms`);
      });
    }

    test("24 jobs that request a back-off at the same time begin one back-off, which is logged at most twice.", async () => {
      let waiting = 0;
      const { promise, resolve } = Promise.withResolvers<void>();
      const task = defineTask<{ n: number }>("call", async ({ n }) => {
        if (++waiting === 24) resolve();
        await promise;
        throw new RetryAfter(60_000 + n, { backOff: "task" });
      });
      await add("call", 24);
      const { logger, lines } = recorder();
      await queue.startWorker({ tasks: [task], concurrency: 24, logger, ...options });
      await waitUntil("all jobs wait for their next attempt", async () =>
        (await queue.remaining()).every(({ wait_s }) => wait_s > 50),
      );
      await waitUntil("the back-off is written", async () => (await backOffs()).length > 0);
      assert.equal((await backOffs()).length, 1);
      const written = lines.filter(({ message }) => message === "backing off");
      assert.ok(written.length <= 2, `the back-off is logged ${written.length} times`);
    });

    test("an error that a batch task throws can begin a back-off, and the job fails when its deadline has passed.", async () => {
      const task = defineBatchTask("batch", () => {
        throw new RetryAfter(300, { backOff: "task" });
      });
      await queue.startWorker({ tasks: [task], pollIntervalMs: 100, ...options });
      await queue.utils.addJob("batch", [1, 2], { deadline: new Date(Date.now() + 200) });
      const { name } = await oneBackOff();
      assert.equal(name, "batch");
      await waitUntil("the job has failed", async () => (await queue.remaining())[0]?.last_error);
      assert.match((await queue.remaining())[0]?.last_error ?? "", /deadline/);
    });
  });
}

test("During a back-off of a named queue, Graphile workers start no job of the queue. Afterwards they run the jobs.", async () => {
  const { task } = limited("call", "queue", 1_500);
  const ours = await queue.startWorker({ tasks: [task] });
  await add("call", 1, { queueName: "q" });
  await oneBackOff();
  const seen: number[] = [];
  const theirs = await run({
    connectionString: queue.url,
    schema: "worker",
    pollInterval: 50,
    noHandleSignals: true,
    logger: new Logger(() => () => {}),
    taskList: { theirs: async () => void seen.push(performance.now()), other: async () => {} },
  });
  try {
    await add("theirs", 3, { queueName: "q" });
    await add("other", 1);
    await waitUntil("another job has run", async () => (await queue.remaining()).length === 4);
    assert.equal(seen.length, 0);
    await waitUntil("all jobs have run", async () => (await queue.remaining()).length === 0);
    assert.equal(seen.length, 3);
  } finally {
    await theirs.stop();
    await ours.stop();
  }
});

test("A task that is a program can begin a back-off of the job's queue by the last line of its output.", async () => {
  const directory = mkdtempSync(join(tmpdir(), "worker-test-"));
  const script =
    "#!/bin/sh\necho 429 from the API >&2\necho retry-after=60 back-off=queue\nexit 75\n";
  writeFileSync(join(directory, "call.sh"), script, { mode: 0o755 });
  try {
    await queue.startWorker({ tasks: await loadTasks(directory) });
    await add("call", 1, { queueName: "q" });
    const { scope, name, reason, is_pause } = await oneBackOff();
    assert.deepEqual([scope, name, is_pause], ["queue", "q", true]);
    assert.equal(reason, "exited with code 75: 429 from the API");
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("A back-off does not change a user's pause of the same task.", async () => {
  const backOff = { scope: "task", name: "call", reason: "r", jobId: "1", task: "call" } as const;
  const { database: db } = queue.utils;
  assert.equal(await beginBackOff(db, { ...backOff, delayMs: 30_000 }), "begun");
  await queue.utils.pauseTask("call", { reason: "deploy", pausedBy: "ana", waitMs: 0 });
  assert.equal(await beginBackOff(db, { ...backOff, delayMs: 60_000 }), "kept");
  const [pause] = await queue.utils.listPauses();
  assert.deepEqual(
    [pause?.reason, pause?.pausedBy, pause?.resumeAt, pause?.isBackOff],
    ["deploy", "ana", null, false],
  );
});

test("A second back-off of a queue replaces the first only if the second ends later; resuming the queue ends the back-off.", async () => {
  const { database: db } = queue.utils;
  const backOff = {
    scope: "queue",
    name: "q",
    reason: "429\nmore",
    jobId: "1",
    task: "t",
  } as const;
  assert.equal(await beginBackOff(db, { ...backOff, delayMs: 10_000 }), "begun");
  assert.equal(await beginBackOff(db, { ...backOff, delayMs: 5_000 }), "kept");
  assert.equal(await beginBackOff(db, { ...backOff, delayMs: 60_000, jobId: "2" }), "begun");
  const rows = await backOffs();
  assert.deepEqual(
    rows.map(({ job_id, is_pause, reason }) => [job_id, is_pause, reason]),
    [["2", true, "429"]],
  );
  const [pause] = await queue.utils.listPauses();
  assert.equal(pause?.isBackOff, true);
  assert.equal((await queue.utils.resumeQueue("q")).wasPaused, true);
  assert.deepEqual(await queue.utils.listPauses(), []);
  assert.equal(await beginBackOff(db, { ...backOff, delayMs: 5_000 }), "begun");
});

test("Of two concurrent back-offs of a limit, the one that ends later remains.", async () => {
  const { database: db } = queue.utils;
  await queue.utils.setLimit({ name: "api", task: "call", concurrency: 5 });
  const backOff = { scope: "limit", name: "api", reason: "r", jobId: "1", task: "call" } as const;
  assert.equal(await beginBackOff(db, { ...backOff, delayMs: 10_000 }), "begun");
  const other = await queue.pool.connect();
  await other.query("begin");
  await beginBackOff({ ...db, client: other }, { ...backOff, delayMs: 3_600_000 });
  const { rows } = await other.query<{ pid: number }>("select pg_backend_pid() as pid");
  const shorter = beginBackOff(db, { ...backOff, delayMs: 60_000 });
  await waitUntil("the shorter back-off waits for the lock of the row", async () => {
    const waiting = await queue.sql(
      "select from pg_stat_activity where $1 = any(pg_blocking_pids(pid))",
      [rows[0]?.pid],
    );
    return waiting.length > 0;
  });
  await other.query("commit");
  other.release();
  await shorter;
  const [row, ...more] = await backOffs();
  assert.ok((row?.left_ms ?? 0) > 3_000_000);
  assert.deepEqual(more, []);
});

test("At most 100 back-offs of one name are stored. A new back-off also deletes up to 100 back-offs that ended over an hour ago, whatever their names are.", async () => {
  await queue.sql(`insert into worker._private_back_offs (scope, name, began_at, until)
    select 'task', 'call', now() - n * interval '1 second', now() - interval '1 millisecond'
    from generate_series(1, 150) as n`);
  await queue.sql(`insert into worker._private_back_offs (scope, name, began_at, until)
    values ('queue', 'gone', now() - interval '2 hours', now() - interval '2 hours')`);
  const backOff = { scope: "task", name: "call", reason: "r", jobId: "1", task: "call" } as const;
  await beginBackOff(queue.utils.database, { ...backOff, delayMs: 1_000 });
  const rows = await backOffs();
  assert.equal(rows.length, 100);
  assert.equal(rows.at(-1)?.is_pause, true);
});

test("When a worker has stopped, its back-offs are written.", async () => {
  const { task } = limited("call", "task", 60_000);
  await add("call", 1);
  const worker = await queue.startWorker({ tasks: [task] });
  await worker.drain();
  await worker.stop();
  assert.equal((await backOffs()).length, 1);
});

test("The explanation of a waiting job names the back-off with its end and its reason.", async () => {
  const { task } = limited("call", "task", 60_000);
  await queue.startWorker({ tasks: [task] });
  await add("call", 1);
  await oneBackOff();
  const job = await queue.utils.addJob("call");
  const why = await explainJob(queue.utils.database, job.id);
  assert.match(why?.sentence ?? "", /is backing off until .*: 429 from api\.example\.com\.$/);
});

test("A back-off of a limit ends when the limit is removed, even if the limit is set again.", async () => {
  await queue.utils.setLimit({ name: "l", task: "call", concurrency: 1 });
  const target = { scope: "limit", name: "l", reason: "r", jobId: "1", task: "call" } as const;
  await beginBackOff(queue.utils.database, { ...target, delayMs: 60_000 });
  assert.notEqual((await queue.utils.getLimit("l")).backOff, null);
  await queue.utils.removeLimit("l");
  await queue.utils.setLimit({ name: "l", task: "call", concurrency: 1 });
  assert.equal((await queue.utils.getLimit("l")).backOff, null);
  await queue.utils.removeLimit("l");
});

test("If the message of a RetryAfter has 40 MB, its first 200 characters are the reason of the back-off.", async () => {
  const { logger, lines } = recorder();
  const task = defineTask("call", () => {
    throw new RetryAfter(60_000, { message: "x".repeat(40_000_000), backOff: "task" });
  });
  await queue.utils.addJob("call");
  const startedAt = performance.now();
  await queue.startWorker({ tasks: [task], logger });
  await waitUntil("the back-off is logged", () =>
    lines.some(({ message }) => message === "backing off"),
  );
  assert.ok(performance.now() - startedAt < 2_000);
  const { fields } = lines.find(({ message }) => message === "backing off") ?? {};
  assert.equal(fields?.["reason"], "x".repeat(200));
});

test("If jobs without a named queue request a back-off of their queue, or jobs name an unknown limit, each of these problems is logged once.", async () => {
  const { logger, lines } = recorder();
  const task = defineTask<{ to: BackOffTarget }>("call", ({ to }) => {
    throw new RetryAfter(60_000, { backOff: to });
  });
  const worker = await queue.startWorker({ tasks: [task], logger });
  for (const to of ["queue", "limit:none", "queue", "limit:none"]) {
    await queue.utils.addJob("call", { to });
  }
  await waitUntil("all jobs wait for their next attempt", async () =>
    (await queue.remaining()).every(({ wait_s }) => wait_s > 50),
  );
  await worker.stop();
  assert.deepEqual(await backOffs(), []);
  const warnings = lines.filter(({ level }) => level === "warn").map(({ message }) => message);
  assert.equal(warnings.filter((text) => text.includes("without a named queue")).length, 1);
  assert.equal(warnings.filter((text) => text.includes("no limit has this name")).length, 1);
});

test("Without the tables of limits, only the job that requests a back-off waits, and one warning names the command that adds the tables.", async () => {
  const bare = await migratedDatabase("worker", ["controls"]);
  const { logger, lines } = recorder();
  const utils = await makeWorkerUtils({ connectionString: bare.url });
  const { task } = limited("call", "task", 60_000);
  const others = recordingTask("other", (_, call) => {
    if (call < 3) throw new RetryAfter(60_000, { backOff: "task" });
  });
  const worker = await queue.startWorker({
    connectionString: bare.url,
    tasks: [task, others],
    logger,
  });
  for (const name of ["call", "call", "other", "other", "other"]) await utils.addJob(name);
  await waitUntil(
    "the jobs that request no back-off have run",
    async () => (await utils.countJobs()).total === 3,
  );
  await worker.stop();
  await utils.end();
  const warnings = lines.filter(({ message }) => message.includes("--with limits"));
  assert.equal(warnings.length, 1);
});

test("Invalid targets of a back-off are refused. If a response with a URL causes a back-off, the default message of RetryAfter is the response's status and host.", () => {
  assert.throws(() => new RetryAfter(1, { backOff: "limit:" }), { code: "bad_input" });
  assert.throws(() => new RetryAfter(1, { backOff: "all" as "task" }), { code: "bad_input" });
  const url = "https://user:secret@api.openai.com/v1?key=secret";
  const response = { status: 429, statusText: "", headers: new Headers(), url };
  const error = new RetryAfter(response, { backOff: "task" });
  assert.equal(error.message, "429 from api.openai.com");
});
