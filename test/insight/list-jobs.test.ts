// Tests lists of jobs: states, filters, the pages of a list and their limits, and the values of the listed jobs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { InputError } from "../../src/base/errors.ts";
import { completeJobs } from "../../src/commands/jobs/complete-jobs.ts";
import { permanentlyFailJobs } from "../../src/commands/jobs/permanently-fail-jobs.ts";
import type { Job } from "../../src/domain/job.ts";
import type { JobFilter } from "../../src/insight/pages/job-filter.ts";
import { listJobs, listLightJobs } from "../../src/insight/pages/list-jobs.ts";
import { countJobs } from "../../src/insight/read/count-jobs.ts";
import { sampleJobs } from "../../src/insight/stats/sample-jobs.ts";
import { tallyAll } from "../../src/insight/stats/tally-pages.ts";
import { addJob } from "../../src/queue/add/add-job.ts";
import { addJobs } from "../../src/queue/add/add-jobs.ts";
import { lockJob, NO_LOCKS, testQueue } from "../queue/queue-database.ts";

const queue = testQueue();
const idsOf = (jobs: readonly Job[]) => jobs.map((job) => job.id);

async function listsNothing(filter: JobFilter): Promise<void> {
  const { jobs, nextCursor } = await listJobs(queue.db, filter);
  assert.deepEqual([jobs, nextCursor], [[], null]);
}

async function allPages(filter: JobFilter): Promise<string[][]> {
  const pages: string[][] = [];
  let cursor: string | undefined;
  do {
    const page = await listJobs(queue.db, { ...filter, cursor });
    pages.push(idsOf(page.jobs));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined && pages.length < 1_000);
  return pages;
}

test("The list of an empty queue has no jobs, and all counts are 0.", async () => {
  await listsNothing({});
  assert.deepEqual(await countJobs(queue.db), {
    total: 0,
    ready: 0,
    scheduled: 0,
    locked: 0,
    failed: 0,
  });
});

test("Each job is in exactly one state, and the counts agree with the lists.", async () => {
  const future = "2999-01-01T00:00:00Z";
  const [ready, scheduled, failed, late, running, exhausted] = await addJobs(queue.db, [
    { identifier: "ready" },
    { identifier: "scheduled", spec: { runAt: future } },
    { identifier: "failed" },
    { identifier: "failed and scheduled", spec: { runAt: future } },
    { identifier: "locked and scheduled", spec: { runAt: future } },
    { identifier: "locked and exhausted", spec: { maxAttempts: 1 } },
  ]);
  await permanentlyFailJobs(queue.db, idsOf([failed, late].flatMap((job) => job ?? [])), "x");
  await lockJob(queue, running?.id ?? "");
  await lockJob(queue, exhausted?.id ?? "");
  const expected = {
    ready: [ready?.id],
    scheduled: [scheduled?.id],
    locked: [running?.id, exhausted?.id],
    failed: [failed?.id, late?.id],
  };
  for (const state of ["ready", "scheduled", "locked", "failed"] as const) {
    const { jobs } = await listJobs(queue.db, { state });
    assert.deepEqual(idsOf(jobs), expected[state], state);
    assert.ok(jobs.every((job) => job.state === state));
  }
  assert.equal((await listJobs(queue.db, { state: "all" })).jobs.length, 6);
  assert.deepEqual(await countJobs(queue.db), {
    total: 6,
    ready: 1,
    scheduled: 1,
    locked: 2,
    failed: 2,
  });
});

test("A job with more attempts than its maximum is failed, and a job is ready at the moment it is due.", async () => {
  const { id } = await addJob(queue.db, { identifier: "t", spec: { maxAttempts: 2 } });
  await queue.sql("update worker._private_jobs set attempts = 7");
  assert.deepEqual(idsOf((await listJobs(queue.db, { state: "failed" })).jobs), [id]);
  const client = await queue.pool.connect();
  await client.query("begin"); // in a transaction, now() is constant
  await client.query("update worker._private_jobs set attempts = 0, run_at = now()");
  const { jobs } = await listJobs({ ...queue.db, client }, { state: "ready" });
  assert.deepEqual(idsOf(jobs), [id]);
  await client.query("rollback");
  client.release();
});

