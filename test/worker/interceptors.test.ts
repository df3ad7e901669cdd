// Tests the interceptors that are called before a job runs, after a job has run, and before a task adds a job.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JobToAdd } from "../../src/domain/job-spec.ts";
import { rawJson } from "../../src/domain/payload.ts";
import { runOnce } from "../../src/worker/run.ts";
import type { Hooks, Plugin, WorkerInterceptors } from "../../src/worker/task/hooks.ts";
import { RetryAfter, Snooze } from "../../src/worker/task/outcomes.ts";
import { defineBatchTask, defineTask, type Task } from "../../src/worker/task/task.ts";
import { recordingTask, waitFor, waitUntil, witness, workerQueue } from "./worker-queue.ts";

const queue = workerQueue();

/** Returns a plugin with interceptors of the kind `name`. */
const pluginOf = <I extends keyof WorkerInterceptors>(
  name: I,
  ...interceptors: WorkerInterceptors[I][]
): Plugin => ({
  name,
  register(hooks: Hooks) {
    for (const one of interceptors) hooks.intercept(name, one);
  },
});

/** Runs a worker until no job is ready. A job that fails is attempted only once, because its retry is due later. */
const tried = (tasks: readonly Task<never>[], ...plugins: Plugin[]) =>
  waitFor(
    "runOnce",
    runOnce({ connectionString: queue.url, recovery: false, tasks, plugins, concurrency: 2 }),
  );

const lastErrors = async () => (await queue.remaining()).map(({ last_error }) => last_error);

describe("Before a job runs, an interceptor", () => {
  test("receives the exact text of the payload, the job, and the context of its task.", async () => {
    const text = '{"b":1, "a" : 9223372036854775807123,\n"b":2}';
    await queue.utils.addJob("task", rawJson(text));
    let saw: unknown[] = [];
    const task = defineTask("task", () => {});
    const look = pluginOf("beforeJobRun", async ({ job, payloadText, context }) => {
      const { rows } = await context.query<{ n: number }>("select 7 as n");
      saw = [job.taskIdentifier, job.payloadText, payloadText, context.job === job, rows[0]?.n];
      return undefined;
    });
    await tried([task], look);
    assert.deepEqual(saw, ["task", text, text, true, 7]);
  });

  test("can let the job run, fail it, or skip it. A skipped job is deleted without a run.", async () => {
    const task = recordingTask<string>("task");
    for (const word of ["continue", "nothing", "skip", "fail"])
      await queue.utils.addJob("task", word);
    const saw = witness("job:start", "job:success", "job:skip", "job:error", "job:complete");
    const decide = pluginOf("beforeJobRun", ({ job }) => {
      if (job.payload === "continue") return { action: "continue" };
      if (job.payload === "skip") return { action: "skip" };
      return job.payload === "fail" ? { action: "fail", message: "not this one" } : undefined;
    });
    await tried([task], decide, saw);
    assert.deepEqual(task.seen.toSorted(), ["continue", "nothing"]);
    assert.equal(saw.all("job:start").length, 2);
    assert.equal(saw.all("job:success").length, 2);
    assert.deepEqual(
      saw.all("job:skip").map(({ job }) => job.payload),
      ["skip"],
    );
    assert.deepEqual(
      Object.fromEntries(saw.all("job:complete").map(({ job, result }) => [job.payload, result])),
      { continue: "completed", nothing: "completed", skip: "skipped", fail: "failed" },
    );
    assert.equal(saw.all("job:error").length, 1);
    const left = await queue.remaining();
    assert.deepEqual(
      left.map(({ payload, attempts, last_error }) => [payload, attempts, last_error]),
      [['"fail"', 1, "not this one"]],
    );
  });

  test("that throws or rejects fails the job.", async () => {
    const task = recordingTask<string>("task");
    for (const when of ["now", "later"]) await queue.utils.addJob("task", when);
    const broken = pluginOf("beforeJobRun", ({ job }) => {
      if (job.payload === "now") throw new Error("broken now");
      return Promise.reject(new Error("broken later"));
    });
    await tried([task], broken);
    assert.deepEqual(task.seen, []);
    const [now, later] = await lastErrors();
    assert.match(now ?? "", /^Error: broken now/);
    assert.match(later ?? "", /^Error: broken later/);
  });

  test("that skips the job prevents the calls of later interceptors.", async () => {
    await queue.utils.addJob("task");
    const order: string[] = [];
    const task = recordingTask("task");
    const several = pluginOf(
      "beforeJobRun",
      () => void order.push("first") as undefined,
      async () => {
        order.push("second");
        return { action: "skip" };
      },
      () => void order.push("third") as undefined,
    );
    await tried([task], several);
    assert.deepEqual(order, ["first", "second"]);
    assert.deepEqual(task.seen, []);
  });
});

