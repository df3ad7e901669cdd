// Payloads that are small in the table and large in memory.
import assert from "node:assert/strict";
import { test } from "node:test";
import { query } from "../../src/database/database.ts";
import { addJobs } from "../../src/queue/add/add-jobs.ts";
import { readCommon } from "../../src/queue/groups/read-common.ts";
import { compileQuery } from "../../src/queue/query/compile-query.ts";
import { loadPacked, type PackableRow, packable } from "../../src/queue/sql/unpacked.ts";
import { readGauge } from "../../src/queue/stats/gauge.ts";
import { testQueue } from "./queue-database.ts";

const queue = testQueue();
const LARGEST = 16_384;

/** Jobs of a payload with so many equal letters. */
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

test("A packed payload comes when it is small, and is left out when it is large.", async () => {
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

test("No more than about 16 MB are unpacked for one answer, however many rows there are.", async () => {
  await add(Array.from({ length: 40 }, () => 1_390_000));
  const rows = await read();
  const reached = await loadPacked(queue.db, rows, LARGEST);
  assert.ok(reached >= 11 && reached <= 16, `reached ${reached} of 40`);
});

test("What jobs have in common is found among those that are small, beside those that are not.", async () => {
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