test("Filters by task and queue are exact and can be combined; an unknown name matches nothing.", async () => {
  await addJobs(queue.db, [
    { identifier: "a", spec: { queueName: "x" } },
    { identifier: "a", spec: { queueName: "y" } },
    { identifier: "a" },
    { identifier: "b", spec: { queueName: "x" } },
    { identifier: "a%", spec: { queueName: "X" } },
  ]);
  const ids = async (filter: JobFilter) => idsOf((await listJobs(queue.db, filter)).jobs);
  assert.deepEqual(await ids({ identifier: "a" }), ["1", "2", "3"]);
  assert.deepEqual(await ids({ queue: "x" }), ["1", "4"]);
  assert.deepEqual(await ids({ identifier: "a", queue: "x" }), ["1"]);
  assert.deepEqual(await ids({ identifier: "a%" }), ["5"]);
  assert.deepEqual(await ids({ identifier: "A" }), []);
  assert.deepEqual(await ids({ identifier: "a", queue: "nowhere" }), []);
  assert.deepEqual(await ids({ identifier: "", queue: "", search: " ", cursor: "" }), [
    "1",
    "2",
    "3",
    "4",
    "5",
  ]);
});

test("A filter by the name of an unknown task lists nothing, without reading jobs.", async () => {
  await addJob(queue.db, { identifier: "t" });
  const texts: string[] = [];
  const client = {
    query: (config: { text: string; values: unknown[] }) => {
      texts.push(config.text);
      return queue.pool.query(config as never) as never;
    },
  };
  const page = await listJobs({ ...queue.db, client }, { identifier: "nothing", search: "x" });
  assert.deepEqual([page.jobs, page.nextCursor], [[], null]);
  assert.equal(texts.length, 1);
  assert.ok(!texts[0]?.includes("_private_jobs"));
});

test("At every page size, each job is on exactly one page.", async () => {
  await addJobs(
    queue.db,
    Array.from({ length: 230 }, (_, n) => ({ identifier: `t${n % 3}` })),
  );
  const all = Array.from({ length: 230 }, (_, n) => `${n + 1}`);
  for (const limit of [1, 7, 100, 115, 230, 500]) {
    const pages = await allPages({ limit });
    assert.deepEqual(pages.flat(), all);
    assert.equal(pages.length, Math.ceil(230 / limit));
  }
  const some = await allPages({ limit: 20, identifier: "t1" });
  assert.deepEqual(
    some.flat(),
    all.filter((_, n) => n % 3 === 1),
  );
});

test("The pages of a list omit no job and repeat no job while jobs are added and completed.", async () => {
  await addJobs(
    queue.db,
    Array.from({ length: 300 }, () => ({ identifier: "t" })),
  );
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await listJobs(queue.db, { limit: 30, cursor });
    seen.push(...idsOf(page.jobs));
    // The last of these ids belongs to a job that no page has shown yet. On the last pages, no job has this id.
    await completeJobs(queue.db, [...idsOf(page.jobs.slice(0, 5)), `${seen.length + 40}`]);
    if (seen.length < 300) await addJobs(queue.db, Array(10).fill({ identifier: "t" }));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  assert.equal(new Set(seen).size, seen.length);
  assert.deepEqual(
    seen,
    [...seen].sort((a, b) => Number(a) - Number(b)),
  );
  const left = await queue.sql<{ id: string }>(
    "select id from worker._private_jobs where id <= 300",
  );
  assert.ok(left.every(({ id }) => seen.includes(id)));
});

test("A page has 100 jobs by default and at most 500; an offset beyond the end lists nothing.", async () => {
  await addJobs(
    queue.db,
    Array.from({ length: 600 }, () => ({ identifier: "t" })),
  );
  await listsNothing({ limit: 0 });
  assert.equal((await listJobs(queue.db)).jobs.length, 100);
  assert.equal((await listJobs(queue.db, { limit: 501 })).jobs.length, 500);
  assert.equal((await listJobs(queue.db, { limit: 10_000 })).jobs.length, 500);
  const shifted = await listJobs(queue.db, { limit: 2, offset: 300 });
  assert.deepEqual(idsOf(shifted.jobs), ["301", "302"]);
  const next = await listJobs(queue.db, { limit: 2, cursor: shifted.nextCursor ?? "" });
  assert.deepEqual(idsOf(next.jobs), ["303", "304"]);
  await listsNothing({ offset: Number.MAX_SAFE_INTEGER });
});

