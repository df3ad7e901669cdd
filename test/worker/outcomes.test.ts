// Tests whether and when a job is attempted again, with permanent failures, snoozes, retries at a given time, retry
// policies and deadlines.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JobSpec } from "../../src/domain/job-spec.ts";
import type { WorkerOptions } from "../../src/worker/options/worker-options.ts";
import type { Plugin } from "../../src/worker/task/hooks.ts";
import { PermanentFailure, RetryAfter, Snooze } from "../../src/worker/task/outcomes.ts";
import { exponential, fixed, type RetryPolicy } from "../../src/worker/task/retry.ts";
import {
  defineBatchTask,
  defineTask,
  type Task,
  type TaskOptions,
} from "../../src/worker/task/task.ts";
import { type JobLeft, waitUntil, workerQueue } from "./worker-queue.ts";

const queue = workerQueue();

const modes: readonly (readonly [string, Partial<WorkerOptions>])[] = [
  ["safe mode", {}],
  ["fast lane", { fastLane: true }],
];

interface EndedJob {
  readonly left: JobLeft | undefined;
  /** The time until the job is due, in milliseconds; NaN if the job has no row any more. */
  readonly dueInMs: number;
  readonly maxAttempts: number | undefined;
  readonly events: readonly string[];
}

/** Adds a job, runs a worker until an attempt of the job has ended, and deletes the job. */
async function ended(
  tasks: Task<never> | Task,
  spec: JobSpec = {},
  options: Partial<WorkerOptions> = {},
): Promise<EndedJob> {
  const events: string[] = [];
  const plugin: Plugin = {
    name: "events",
    register(hooks) {
      for (const name of ["job:error", "job:failed", "job:snooze", "job:success"] as const) {
        hooks.on(name, () => void events.push(name));
      }
      hooks.on("job:complete", ({ result }) => void events.push(`complete ${result}`));
    },
  };
  const payload = tasks.kind === "batch" ? [1, 2] : {};
  const { id } = await queue.utils.addJob(tasks.identifier, payload, spec);
  const worker = await queue.startWorker({ tasks: [tasks], plugins: [plugin], ...options });
  await waitUntil("an attempt has ended", async () =>
    events.some((one) => one.startsWith("complete")),
  );
  await worker.stop();
  const left = (await queue.remaining()).find((job) => job.id === id);
  if (left !== undefined) await queue.utils.completeJobs([id]);
  const { wait_s = Number.NaN, max_attempts } = left ?? {};
  return { left, dueInMs: wait_s * 1_000, maxAttempts: max_attempts, events };
}

const throwing = (error: unknown, options?: TaskOptions) =>
  defineTask(
    "task",
    () => {
      throw error;
    },
    options,
  );

const assertNear = (actual: number, expected: number) =>
  assert.ok(
    Math.abs(actual - expected) < 5_000 + expected * 0.01,
    `${actual} is not near ${expected}`,
  );

