// Causes on the wire.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startAdmin } from "./admin-harness.ts";

const { client, pool } = await startAdmin();

test("Why: references are whole, ids are exact, and the verb is a request that is accepted.", async () => {
  const large = "9007199254740993";
  await pool.query(`insert into worker._private_tasks (identifier) values ('t');
    insert into worker._private_job_queues (queue_name, locked_by, locked_at)
      values ('q', 'stock', now() - interval '5 hours');
    insert into worker._private_jobs (id, task_id, job_queue_id, locked_by, locked_at, attempts)
      overriding system value values (${large}, 1, 1, 'stock', now() - interval '5 hours', 1);
    insert into worker._private_jobs (task_id, job_queue_id) values (1, 1)`);
  const { rows } = await pool.query("select id from worker._private_jobs order by id limit 1");
  const path = `/api/jobs/${rows[0].id}/why`;
  const { status, text, body } = await client.get(path);
  assert.equal(status, 200, text);
  assert.equal(body.condition, "blocked");
  assert.ok(text.includes(`"links":{"queue":"q","worker":null,"job":${large}}`), text);
  const { post } = body.causes.at(-1).verb;
  assert.equal((await client.post(post.path, post.body)).status, 200);
  assert.equal((await client.get(path)).body.condition, "ready");
});

test("Why: a job that is not there, and an id that is none.", async () => {
  assert.equal((await client.get("/api/jobs/4711/why")).status, 404);
  assert.equal((await client.get("/api/jobs/x/why")).status, 400);
});