test("A list that is sorted without an index and filtered by payload has a finite number of pages, with all matching jobs in order.", async () => {
  await addJobs(
    queue.db,
    Array.from({ length: 650 }, (_, n) => ({
      identifier: "t",
      payload: { plan: n % 3 === 0 ? "pro" : "free" },
      spec: { jobKey: `user-${n}` },
    })),
  );
  await queue.sql(
    "update worker._private_jobs set attempts = id * 7 % 25, updated_at = now() - id * 7919 % 650 * interval '1 s'",
  );
  const alternatives = Array.from(
    { length: 6 },
    (_, n) => `id:${Array.from({ length: 100 }, (_, id) => n * 100 + id + 1).join()}`,
  );
  for (const [sort, order] of [
    ["-attempts", "attempts desc, id desc"],
    ["-updated_at", "updated_at desc, id desc"],
  ] as const) {
    for (const [which, where] of [
      ["key:user-*", "true"],
      [`(${alternatives.join(" or ")})`, "id <= 600"],
    ] as const) {
      const best = await queue.sql<{ id: string }>(
        `select id from worker._private_jobs
        where payload->>'plan' = 'pro' and ${where} order by ${order}`,
      );
      const found: string[] = [];
      let cursor: string | undefined;
      for (let answers = 0; answers < 60; answers++) {
        const q = `${which} payload.plan:pro`;
        const page = await listJobs(queue.db, { q, sort, limit: 40, cursor });
        if (page.report.ranking === "full") found.push(...idsOf(page.jobs));
        cursor = page.nextCursor ?? undefined;
        if (cursor === undefined) break;
      }
      assert.equal(cursor, undefined, `${sort} ${which}: the pages never end`);
      assert.deepEqual(
        found,
        best.map(({ id }) => id),
        `${sort} ${which}`,
      );
    }
  }
});

test("An invalid filter is rejected.", async () => {
  const { nextCursor } = await (async () => {
    await addJobs(queue.db, [{ identifier: "t" }, { identifier: "t" }]);
    return listJobs(queue.db, { limit: 1 });
  })();
  const wrong: [unknown, RegExp][] = [
    [{ state: "done" }, /^state: must be one of all, locked, failed, scheduled, ready/],
    [{ limit: -1 }, /^limit/],
    [{ limit: 1.5 }, /^limit/],
    [{ limit: Number.NaN }, /^limit/],
    [{ offset: -1 }, /^offset/],
    [{ offset: 2 ** 60 }, /^offset/],
    [{ identifier: "a\0b" }, /^identifier: must not contain a NUL/],
    [{ queue: "q".repeat(129) }, /^queue/],
    [{ search: "a\0b" }, /^search: must not contain a NUL/],
    [{ search: "x".repeat(257) }, /^search/],
    [{ cursor: "1" }, /^cursor: is not a cursor/],
    [{ cursor: `${nextCursor}x` }, /^cursor/],
    [{ cursor: Buffer.from("after:9223372036854775808").toString("base64url") }, /^cursor/],
    [{ cursor: Buffer.from("after:-1").toString("base64url") }, /^cursor/],
    [{ cursor: "x".repeat(100_000) }, /^cursor/],
    [{ serach: "x" }, /^serach: unknown field, did you mean "search"/],
  ];
  for (const [filter, message] of wrong) {
    await assert.rejects(
      async () => listJobs(queue.db, filter as JobFilter),
      (error) => error instanceof InputError && message.test(error.message),
      JSON.stringify(filter)?.slice(0, 100),
    );
  }
});

test("Infinity, and times outside the years 1 to 9999, are listed as the nearest time in these years.", async () => {
  await addJobs(
    queue.db,
    [1, 2, 3, 4].map((payload) => ({ identifier: "t", payload })),
  );
  await queue.sql(`
    update worker._private_jobs set run_at = (array[
      'infinity', '-infinity', '4000-01-01 BC', '200000-01-01'
    ]::timestamptz[])[id]`);
  const { jobs } = await listJobs(queue.db);
  assert.deepEqual(
    jobs.map((job) => job.runAt.toISOString()),
    [
      "9999-12-31T23:59:59.999Z",
      "0001-01-01T00:00:00.000Z",
      "0001-01-01T00:00:00.000Z",
      "9999-12-31T23:59:59.999Z",
    ],
  );
  assert.deepEqual(
    jobs.map((job) => job.state),
    ["scheduled", "ready", "ready", "scheduled"],
  );
});

test("Ids beyond 2^53 are exact on every page.", async () => {
  await queue.sql("alter table worker._private_jobs alter column id restart 9007199254740992");
  const added = await addJobs(
    queue.db,
    Array.from({ length: 5 }, () => ({ identifier: "t" })),
  );
  const pages = await allPages({ limit: 2 });
  assert.deepEqual(pages.flat(), idsOf(added));
  assert.equal(pages[0]?.[1], "9007199254740993");
  const completed = await completeJobs(queue.db, ["9007199254740993"]);
  assert.deepEqual(idsOf(completed.jobs), ["9007199254740993"]);
});

