// A task that is told to wait makes all workers back off: from a task, a named queue or a limit.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { Logger, run } from "graphile-worker";
import { RetryAfter } from "../../src/worker/task/outcomes.ts";
import { defineTask } from "../../src/worker/task/task.ts";
import { migratedDatabase } from "../support/database.ts";
import { recording, until, workerQueue } from "./worker-queue.ts";

const queue = workerQueue(() => migratedDatabase("worker", ["limits"]));
afterEach(() =>
  queue.sql(`delete from worker._private_limits; delete from worker._private_pauses;
    delete from worker._private_back_offs`),
);
const BEATS = { recovery: { heartbeatIntervalMs: 500, thresholdMs: 5_000 } } as const;

const pauses = () =>
  queue.sql<{ scope: string; name: string; reason: string; ms: number; is_back_off: boolean }>(`
    select p.scope, p.name, p.reason, extract(epoch from p.resume_at - now())::float8 * 1000 as ms,
      exists (select from worker._private_back_offs b
        where b.scope = p.scope and b.name = p.name and b.until = p.resume_at) as is_back_off
    from worker._private_pauses p`);

for (const [mode, options] of [
  ["safe mode", {}],
  ["fast lane", { fastLane: true }],
] as const) {
  test(`All workers back off from a task until the time that it was told (${mode}).`, async () => {
    let told = 0;
    const starts: number[] = [];
    const task = defineTask("call", () => {
      starts.push(performance.now());
      if (told++ === 0) throw new RetryAfter(1_500, { backOff: "task", message: "429 from a" });
    });
    const other = recording("other");
    await queue.started({ tasks: [task, other], concurrency: 1, ...BEATS, ...options });
    await queue.started({ tasks: [task, other], concurrency: 1, ...BEATS, ...options });
    await queue.utils.addJob("call");
    await until("the back-off is written", async () => (await pauses()).length === 1);
    const [pause] = await pauses();
    assert.deepEqual([pause?.scope, pause?.name, pause?.reason], ["task", "call", "429 from a"]);
    assert.equal(pause?.is_back_off, true);
    await queue.utils.addJobs(Array.from({ length: 20 }, () => ({ identifier: "call" })));
    await queue.utils.addJobs(Array.from({ length: 20 }, () => ({ identifier: "other" })));
    await until("the others have run", () => other.seen.length === 20);
    const [job] = await queue.left();
    assert.equal(job?.attempts, 0, "the attempt does not count");
    await until("all have run", async () => (await queue.left()).length === 0);
    assert.equal(starts.length, 22);
    const [first = 0, second = 0] = starts;
    assert.ok(second - first >= 1_400, `the next one started after ${second - first} ms`);
    assert.ok(second - first < 6_000, `the next one started after ${second - first} ms`);
  });
}

test("A queue that backs off is obeyed by Graphile Worker, too, and goes on by itself.", async () => {
  let told = 0;
  const starts: number[] = [];
  const call = () => {
    starts.push(performance.now());
    if (told++ === 0) throw new RetryAfter(1_500, { backOff: "queue" });
  };
  await queue.utils.addJobs(
    Array.from({ length: 6 }, () => ({ identifier: "call", spec: { queueName: "tenant/a" } })),
  );
  await queue.started({ tasks: [defineTask("call", call)], ...BEATS });
  await until("the back-off is written", async () => (await pauses()).length === 1);
  const stock = await run({
    connectionString: queue.url,
    schema: "worker",
    pollInterval: 50,
    noHandleSignals: true,
    logger: new Logger(() => () => {}),
    taskList: { call: async () => call() },
  });
  await until("all have run", async () => (await queue.left()).length === 0);
  await stock.stop();
  assert.equal(starts.length, 7);
  const [first = 0, second = 0] = starts;
  assert.ok(second - first >= 1_400, `the next one started after ${second - first} ms`);
});

