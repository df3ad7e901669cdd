// Tests jobs with unusual outcomes, retry policies, times and deadlines, for example an outcome that throws when it is
// read, or a Date of another realm.
import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { runInNewContext } from "node:vm";
import { loadTasks } from "../../src/worker/files/load-tasks.ts";
import { PermanentFailure, RetryAfter, Snooze } from "../../src/worker/task/outcomes.ts";
import { exponential, fixed, type RetryPolicy } from "../../src/worker/task/retry.ts";
import { defineTask } from "../../src/worker/task/task.ts";
import { recorder, recordingTask, waitUntil, workerQueue } from "./worker-queue.ts";

const queue = workerQueue();

const branded = (outcome: unknown) =>
  Object.assign(new Error("elsewhere"), { [Symbol.for("pg-job-worker.outcome")]: outcome });

const refusing = () => {
  throw new Error("no");
};
const unreadable = new Proxy({}, { get: refusing, getPrototypeOf: refusing });
const unreadableError = (message: PropertyDescriptor) =>
  Object.defineProperty(new Error("hidden"), "message", message);

/** Functions that make errors whose outcome is invalid. */
const errors: Readonly<Record<string, () => unknown>> = {
  "an outcome that refuses to be read": () => branded(unreadable),
  "a kind that refuses to be read": () =>
    branded({
      get kind() {
        return refusing();
      },
    }),
  "a snooze without a time": () => branded({ kind: "snooze" }),
  "a snooze until a time that is a text": () => branded({ kind: "snooze", untilMs: "soon" }),
  "a snooze until an invalid Date": () =>
    branded({ kind: "snooze", untilMs: new Date(Number.NaN) }),
  "a retry without a time": () => branded({ kind: "retry_after" }),
  "an outcome that is a text": () => branded("permanent"),
};

const throwing =
  (thrown: unknown): RetryPolicy =>
  () => {
    throw thrown;
  };

/** Retry policies that throw or reject, or whose result is invalid. */
const policies: Readonly<Record<string, RetryPolicy>> = {
  "throws an error whose message refuses to be read": throwing(unreadableError({ get: refusing })),
  "throws an error whose message is a symbol": throwing(unreadableError({ value: Symbol("no") })),
  "throws a value that refuses to be read": throwing(unreadable),
  "returns a value that refuses to be read": () => unreadable as never,
  "rejects in another realm": () => runInNewContext("Promise.reject(new Error('late'))"),
};

for (const [mode, options] of [
  ["safe mode", {}],
  ["fast lane", { fastLane: true }],
] as const) {
  test(`An attempt fails even if its error has an invalid outcome, or its retry policy throws or returns an invalid result (${mode}).`, async () => {
    const tasks = [
      ...Object.entries(errors).map(([title, make]) =>
        defineTask(title, async () => {
          throw make();
        }),
      ),
      ...Object.entries(policies).map(([title, retry]) =>
        defineTask(title, async () => refusing(), { retry }),
      ),
    ];
    const ended = new Map<string, string>();
    const worker = await queue.startWorker({ tasks, ...options });
    worker.hooks.on("job:complete", ({ job, result }) => {
      ended.set(job.taskIdentifier, ended.get(job.taskIdentifier) ?? result);
    });
    const jobs = await queue.utils.addJobs(tasks.map(({ identifier }) => ({ identifier })));
    await waitUntil("all attempts have ended", async () => ended.size === tasks.length);
    await worker.stop();
    for (const { identifier } of tasks) assert.equal(ended.get(identifier), "failed", identifier);
    await queue.utils.completeJobs(jobs.map(({ id }) => id));
  });
}

describe("RetryAfter of a response", () => {
  const untilOf = (header: string) =>
    new RetryAfter(new Response(null, { status: 429, headers: { "retry-after": header } })).until;

  test("reads each form of a date as the same moment.", () => {
    for (const form of [
      "Sun, 06 Nov 1994 08:49:37 GMT",
      "Sunday, 06-Nov-94 08:49:37 GMT",
      "Sun Nov  6 08:49:37 1994",
    ]) {
      assert.deepEqual(untilOf(form), new Date("1994-11-06T08:49:37Z"), form);
    }
  });

  test("reads any number of seconds; more than ten years count as ten years.", () => {
    assert.equal(untilOf("0"), 0);
    assert.equal(untilOf("120"), 120_000);
    assert.equal(untilOf("99999999999"), 315_360_000_000);
  });

  test("leaves the delay to the retry policy if the header has any other text.", () => {
    for (const text of [
      "Soon 5",
      "Retry 30",
      "Jan 5",
      "-5",
      "1.5",
      "2026-11-26T00:00:00Z",
      "Mon",
    ]) {
      assert.equal(untilOf(text), null, text);
    }
  });
});

test("A Date of another realm is accepted as a time, and an invalid time is refused.", () => {
  const time = runInNewContext("new Date(0)") as Date;
  assert.equal(new Snooze(time).until, time);
  for (const value of [null, undefined, {}, [], "5", 5n, Number.NaN, 1e300]) {
    assert.throws(() => new RetryAfter(value as never), /until: must be a number of milliseconds/);
  }
});

