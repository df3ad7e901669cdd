// What interceptors decide: before a job runs, after it has run, before one is added.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JobToAdd } from "../../src/domain/job-spec.ts";
import { rawJson } from "../../src/domain/payload.ts";
import { runOnce } from "../../src/worker/run.ts";
import type { Hooks, Plugin, WorkerInterceptors } from "../../src/worker/task/hooks.ts";
import { defineBatchTask, defineTask, type Task } from "../../src/worker/task/task.ts";
import { recording, until, within, witness, workerQueue } from "./worker-queue.ts";

const queue = workerQueue();

/** A plugin of one interceptor, or of several that run in this order. */
const asked = <I extends keyof WorkerInterceptors>(
  name: I,
  ...interceptors: WorkerInterceptors[I][]
): Plugin => ({
  name,
  register(hooks: Hooks) {
    for (const one of interceptors) hooks.intercept(name, one);
  },
});

/** Tries everything that is ready once. */
const tried = (tasks: readonly Task<never>[], ...plugins: Plugin[]) =>
  within(
    "runOnce",
    runOnce({ connectionString: queue.url, recovery: false, tasks, plugins, concurrency: 2 }),
  );

const lastErrors = async () => (await queue.left()).map(({ last_error }) => last_error);

describe("Before a job runs, an interceptor", () => {
  test("sees the exact text of the payload, the job, and the context of its task.", async () => {
    const text = '{"b":1, "a" : 9223372036854775807123,\n"b":2}';
    await queue.utils.addJob("task", rawJson(text));
    let saw: unknown[] = [];
    const task = defineTask("task", () => {});
    const look = asked("beforeJobRun", async ({ job, payloadText, context }) => {
      const { rows } = await context.query<{ n: number }>("select 7 as n");
      saw = [job.taskIdentifier, job.payloadText, payloadText, context.job === job, rows[0]?.n];
      return undefined;
    });
    await tried([task], look);
    assert.deepEqual(saw, ["task", text, text, true, 7]);
  });

  test("lets it go on, skips it as if it were done, or fails it.", async () => {
    const task = recording<string>("task");
    for (const word of ["continue", "nothing", "skip", "fail"])
      await queue.utils.addJob("task", word);
    const saw = witness("job:start", "job:success", "job:skip", "job:error", "job:complete");
    const decide = asked("beforeJobRun", ({ job }) => {
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
    const left = await queue.left();
    assert.deepEqual(
      left.map(({ payload, attempts, last_error }) => [payload, attempts, last_error]),
      [['"fail"', 1, "not this one"]],
    );
  });

  test("fails the job when it throws, at once or later.", async () => {
    const task = recording<string>("task");
    for (const when of ["now", "later"]) await queue.utils.addJob("task", when);
    const broken = asked("beforeJobRun", ({ job }) => {
      if (job.payload === "now") throw new Error("broken now");
      return Promise.reject(new Error("broken later"));
    });
    await tried([task], broken);
    assert.deepEqual(task.seen, []);
    const [now, later] = await lastErrors();
    assert.match(now ?? "", /^Error: broken now/);
    assert.match(later ?? "", /^Error: broken later/);
  });

  test("has the last word when it does not just continue: later ones are not asked.", async () => {
    await queue.utils.addJob("task");
    const order: string[] = [];
    const task = recording("task");
    const several = asked(
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
  test("sees what it came to, and may turn it into the opposite or leave it.", async () => {
    const words = ["good", "bad", "good, made bad", "bad, made good"];
    for (const word of words) await queue.utils.addJob("task", word);
    const task = recording<string>("task", (word) => word.startsWith("bad") && `${word}!`);
    const saw = new Map<unknown, string | undefined>();
    const turn = asked("afterJobRun", async ({ job, error, durationMs }) => {
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

  test("fails the job when it throws.", async () => {
    await queue.utils.addJob("task");
    const task = recording("task");
    const broken = asked("afterJobRun", () => Promise.reject(new Error("broken after")));
    await tried([task], broken);
    assert.equal(task.seen.length, 1);
    assert.match((await lastErrors())[0] ?? "", /^Error: broken after/);
  });

  test("is told of what the one before it made of the job.", async () => {
    await queue.utils.addJob("task");
    const heard: (string | undefined)[] = [];
    const chain = asked(
      "afterJobRun",
      () => ({ error: "by the first" }),
      ({ error }) => void heard.push(error?.message) as undefined,
      () => ({ error: null }),
    );
    await tried([recording("task")], chain);
    assert.deepEqual(heard, ["by the first"]);
    assert.deepEqual(await queue.left(), []);
  });

  test("leaves what is left of a batch as it is, whatever it says of the failure.", async () => {
    for (let n = 0; n < 3; n++) await queue.utils.addJob("batch", [1, 2, 3]);
    const batch = defineBatchTask<number>("batch", (items) =>
      items.map((n) => (n === 2 ? "no" : null)),
    );
    const speak = asked("afterJobRun", ({ job }) => {
      if (job.id === "2") return { error: "in other words" };
      return job.id === "3" ? Promise.reject(new Error("broken")) : undefined;
    });
    await tried([batch as Task<never>], speak);
    assert.deepEqual(
      (await queue.left()).map(({ payload, last_error }) => [payload, last_error?.split("\n")[0]]),
      [
        ["[2]", "1 of 3 items failed: no"],
        ["[2]", "in other words"],
        ["[2]", "Error: broken"],
      ],
    );
  });
});

describe("Before a task adds a job, an interceptor", () => {
  /** A job whose task does this with its context's way to add. */
  const adding = (add: (context: Parameters<Task["handle"]>[1]) => Promise<unknown>) =>
    defineTask("adding", async (_, context) => void (await add(context)));
  const decide = asked("beforeJobSchedule", (job) => {
    const { name } = job.payload as { name: string };
    if (name === "skip") return { action: "skip" };
    if (name === "fail") return { action: "fail", message: "nobody may add this" };
    if (name !== "change") return undefined;
    const payload = { ...(job.payload as object), tenant: "acme" };
    return { action: "change", job: { ...job, payload, spec: { priority: 5 } } };
  });
  const named = (name: string): JobToAdd => ({ identifier: "child", payload: { name } });
  const children = () =>
    queue.sql(`select payload, priority from worker._private_jobs j
      join worker._private_tasks t on t.id = j.task_id where identifier = 'child' order by j.id`);

  test("changes it, skips it or lets it be.", async () => {
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

  test("does so for each job of a list; the skipped are left out.", async () => {
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

  test("refuses it with a message that the adding task gets, and nothing is added.", async () => {
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
    const refusal = ["bad_input", "nobody may add this"];
    assert.deepEqual(errors, [refusal, refusal]);
    assert.deepEqual(await children(), []);
  });

  test("that throws is the adding task's error.", async () => {
    await queue.utils.addJob("adding");
    const task = adding(({ addJob }) => addJob("child"));
    const broken = asked("beforeJobSchedule", () => Promise.reject(new Error("out of order")));
    await tried([task], broken);
    assert.match((await lastErrors())[0] ?? "", /^Error: out of order/);
    assert.deepEqual(await children(), []);
  });

  test("is not asked about what somebody else adds.", async () => {
    const never = asked("beforeJobSchedule", () => ({ action: "skip" }));
    const task = recording("child");
    await queue.started({ tasks: [task], plugins: [never] });
    await queue.utils.addJob("child");
    await queue.sql("select worker.add_job('child')");
    await until("both have run", () => task.seen.length === 2);
  });
});
