// Tests how jobs are cancelled over HTTP, by ids and by query: the outcomes, the entry in the audit trail, and the
// requests that are rejected.
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { schemaName } from "../../src/database/schema-name.ts";
import { addJob } from "../../src/queue/add/add-job.ts";
import { makeWorkerUtils } from "../../src/utils/worker-utils.ts";
import { defineTask } from "../../src/worker/task/task.ts";
import { Worker } from "../../src/worker/worker.ts";
import { waitUntil } from "../worker/worker-queue.ts";
import { type Json, migratedDatabase, startAdmin } from "./admin-harness.ts";

const { url } = await migratedDatabase("worker", ["controls", "operations"]);
const { client, pool } = await startAdmin({ url });
const db = { client: pool, schema: schemaName() };
const path = "/api/jobs/action";

test("If a waiting and a running job are cancelled, the answer has both outcomes, and the running job's signal aborts.", async () => {
  const { id: running } = await addJob(db, { identifier: "running" });
  const task = defineTask("running", async (_, { signal }) => {
    await once(signal, "abort");
    throw signal.reason;
  });
  const worker = new Worker({ connectionString: url, tasks: [task], recovery: false });
  try {
    await worker.start();
    await waitUntil("the job runs", async () => {
      const { rows } = await pool.query(
        "select from worker._private_jobs where locked_at is not null",
      );
      return rows.length === 1;
    });
    const { id: waiting } = await addJob(db, { identifier: "waiting" });
    const ids = [Number(waiting), Number(running), 4711];
    // A repeated id counts once.
    const request = { action: "cancel", ids: [...ids, ids[0]], reason: "deploy" };
    const { status, body } = await client.post(path, request);
    assert.equal(status, 200);
    assert.deepEqual([body.requested, body.done, body.cancelling], [3, 1, 1]);
    assert.deepEqual(body.outcomes, [
      { id: ids[0], outcome: "cancelled" },
      { id: ids[1], outcome: "cancelling" },
      { id: 4711, outcome: "not_found" },
    ]);
    assert.equal(body.jobs[0].last_error, "cancelled: deploy");
    const utils = await makeWorkerUtils({ pool });
    assert.deepEqual(await utils.waitForCancelledJobs([running]), [
      { id: running, outcome: "cancelled" },
    ]);
    const { entries } = (await client.get("/api/activity")).body;
    const entry = entries.find((one: Json) => one.action === "cancel");
    assert.deepEqual([entry.requested, entry.done], [3, 1]);
  } finally {
    await worker.stop();
  }
  const { incidents } = (await client.get("/api/incidents")).body;
  assert.deepEqual(
    incidents.filter((one: Json) => /fail/.test(one.kind)),
    [],
  );
});

test("An operation cancels all jobs that match and have not failed.", async () => {
  await pool.query("delete from worker._private_jobs");
  const { id } = await addJob(db, { identifier: "one" });
  const { id: failed } = await addJob(db, { identifier: "one", spec: { maxAttempts: 1 } });
  await pool.query(
    "update worker._private_jobs set attempts = 1, last_error = 'broken' where id = $1",
    [failed],
  );
  const request = { action: "cancel", q: "task:one", changes: { reason: "stop" } };
  const preview = await client.post("/api/operations", { ...request, dry_run: true });
  assert.equal(preview.body.would.change, 1, preview.text);
  const begun = await client.post("/api/operations", { rehearsal: preview.body.rehearsal });
  assert.equal(begun.status, 202, begun.text);
  assert.equal(begun.body.cancelling, 0);
  await waitUntil("the job is cancelled", async () => {
    const { rows } = await pool.query("select last_error from worker._private_jobs where id = $1", [
      id,
    ]);
    return rows[0]?.last_error === "cancelled: stop";
  });
  const { rows } = await pool.query("select last_error from worker._private_jobs where id = $1", [
    failed,
  ]);
  assert.equal(rows[0].last_error, "broken");
});

test("The preview of an operation that cancels jobs names the missing extension. Once the extension is added, the operation can be started.", async () => {
  const bare = await startAdmin({ ...(await migratedDatabase("worker", ["operations"])) });
  const preview = { q: "is:ready", action: "cancel", dry_run: true };
  const before = await bare.client.post("/api/operations", preview);
  assert.deepEqual(
    [before.status, before.body.missing?.extension, before.body.missing?.may_add],
    [200, "controls", true],
  );
  const refused = await bare.client.post("/api/operations", { rehearsal: before.body.rehearsal });
  assert.equal(refused.status, 404);
  await bare.client.post("/api/extensions", { action: "add", name: "controls" });
  const after = await bare.client.post("/api/operations", preview);
  assert.equal(after.body.missing, null);
  const begun = await bare.client.post("/api/operations", { rehearsal: after.body.rehearsal });
  assert.equal(begun.status, 202);
});

test("If the extension is missing, a request to cancel a job is answered with 409. A read-only admin answers it with 403.", async () => {
  const bare = await startAdmin({});
  const body = { action: "cancel", ids: [1] };
  const refused = await bare.client.post(path, body);
  assert.equal(refused.status, 409);
  assert.equal(refused.body.code, "extension_missing");
  assert.match(refused.body.error, /worker migrate --with controls/);
  const readOnly = await startAdmin({ readOnly: true, url });
  assert.equal((await readOnly.client.post(path, body)).status, 403);
});