test("The delays of exponential() are between zero and ten years, for any options and attempt.", () => {
  const tenYearsMs = 315_360_000_000;
  for (const options of [
    { firstMs: 0, factor: 100 },
    { firstMs: tenYearsMs, maxMs: tenYearsMs, jitter: 1 },
    { firstMs: 1, factor: 100, maxMs: tenYearsMs, jitter: 1 },
  ]) {
    const policy = exponential(options);
    for (let attempt = 1; attempt <= 32_767; attempt += 31) {
      const delayMs = policy(attempt, new Error("no"), undefined as never);
      assert.ok(
        delayMs !== false && delayMs >= 0 && delayMs <= tenYearsMs,
        `the delay of attempt ${attempt} is ${delayMs} ms`,
      );
    }
  }
  assert.equal(fixed(0)(1, new Error("no"), undefined as never), 0);
});

test("A permanent failure is stored with its cause, whatever the type of the cause, even if the failure is its own cause.", async () => {
  const loop = new PermanentFailure("loop");
  loop.cause = loop;
  const failures: Readonly<Record<string, Error>> = {
    text: new PermanentFailure("no", { cause: "the card is stolen" }),
    value: new PermanentFailure("no", { cause: { code: 41 } }),
    loop,
  };
  const task = defineTask<{ name: string }>("fail", ({ name }) => {
    throw failures[name];
  });
  const names = Object.keys(failures);
  const jobs = await queue.utils.addJobs(names.map((name) => ({ task, payload: { name } })));
  const worker = await queue.startWorker({ tasks: [task], logger: "silent" });
  const errors = async () =>
    Promise.all(jobs.map(async ({ id }) => (await queue.utils.getJob(id))?.lastError));
  await waitUntil("all jobs have failed", async () =>
    (await errors()).every((error) => error != null),
  );
  await worker.stop();
  const [text = "", value = "", looped = ""] = (await errors()).map(String);
  assert.match(text, /^PermanentFailure: no\n.*\nCaused by: the card is stolen$/s);
  assert.match(value, /\nCaused by: \{ code: 41 \}$/);
  assert.ok(looped.startsWith("PermanentFailure: loop\n") && looped.length < 20_000);
});

test("A job whose deadline is before 1970 fails without a run.", async () => {
  let runs = 0;
  const task = defineTask("late", () => void runs++);
  const { id } = await queue.utils.addJob(task, {}, { deadline: new Date(-1) });
  const worker = await queue.startWorker({ tasks: [task] });
  await waitUntil(
    "the job has failed",
    async () => (await queue.utils.getJob(id))?.lastError != null,
  );
  await worker.stop();
  assert.equal(runs, 0);
});

for (const [what, limit, expected] of [
  [
    "deadline has passed",
    "deadline",
    /^the deadline \S+ has passed\nCaused by: stopped: the deadline \S+ has passed: ended/,
  ],
  ["time limit is over", "timeoutMs", /^stopped: timed out after 1000 ms: ended/],
] as const) {
  test(`If a program's ${what}, the next job of its queue starts only after the program has ended.`, async () => {
    const directory = mkdtempSync(join(tmpdir(), "worker-deadline-"));
    try {
      const [file, gate] = [join(directory, "slow.sh"), join(directory, "gate.txt")];
      const end = `while [ ! -e ${gate} ]; do sleep 0.02; done; echo ended >&2; exit 0`;
      writeFileSync(file, `#!/bin/sh\ntrap 'echo ending >&2; ${end}' TERM\nsleep 60 & wait\n`);
      chmodSync(file, 0o755);
      const { lines, logger } = recorder();
      const programs = await loadTasks(directory, { logger, killAfterMs: 10_000 });
      const [next, other] = [recordingTask("next"), recordingTask("other")];
      const queueName = "q";
      const isDeadline = limit === "deadline";
      const spec = isDeadline ? { deadline: new Date(Date.now() + 1_000) } : {};
      const { id } = await queue.utils.addJob("slow", {}, { queueName, ...spec });
      await queue.utils.addJob("next", {}, { queueName });
      const tasks = [...programs, next, other];
      const timeoutMs = isDeadline ? undefined : 1_000;
      await queue.startWorker({ tasks, logger, abortGraceMs: 20_000, timeoutMs });
      await waitUntil("the program is ending", () => JSON.stringify(lines).includes("ending"));
      for (const count of [1, 2, 3]) {
        await queue.utils.addJob("other");
        await waitUntil("the worker runs other jobs", () => other.seen.length === count);
      }
      assert.deepEqual(next.seen, []);
      writeFileSync(gate, "");
      await waitUntil("the next job has run", () => next.seen.length === 1);
      const left = await queue.utils.getJob(id);
      assert.equal(left?.attempts, isDeadline ? left?.maxAttempts : 1);
      assert.match(left?.lastError ?? "", expected);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
}
