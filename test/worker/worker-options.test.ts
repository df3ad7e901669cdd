// Tests the defaults of a worker's options, and the errors for invalid options and tasks.
import assert from "node:assert/strict";
import { test } from "node:test";
import { InputError } from "../../src/base/errors.ts";
import { createLogger } from "../../src/base/logger.ts";
import { makeWorkerUtils } from "../../src/utils/worker-utils.ts";
import {
  resolveWorkerOptions,
  type WorkerOptions,
} from "../../src/worker/options/worker-options.ts";
import { defineBatchTask, defineTask } from "../../src/worker/task/task.ts";
import { Worker } from "../../src/worker/worker.ts";

const task = defineTask("task", () => {});
const base = { tasks: [task], connectionString: "postgres://localhost/db" };

function problems(options: object): string[] {
  try {
    new Worker({ ...base, ...options } as WorkerOptions);
    return [];
  } catch (error) {
    assert.ok(error instanceof InputError, String(error));
    return error.problems.map(({ path, message }) => `${path}: ${message}`);
  }
}

test("Tasks and a database are enough; all other options have defaults.", () => {
  const { concurrency, pollIntervalMs, connections, fastLane, localQueue, cron, maxConnections } =
    resolveWorkerOptions(base);
  assert.deepEqual(
    { concurrency, pollIntervalMs, connections, fastLane, cron, maxConnections },
    {
      concurrency: 10,
      pollIntervalMs: 2_000,
      connections: 2,
      fastLane: null,
      cron: null,
      maxConnections: 10,
    },
  );
  assert.deepEqual(localQueue, {
    size: 2_000,
    adaptive: true,
    ttlMs: 100,
    refetchDelay: null,
  });
});

test("The default thresholds of a refetch delay follow from the size of the local queue.", () => {
  const resolved = (refetchDelay: object) =>
    resolveWorkerOptions({
      ...base,
      localQueue: { size: 20, refetchDelay: { durationMs: 100, ...refetchDelay } },
    }).localQueue.refetchDelay;
  assert.deepEqual(resolved({}), { durationMs: 100, threshold: 20, maxAbortThreshold: 100 });
  assert.deepEqual(resolved({ threshold: 50, maxAbortThreshold: 7 }), {
    durationMs: 100,
    threshold: 20,
    maxAbortThreshold: 7,
  });
});

test("The error for a misspelt option has the option's path and the name of a similar option, if there is one.", () => {
  assert.deepEqual(problems({ concurency: 3 }), [
    'concurency: unknown field, did you mean "concurrency"?',
  ]);
  assert.deepEqual(problems({ localQueue: { sise: 3, refetchDelay: { duration: 5 } } }), [
    "localQueue.refetchDelay.durationMs: is required",
    'localQueue.refetchDelay.duration: unknown field, did you mean "durationMs"?',
    'localQueue.sise: unknown field, did you mean "size"?',
  ]);
  assert.deepEqual(problems({ poolIntervalMs: 3, zebra: 1 }), [
    'poolIntervalMs: unknown field, did you mean "pollIntervalMs"?',
    "zebra: unknown field",
  ]);
});

test("The error for an option of Graphile Worker names the replacement of the option.", () => {
  const typed = {
    taskList: {},
    taskDirectory: "./tasks",
    concurrentJobs: 5,
    pollInterval: 1_000,
    crontab: "* * * * * task",
    crontabFile: "crontab",
    parsedCronItems: [],
    noHandleSignals: true,
  };
  assert.deepEqual(problems({ ...typed, tasks: undefined }), [
    "tasks: is required",
    "taskList: unknown field: use tasks, a list of tasks made by defineTask(identifier, handler)",
    "taskDirectory: unknown field: use tasks: await loadTasks(directory)",
    "concurrentJobs: unknown field: use concurrency",
    "pollInterval: unknown field: use pollIntervalMs, in milliseconds as before",
    "crontab: unknown field: use cron: { crontab }, the same text",
    "crontabFile: unknown field: use cron: { crontabFile }, the path of the same file",
    "parsedCronItems: unknown field: use cron: { entries }, made by cronEntry() or parseCrontab()",
    "noHandleSignals: unknown field: pass handleSignals: false to run() or runOnce()",
  ]);
});

test("A logger that is a promise, because createLogger() was not awaited, is refused with advice.", async () => {
  const message = "logger: is a promise: write `await createLogger()`";
  assert.deepEqual(problems({ logger: createLogger() }), [message]);
  const { connectionString } = base;
  const logger = createLogger() as never;
  await assert.rejects(makeWorkerUtils({ connectionString, logger }), { message });
});

test("stopTimeoutMs may be 0, which means that a stop has no time limit.", () => {
  assert.equal(resolveWorkerOptions(base).stopTimeoutMs, 25_000);
  assert.equal(resolveWorkerOptions({ ...base, stopTimeoutMs: 0 }).stopTimeoutMs, 0);
  assert.deepEqual(problems({ stopTimeoutMs: -1 }), ["stopTimeoutMs: must not be negative"]);
});

