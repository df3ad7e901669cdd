// Compares the orders of the list of jobs with a plain "order by" over all jobs. Also tests the list's cursors.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { InputError } from "../../../src/base/errors.ts";
import type { JobFilter } from "../../../src/insight/pages/job-filter.ts";
import { listJobs } from "../../../src/insight/pages/list-jobs.ts";
import { type JobSort, jobSorts } from "../../../src/insight/walk/order.ts";
import { testQueue } from "../../queue/queue-database.ts";

const queue = testQueue();

// Adds jobs in every state, with many equal times and priorities, infinite times, and a wide gap between ids.
const seed = (rows: number) => `
  insert into worker._private_jobs (id, task_id, job_queue_id, priority, run_at, attempts,
    max_attempts, updated_at, locked_at, locked_by, payload)
  overriding system value
  select case when n % 3 = 0 then n else n + 10000000000 end, 1 + n % 2,
    case when n % 4 = 0 then 1 end, (n * 7) % 4,
    case when n % 29 = 0 then 'infinity'::timestamptz when n % 31 = 0 then '-infinity'
      else date_trunc('day', now()) + (n * 37 % 40 - 20) * interval '1 hour' end,
    case when n % 5 = 0 then 25 when n % 7 = 0 then 3 else 0 end, 25,
    date_trunc('day', now()) - (n * 13 % 50) * interval '1 minute',
    case when n % 11 = 0 then date_trunc('day', now()) - (n % 6) * interval '1 second' end,
    case when n % 11 = 0 then 'w' || n % 3 end,
    json_build_object('n', n, 'even', n % 2 = 0)
  from generate_series(1, ${rows}) n`;

beforeEach(async () => {
  await queue.sql("insert into worker._private_tasks (identifier) values ('a'), ('b')");
  await queue.sql("insert into worker._private_job_queues (queue_name) values ('q')");
});

const orders: Readonly<Record<JobSort, string>> = {
  id: "id",
  "-id": "id desc",
  due: "case when is_available then run_at end, id",
  "-due": "case when is_available then run_at end desc nulls last, id desc",
  priority: "case when is_available then priority end, case when is_available then run_at end, id",
  "-failed_at":
    "case when locked_at is null and attempts >= max_attempts then updated_at end desc nulls last, id desc",
  "-updated_at": "updated_at desc, id desc",
  "-attempts": "attempts desc, id desc",
  running: "locked_at nulls last, id",
};

async function naive(sort: JobSort, where = "true"): Promise<string[]> {
  const rows = await queue.sql<{ id: string }>(
    `select id from worker._private_jobs where ${where} order by ${orders[sort]}`,
  );
  return rows.map(({ id }) => id);
}

/**
 * Returns the ids of all pages in order. Leaves out pages with the ranking `partial`, because the next response
 * replaces such a page. `between` is called between two responses.
 */
async function joined(filter: JobFilter, between = async () => {}): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < 3_000; pages++) {
    const page = await listJobs(queue.db, { ...filter, cursor });
    if (page.report.ranking === "full") ids.push(...page.jobs.map(({ id }) => id));
    cursor = page.nextCursor ?? undefined;
    if (cursor === undefined) return ids;
    await between();
  }
  throw new Error("the pages never end");
}

const queries: readonly (readonly [filter: JobFilter, where: string])[] = [
  [{}, "true"],
  [{ state: "ready" }, "is_available and run_at <= now()"],
  [{ state: "scheduled" }, "is_available and run_at > now()"],
  [{ state: "failed" }, "locked_at is null and attempts >= max_attempts"],
  [{ state: "locked" }, "locked_at is not null"],
  [{ q: "task:b" }, "task_id = 2"],
  [{ q: "task:b is:failed", queue: "q" }, "false"],
  [{ q: "attempts>=3", identifier: "a" }, "attempts >= 3 and task_id = 1"],
  [{ q: "payload.even:true" }, "task_id = 1"],
  [{ search: '"n" : 12' }, "payload::text like '%\"n\" : 12%'"],
  [{ q: "id:3,10000000005,10000000010,6" }, "id in (3, 10000000005, 10000000010, 6)"],
];

for (const sort of jobSorts) {
  test(`With each filter, pages in the order ${sort} have the same jobs in the same order as a plain sort.`, async () => {
    await queue.sql(seed(200));
    for (const [filter, where] of queries) {
      const expected = await naive(sort, where);
      for (const limit of [17, 500]) {
        const ids = await joined({ ...filter, sort, limit });
        assert.deepEqual(ids, expected, `${JSON.stringify(filter)} in pages of ${limit}`);
      }
    }
  });
}

test("Pages are complete and in order even if tens of thousands of jobs have the same sort key.", async () => {
  await queue.sql(`
    insert into worker._private_jobs (task_id, priority, run_at)
    select 1, (n % 20 = 0)::int, case when n % 100 = 0 then 'epoch'::timestamptz + n * interval '1 s'
      else timestamptz '2020-01-01' end
    from generate_series(1, 43000) n`);
  for (const sort of ["due", "-due", "priority"] as const) {
    const ids = await joined({ sort, limit: 500 });
    const expected = await naive(sort);
    assert.deepEqual(ids, expected, sort);
    // A response that reaches its time limit has fewer jobs than `limit`, or no jobs. The response's cursor continues
    // the list.
    let page = await listJobs(queue.db, { sort, limit: 13, offset: 700 });
    while (page.jobs.length === 0 && page.nextCursor !== null) {
      page = await listJobs(queue.db, { sort, limit: 13, cursor: page.nextCursor });
    }
    const passedOver = page.jobs.map(({ id }) => id);
    assert.notEqual(passedOver.length, 0);
    assert.deepEqual(passedOver, expected.slice(700, 700 + passedOver.length), sort);
  }
});

