// Tests how the library behaves in a new user's program: what is logged without a configured logger, how the program
// ends after a signal, and the advice in the errors and warnings that frequent mistakes cause.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import pg from "pg";
import { InputError } from "../../src/base/errors.ts";
import { makeWorkerUtils } from "../../src/utils/worker-utils.ts";
import { defineTask } from "../../src/worker/task/task.ts";
import { emptyDatabase, migratedDatabase } from "../support/database.ts";
import { recorder, waitUntil, workerQueue } from "./worker-queue.ts";

const queue = workerQueue();
const child = join(import.meta.dirname, "first-day-child.ts");
const register = join(import.meta.dirname, "../support/register.mjs");

function program(url: string, what: string) {
  const args = ["--import", register, child, url, what];
  return spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
}

test("A worker without the option logger writes failures of jobs to stderr; with the logger `silent` it writes nothing.", async () => {
  for (const what of ["default", "silent"]) {
    const { url } = await migratedDatabase();
    const utils = await makeWorkerUtils({ connectionString: url });
    const job = await utils.addJob("broken", {}, { maxAttempts: 1 });
    await utils.end();
    const running = program(url, what);
    const [stdout, stderr] = await Promise.all([text(running.stdout), text(running.stderr)]);
    assert.equal(stdout, "");
    if (what === "silent") assert.equal(stderr, "");
    else {
      assert.match(stderr, /^\S+Z ERROR a job failed and will not be retried$/m);
      assert.match(stderr, new RegExp(`^ {4}job_id: "?${job.id}"?$`, "m"));
      assert.match(stderr, /first\\x1b\[0m bug\n {6}second line$/m);
      assert.doesNotMatch(stderr, /INFO|\p{Cc}\[/u);
    }
  }
});

test("No value that a task logs and no error of a logger fails a job.", async () => {
  for (const what of ["default", "text", "throwing"]) {
    const { url } = await migratedDatabase();
    const utils = await makeWorkerUtils({ connectionString: url });
    await utils.addJob("logging");
    const running = program(url, what);
    const stderr = await text(running.stderr);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query("select last_error from worker._private_jobs");
    await Promise.all([utils.end(), client.end()]);
    assert.deepEqual(rows, [], `${what}: ${stderr}`);
    if (what === "throwing") {
      assert.match(
        stderr,
        /^\S+Z ERROR the logger threw: the log is incomplete\n {4}error: not this one\n$/,
      );
    } else if (what === "text") {
      assert.match(
        stderr,
        /WARN: bigints\n[\s\S]* {4}id: "9007199254740993"\n[\s\S]*INFO: the last line\n/,
      );
    } else {
      assert.match(
        stderr,
        /WARN bigints\n {4}.*\n {4}.*\n {4}id: 9007199254740993\n {4}nested: \{ id: 1n \}\n/,
      );
      assert.match(stderr, /WARN objects\n.*\n.*\n {4}cycle: <ref .*\n {4}json: \{ toJSON: .*\n/);
      assert.match(stderr, /WARN a getter\n.*\n.*\n {4}fields: a value that cannot be shown\n$/);
    }
  }
});

test("One SIGTERM stops the worker, and then ends the process by that signal, even if an HTTP server is open.", async () => {
  const { url } = await migratedDatabase();
  const running = program(url, "server");
  let stdout = "";
  running.stdout.setEncoding("utf8").on("data", (more: string) => {
    stdout += more;
  });
  await waitUntil("the HTTP server is open", async () => stdout.includes("up\n"));
  running.kill("SIGTERM");
  const [, signal] = await once(running, "exit");
  assert.deepEqual([stdout, signal], ["up\nstopped\n", "SIGTERM"]);
});

test("If the schema is missing, the error has the caller's line in its stack, and advice in its message.", async () => {
  const { url } = await emptyDatabase();
  const utils = await makeWorkerUtils({ connectionString: url, schema: "jobs" });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const calls: Record<string, () => Promise<unknown>> = {
    addJob: () => utils.addJob("t"),
    "addJob with a key": () => utils.addJob("t", {}, { jobKey: "k" }),
    "addJob on a client": () => utils.with(client).addJob("t"),
    addJobs: () => utils.addJobs([{ identifier: "t" }]),
    copyJobs: () => utils.copyJobs([{ identifier: "t" }]),
    completeJobs: () => utils.completeJobs(["1"]),
    rescheduleJobs: () => utils.rescheduleJobs(["1"], { priority: 1 }),
    removeJob: () => utils.removeJob("k"),
    getJob: () => utils.getJob("1"),
    listJobs: () => utils.listJobs(),
  };
  try {
    for (const [name, call] of Object.entries(calls)) {
      const caller = async () => {
        await call();
      };
      const error: Error = await caller().then(
        () => assert.fail(name),
        (thrown: unknown) => thrown as Error,
      );
      assert.match(error.stack ?? "", /first-day\.test\.ts/, `${name}: ${error.stack}`);
      assert.match(
        error.message,
        /create it with migrate\(\) of makeWorkerUtils\(\) or with "worker migrate --schema=jobs"/,
        name,
      );
      assert.doesNotMatch(error.message, / --schema$|first, or name/);
    }
    const outer = await utils.addJob("t").catch((error: Error) => error.cause as Error);
    assert.ok(
      !(outer instanceof Error && /^WorkerError/.test(outer.name)),
      "the cause of the error is not another WorkerError",
    );
  } finally {
    await client.end();
    await utils.end();
  }
});

test("A task that passes the id of its own job to a method such as completeJobs() gets an error with advice.", async () => {
  const seen: unknown[] = [];
  const task = defineTask("own", async (_, { job, utils, withPgClient }) => {
    const calls = [
      () => utils.rescheduleJobs([job.id], { runAt: "now" }),
      () => utils.permanentlyFailJobs(["999999", job.id]),
      () => utils.completeJobs([job.id]),
      () => withPgClient((client) => utils.with(client).completeJobs([job.id])),
      () => utils.completeJobs(["999999"]),
      () => utils.completeJobs("no list" as never),
    ];
    for (const call of calls) seen.push(await call().catch((error: unknown) => error));
  });
  await queue.utils.addJob(task);
  await queue.startWorker({ tasks: [task] });
  await waitUntil("the task has ended", async () => seen.length === 6);
  const [reschedule, fail, complete, client, other, wrong] = seen;
  for (const error of [reschedule, fail, complete, client]) {
    assert.ok(error instanceof InputError, String(error));
    assert.match(
      error.message,
      /^ids\[\d\]: "\d+" is the job that makes this call.*or throw to retry it/,
    );
  }
  assert.match(String(fail), /ids\[1\]/);
  assert.deepEqual(other, []);
  assert.match(String(wrong), /InputError: ids/);
});

test("If a task calls utils that were made outside of the task, one warning is logged for each method that skips the task's own job.", async () => {
  for (const [fastLane, jobs] of [
    [undefined, 2],
    [{ limitMs: 50 }, 1],
  ] as const) {
    const { logger, lines } = recorder();
    const outside = queue.utils;
    let ended = 0;
    const task = defineTask("outside", async (_, { job }) => {
      assert.deepEqual(await outside.permanentlyFailJobs(["999999"]), []);
      assert.deepEqual(await outside.rescheduleJobs([job.id], { priority: 1 }), []);
      assert.deepEqual(await outside.completeJobs([job.id, "999999"]), []);
      ended += 1;
    });
    await outside.addJobs(Array.from({ length: jobs }, () => ({ task, payload: {} })));
    const worker = await queue.startWorker({
      tasks: [task],
      logger,
      ...(fastLane && { fastLane }),
    });
    await waitUntil("the tasks have ended", async () => ended === jobs);
    assert.deepEqual(await outside.completeJobs(["999999"]), []);
    await worker.stop();
    const warnings = lines.filter(({ level }) => level === "warn");
    assert.deepEqual(
      warnings.map(({ fields }) => (fields as { call?: string }).call).toSorted(),
      ["completeJobs", "rescheduleJobs"],
      JSON.stringify(warnings),
    );
    assert.match(String(warnings[0]?.message), /runs on the task's worker.*by returning/);
  }
});

test("A transaction that a task leaves open is rolled back, and the attempt fails with advice.", async () => {
  await queue.sql("create table if not exists left_open (n int)");
  const task = defineTask("open", ({ n }: { n: number }, { withPgClient }) =>
    withPgClient(async (client) => {
      await client.query("begin");
      await client.query("insert into left_open values ($1)", [n]);
    }),
  );
  const { id } = await queue.utils.addJob(task, { n: 1 });
  const worker = await queue.startWorker({ tasks: [task] });
  await waitUntil(
    "the attempt has failed",
    async () => (await queue.utils.getJob(id))?.lastError != null,
  );
  await worker.stop();
  assert.match(
    (await queue.utils.getJob(id))?.lastError ?? "",
    /returned with an open transaction.*commit/,
  );
  assert.deepEqual(await queue.sql("select * from left_open"), []);
});

test("A task logs a message, with or without fields.", async () => {
  const { logger, lines } = recorder();
  const task = defineTask("talk", (_, { logger: own }) => {
    own.info("alone");
    own.info({ n: 1 }, "with fields");
  });
  const { id } = await queue.utils.addJob(task);
  const worker = await queue.startWorker({ tasks: [task], logger });
  await waitUntil("the message with fields is logged", async () =>
    lines.some(({ message }) => message === "with fields"),
  );
  await worker.stop();
  const talked = lines.filter(({ level }) => level === "info");
  const own = talked.filter(({ fields }) => (fields as { task?: string }).task === "talk");
  assert.deepEqual(
    own.map(({ fields, message }) => [fields, message]),
    [
      [{ job_id: id, task: "talk" }, "alone"],
      [{ job_id: id, task: "talk", n: 1 }, "with fields"],
    ],
  );
});
