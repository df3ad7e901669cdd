// Tests the admin's numbers while the database is too slow for large reads.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import type { Database } from "../../src/database/database.ts";
import { conditions } from "../../src/domain/condition.ts";
import type { Value } from "../../src/domain/value.ts";
import { readColumnGroups } from "../../src/insight/groups/column-groups.ts";
import { readErrorGroups } from "../../src/insight/groups/error-groups.ts";
import { readCommon } from "../../src/insight/groups/read-common.ts";
import { readHorizon } from "../../src/insight/horizon/horizon.ts";
import { compileQuery } from "../../src/insight/query/compile-query.ts";
import { createSampler } from "../../src/insight/snapshot/sampler.ts";
import { beginCount, countOn, isDone } from "../../src/insight/stats/count-exactly.ts";
import { countQuery } from "../../src/insight/stats/count-query.ts";
import { readGauge } from "../../src/insight/stats/gauge.ts";
import { testQueue } from "../queue/queue-database.ts";

const queue = testQueue();
const JOBS = 20_000;

beforeEach(() =>
  queue.sql(`
    insert into worker._private_tasks (identifier) values ('mail'), ('report');
    insert into worker._private_jobs (task_id, run_at, attempts, last_error, payload)
    select 1 + n % 2, now() + case when n % 2 = 0 then interval '1 hour' else interval '-1 hour' end,
      case when n % 5 = 0 then 25 else 0 end, case when n % 5 = 0 then 'Error: ' || n end,
      json_build_object('currency', case when n % 5 = 0 then 'EUR' else 'USD' end)
    from generate_series(1, ${JOBS}) n;
    analyze worker._private_jobs`),
);

interface Statement {
  readonly text: string;
  readonly values?: readonly unknown[];
}

/** Returns the database with a client on which statements time out if `isSlow` returns true. */
function slow(isSlow: (statement: Statement) => boolean): Database {
  const query = (statement: Statement) => {
    if (!isSlow(statement)) return queue.pool.query(statement as never);
    const error = new Error("canceling statement due to statement timeout");
    return Promise.reject(Object.assign(error, { code: "57014" }));
  };
  return { ...queue.db, client: { query } as unknown as Database["client"] };
}

/** Returns the number of sampled pages; null if the statement does not sample. */
function pagesOf({ text, values = [] }: Statement): number | null {
  if (!text.includes("as sampled (page")) return null;
  return (values.find((value) => Array.isArray(value) && typeof value[0] === "number") as unknown[])
    .length;
}

const readsWhole = ({ text }: Statement) =>
  /from "worker"\._private_jobs as jobs\s+where (?!jobs\.ctid|jobs\.is_available)/.test(text) &&
  !text.includes("as sampled (page");

const large = { smallPages: 0 };
const contains = ({ value, precision, low, high }: Value, count: number) =>
  precision === "exact"
    ? value === count
    : Number(low) <= count && count <= Number(high ?? Infinity);

// An estimate treats the table's last page, which is only partly filled, like the others. So the true number may be
// outside the estimate's narrow interval.
const isAbout = ({ value }: Value, count: number) => Math.abs(value / count - 1) < 0.1;

test("When a sample takes too long, a smaller sample is read, and the intervals of the estimates are wider.", async () => {
  // The interval of a sample does not always contain the true number. So several samples are read.
  const TRIES = 16;
  const sampled = async (most: number) => {
    const db = slow((statement) => Number(pagesOf(statement)) > most);
    const all: Value[] = [];
    for (let n = 0; n < TRIES; n++) {
      all.push((await createSampler(db, large).pulse()).counts.conditions.failed);
    }
    return all;
  };
  const [coarse, fine] = [await sampled(40), await sampled(10_000)];
  assert.ok([...coarse, ...fine].every(({ basis }) => basis === "sample"));
  const right = coarse.filter((one) => contains(one, JOBS / 5));
  assert.ok(right.length > TRIES / 2, JSON.stringify(coarse));
  const width = (values: readonly Value[]) =>
    values.reduce((sum, { low, high }) => sum + Number(high) - Number(low), 0);
  assert.ok(width(coarse) > width(fine), JSON.stringify([coarse, fine]));
});

