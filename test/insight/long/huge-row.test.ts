// Tests searches and queries over jobs with very large payloads. A job is left out of the results and counted as
// unchecked if the comparison of its payload exceeds the statement timeout, or if its payload is too large to be
// compared. All other jobs that match are found.
import assert from "node:assert/strict";
import { test } from "node:test";
import { boundedQueryable } from "../../../src/database/connection/pool.ts";
import type { JobFilter } from "../../../src/insight/pages/job-filter.ts";
import { listJobs } from "../../../src/insight/pages/list-jobs.ts";
import { findPage } from "../../../src/insight/pages/walk-jobs.ts";
import { testQueue } from "../../queue/queue-database.ts";

const queue = testQueue();

test("A search skips and counts rows that take too long to search, and finds all other rows that match.", async () => {
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
  assert.ok(
    missing.includes("20") && missing.length <= unchecked,
    `the jobs that are not found: ${missing}`,
  );
  assert.equal(new Set(found).size, found.length);
});

/**
 * Adds `count` jobs. The first 40 have `needle` in the payload. A statement that reads the payload of a job whose id
 * is in `slow` fails as if the statement had exceeded its time limit.
 */
async function fillSlowly(count: number, slow: readonly number[]): Promise<void> {
  await queue.sql("insert into worker._private_tasks (identifier) values ('t')");
  await queue.sql(
    `insert into worker._private_jobs (task_id, payload)
    select 1, to_json(case when n <= 40 then 'needle' else '' end || n) from generate_series(1, $1::int) n`,
    [count],
  );
  await queue.sql(`
    create function worker.payload_in_time(id bigint, payload json) returns json language plpgsql stable as $$
    begin
      if id in (${slow.join()}) then
        -- PostgreSQL itself cancels the statement, as it does after the time limit.
        perform pg_cancel_backend(pg_backend_pid());
        perform pg_sleep(10);
      end if;
      return payload;
    end $$;
    alter table worker._private_jobs rename to all_jobs;
    create view worker._private_jobs as
      select id, job_queue_id, task_id, worker.payload_in_time(id, payload) as payload, priority, run_at, attempts,
        max_attempts, last_error, created_at, updated_at, key, locked_at, locked_by, revision, flags, is_available
      from worker.all_jobs`);
}

const undo = `
  drop view worker._private_jobs;
  alter table worker.all_jobs rename to _private_jobs;
  drop function worker.payload_in_time`;

/**
 * Searches for `needle`, page by page. Fails unless the jobs in `slow` are left out and counted, and all other jobs
 * with the ids 1 to 40 are found.
 */
async function findsAllBut(slow: readonly number[], filter: JobFilter): Promise<void> {
  const found: string[] = [];
  let unchecked = 0;
  let cursor: string | undefined;
  for (let answers = 0; answers < 100; answers++) {
    const page = await findPage(queue.db, { ...filter, search: "needle", cursor });
    if (page.report.ranking === "full") found.push(...page.ids);
    unchecked += page.report.unchecked;
    cursor = page.cursorAfter(page.ids.length) ?? undefined;
    if (cursor === undefined) break;
  }
  assert.equal(cursor, undefined, `${filter.sort}: the search ends within 100 pages`);
  const all = Array.from({ length: 40 }, (_, n) => n + 1);
  assert.deepEqual(
    found.map(Number).toSorted((a, b) => a - b),
    all.filter((id) => !slow.includes(id)),
    filter.sort,
  );
  assert.equal(unchecked, slow.length, filter.sort);
}

test("In nearly every order, a search continues after rows that take too long, even if the last row takes too long.", async () => {
  const slow = [1, 20, 40];
  await fillSlowly(40, slow);
  await queue.sql(
    "update worker.all_jobs set run_at = now() - id % 7 * interval '1 s', priority = id % 3, attempts = id % 5",
  );
  try {
    for (const sort of [
      "id",
      "-id",
      "due",
      "-due",
      "priority",
      "-attempts",
      "-updated_at",
    ] as const) {
      await findsAllBut(slow, { sort });
    }
    await queue.sql("update worker.all_jobs set locked_at = now() - id % 7 * interval '1 s'");
    await findsAllBut(slow, { sort: "running" });
  } finally {
    await queue.sql(undo);
  }
});

test("A search among a few jobs, given by their ids, skips only the jobs that take too long.", async () => {
  await fillSlowly(40, [7, 30]);
  try {
    for (const sort of ["id", "-id", "-attempts"] as const) {
      const q = `id:${Array.from({ length: 40 }, (_, n) => n + 1).join()}`;
      await findsAllBut([7, 30], { sort, q });
    }
  } finally {
    await queue.sql(undo);
  }
});

test("If one of very many rows with the same time takes too long, a search continues after that row.", async () => {
  await fillSlowly(20_500, [20]);
  await queue.sql("update worker.all_jobs set run_at = now() - interval '1 s'");
  try {
    for (const sort of ["due", "-due"] as const) await findsAllBut([20], { sort, limit: 500 });
  } finally {
    await queue.sql(undo);
  }
});

test("A payload of nearly 8 MiB is compared with a query. A payload of 9 MB is not, even if it compresses well.", async () => {
  await queue.sql("insert into worker._private_tasks (identifier) values ('t')");
  // Compressed, the first payload (nearly 8 MiB) has 6 MB, and the second payload (9 MB) about 0.1 MB.
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
