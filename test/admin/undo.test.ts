// Tests, over HTTP, the activity list and the undo of actions whose jobs the request names by id or key. With the
// extension `operations`, such an action is stored as an operation if it has changed a job, and can be undone.
import assert from "node:assert/strict";
import { test } from "node:test";
import { waitUntil } from "../support/until.ts";
import { type Json, migratedDatabase, startAdmin } from "./admin-harness.ts";

const { url } = await migratedDatabase("worker", ["operations"]);
const { client, pool } = await startAdmin({ url });

async function add(key: string | null = null): Promise<number> {
  const { body } = await client.post("/api/jobs", { identifier: "single", key });
  return body.jobs[0].id;
}

async function undone(id: number): Promise<Json> {
  const answer = await client.post(`/api/operations/${id}/undo`, {});
  assert.equal(answer.status, 202, answer.text);
  let body: Json;
  await waitUntil(`operation ${id} is undone`, async () => {
    ({ body } = await client.get(`/api/operations/${id}`));
    assert.match(body.state, /^(undoing|undone)$/, body.error);
    return body.state === "undone";
  });
  return body;
}

test("The answer to an action and the action's entry in the activity list have the id of an operation that can be undone.", async () => {
  const ids = [await add("kept"), await add()];
  const { body: before } = await client.get(`/api/jobs/${ids[0]}`);
  const acted = await client.post("/api/jobs/action", { action: "complete", ids });
  assert.deepEqual(Object.keys(acted.body).sort(), [
    "done",
    "jobs",
    "message",
    "operation",
    "requested",
  ]);
  const { operation: id } = acted.body;
  assert.equal((await client.get(`/api/jobs/${ids[0]}`)).status, 404);
  const entries = async () => (await client.get("/api/activity?limit=2")).body.entries;
  const [entry] = await entries();
  assert.deepEqual(
    [entry.action, entry.operation_id, entry.can_undo, entry.ids, entry.q, entry.done],
    ["complete", id, true, ids, null, 2],
  );
  assert.equal(entry.cli, `worker complete id:${ids.join(",")}`);
  const listed = await client.get(`/api/operations/${id}/jobs`);
  assert.deepEqual(listed.body.ids, ids);
  const { undone: count, can_undo: again } = await undone(id);
  assert.deepEqual([count, again], [2, false]);
  assert.deepEqual((await client.get(`/api/jobs/${ids[0]}`)).body, before);
  const [undo, first] = await entries();
  assert.deepEqual([undo.action, undo.operation_id], ["operation.undo", id]);
  assert.deepEqual([first.operation_id, first.can_undo], [id, false]);
  assert.equal((await client.post(`/api/operations/${id}/undo`, {})).status, 409);
});

test("A removal by key returns an operation that can be undone; an action without changes returns none.", async () => {
  const id = await add("gone soon");
  const removed = await client.post("/api/jobs/remove-by-key", { key: "gone soon" });
  assert.equal(removed.body.outcome, "removed");
  assert.equal((await undone(removed.body.operation)).undone, 1);
  assert.equal((await client.get(`/api/jobs/${id}`)).body.key, "gone soon");
  const absent = await client.post("/api/jobs/remove-by-key", { key: "nobody's" });
  assert.deepEqual([absent.body.outcome, absent.body.operation], ["absent", null]);
  const none = await client.post("/api/jobs/action", { action: "retry", ids: [987_654] });
  assert.deepEqual([none.body.done, none.body.operation], [0, null]);
});

test("An action whose undo cannot be stored changes nothing.", async () => {
  const id = await add();
  await pool.query(
    "alter table worker._private_operation_rows add constraint none check (job_id < 0) not valid",
  );
  const refused = await client.post("/api/jobs/action", { action: "complete", ids: [id] });
  assert.ok(refused.status >= 400, refused.text);
  assert.equal((await client.get(`/api/jobs/${id}`)).status, 200);
  await pool.query("alter table worker._private_operation_rows drop constraint none");
});

test("Without the extension, an action is done but cannot be undone.", async () => {
  const without = await startAdmin();
  const { body } = await without.client.post("/api/jobs", { identifier: "single" });
  const ids = [body.jobs[0].id];
  const acted = await without.client.post("/api/jobs/action", { action: "complete", ids });
  assert.deepEqual([acted.body.done, acted.body.operation], [1, null]);
  const [entry] = (await without.client.get("/api/activity")).body.entries;
  assert.deepEqual([entry.operation_id, entry.can_undo], [null, false]);
});