test("When not even a few pages can be read, the planner's estimate is used.", async () => {
  const db = slow((statement) => pagesOf(statement) !== null);
  const { counts, names, isSmall } = await createSampler(db, large).pulse();
  assert.equal(isSmall, false);
  assert.equal(counts.total.basis, "catalog");
  assert.ok(contains(counts.total, JOBS), JSON.stringify(counts.total));
  for (const one of conditions) {
    const { precision, high } = counts.conditions[one];
    assert.deepEqual([precision, high], ["capped", null], one);
  }
  assert.equal(names.value(undefined, ["ready"]).precision, "capped");
  // The counts are also right if there are no statistics and no statement on indexes ends in time.
  await queue.sql("truncate worker._private_jobs");
  await queue.sql(
    `insert into worker._private_jobs (task_id) select 1 from generate_series(1, 9000)`,
  );
  const nothing = slow(({ text }) => /sampled \(page|recursive|pg_index/.test(text));
  const { total, states } = (await createSampler(nothing, large).pulse()).counts;
  assert.ok(contains(total, 9_000), JSON.stringify(total));
  assert.deepEqual([states.ready.value, states.ready.precision], [0, "capped"]);
});

test("If the statistics are older than the commit of a large insert, the interval of the total still contains the true number.", async () => {
  await queue.sql("truncate worker._private_jobs");
  const client = await queue.pool.connect();
  await client.query(`begin;
    insert into worker._private_jobs (task_id) select 1 from generate_series(1, 9000)`);
  await queue.sql("analyze worker._private_jobs");
  await client.query("commit");
  client.release();
  const db = slow((statement) => pagesOf(statement) !== null);
  const { total } = (await createSampler(db, large).pulse()).counts;
  assert.ok(contains(total, 9_000), JSON.stringify(total));
});

test("When a small table cannot be read whole in time, it is sampled.", async () => {
  const db = slow(readsWhole);
  const { counts, isSmall } = await createSampler(db).pulse();
  assert.equal(isSmall, false);
  assert.ok(contains(counts.conditions.failed, JOBS / 5));
  const gauge = await readGauge(db);
  const failed = await compileQuery(db, "is:failed");
  assert.ok(contains(await countQuery(db, failed, gauge), JOBS / 5));
  const { groups } = await readColumnGroups(db, "task", failed, gauge, 10);
  assert.deepEqual(groups.map(({ label }) => label).sort(), ["mail", "report"]);
  assert.equal((await readErrorGroups(db, failed, gauge, 10)).groups.length, 1);
  assert.equal((await readHorizon(db, 57, { taskId: null, queueId: null }, gauge)).basis, "sample");
  const { findings } = await readCommon(db, failed, gauge);
  assert.ok(findings.some(({ value }) => value === '"EUR"'));
});

test("Counts, groups, common values and the horizon are read from as many pages as time allows.", async () => {
  const db = slow((statement) => Number(pagesOf(statement)) > 40);
  const gauge = await readGauge(db);
  const failed = await compileQuery(db, "is:failed");
  for (const q of ["is:failed", "payload.currency:EUR"]) {
    const count = await countQuery(db, await compileQuery(db, q), gauge, large);
    assert.ok(
      count.basis === "sample" && isAbout(count, JOBS / 5),
      `${q}: ${JSON.stringify(count)}`,
    );
  }
  const [group] = (await readErrorGroups(db, failed, gauge, 10, 0)).groups;
  assert.ok(group !== undefined && isAbout(group.count, JOBS / 5), JSON.stringify(group));
  const tasks = await readColumnGroups(db, "task", failed, gauge, 10, 0);
  assert.ok(isAbout(tasks.of, JOBS / 5), JSON.stringify(tasks.of));
  assert.equal(
    (await readHorizon(db, 57, { taskId: null, queueId: null }, gauge, 0)).basis,
    "sample",
  );
  const { compared } = await readCommon(db, failed, gauge, 0);
  assert.ok(compared.here > 0 && compared.there > 0);
});

test("An exact count continues after a step that takes too long, and returns the number of jobs that it could not check.", async () => {
  // A statement that counts more than 300 ids is too slow, and so is each statement that counts job 1,234.
  const db = slow(({ text, values = [] }) => {
    const [from, to] = [Number(values[0]), Number(values[1])];
    return text.includes("count(*) as count") && (to - from > 300 || (from < 1_234 && to >= 1_234));
  });
  const jobQuery = await compileQuery(db, "is:failed");
  let progress = await beginCount(db);
  for (let answers = 0; !isDone(progress); answers++) {
    const { afterId } = progress;
    progress = await countOn(db, jobQuery, progress, true);
    assert.notEqual(progress.afterId, afterId, "each step of the count makes progress");
    assert.ok(answers < 1_000);
  }
  assert.deepEqual([progress.count, progress.undecided], [JOBS / 5, 1]);
});
