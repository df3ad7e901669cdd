// Tests adding jobs with a task object instead of a task identifier: which arguments TypeScript accepts, and which are
// rejected at run time.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Job } from "../../src/domain/job.ts";
import type { JobSpec, JobToAdd } from "../../src/domain/job-spec.ts";
import { type RawJson, rawJson } from "../../src/domain/payload.ts";
import type { JobArguments, JobOfTask } from "../../src/domain/typed-job.ts";
import type { WorkerUtils } from "../../src/utils/worker-utils.ts";
import { makeWorkerUtils } from "../../src/utils/worker-utils.ts";
import { defineBatchTask, defineTask, type Task } from "../../src/worker/task/task.ts";
import type { TaskContext } from "../../src/worker/task/task-context.ts";
import type { Worker } from "../../src/worker/worker.ts";
import { testQueue } from "../queue/queue-database.ts";

const queue = testQueue();

const send = defineTask<{ to: string }>("send", () => {});
const lax = defineTask<{ to?: string }>("lax", () => {});
const plain = defineTask("plain", () => {});
const batch = defineBatchTask<{ user: number }>("batch", () => undefined);

// The compiler checks the expectations about types: `holds<…>()` with a false expectation does not compile.
type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Fits<Value, Type> = Value extends Type ? true : false;
const holds = <_Claim extends true>(): void => {};

type PayloadOf<T> = T extends Task<infer Payload> ? Payload : never;

test("In addJob(), the type of a task's payload determines the arguments after the task.", () => {
  holds<Equal<JobArguments<{ to: string }>, [payload: { to: string } | RawJson, spec?: JobSpec]>>();
  holds<
    Equal<JobArguments<{ to?: string }>, [payload?: { to?: string } | RawJson, spec?: JobSpec]>
  >();
  holds<Equal<JobArguments<unknown>, [payload?: unknown, spec?: JobSpec]>>();
  holds<Equal<PayloadOf<typeof batch>, readonly { user: number }[]>>();
  holds<Fits<[{ to: "x" }], JobArguments<PayloadOf<typeof send>>>>();
  holds<Equal<Fits<[], JobArguments<PayloadOf<typeof send>>>, false>>();
  holds<Equal<Fits<[{ to: 1 }], JobArguments<PayloadOf<typeof send>>>, false>>();
  // A RawJson has a member `text`. Another object with a `text` is neither a RawJson nor a payload of the task.
  holds<Equal<Fits<[{ text: string }], JobArguments<PayloadOf<typeof send>>>, false>>();
  holds<Equal<Fits<[{ user: 1 }], JobArguments<PayloadOf<typeof batch>>>, false>>();
  holds<Fits<[{ user: 1 }[]], JobArguments<PayloadOf<typeof batch>>>>();
});

test("In a list of jobs, the payload of each job must have the type that the job's task requires.", () => {
  type Send = JobOfTask<PayloadOf<typeof send>>;
  type SendTask = typeof send;
  holds<Fits<{ task: SendTask; payload: { to: string } }, Send>>();
  holds<Equal<Fits<{ task: SendTask }, Send>, false>>();
  holds<Equal<Fits<{ task: SendTask; payload: { to: number } }, Send>, false>>();
  holds<Fits<{ task: typeof lax }, JobOfTask<PayloadOf<typeof lax>>>>();
});

test("addJob() of makeWorkerUtils() returns a job; addJob() of a worker may return null, because interceptors may skip the job.", () => {
  type AddJobResult<U extends WorkerUtils<Job | null>> = Awaited<ReturnType<U["addJob"]>>;
  holds<Equal<AddJobResult<Awaited<ReturnType<typeof makeWorkerUtils>>>, Job>>();
  holds<Equal<AddJobResult<Worker["utils"]>, Job | null>>();
  holds<Equal<AddJobResult<TaskContext["utils"]>, Job | null>>();
  holds<Equal<TaskContext["addJob"], Worker["utils"]["addJob"]>>();
});

test("Each way of adding jobs accepts a task object instead of an identifier; a list may contain jobs of both kinds.", async () => {
  await using utils = await makeWorkerUtils({ pool: queue.pool });
  const { taskIdentifier, payloadText } = await utils.addJob(send, { to: "ada" });
  assert.deepEqual([taskIdentifier, payloadText], ["send", '{"to":"ada"}']);
  assert.equal((await utils.addJob(lax)).payloadText, "{}");
  assert.equal((await utils.addJob(send, rawJson('{"to": 1e2}'))).payloadText, '{"to": 1e2}');
  const keyed = { jobKey: "k" };
  assert.equal((await utils.addJob(batch, [{ user: 1 }], keyed)).key, "k");
  const listed: JobToAdd = { identifier: "other", payload: 1 };
  const jobs = await utils.addJobs([
    { task: send, payload: { to: "bob" }, spec: { priority: 3 } },
    { task: lax },
    { task: plain, payload: [1] },
    { task: batch, payload: [{ user: 2 }] },
    listed,
  ]);
  assert.deepEqual(
    jobs.map((job) => [job.taskIdentifier, job.payloadText, job.priority]),
    [
      ["send", '{"to":"bob"}', 3],
      ["lax", "{}", 0],
      ["plain", "[1]", 0],
      ["batch", '[{"user":2}]', 0],
      ["other", "1", 0],
    ],
  );
  const many = ["c", "d"].map((to) => ({ task: send, payload: { to } }));
  assert.equal((await utils.addJobs(many)).length, 2);
  assert.equal(await utils.copyJobs(many), 2);
  assert.equal((await utils.listJobs({ identifier: "send" })).jobs.length, 7);
});

test("A job with an invalid task, or with both a task and an identifier, is rejected; the message has a path such as jobs[0].task.", async () => {
  await using utils = await makeWorkerUtils({ pool: queue.pool });
  const wrong = [{ task: "send" }, { task: send, identifier: "other" }, { task: {} }] as never;
  await assert.rejects(utils.addJobs(wrong), {
    message: [
      "jobs[0].task: must be a task of defineTask()",
      "jobs[1].identifier: use either identifier or task",
      "jobs[2].identifier: is required",
    ].join("; "),
  });
  await assert.rejects(utils.addJob({} as never), { message: "identifier: is required" });
  await assert.rejects(utils.addJob(null as never), { message: /^identifier: must be a string/ });
});
