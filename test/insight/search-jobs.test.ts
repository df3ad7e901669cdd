// Tests the search for a text in jobs: where the text is found, special characters, pages, and the time for one page.
import assert from "node:assert/strict";
import { test } from "node:test";
import { permanentlyFailJobs } from "../../src/commands/jobs/permanently-fail-jobs.ts";
import { rawJson } from "../../src/domain/payload.ts";
import type { JobFilter } from "../../src/insight/pages/job-filter.ts";
import { listJobs } from "../../src/insight/pages/list-jobs.ts";
import { addJobs } from "../../src/queue/add/add-jobs.ts";
import { lockJob, testQueue } from "../queue/queue-database.ts";

const queue = testQueue();

async function search(text: string, filter: JobFilter = {}): Promise<string[]> {
  const { jobs } = await listJobs(queue.db, { ...filter, search: text });
  return jobs.map((job) => job.id);
}

test("A text is found in payload, error, key, task, queue and worker, in upper or lower case.", async () => {
  await addJobs(queue.db, [
    { identifier: "other", payload: { to: "Needle@example.org" } },
    { identifier: "other" },
    { identifier: "other", payload: "will get a key" },
    { identifier: "find_needle" },
    { identifier: "other", spec: { queueName: "NEEDLES" } },
    { identifier: "other" },
    { identifier: "other", payload: "nothing" },
  ]);
  await permanentlyFailJobs(queue.db, ["2"], "Error: no nEEdle here\n  at haystack");
  await queue.sql("update worker._private_jobs set key = 'a-needle-b' where id = 3");
  await lockJob(queue, "6", "worker-needle-9");
  assert.deepEqual(await search("needle"), ["1", "2", "3", "4", "5", "6"]);
  assert.deepEqual(await search("  NEEDLE "), ["1", "2", "3", "4", "5", "6"]);
  assert.deepEqual(await search("needle", { state: "failed" }), ["2"]);
  assert.deepEqual(await search("needle", { identifier: "find_needle" }), ["4"]);
  assert.deepEqual(await search("needle", { queue: "NEEDLES" }), ["5"]);
  assert.deepEqual(await search("haystack\u0001"), []);
});

test("Percent, underscore, backslash and quotes are literal.", async () => {
  const texts = ["100% sure", "100 sure", "a_b", "aXb", "c:\\\\dir", 'say \\"hi\\"', "it's"];
  await addJobs(
    queue.db,
    texts.map((text) => ({ identifier: "t", payload: rawJson(`"${text}"`) })),
  );
  assert.deepEqual(await search("0%"), ["1"]);
  assert.deepEqual(await search("%"), ["1"]);
  assert.deepEqual(await search("a_b"), ["3"]);
  assert.deepEqual(await search("_"), ["3"]);
  assert.deepEqual(await search("c:\\\\d"), ["5"]);
  assert.deepEqual(await search("\\"), ["5", "6"]);
  assert.deepEqual(await search('\\"hi'), ["6"]);
  assert.deepEqual(await search("'"), ["7"]);
  assert.deepEqual(await search("'; drop table worker._private_jobs; --"), []);
});

test("Letters beyond ASCII are found in either case.", async () => {
  await addJobs(
    queue.db,
    ["MÜNCHEN", "München", "Łódź 😀", "ΑΘΗΝΑ", "plain"].map((payload) => ({
      identifier: "t",
      payload,
    })),
  );
  assert.deepEqual(await search("münchen"), ["1", "2"]);
  assert.deepEqual(await search("MÜNCHEN"), ["1", "2"]);
  assert.deepEqual(await search("łódź"), ["3"]);
  assert.deepEqual(await search("😀"), ["3"]);
  assert.deepEqual(await search("αθηνα"), ["4"]);
});

test("A search for an integer also finds the job with this id, and the job with this key.", async () => {
  await addJobs(queue.db, [
    { identifier: "t", payload: { n: 2 } },
    { identifier: "t" },
    { identifier: "t" },
    { identifier: "t", payload: { n: 9_007_199_154_740_991 } },
  ]);
  await queue.sql("update worker._private_jobs set key = '2' where id = 3");
  assert.deepEqual(await search("2"), ["1", "2", "3"]);
  assert.deepEqual(await search("4"), ["4"]);
  assert.deepEqual(await search("9223372036854775808"), []);
  assert.deepEqual(await search("3"), ["3"]);
});

test("The pages of a search have every match once, with and without an offset.", async () => {
  await addJobs(
    queue.db,
    Array.from({ length: 5_000 }, (_, n) => ({
      identifier: "t",
      payload: n % 13 === 0 ? "hit" : "miss",
    })),
  );
  const expected = Array.from({ length: 5_000 }, (_, n) => n).filter((n) => n % 13 === 0);
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await listJobs(queue.db, { search: "hit", limit: 50, cursor });
    seen.push(...page.jobs.map((job) => job.id));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  assert.deepEqual(
    seen,
    expected.map((n) => `${n + 1}`),
  );
  assert.deepEqual(await search("hit", { offset: 300, limit: 3 }), seen.slice(300, 303));
  assert.deepEqual(await search("hit", { offset: 380 }), seen.slice(380));
  assert.deepEqual(await search("hit", { offset: 10_000 }), []);
});

test("Each page of a search through 40,000 jobs takes less than 3 s, and the first page of a search for an id has the job with this id.", async () => {
  await queue.sql("insert into worker._private_tasks (identifier) values ('t')");
  await queue.sql(`
    insert into worker._private_jobs (task_id, payload)
    select 1, json_build_object('text', repeat(md5(n::text), 120)) from generate_series(1, 40000) n`);
  const last = "40000";
  const texts = ["no such text", last];
  for (const text of texts) {
    const seen: string[] = [];
    const took: number[] = [];
    let cursor: string | undefined;
    do {
      const began = performance.now();
      const page = await listJobs(queue.db, { search: text, limit: 500, cursor });
      took.push(performance.now() - began);
      seen.push(...page.jobs.map((job) => job.id));
      if (text === last && took.length === 1) assert.ok(seen.includes(last));
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined && took.length < 500);
    assert.equal(new Set(seen).size, seen.length);
    assert.ok(Math.max(...took) < 3_000, `the times of the pages in ms: ${took}`);
    assert.ok(text === last || seen.length === 0);
    assert.ok(
      text === last || took.length < 20,
      `fewer than 20 pages are read; the times of the pages in ms: ${took}`,
    );
  }
});
