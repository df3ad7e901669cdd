// Tests explanations, incidents, groups and the horizon on Graphile Worker's own schema. On this schema no worker sends
// heartbeats, so it is unknown which workers are alive and which tasks they support. No answer may report a worker as
// stale.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { schemaName } from "../../src/database/schema-name.ts";
import { createInsight } from "../../src/insight/insight.ts";
import { explainJob } from "../../src/insight/why/explain-job.ts";
import { emptyDatabase } from "../support/database.ts";
import { installStock } from "../support/stock-schema.ts";
import { type TestPool, testPool } from "../support/test-pool.ts";

// The name of a schema may contain quotes and spaces.
const schema = schemaName('it\'s "stock"');
let handle: TestPool;
before(async () => {
  handle = testPool((await emptyDatabase()).url);
  await installStock(handle.pool, schema);
});
after(() => handle.close());

test("On Graphile Worker's own schema, causes, incidents, groups and the horizon are correct, and no worker is reported as stale.", async () => {
  const { pool } = handle;
  const db = { client: pool, schema };
  const s = schema.quoted;
  await pool.query(`insert into ${s}._private_tasks (identifier) values ('t');
    insert into ${s}._private_job_queues (queue_name, locked_by, locked_at)
      values ('q', 'stock', now() - interval '5 hours');
    insert into ${s}._private_jobs (task_id, job_queue_id, locked_by, locked_at, attempts)
      values (1, 1, 'stock', now() - interval '5 hours', 1);
    insert into ${s}._private_jobs (task_id, job_queue_id) values (1, 1);
    insert into ${s}._private_jobs (task_id, run_at) values (1, now() - interval '6 minutes');
    insert into ${s}._private_jobs (task_id, attempts, last_error, run_at, created_at, updated_at)
      select 1, 25, 'Error: 1', now() + exp(10) * interval '1 second' - interval '3 minutes', old, old
      from (select now() - interval '4 days' as old) as times;
    insert into ${s}._private_jobs (task_id, attempts, run_at) values (1, 3, now() + interval '1 h')`);
  const blocked = await explainJob(db, "2");
  assert.deepEqual(
    blocked?.causes.map(({ kind }) => kind),
    ["queue_locked", "locked_by_job", "holder_unknown"],
  );
  const ready = await explainJob(db, "3");
  assert.match(ready?.sentence ?? "", /; whether a worker is alive is unknown\.$/);
  const insight = createInsight(db);
  const { incidents, level } = await insight.incidents();
  assert.deepEqual(
    incidents.map(({ kind }) => kind),
    ["no_worker", "poison", "stuck_queue", "error_group"],
  );
  assert.equal(level, "bad");
  // The title does not claim that no worker runs: jobs that run for hours may occupy all slots of a worker.
  assert.equal(incidents[0]?.title, "No worker is known to take jobs");
  assert.match(
    incidents[0]?.sentence ?? "",
    /Workers here send no heartbeats, and the last known lock or failure is 5 h old\./,
  );
  assert.doesNotMatch(
    JSON.stringify([blocked, ready, incidents]),
    /not responding|supports its task/,
  );
  // A Graphile worker does not change updated_at when a job fails. So the time of the failure is computed from run_at.
  const { groups } = await insight.groups("error", "is:failed", 10);
  const age = Date.now() - Date.parse(groups[0]?.lastSeen ?? "");
  assert.ok(age > 170_000 && age < 240_000, `the failure in the error group is ${age} ms old`);
  const { series } = await insight.horizon(57, "t", null);
  assert.deepEqual(
    Object.values(series).map((counts) => counts.reduce((sum, one) => sum + one, 0)),
    [1, 1, 1, 0, 1],
  );
});
