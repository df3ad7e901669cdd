// What may be said about a worker, and how it is refused.
import assert from "node:assert/strict";
import { test } from "node:test";
import { InputError } from "../../src/base/errors.ts";
import { defineBatchTask, defineTask } from "../../src/worker/task.ts";
import { Worker } from "../../src/worker/worker.ts";
import { resolveWorkerOptions, type WorkerOptions } from "../../src/worker/worker-options.ts";

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

test("Tasks and a place to find them are enough; the rest has a default.", () => {
  const { concurrency, pollInterval_ms, lanes, fastLane, localQueue, cron, maxConnections } =
    resolveWorkerOptions(base);
  assert.deepEqual(
    { concurrency, pollInterval_ms, lanes, fastLane, cron, maxConnections },
    {
      concurrency: 10,
      pollInterval_ms: 2_000,
      lanes: 2,
      fastLane: null,
      cron: null,
      maxConnections: 10,
    },
  );
  assert.deepEqual(localQueue, {
    size: 2_000,
    adaptive: true,
    ttl_ms: 300_000,
    refetchDelay: null,
  });
});

test("A refetch delay has thresholds that follow the size.", () => {
  const resolved = (refetchDelay: object) =>
    resolveWorkerOptions({
      ...base,
      localQueue: { size: 20, refetchDelay: { duration_ms: 100, ...refetchDelay } },
    }).localQueue.refetchDelay;
  assert.deepEqual(resolved({}), { duration_ms: 100, threshold: 20, maxAbortThreshold: 100 });
  assert.deepEqual(resolved({ threshold: 50, maxAbortThreshold: 7 }), {
    duration_ms: 100,
    threshold: 20,
    maxAbortThreshold: 7,
  });
});

test("A misspelt name is told with its place and the name that was meant.", () => {
  assert.deepEqual(problems({ concurency: 3 }), [
    'concurency: unknown field, did you mean "concurrency"?',
  ]);
  assert.deepEqual(problems({ localQueue: { sise: 3, refetchDelay: { duration: 5 } } }), [
    "localQueue.refetchDelay.duration_ms: is required",
    'localQueue.refetchDelay.duration: unknown field, did you mean "duration_ms"?',
    'localQueue.sise: unknown field, did you mean "size"?',
  ]);
  assert.deepEqual(problems({ pollInterval: 3, zebra: 1 }), [
    'pollInterval: unknown field, did you mean "pollInterval_ms"?',
    "zebra: unknown field",
  ]);
});

test("Everything that is wrong is said at once.", () => {
  const wrong = {
    tasks: [],
    concurrency: 0,
    pollInterval_ms: 2 ** 31,
    lanes: 1.5,
    notify: "yes",
    forbiddenFlags: ["a", 1],
    fastLane: { limit_ms: 0 },
    abortGrace_ms: Number.NaN,
    localQueue: { ttl_ms: "long" },
  };
  assert.deepEqual(problems(wrong), [
    "tasks: needs at least one task",
    "concurrency: must be at least 1",
    "pollInterval_ms: must be at most 2147483647",
    "notify: must be true or false",
    "forbiddenFlags[1]: must be a string",
    "localQueue.ttl_ms: must be a number",
    "lanes: must be a whole number",
    "fastLane.limit_ms: must be at least 1",
    "abortGrace_ms: must be a number",
  ]);
  assert.deepEqual(problems({ tasks: undefined }), ["tasks: is required"]);
  const inEachPart = {
    lanes: 0,
    schema: "pg_x",
    cron: { crontab: "* * * * *" },
    recovery: { delay_ms: -1, treshold_ms: 1 },
    connectionString: undefined,
  };
  assert.deepEqual(problems(inEachPart), [
    "lanes: must be at least 1",
    "schema: must have 1 to 63 bytes, no NUL, and not begin with pg_",
    "cron.crontab, line 1, column 10: the line ends too early: the task identifier is missing",
    "recovery.delay_ms: must be at least 0",
    'recovery.treshold_ms: unknown field, did you mean "threshold_ms"?',
    ": give either connectionString or pool",
  ]);
});

test("What is no pool, plugin, logger or task is refused.", () => {
  const wrong = {
    pool: {},
    plugins: [null, { name: "x" }],
    logger: { info() {} },
    tasks: [{ handle() {} }],
    fastLane: { limit_ms: 5_001 },
    connectionString: undefined,
  };
  assert.deepEqual(problems(wrong), [
    "tasks[0]: must be made by defineTask() or defineBatchTask()",
    "pool: must be a Pool of pg",
    "fastLane.limit_ms: must be at most 5,000",
    "plugins[0]: must have a method register(hooks)",
    "plugins[1]: must have a method register(hooks)",
    "logger: needs debug, info, warn and error",
  ]);
  assert.throws(
    () => resolveWorkerOptions(null as never),
    /the options of a worker must be an object/,
  );
});

test("What does not fit together is refused.", () => {
  assert.deepEqual(problems({ connectionString: undefined }), [
    ": give either connectionString or pool",
  ]);
  assert.deepEqual(problems({ tasks: [task, task] }), ['tasks: "task" stands there twice']);
  const refetchDelay = { duration_ms: 5_000 };
  assert.deepEqual(problems({ localQueue: { refetchDelay } }), [
    "localQueue.refetchDelay.duration_ms: must not exceed pollInterval_ms",
  ]);
  assert.deepEqual(problems({ schema: "" }), [
    "schema: must have 1 to 63 bytes, no NUL, and not begin with pg_",
  ]);
});

test("A database URL that is none is refused without saying it: it may hold a password.", () => {
  for (const connectionString of ["mysql://root:secret@localhost/x", "secret", ""]) {
    const [problem = "", ...more] = problems({ connectionString });
    assert.match(problem, /not of the form postgres:\/\//);
    assert.doesNotMatch(problem, /secret/);
    assert.deepEqual(more, []);
  }
});

test("What is no task is refused.", () => {
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

test("All that is wrong with a task is said at once, and a misspelt option is told.", () => {
  for (const define of [defineTask, defineBatchTask]) {
    const wrong = () => define("", "handler" as never, { timeout: 5, timeout_ms: -1 } as object);
    assert.throws(wrong, {
      name: "InputError",
      message: [
        "identifier: must have 1 to 128 characters",
        "handler: must be a function",
        "options.timeout_ms: must be at least 1",
        'options.timeout: unknown field, did you mean "timeout_ms"?',
      ].join("; "),
    });
  }
});