test("All problems are reported at once.", () => {
  const wrong = {
    tasks: [],
    concurrency: 0,
    migrate: "sometimes",
    pollIntervalMs: 2 ** 31,
    connections: 1.5,
    notify: "yes",
    forbiddenFlags: ["a", 1],
    fastLane: { limitMs: 0 },
    abortGraceMs: Number.NaN,
    localQueue: { ttlMs: "long" },
  };
  assert.deepEqual(problems(wrong), [
    "tasks: needs at least one task",
    "migrate: must be if-missing, always or never",
    "concurrency: must be at least 1",
    "pollIntervalMs: must be at most 2147483647",
    "notify: must be true or false",
    "forbiddenFlags[1]: must be a string",
    "localQueue.ttlMs: must be a number",
    "connections: must be a whole number",
    "fastLane.limitMs: must be at least 1",
    "abortGraceMs: must be a number",
  ]);
  assert.deepEqual(problems({ tasks: undefined }), ["tasks: is required"]);
  const inEachPart = {
    connections: 0,
    schema: "pg_x",
    cron: { crontab: "* * * * *" },
    recovery: { delayMs: -1, tresholdMs: 1 },
    connectionString: undefined,
  };
  assert.deepEqual(problems(inEachPart), [
    "connections: must be at least 1",
    "schema: must have 1 to 63 bytes, no NUL, and not begin with pg_",
    "cron.crontab, line 1, column 10: the line ends too early: the task identifier is missing",
    "recovery.delayMs: must be at least 0",
    'recovery.tresholdMs: unknown field, did you mean "thresholdMs"?',
    ": needs either connectionString or pool, and not both; if connectionString comes from an environment variable, check that it is set",
  ]);
});

test("An invalid pool, plugin, logger or task is refused.", () => {
  const wrong = {
    pool: {},
    plugins: [null, { name: "x" }],
    logger: { info() {} },
    tasks: [{ handle() {} }],
    fastLane: { limitMs: 5_001 },
    connectionString: undefined,
  };
  assert.deepEqual(problems(wrong), [
    "tasks[0]: must be made by defineTask() or defineBatchTask()",
    "pool: must be a Pool of pg",
    "fastLane.limitMs: must be at most 5,000",
    "plugins[0]: must have a method register(hooks)",
    "plugins[1]: must have a method register(hooks)",
    "logger: needs debug, info, warn and error",
  ]);
  assert.throws(
    () => resolveWorkerOptions(null as never),
    /the options of a worker must be an object/,
  );
});

test("The option fastLane.queues, which earlier versions had, is refused with advice.", () => {
  for (const queues of [true, false]) {
    assert.deepEqual(problems({ fastLane: { queues } as never }), [
      "fastLane.queues: was removed: named queues are always locked by locked_by; remove this option",
    ]);
  }
});

test("A missing database, a task that is listed twice, a refetch delay above the poll interval, and an invalid schema are refused.", () => {
  assert.deepEqual(problems({ connectionString: undefined }), [
    ": needs either connectionString or pool, and not both; if connectionString comes from an environment variable, check that it is set",
  ]);
  assert.deepEqual(problems({ tasks: [task, task] }), ['tasks: "task" is listed twice']);
  const refetchDelay = { durationMs: 5_000 };
  assert.deepEqual(problems({ localQueue: { refetchDelay } }), [
    "localQueue.refetchDelay.durationMs: must not exceed pollIntervalMs",
  ]);
  assert.deepEqual(problems({ schema: "" }), [
    "schema: must have 1 to 63 bytes, no NUL, and not begin with pg_",
  ]);
});

test("The error for an invalid database URL does not contain the URL, because it may contain a password.", () => {
  for (const connectionString of ["mysql://root:secret@localhost/x", "secret"]) {
    const [problem = "", ...more] = problems({ connectionString });
    assert.match(problem, /is neither postgres:\/\//);
    assert.doesNotMatch(problem, /secret/);
    assert.deepEqual(more, []);
  }
  // With an empty URL, libpq's environment variables are used. The test may delete these variables, because each test
  // file has a process of its own.
  for (const name of Object.keys(process.env)) if (name.startsWith("PG")) delete process.env[name];
  assert.throws(() => new Worker({ ...base, connectionString: "" }), {
    code: "configuration",
    message: /connectionString.* or PGHOST/,
  });
});

test("An invalid task identifier, and a value that is not a task, are refused.", () => {
  const name = /identifier: must (be a string|have 1 to 128 characters|not contain a NUL)/;
  for (const identifier of ["", "a\0b", "x".repeat(129), 7 as never]) {
    assert.throws(() => defineTask(identifier, () => {}), name);
    assert.throws(() => defineBatchTask(identifier, () => undefined), name);
  }
  assert.equal(defineTask("😀".repeat(128), () => {}).identifier.length, 256);
  const isNoTask = "tasks[0]: must be made by defineTask() or defineBatchTask()";
  for (const one of [null, "task", {}, { identifier: "t" }]) {
    assert.deepEqual(problems({ tasks: [one] }), [isNoTask]);
  }
});

test("All problems with a task are reported at once, misspelt options included.", () => {
  for (const define of [defineTask, defineBatchTask]) {
    const wrong = () => define("", "handler" as never, { timeout: 5, timeoutMs: -1 } as object);
    assert.throws(wrong, {
      name: "InputError",
      message: [
        "identifier: must have 1 to 128 characters",
        "handler: must be a function",
        "options.timeoutMs: must be at least 1",
        'options.timeout: unknown field, did you mean "timeoutMs"?',
      ].join("; "),
    });
  }
});