test("A job whose task and queue were deleted is still listed.", async () => {
  await addJob(queue.db, { identifier: "t", spec: { queueName: "q" } });
  await queue.sql("delete from worker._private_tasks");
  await queue.sql("delete from worker._private_job_queues");
  const [job] = (await listJobs(queue.db)).jobs;
  assert.deepEqual([job?.taskIdentifier, job?.queueName], [null, null]);
  assert.equal(typeof job?.queueId, "number");
});

test("A page of very large jobs ends early, and its cursor leads to the next page.", async () => {
  const text = "x".repeat(1024 * 1024);
  const { db } = queue;
  for (let n = 0; n < 12; n++) await addJob(db, { identifier: "large", payload: { n, text } });
  const first = await listJobs(db, { limit: 100 });
  assert.equal(first.jobs.length, 7, "the page ends before the job that would take it past 8 MB");
  const second = await listJobs(db, { limit: 100, cursor: first.nextCursor ?? "" });
  assert.equal(second.nextCursor, null);
  const seen = [...first.jobs, ...second.jobs].map(({ payload }) => (payload as { n: number }).n);
  assert.deepEqual(seen, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
});

test("A page has room for 500 small jobs, but not for 500 jobs with large flags.", async () => {
  const add = (flags: string) =>
    queue.sql(`insert into worker._private_jobs (task_id, payload, flags)
      select id, pg_catalog.json_build_object('text', repeat('x', 100)), ${flags}
      from worker._private_tasks, generate_series(1, 500) where identifier = 'small'`);
  await queue.sql("insert into worker._private_tasks (identifier) values ('small')");
  await add("null");
  assert.equal((await listJobs(queue.db, { limit: 500 })).jobs.length, 500);
  await queue.sql("delete from worker._private_jobs");
  const key = "(select string_agg(md5(n::text || m), '') from generate_series(1, 30) m)";
  await add(`(select jsonb_object_agg(${key}, true) from generate_series(1, 40) n)`);
  const { jobs } = await listJobs(queue.db, { limit: 500 });
  assert.ok(
    jobs.length > 150 && jobs.length < 220,
    `the page has ${jobs.length} jobs of about 40 KB`,
  );
});

test("The time of a failure is known even if the failure did not change updated_at, as when the job failed on a Graphile worker.", async () => {
  await queue.sql("insert into worker._private_tasks (identifier) values ('stock')");
  await queue.sql(`
    insert into worker._private_jobs (task_id, attempts, max_attempts, created_at, updated_at, run_at)
    select 1, attempts, 3, now() - interval '1 d', now() - interval '1 d',
      date_trunc('second', now()) - interval '1 m' + exp(attempts) * interval '1 s'
    from unnest('{2,3}'::int[]) as made (attempts)`);
  const rows = await queue.sql<{ ms: number }>(
    `select floor(extract(epoch from run_at - exp(attempts) * interval '1 s') * 1000)::float8 as ms
     from worker._private_jobs order by id`,
  );
  const { jobs } = await listLightJobs(queue.db);
  assert.deepEqual(
    jobs.map(({ condition }) => condition),
    ["retrying", "failed"],
  );
  const since = jobs.map(({ conditionSince }) => Date.parse(conditionSince));
  assert.deepEqual(
    since,
    rows.map(({ ms }) => ms),
  );
  assert.equal((await sampleJobs(queue.db, [0], NO_LOCKS)).lastFailureMs, since[1]);
  const failed = (await tallyAll(queue.db, NO_LOCKS)).find(({ tallied }) => tallied === "failed");
  assert.deepEqual(JSON.parse(failed?.times ?? "[]").map(Math.floor), [since[1]]);
});

test("A job whose payload may be too large for a page is marked, even if the payload is compressed.", async () => {
  await queue.sql(`insert into worker._private_tasks (identifier) values ('mail');
    insert into worker._private_jobs (task_id, payload)
    select 1, pg_catalog.to_json(pg_catalog.repeat('x', n)) from pg_catalog.unnest(array[10, 100000, 9000000]) as n`);
  const { truncated } = await listJobs(queue.db, {});
  assert.deepEqual(
    truncated.map(({ id }) => id),
    ["3"],
  );
  const { jobs } = await listLightJobs(queue.db, {});
  assert.deepEqual(
    jobs.map(({ id, isPayloadTruncated }) => [id, isPayloadTruncated]),
    [
      ["1", false],
      ["2", false],
      ["3", true],
    ],
  );
});