for (const [mode, options] of modes) {
  describe(`In the ${mode}`, () => {
    test("a permanent failure reduces max_attempts to the number of attempts made.", async () => {
      const cause = new TypeError("no such account");
      const { left, maxAttempts, events } = await ended(
        throwing(new PermanentFailure("the card is stolen", { cause })),
        {},
        options,
      );
      assert.equal(left?.attempts, 1);
      assert.equal(maxAttempts, 1);
      assert.match(left?.last_error ?? "", /the card is stolen[\s\S]*no such account/);
      assert.deepEqual(events, ["job:error", "job:failed", "complete failed"]);
    });

    test("an attempt that ends with a snooze does not count, and the snooze is not stored as an error.", async () => {
      const { left, dueInMs, maxAttempts, events } = await ended(
        throwing(new Snooze(60_000)),
        {},
        options,
      );
      assert.equal(left?.attempts, 0);
      assert.equal(maxAttempts, 25);
      assert.equal(left?.last_error, null);
      assert.equal(left?.locked_by, null);
      assertNear(dueInMs, 60_000);
      assert.deepEqual(events, ["job:snooze", "complete snoozed"]);
    });

    test("a snooze on the last attempt does not use up that attempt.", async () => {
      const { left } = await ended(throwing(new Snooze(1_000)), { maxAttempts: 1 }, options);
      assert.equal(left?.attempts, 0);
    });

    test("after a RetryAfter, the attempt counts, and the next attempt waits until the given time.", async () => {
      const { left, dueInMs } = await ended(
        throwing(new RetryAfter(new Date(Date.now() + 3_600_000))),
        {},
        options,
      );
      assert.equal(left?.attempts, 1);
      assertNear(dueInMs, 3_600_000);
    });

    test("a response's Retry-After header sets the time of the retry.", async () => {
      const response = new Response(null, { status: 429, headers: { "retry-after": "120" } });
      const { left, dueInMs } = await ended(throwing(new RetryAfter(response)), {}, options);
      assert.match(left?.last_error ?? "", /HTTP 429/);
      assertNear(dueInMs, 120_000);
    });

    test("after a RetryAfter on the last attempt, the job has failed.", async () => {
      const { left, events } = await ended(
        throwing(new RetryAfter(1)),
        { maxAttempts: 1 },
        options,
      );
      assert.equal(left?.attempts, 1);
      assert.deepEqual(events, ["job:error", "job:failed", "complete failed"]);
    });

    test("a snooze of the first job of a named queue lets the next job start.", async () => {
      const started: unknown[] = [];
      const task = defineTask<{ n: number }>("queued", ({ n }) => {
        started.push(n);
        if (n === 1) throw new Snooze(600_000);
      });
      await queue.utils.addJob("queued", { n: 1 }, { queueName: "line" });
      await queue.utils.addJob("queued", { n: 2 }, { queueName: "line" });
      const worker = await queue.startWorker({ tasks: [task], ...options });
      await waitUntil("both jobs have started", () => started.length === 2);
      await worker.stop();
      const left = await queue.remaining();
      assert.deepEqual(
        left.map(({ attempts }) => attempts),
        [0],
      );
      await queue.utils.completeJobs(left.map(({ id }) => id));
    });
  });
}

describe("The delay before the next attempt", () => {
  const failing = (retry?: RetryPolicy) => throwing(new Error("no"), { retry });

  test("follows the task's policy.", async () => {
    assertNear((await ended(failing(fixed(900_000)))).dueInMs, 900_000);
  });

  test("follows the worker's policy if the task has none.", async () => {
    const { dueInMs } = await ended(failing(), {}, { retry: fixed(700_000) });
    assertNear(dueInMs, 700_000);
  });

  test("follows the policy that the job names.", async () => {
    const retryPolicies = { "slow-api": fixed(5_000_000) };
    const { dueInMs } = await ended(failing(fixed(1)), { retry: "slow-api" }, { retryPolicies });
    assertNear(dueInMs, 5_000_000);
  });

  test("follows the task's policy if the worker lacks the policy that the job names.", async () => {
    const { dueInMs } = await ended(failing(fixed(800_000)), { retry: "missing" });
    assertNear(dueInMs, 800_000);
  });

  test("can depend on the attempt, the error and the job.", async () => {
    const seen: unknown[] = [];
    await ended(
      failing((attempt, error, job) => {
        seen.push(attempt, error.message, job.taskIdentifier);
        return 1_000;
      }),
    );
    assert.deepEqual(seen, [1, "no", "task"]);
  });

  test("is not needed if the policy returns false, because the job then fails for good.", async () => {
    const { left, maxAttempts } = await ended(failing(() => false));
    assert.equal(left?.attempts, 1);
    assert.equal(maxAttempts, 1);
  });

  for (const [title, policy] of [
    [
      "throws",
      () => {
        throw new Error("broken");
      },
    ],
    ["returns no number", () => "soon" as never],
    [
      "is an async function that rejects",
      (async () => {
        throw new Error("late");
      }) as never,
    ],
    ["returns a negative number", () => -1],
  ] as const) {
    test(`is the same as in Graphile Worker if the policy ${title}.`, async () => {
      const { left, dueInMs } = await ended(failing(policy));
      assert.equal(left?.attempts, 1);
      assert.ok(dueInMs < 5_000, String(dueInMs));
    });
  }

  test("grows by the factor of exponential() up to `maxMs`, and varies by the jitter.", () => {
    const policy = exponential({ firstMs: 100, factor: 3, maxMs: 1_000, jitter: 0.2 });
    const error = new Error("no");
    for (const [attempt, delayMs] of [
      [1, 100],
      [2, 300],
      [3, 900],
      [4, 1_000],
      [30_000, 1_000],
    ] as const) {
      for (let n = 0; n < 100; n++) {
        const delay = policy(attempt, error, undefined as never) as number;
        assert.ok(
          delay >= delayMs * 0.8 && delay <= delayMs * 1.2,
          `the delay of attempt ${attempt} is ${delay} ms`,
        );
      }
    }
  });

  test("is validated when a policy, a task, a Snooze or a RetryAfter is created.", () => {
    assert.throws(
      () => exponential({ firstMs: -1, factor: 0.5, jitter: 2 }),
      /firstMs[\s\S]*factor[\s\S]*jitter/,
    );
    assert.throws(() => fixed(Number.NaN));
    assert.throws(() => defineTask("task", () => {}, { retry: 5 as never }), /exponential/);
    assert.throws(() => new Snooze(-1));
    assert.throws(() => new RetryAfter(new Date(Number.NaN)));
  });
});

