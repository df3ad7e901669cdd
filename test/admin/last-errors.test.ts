// The last error of each task. In a small table all jobs are read. In a large table some jobs may be left out, so the
// errors are marked as sampled.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pool } from "pg";
import {
  indexDefinition,
  optionalIndex,
} from "../../src/database/schema/indexes/optional-index.ts";
import { type Json, startAdmin } from "./admin-harness.ts";

/**
 * Adds 40 jobs of each of six tasks. The jobs of `calm` have no error. The jobs of the other tasks have an error, and
 * the name of each task describes the state of its jobs.
 */
async function fill(pool: Pool): Promise<void> {
  await pool.query(`
    select worker.add_job(task, queue_name => case task when 'blocked' then 'held' end)
      from unnest(array['calm', 'retried', 'overdue', 'blocked', 'locked', 'failed']) as task,
        generate_series(1, 40);
    update worker._private_job_queues set locked_at = now(), locked_by = 'w';
    update worker._private_jobs as jobs
      set attempts = case tasks.identifier when 'failed' then 25 else 2 end,
        last_error = 'Error: ' || tasks.identifier || ' ' || jobs.id || E'\\n    at x',
        created_at = now(),
        updated_at = now() - interval '2 hours' + jobs.id * interval '1 second',
        run_at = now() + case tasks.identifier when 'retried' then interval '1 hour' else interval '-1 hour' end,
        locked_at = case tasks.identifier when 'locked' then now() end,
        locked_by = case tasks.identifier when 'locked' then 'w' end
      from worker._private_tasks as tasks
      where tasks.id = jobs.task_id and tasks.identifier <> 'calm'`);
}

const lastSql = `
  select tasks.identifier, split_part((array_agg(jobs.last_error order by jobs.updated_at desc)
      filter (where jobs.last_error is not null))[1], E'\\n', 1) as line, max(jobs.updated_at) as at
  from worker._private_jobs as jobs join worker._private_tasks as tasks on tasks.id = jobs.task_id
  group by 1 order by 1`;

for (const { name, feed, indexes } of [
  { name: "a small table", feed: {}, indexes: [] },
  { name: "a large table without indexes", feed: { smallPages: 0 }, indexes: [] },
  { name: "a large table with indexes", feed: { smallPages: 0 }, indexes: ["failed", "retrying"] },
] as const) {
  test(`In ${name} each task has the last error of its jobs, whatever the conditions of the jobs are.`, async () => {
    const { client, pool } = await startAdmin({ feed });
    await fill(pool);
    for (const index of indexes)
      await pool.query(
        `create index on worker._private_jobs ${indexDefinition(optionalIndex(index))}`,
      );
    const { body } = await client.get("/api/tasks?sort=name");
    const { rows } = await pool.query(lastSql);
    assert.deepEqual(
      body.tasks.map((task: Json) => [task.identifier, task.last_error_line]),
      rows.map(({ identifier, line }) => [identifier, line]),
    );
    for (const [n, task] of body.tasks.entries()) {
      assert.equal(task.last_error_sampled, name !== "a small table");
      if (task.last_error_line === null) assert.equal(task.last_error_at, null);
      else assert.equal(Date.parse(task.last_error_at), rows[n].at.getTime());
    }
  });
}