test("Thousands of jobs with successive ids that are in one error group are ranked by their failure time.", async () => {
  await queue.sql(`insert into worker._private_jobs (task_id, attempts, max_attempts, last_error, updated_at)
    select 1, 25, 25, 'Error: no ' || n, now() - (n * 7919 % 4000) * interval '1 second'
    from generate_series(1, 4000) as n`);
  const found = new Set<string>();
  for (const q of ['is:failed group:"Error: no #"', "is:failed error:no"]) {
    const filter = { q, sort: "-failed_at" as const, limit: 20 };
    let page = await listJobs(queue.db, filter);
    // Each response continues the ranking of the previous response. For 4,000 rows, a few responses are enough.
    for (let n = 0; page.report.ranking === "partial"; n++) {
      assert.ok(n < 50 && page.nextCursor !== null, "the ranking is complete within 50 pages");
      page = await listJobs(queue.db, { ...filter, cursor: page.nextCursor });
    }
    found.add(JSON.stringify(page.jobs.map(({ id }) => id)));
  }
  const best = await queue.sql<{ id: string }>(
    "select id from worker._private_jobs order by updated_at desc, id desc limit 20",
  );
  assert.deepEqual([...found], [JSON.stringify(best.map(({ id }) => id))]);
});

test("Pages are complete and in order even if the jobs have hundreds of priorities.", async () => {
  await queue.sql(seed(300));
  await queue.sql("update worker._private_jobs set priority = id % 300");
  for (const sort of ["due", "-due", "priority"] as const) {
    assert.deepEqual(await joined({ sort, limit: 40 }), await naive(sort), sort);
  }
});

for (const sort of jobSorts) {
  test(`Pages in the order ${sort} have each unchanged job once, while other jobs change.`, async () => {
    await queue.sql(seed(200));
    // The jobs of the task b stay unchanged.
    const still = await naive(sort, "task_id = 2");
    let round = 0;
    const between = async () => {
      round += 1;
      await queue.sql(
        `delete from worker._private_jobs where task_id = 1 and id % 17 = ${round % 17}`,
      );
      await queue.sql(
        `update worker._private_jobs set attempts = (attempts + 7) % 26,
           run_at = now() + (${round} % 9 - 4) * interval '1 h', updated_at = now()
         where task_id = 1 and locked_at is null and id % 13 = ${round % 13}`,
      );
      await queue.sql(
        "insert into worker._private_jobs (id, task_id, priority) overriding system value values ($1, 1, 2)",
        [100_000 + round],
      );
    };
    const ids = await joined({ sort, limit: 15 }, between);
    const seen = ids.filter((id) => still.includes(id));
    assert.deepEqual(seen, still);
  });
}

test("Offsets skip jobs in every order that has an index, also with a filter.", async () => {
  await queue.sql(seed(500));
  for (const sort of ["id", "-id", "due", "-due", "priority"] as const) {
    for (const [filter, where] of queries.slice(0, 9)) {
      const expected = (await naive(sort, where)).slice(37, 50);
      const page = await listJobs(queue.db, { ...filter, sort, limit: 13, offset: 37 });
      assert.deepEqual(
        page.jobs.map(({ id }) => id),
        expected,
        `${sort} ${JSON.stringify(filter)}`,
      );
    }
  }
  const refused = listJobs(queue.db, { sort: "-updated_at", offset: 3 });
  await assert.rejects(refused, /^InputError: offset: cannot skip jobs/);
});

test("A cursor of another order or query is rejected, and a damaged cursor causes no error except an InputError.", async () => {
  await queue.sql(seed(200));
  const first = await listJobs(queue.db, { sort: "due", limit: 3 });
  const cursor = first.nextCursor ?? "";
  const another = (filter: JobFilter) =>
    assert.rejects(
      listJobs(queue.db, { sort: "due", cursor, ...filter }),
      /^InputError: cursor: belongs to a list with another (order|query): it continues only with the same q, state,/,
    );
  await another({ sort: "priority" });
  await another({ q: "task:b" });
  await another({ state: "ready" });
  await another({ identifier: "a" });
  await another({ queue: "q" });
  await another({ search: "x" });
  assert.equal(
    (await listJobs(queue.db, { sort: "due", cursor, limit: 5, q: " " })).jobs.length,
    5,
  );
  const made = await Promise.all(
    jobSorts.map(async (sort) => {
      const { nextCursor } = await listJobs(queue.db, { sort, limit: 3, q: "attempts>=0" });
      return [sort, nextCursor ?? ""] as const;
    }),
  );
  let state = 42;
  const random = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state % below;
  };
  for (let n = 0; n < 1_500; n++) {
    const [sort, good] = made[random(made.length)] ?? ["id", ""];
    let plain = Buffer.from(good, "base64url").toString();
    const changes = ["null", "[]", "-1", "1e99", '"x"', "{}", "99999999999999999999", "0", '"r"'];
    for (let change = 0; change <= random(2); change++) {
      const at = random(plain.length);
      plain = plain.slice(0, at) + changes[random(changes.length)] + plain.slice(at + random(5));
    }
    const text = random(4) === 0 ? good.slice(0, random(good.length)) : encoded(plain);
    try {
      const page = await listJobs(queue.db, { sort, cursor: text, limit: 5, q: "attempts>=0" });
      assert.ok(page.jobs.length <= 5);
    } catch (error) {
      assert.ok(error instanceof InputError, `${plain}: ${error}`);
    }
  }
});

const encoded = (text: string) => Buffer.from(text).toString("base64url");