describe("After a job has run, an interceptor", () => {
  test("receives the result, and can leave it, turn a success into a failure, or turn a failure into a success.", async () => {
    const words = ["good", "bad", "good, made bad", "bad, made good"];
    for (const word of words) await queue.utils.addJob("task", word);
    const task = recordingTask<string>("task", (word) => word.startsWith("bad") && `${word}!`);
    const saw = new Map<unknown, string | undefined>();
    const turn = pluginOf("afterJobRun", async ({ job, error, durationMs }) => {
      assert.ok(durationMs >= 0);
      saw.set(job.payload, error?.message);
      if (job.payload === "good, made bad") return { error: "on second thought" };
      return job.payload === "bad, made good" ? { error: null } : undefined;
    });
    await tried([task], turn);
    assert.deepEqual(Object.fromEntries(saw), {
      good: undefined,
      bad: "bad!",
      "good, made bad": undefined,
      "bad, made good": "bad, made good!",
    });
    assert.deepEqual(await lastErrors(), ["bad!", "on second thought"]);
  });

  test("that throws fails the job.", async () => {
    await queue.utils.addJob("task");
    const task = recordingTask("task");
    const broken = pluginOf("afterJobRun", () => Promise.reject(new Error("broken after")));
    await tried([task], broken);
    assert.equal(task.seen.length, 1);
    assert.match((await lastErrors())[0] ?? "", /^Error: broken after/);
  });

  test("receives the result that an earlier interceptor has changed.", async () => {
    await queue.utils.addJob("task");
    const errors: (string | undefined)[] = [];
    const chain = pluginOf(
      "afterJobRun",
      () => ({ error: "by the first" }),
      ({ error }) => void errors.push(error?.message) as undefined,
      () => ({ error: null }),
    );
    await tried([recordingTask("task")], chain);
    assert.deepEqual(errors, ["by the first"]);
    assert.deepEqual(await queue.remaining(), []);
  });

  test("that changes the error of a batch does not change which items the batch keeps for its retry.", async () => {
    for (let n = 0; n < 3; n++) await queue.utils.addJob("batch", [1, 2, 3]);
    const batch = defineBatchTask<number>("batch", (items) =>
      items.map((n) => (n === 2 ? "no" : null)),
    );
    const speak = pluginOf("afterJobRun", ({ job }) => {
      if (job.id === "2") return { error: "in other words" };
      return job.id === "3" ? Promise.reject(new Error("broken")) : undefined;
    });
    await tried([batch as Task<never>], speak);
    assert.deepEqual(
      (await queue.remaining()).map(({ payload, last_error }) => [
        payload,
        last_error?.split("\n")[0],
      ]),
      [
        ["[2]", "1 of 3 items failed: no"],
        ["[2]", "in other words"],
        ["[2]", "Error: broken"],
      ],
    );
  });
});

