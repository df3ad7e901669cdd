// Rows so large that checking them takes long, or exceeds the statement timeout.
import assert from "node:assert/strict";
import { test } from "node:test";
import { boundedQueryable } from "../../src/database/connection/pool.ts";
import { listJobs } from "../../src/insight/pages/list-jobs.ts";
import { findPage } from "../../src/insight/pages/walk-jobs.ts";
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

test("A payload of 8 MB is compared with a query, however much it could decompress to.", async () => {
  await queue.sql("insert into worker._private_tasks (identifier) values ('t')");
  // Nearly 8 MB that compress to 6 MB, or 9 MB that compress to nothing.
  await queue.sql(`
    insert into worker._private_jobs (task_id, payload)
    select 1, json_build_object('n', n, 'text', case when n = 2 then repeat('x', 9000000) else (
      select string_agg(translate(encode(sha512(word::text::bytea), 'base64'), E'\n', '') || repeat('-', 49), '')
      from generate_series(1, 61000) as word
    ) end)
    from generate_series(1, 2) n`);
  const [size] = await queue.sql<{ stored: number }>(
    "select pg_column_size(payload) as stored from worker._private_jobs where id = 1",
  );
  assert.ok(Number(size?.stored) > 5_970_000, `${size?.stored} bytes are stored`);
  const page = await findPage(queue.db, { q: "payload.n:1,2" }, 60_000);
  assert.deepEqual([page.ids, page.report.unchecked], [["1"], 1]);
});