describe("A job with a deadline", () => {
  test("fails for good instead of starting late.", async () => {
    let runs = 0;
    const { left, maxAttempts } = await ended(
      defineTask("task", () => void runs++),
      {
        deadline: new Date(Date.now() - 1_000),
      },
    );
    assert.equal(runs, 0);
    assert.equal(maxAttempts, 1);
    assert.match(left?.last_error ?? "", /^the deadline \d{4}-.* has passed$/);
  });

  test("is aborted and fails for good when its deadline passes while it runs.", async () => {
    const { left, maxAttempts } = await ended(
      defineTask(
        "task",
        (_, { signal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener("abort", () => reject(signal.reason));
          }),
      ),
      { deadline: new Date(Date.now() + 1_500) },
    );
    assert.equal(maxAttempts, 1);
    assert.match(left?.last_error ?? "", /has passed/);
  });
});

for (const [mode, options] of [
  ["safe mode", {}],
  ["fast lane", { fastLane: { limitMs: 5_000 } }],
] as const) {
  for (const outcome of [new Snooze(60_000), new RetryAfter(60_000)]) {
    test(`The delay of ${outcome.name} begins at the end of the attempt, not at its start (${mode}).`, async () => {
      let thrownAt = "";
      const task = defineTask("task", async (_payload, { query }) => {
        await query("select pg_sleep(0.3)");
        thrownAt =
          (await query<{ at: string }>("select clock_timestamp()::text as at")).rows[0]?.at ?? "";
        throw outcome;
      });
      const { id } = await queue.utils.addJob("task");
      const worker = await queue.startWorker({ tasks: [task], ...options });
      await waitUntil(
        "the attempt has ended",
        async () => ((await queue.remaining())[0]?.wait_s as number) > 1,
      );
      await worker.stop();
      const [row] = await queue.sql<{ is_late_enough: boolean }>(
        "select run_at >= $1::timestamptz + interval '60 s' as is_late_enough from worker._private_jobs where id = $2",
        [thrownAt, id],
      );
      assert.equal(row?.is_late_enough, true);
    });
  }
}

test("A Snooze that a batch task throws applies to the whole batch.", async () => {
  const batch = defineBatchTask("batch", () => {
    throw new Snooze(60_000);
  });
  const { left, dueInMs } = await ended(batch as unknown as Task);
  assert.equal(left?.attempts, 0);
  assertNear(dueInMs, 60_000);
});

test("A PermanentFailure of another copy of the library is recognized.", async () => {
  const foreign = Object.assign(new Error("elsewhere"), {
    [Symbol.for("pg-job-worker.outcome")]: { kind: "permanent" },
  });
  assert.equal((await ended(throwing(foreign))).maxAttempts, 1);
});

for (const [mode, options] of modes) {
  test(`An error whose properties cannot be read fails only its attempt (${mode}).`, async () => {
    const unreadable = new Proxy(new Error(), {
      get() {
        throw new Error("no");
      },
    });
    const { left, events } = await ended(throwing(unreadable), {}, options);
    assert.equal(left?.attempts, 1);
    assert.equal(left?.locked_by, null);
    assert.match(left?.last_error ?? "", /cannot be shown/);
    assert.deepEqual(events, ["job:error", "complete failed"]);
  });
}

test("A job that is removed while it runs stays removed, even if it then snoozes.", async () => {
  const task = defineTask("task", async () => {
    await queue.utils.removeJob("key");
    throw new Snooze(1);
  });
  const { left } = await ended(task, { jobKey: "key" });
  assert.equal(left, undefined);
});