test("Jobs that are told to wait at the same time write one back-off.", async () => {
  let told = 0;
  const task = defineTask("call", async () => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    if (told++ < 24) throw new RetryAfter(1_000, { backOff: "task" });
  });
  await queue.utils.addJobs(Array.from({ length: 24 }, () => ({ identifier: "call" })));
  await queue.started({ tasks: [task], concurrency: 24, ...BEATS });
  await until("all were told", () => told >= 24);
  await until("all have run", async () => (await queue.left()).length === 0);
  const [row] = await queue.sql<{ count: number }>(
    "select count(*)::int as count from worker._private_back_offs",
  );
  assert.ok((row?.count ?? 0) >= 1 && (row?.count ?? 0) <= 3, `${row?.count} back-offs`);
});

test("A limit that backs off holds up its tasks, and no others.", async () => {
  await queue.utils.setLimit({ name: "openai", task: "ai_*", concurrency: 4 });
  let told = 0;
  const starts: number[] = [];
  const ask = defineTask("ai_ask", () => {
    starts.push(performance.now());
    if (told++ === 0) throw new RetryAfter(1_500, { backOff: "limit:openai" });
  });
  const [draw, other] = [recording("ai_draw"), recording("other")];
  await queue.started({ tasks: [ask, draw, other], ...BEATS });
  await queue.utils.addJob("ai_ask");
  await until("it was told", () => told === 1);
  await until("the limit backs off", async () => {
    return (await queue.utils.getLimit("openai")).backOff !== null;
  });
  const began = performance.now();
  await queue.utils.addJob("ai_draw");
  await queue.utils.addJob("other");
  await until("the other has run", () => other.seen.length === 1);
  await until("the task of the limit has run", () => draw.seen.length === 1);
  assert.ok(performance.now() - began > 1_000);
  await until("all have run", async () => (await queue.left()).length === 0);
});

test("A pause by a person is neither shortened nor replaced.", async () => {
  let told = 0;
  const task = defineTask("call", async () => {
    if (told++ > 0) return;
    await queue.utils.pauseTask("call", { reason: "deploy", pausedBy: "ana", waitMs: 0 });
    throw new RetryAfter(500, { backOff: "task" });
  });
  await queue.started({ tasks: [task], ...BEATS });
  await queue.utils.addJob("call");
  await until("the back-off is recorded", async () => {
    return (await queue.sql("select from worker._private_back_offs")).length === 1;
  });
  const [pause] = await pauses();
  assert.deepEqual([pause?.reason, pause?.ms, pause?.is_back_off], ["deploy", null, false]);
});

test("Without a queue, without a limit or without the tables only the job waits, and it is said once.", async () => {
  const warnings: string[] = [];
  const logger = {
    ...{ debug() {}, info() {}, error() {} },
    warn: (fields: object, message: string) =>
      void (message === "a task asked to back off" && warnings.push(JSON.stringify(fields))),
  };
  let told = 0;
  const targets = ["queue", "queue", "limit:none", "limit:none"] as const;
  const task = defineTask("call", () => {
    const backOff = targets[told++];
    if (backOff !== undefined) throw new RetryAfter(10, { backOff });
  });
  await queue.started({ tasks: [task], logger, ...BEATS });
  await queue.utils.addJob("call");
  await until("it has run", async () => (await queue.left()).length === 0);
  await until("both were said", () => warnings.length === 2);
  assert.match(warnings[0] ?? "", /no queue/);
  assert.match(warnings[1] ?? "", /no limit/);
});

test("An invalid target is refused where it is thrown.", () => {
  assert.throws(() => new RetryAfter(1, { backOff: "all" as never }), /backOff/);
  const response = { status: 429, statusText: "", headers: new Headers({ "retry-after": "3" }) };
  const error = new RetryAfter(
    { ...response, url: "https://api.example.com/x" },
    { backOff: "task" },
  );
  assert.deepEqual([error.message, error.until], ["429 from api.example.com", 3_000]);
});
