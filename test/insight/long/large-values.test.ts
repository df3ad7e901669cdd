// Tests reads of payloads and flags that are compressed in the table and many times as large after decompression.
import assert from "node:assert/strict";
import { test } from "node:test";
import { boundedQueryable } from "../../../src/database/connection/pool.ts";
import { type Database, query } from "../../../src/database/database.ts";
import {
  loadPacked,
  type PackableRow,
  packable,
} from "../../../src/insight/expressions/large-values.ts";
import { readColumnGroups } from "../../../src/insight/groups/column-groups.ts";
import { readErrorGroups } from "../../../src/insight/groups/error-groups.ts";
import { readCommon } from "../../../src/insight/groups/read-common.ts";
import { listJobs } from "../../../src/insight/pages/list-jobs.ts";
import { findPage } from "../../../src/insight/pages/walk-jobs.ts";
import { compileQuery } from "../../../src/insight/query/compile-query.ts";
import { countQuery } from "../../../src/insight/stats/count-query.ts";
import { readGauge } from "../../../src/insight/stats/gauge.ts";
import { addJobs } from "../../../src/queue/add/add-jobs.ts";
import { testQueue } from "../../queue/queue-database.ts";

const queue = testQueue();
const LARGEST = 16_384;

/** Adds a job for each of `lengths`, with a repetitive text of this length in its payload. */
const add = (lengths: readonly number[]) =>
  addJobs(
    queue.db,
    lengths.map((length) => ({ identifier: "t", payload: { a: "a".repeat(length) } })),
  );

const read = () =>
  query<PackableRow>(
    queue.db,
    (s) => `select jobs.id, ${packable("$1")} from ${s}._private_jobs as jobs order by jobs.id`,
    [LARGEST],
  );

test("A compressed payload is loaded if it is small after decompression, and left out if it is large.", async () => {
  await add([10, 10_000, 20_000, 1_000_000, 15_000]);
  const rows = await read();
  assert.deepEqual(
    rows.map(({ payload, packed_bytes: packed }) => [payload === null, packed !== null]),
    [[false, false], ...Array.from({ length: 4 }, () => [true, true])],
  );
  assert.equal(await loadPacked(queue.db, rows, LARGEST), 5);
  assert.deepEqual(
    rows.map(({ payload }) => payload?.length ?? null),
    [18, 10_008, null, null, 15_008],
  );
});

test("At most about 16 MB are decompressed for one result, however many rows there are.", async () => {
  await add(Array.from({ length: 40 }, () => 1_390_000));
  const rows = await read();
  const reached = await loadPacked(queue.db, rows, LARGEST);
  assert.ok(reached >= 11 && reached <= 16, `${reached} of 40 rows were read within the bound`);
});

test("Common values are found in small payloads, even if other payloads are too large to be read.", async () => {
  const large = Array.from({ length: 40 }, () => ({
    identifier: "t",
    payload: { a: "a".repeat(1_390_000) },
  }));
  const small = Array.from({ length: 40 }, (_, n) => ({
    identifier: "t",
    payload: { region: n < 20 ? "eu" : "us" },
  }));
  await addJobs(queue.db, [...large, ...small]);
  await queue.sql(
    "update worker._private_jobs set attempts = max_attempts where payload::text like '%eu%'",
  );
  const failed = await compileQuery(queue.db, "is:failed");
  const { findings } = await readCommon(queue.db, failed, await readGauge(queue.db));
  assert.match(JSON.stringify(findings[0]), /region/);
});

/** Returns the queue's database with a time limit for each statement, as in the admin. */
const bounded = (statementTimeoutMs: number): Database => ({
  client: boundedQueryable(queue.pool, {
    statementTimeoutMs,
    lockTimeoutMs: 1_000,
    connectionWaitMs: 10_000,
    readOnly: true,
  }),
  schema: queue.db.schema,
});

/**
 * Adds 60 failed jobs with large payloads, and 3 with small payloads. Within the time limit of bounded(150), one
 * statement cannot decompress all large payloads.
 */
async function addMuch() {
  await add([...Array.from({ length: 60 }, () => 1_390_000), 10, 10, 10]);
  await queue.sql(
    "update worker._private_jobs set attempts = max_attempts, last_error = 'Error: no'",
  );
  await queue.sql("vacuum analyze worker._private_jobs");
}

test("If decompression takes too long, the intervals of counts and groups include the jobs whose payloads were not read.", async () => {
  await addMuch();
  const db = bounded(150);
  const gauge = await readGauge(queue.db);
  for (const [q, certain] of [
    ["payload.a:aaaaaaaaaa", 3],
    ["aaaaaaaaaa", 3],
    ["payload:bbb", 0],
    ["payload.a:bbb or attempts<1", 0],
    ["-aaaaaaaaaaa is:failed", 3],
  ] as const) {
    const jobs = await compileQuery(queue.db, q);
    const { value, low, high, precision } = await countQuery(db, jobs, gauge);
    assert.deepEqual(
      { q, value, low, high, precision },
      {
        q,
        value: certain,
        low: certain,
        high: certain + 60,
        precision: "estimated",
      },
    );
    for (const read of [
      readErrorGroups(db, jobs, gauge, 9),
      readColumnGroups(db, "task", jobs, gauge, 9),
    ]) {
      const { of, groups } = await read;
      assert.deepEqual([q, of.low, of.high], [q, certain, certain + 60]);
      for (const { count } of groups) assert.equal(count.precision, "estimated");
    }
    const { compared } = await readCommon(db, jobs, gauge);
    assert.equal(compared.here, certain);
  }
});

test("A list that is filtered by payloads continues where the time limit ended the previous page, and misses no job.", async () => {
  await add([10, ...Array.from({ length: 24 }, () => 1_390_000), 10]);
  for (const sort of ["id", "-id", "due", "-attempts"] as const) {
    const found: string[] = [];
    let answers = 0;
    for (let cursor: string | null = ""; cursor !== null; answers++) {
      const filter = { q: "payload.b:none", sort, limit: 500 };
      const page = await findPage(
        bounded(500),
        cursor === "" ? filter : { ...filter, cursor },
        100,
      );
      found.push(...page.ids);
      cursor = page.cursorAfter(page.ids.length);
    }
    assert.equal(new Set(found).size, 26, sort);
    assert.ok(answers > 1, sort);
  }
});

test("Flags with megabytes after decompression are left out of a page, so that the page is read within the time limit.", async () => {
  await add(Array.from({ length: 40 }, () => 10));
  await queue.sql(
    "update worker._private_jobs set flags = jsonb_build_object(repeat('a', 1200000), true) where id > 1",
  );
  await queue.sql(
    "update worker._private_jobs set flags = jsonb_build_object('b', true) where id = 1",
  );
  const { jobs } = await listJobs(bounded(150), { limit: 40 });
  assert.deepEqual(
    jobs.map(({ flagsText }) => flagsText),
    ['{"b": true}', ...Array.from({ length: 39 }, () => null)],
  );
});
