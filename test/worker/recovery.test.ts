// Workers that die, freeze and come back, as processes of their own on a real PostgreSQL.
import assert from "node:assert/strict";
import { test } from "node:test";
import { addJob } from "../../src/queue/add-job.ts";
import { testQueue } from "../queue/queue-database.ts";
import { until, workerProcess } from "./worker-process.ts";

const queue = testQueue();

const add = (identifier: string, payload: unknown = {}, spec = {}) =>
  addJob(queue.db, { identifier, payload, spec });
const gone = async (id: string) =>
  (await queue.sql("select from worker._private_jobs where id = $1", [id])).length === 0;

test("The jobs of a killed worker are run by another one.", async () => {
  const first = await workerProcess(queue.url);
  const job = await add("held");
  await first.event("started");
  const second = await workerProcess(queue.url);
  first.signal("SIGKILL");
  await first.exited;
  const killedAt = performance.now();
  const { id, attempts } = await second.event("started");
  console.log("freed and taken after", performance.now() - killedAt, "ms");
  assert.deepEqual({ id, attempts }, { id: job.id, attempts: 2 });
  const { deadWorkerIds } = await second.event("recovered");
  assert.deepEqual(deadWorkerIds, [first.workerId]);
  second.release();
  await until("the job is done", () => gone(job.id));
  await second.stop();
});
