// A row so large that checking it exceeds the statement timeout.
import assert from "node:assert/strict";
import { test } from "node:test";
import { boundedQueryable } from "../../src/database/connection/pool.ts";
import { listJobs } from "../../src/insight/pages/list-jobs.ts";
import { testQueue } from "../queue/queue-database.ts";

const queue = testQueue();

test("A search skips rows that take too long to search, reports them, and finds all others.", async () => {
  await queue.sql("insert into worker._private_tasks (identifier) values ('t')");
  await queue.sql(`
    insert into worker._private_jobs (task_id, payload)
    select 1, case when n = 20 then to_json(repeat('x', 50000000)) else to_json('needle ' || n) end
    from generate_series(1, 40) n`);
  const bounds = { statementTimeoutMs: 70, lockTimeoutMs: 100, readOnly: true };
  const db = { ...queue.db, client: boundedQueryable(queue.pool, bounds) };
  const found: string[] = [];
  let unchecked = 0;
  let cursor: string | undefined;
  for (let answers = 0; answers < 40; answers++) {
    const page = await listJobs(db, { search: "needle", cursor });
    found.push(...page.jobs.map(({ id }) => id));
    unchecked += page.report.unchecked;
    cursor = page.nextCursor ?? undefined;
    if (cursor === undefined) break;
  }
  assert.equal(cursor, undefined);
  assert.ok(unchecked >= 1);
  const missing = Array.from({ length: 40 }, (_, n) => `${n + 1}`).filter(
    (id) => !found.includes(id),
  );
  assert.ok(missing.includes("20") && missing.length <= unchecked, `${missing}`);
  assert.equal(new Set(found).size, found.length);
});