for (const fastLane of [false, true]) {
  test(`A batch that an interceptor snoozes keeps only the items that failed (fast lane: ${fastLane}).`, async () => {
    const outcomes = [new Snooze(60_000), new RetryAfter(60_000, { backOff: "task" })];
    for (const _ of outcomes) await queue.utils.addJob("batch", [1, 2, 3]);
    const batch = defineBatchTask<number>("batch", (items) => items.map((n) => n === 2 && "no"));
    const snooze = pluginOf("afterJobRun", () => Promise.reject(outcomes.pop()));
    const options = { connectionString: queue.url, recovery: false, logger: "silent" } as const;
    const tasks = [batch as Task<never>];
    await waitFor("runOnce", runOnce({ ...options, tasks, plugins: [snooze], fastLane }));
    assert.deepEqual(
      (await queue.remaining()).map(({ payload, attempts }) => [payload, attempts]),
      [
        ["[2]", 0],
        ["[2]", 0],
      ],
    );
  });
}

describe("Before a task adds a job, an interceptor", () => {
  const adding = (add: (context: Parameters<Task["handle"]>[1]) => Promise<unknown>) =>
    defineTask("adding", async (_, context) => void (await add(context)));
  const decide = pluginOf("beforeJobSchedule", (job) => {
    const { name } = job.payload as { name: string };
    if (name === "skip") return { action: "skip" };
    if (name === "fail") return { action: "fail", message: "this job must not be added" };
    if (name !== "change") return undefined;
    const payload = { ...(job.payload as object), tenant: "acme" };
    return { action: "change", job: { ...job, payload, spec: { priority: 5 } } };
  });
  const named = (name: string): JobToAdd => ({ identifier: "child", payload: { name } });
  const children = () =>
    queue.sql(`select payload, priority from worker._private_jobs j
      join worker._private_tasks t on t.id = j.task_id where identifier = 'child' order by j.id`);

  test("can change the job, skip it, or let it be added unchanged.", async () => {
    await queue.utils.addJob("adding");
    const gave: unknown[] = [];
    const task = adding(async ({ addJob }) => {
      for (const name of ["plain", "change", "skip"]) {
        const job = await addJob("child", { name });
        gave.push(job?.payload ?? null);
      }
    });
    await tried([task], decide);
    assert.deepEqual(gave, [{ name: "plain" }, { name: "change", tenant: "acme" }, null]);
    assert.deepEqual(await children(), [
      { payload: { name: "plain" }, priority: 0 },
      { payload: { name: "change", tenant: "acme" }, priority: 5 },
    ]);
  });

  test("is called for each job of a list; skipped jobs are left out of the result.", async () => {
    await queue.utils.addJob("adding");
    let gave: unknown[] = [];
    const task = adding(async ({ addJobs }) => {
      const jobs = await addJobs(["change", "skip", "plain"].map(named));
      gave = jobs.map(({ payload }) => payload);
    });
    await tried([task], decide);
    assert.deepEqual(gave, [{ name: "change", tenant: "acme" }, { name: "plain" }]);
    assert.equal((await children()).length, 2);
  });

  test("can refuse the job: the call that adds the job, alone or in a list, rejects and adds nothing.", async () => {
    await queue.utils.addJob("adding", "one");
    await queue.utils.addJob("adding", "list");
    const errors: unknown[] = [];
    const task = adding(async ({ job, addJob, addJobs }) => {
      const added =
        job.payload === "one"
          ? addJob("child", { name: "fail" })
          : addJobs(["plain", "fail"].map(named));
      await added.catch((error) => errors.push([error.code, error.message]));
    });
    await tried([task], decide);
    const refusal = ["bad_input", "this job must not be added"];
    assert.deepEqual(errors, [refusal, refusal]);
    assert.deepEqual(await children(), []);
  });

  test("receives no invalid job. A list with an invalid job is refused in the same way as without interceptors.", async () => {
    await queue.utils.addJob("adding");
    const invalid = [
      null,
      { identifier: "child", spec: { priority: "high" } },
      { task: "child" },
      named("plain"),
    ] as unknown as JobToAdd[];
    const errors: { readonly problems?: readonly { readonly path: string }[] }[] = [];
    const task = adding(async ({ addJobs, utils }) => {
      await addJobs(invalid).catch((error) => errors.push(error));
      await utils.addJobs([null as unknown as JobToAdd]).catch((error) => errors.push(error));
      for (const job of invalid.slice(0, 3)) {
        await utils.copyJobs([named("skip"), job]).catch((error) => errors.push(error));
      }
    });
    const skip = pluginOf("beforeJobSchedule", (job) => {
      assert.equal((job.payload as { name: string }).name, "skip");
      return { action: "skip" };
    });
    await tried([task], skip);
    assert.deepEqual(
      errors.map(({ problems }) => problems?.map(({ path }) => path)),
      [
        ["jobs[0]", "jobs[1].spec.priority", "jobs[2].task"],
        ["jobs[0]"],
        ["jobs[1]"],
        ["jobs[1].spec.priority"],
        ["jobs[1].task"],
      ],
    );
    assert.deepEqual(await children(), []);
  });

  test("that skips a job does not change the index of later jobs in error messages.", async () => {
    await queue.utils.addJob("adding");
    const jobs = [
      named("skip"),
      named("plain"),
      { identifier: "child", payload: { name: "plain", circular: {} } },
    ];
    Object.assign(jobs[2]?.payload as object, { circular: jobs });
    const keyed = { ...named("plain"), spec: { jobKey: "k" } };
    const messages: string[] = [];
    const task = adding(async ({ addJobs, utils }) => {
      await addJobs(jobs).catch((error) => messages.push(error.message));
      await utils.copyJobs(jobs).catch((error) => messages.push(error.message));
      await utils.copyJobs([named("skip"), keyed]).catch((error) => messages.push(error.message));
      messages.push(`${await utils.copyJobs([named("skip"), named("plain")])} added`);
      messages.push(`${await utils.copyJobs([named("skip")])} added`);
    });
    await tried([task], decide);
    assert.deepEqual(
      messages.map((message) => message.split("\n")[0]),
      [
        "jobs[2].payload: Converting circular structure to JSON",
        "jobs[2].payload: Converting circular structure to JSON",
        "jobs[1].spec.jobKey: is not supported here: use addJobs",
        "1 added",
        "0 added",
      ],
    );
  });

  test("that throws makes the task's addJob() reject.", async () => {
    await queue.utils.addJob("adding");
    const task = adding(({ addJob }) => addJob("child"));
    const broken = pluginOf("beforeJobSchedule", () => Promise.reject(new Error("out of order")));
    await tried([task], broken);
    assert.match((await lastErrors())[0] ?? "", /^Error: out of order/);
    assert.deepEqual(await children(), []);
  });

  test("is not called for jobs that are added by SQL, or by utils that makeWorkerUtils() returned.", async () => {
    const never = pluginOf("beforeJobSchedule", () => ({ action: "skip" }));
    const task = recordingTask("child");
    await queue.startWorker({ tasks: [task], plugins: [never] });
    await queue.utils.addJob("child");
    await queue.sql("select worker.add_job('child')");
    await waitUntil("both jobs have run", () => task.seen.length === 2);
  });
});

test("An interceptor receives a unique job with its job key. If the interceptor changes the payload, the key stays the same.", async () => {
  const keys: (string | undefined)[] = [];
  const add = defineTask("add", async (_, { addJob, addJobs }) => {
    const unique = { by: ["args"], while: "unfinished" } as const;
    await addJob("other", { n: 1 }, { unique });
    await addJobs([{ identifier: "other", payload: { n: 1 }, spec: { unique } }]);
  });
  const trace = pluginOf("beforeJobSchedule", (job) => {
    keys.push(job.spec?.jobKey);
    return { action: "change", job: { ...job, payload: { n: 1, trace: keys.length } } };
  });
  await queue.utils.addJob("add");
  await tried([add], trace);
  const { jobs } = await queue.utils.listJobs();
  assert.deepEqual(
    jobs.map(({ key, payload }) => ({ key, payload })),
    [{ key: keys[0], payload: { n: 1, trace: 1 } }],
  );
  assert.equal(keys[1], keys[0]);
});
