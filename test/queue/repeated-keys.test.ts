// Tests addJobs() with a batch in which a key occurs more than once. The result must be the same as if the jobs of the
// batch were added one after another. Usually, the whole batch is added by a few statements.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Job } from "../../src/domain/job.ts";
import { type JobToAdd, jobKeyModes } from "../../src/domain/job-spec.ts";
import { rawJson } from "../../src/domain/payload.ts";
import { addJob } from "../../src/queue/add/add-job.ts";
import { addJobs } from "../../src/queue/add/add-jobs.ts";
import { type Random, random } from "../support/random-calls.ts";
import { testQueue } from "./queue-database.ts";

const queue = testQueue();

const PAYLOADS = [
  ...[[], [1], [{ b: 1, a: "\u0001é😀" }, null], {}, "text", 5, undefined],
  ...["[1,  2.50, 1e2]", ' [{"b":1,"aa":2,"a":3,"a":4}]', "[ ]", '{"b" : 1, "a" : 2}'].map(rawJson),
];
/** The states that the job with a key can have before the batch is added. `absent`: no job has the key. */
const STATES = ["absent", "new", "retried", "failed", "locked"] as const;
const CHANGES: Record<string, string> = {
  retried: "attempts = 2, last_error = 'no', run_at = '2031-01-01Z'",
  failed: "attempts = max_attempts, last_error = 'no'",
  locked: "attempts = 1, locked_at = '2026-01-01Z', locked_by = 'w'",
};
const KEYS = STATES.flatMap((state) =>
  PAYLOADS.map((_, n) => ({ state, n, name: `${state}${n}` })),
);

function randomJobs(dice: Random): JobToAdd[] {
  const of = <T>(list: readonly T[]): T => list[dice(list.length)] as T;
  const maybe = <T>(value: T): T | undefined => (dice(2) === 0 ? value : undefined);
  return Array.from({ length: 400 }, () => ({
    identifier: of(["a", "b", `new ${dice(50)}`]),
    payload: of(PAYLOADS),
    spec: {
      jobKey: of(KEYS).name,
      jobKeyMode: of(jobKeyModes),
      runAt: `20${10 + dice(30)}-01-01T00:00:00.${100_000 + dice(900_000)}Z`,
      queueName: maybe(of(["q", "r", `new ${dice(50)}`])),
      priority: maybe(dice(9) - 4),
      maxAttempts: maybe(1 + dice(30)),
      flags: maybe(of([[], ["zz", "a", 'quo"te'], ["a"]])),
    },
  }));
}

const prefixed = (job: JobToAdd, prefix: string): JobToAdd => ({
  ...job,
  spec: { ...job.spec, jobKey: `${prefix}${job.spec?.jobKey}` },
});

async function prepare(prefix: string): Promise<void> {
  for (const { state, n, name } of KEYS) {
    if (state === "absent") continue;
    const runAt = "2030-01-01T00:00:00Z";
    const spec = { jobKey: `${prefix}${name}`, runAt };
    await addJob(queue.db, { identifier: "a", payload: PAYLOADS[n], spec });
    const change = CHANGES[state];
    if (change === undefined) continue;
    await queue.sql(`update worker._private_jobs set ${change} where key = $1`, [spec.jobKey]);
  }
}

/**
 * Returns the jobs without their times of creation and change, without the prefix of their keys, and without the parsed
 * payload: the text of the payload is compared instead. Each id is replaced by its place in the order in which the ids
 * first occur.
 */
function comparable(jobs: readonly Job[]): object[] {
  const ids = [...new Set(jobs.map(({ id }) => id))];
  return jobs.map(({ id, key, createdAt: _, updatedAt: __, payload: ___, ...job }) => ({
    ...job,
    id: ids.indexOf(id),
    key: key?.slice(2),
  }));
}

const left = (prefix: string) =>
  queue.sql(
    `select pg_catalog.substring(key, 3) as key, task_id, job_queue_id, payload::text, priority, run_at::text,
      attempts, max_attempts, last_error, locked_by, revision, flags::text, is_available
    from worker._private_jobs where key like $1 order by key`,
    [`${prefix}%`],
  );

for (const way of ["on a pool", "in a transaction of the caller's"]) {
  test(`A batch with repeated keys, ${way}, has the same result as the jobs added in turn.`, async () => {
    const jobs = randomJobs(random(way.length));
    await prepare("a:");
    await prepare("b:");
    const client = await queue.pool.connect();
    const inside = { ...queue.db, client };
    try {
      if (way !== "on a pool") await client.query("begin");
      const batch = await addJobs(
        way === "on a pool" ? queue.db : inside,
        jobs.map((job) => prefixed(job, "a:")),
      );
      if (way !== "on a pool") await client.query("commit");
      const inTurn: Job[] = [];
      for (const job of jobs) inTurn.push(await addJob(queue.db, prefixed(job, "b:")));
      assert.deepEqual(comparable(batch), comparable(inTurn));
      assert.deepEqual(await left("a:"), await left("b:"));
    } finally {
      client.release();
    }
  });
}

test("A batch whose jobs all have the same key is added by a few statements, even if it has 2,000 jobs.", async () => {
  let statements = 0;
  const client = await queue.pool.connect();
  const counting = {
    query: (config: never) => {
      statements++;
      return client.query(config);
    },
  };
  await client.query("begin");
  const jobs = Array.from({ length: 2_000 }, (_, n) => ({
    identifier: "t",
    payload: [n],
    spec: { jobKey: "k" },
  }));
  const added = await addJobs({ ...queue.db, client: counting as never }, jobs);
  await client.query("commit");
  client.release();
  assert.deepEqual(
    added[1_999]?.payload,
    jobs.map((_, n) => n),
  );
  assert.equal(added[1_999]?.revision, 1_999);
  assert.ok(statements < 10, `addJobs() sent ${statements} statements`);
});

test("On a client in no transaction, or if the table of jobs has a trigger, jobs with repeated keys are added in turn.", async () => {
  const jobs = [1, 2, 3].map((n) => ({ identifier: "t", payload: [n], spec: { jobKey: "k" } }));
  const client = await queue.pool.connect();
  try {
    const added = await addJobs({ ...queue.db, client }, jobs);
    assert.deepEqual(added.at(-1)?.payload, [1, 2, 3]);
    assert.notEqual(added[0]?.updatedAtText, added[2]?.updatedAtText);
  } finally {
    client.release();
  }
  await queue.sql(`create table public.seen (payload text);
    create function public.see() returns trigger language plpgsql as
      'begin insert into public.seen values (new.payload::text); return null; end';
    create trigger see after insert or update on worker._private_jobs
      for each row execute function public.see()`);
  try {
    await addJobs(queue.db, jobs);
    const seen = await queue.sql<{ payload: string }>("select payload from public.seen");
    assert.deepEqual(
      seen.map(({ payload }) => payload),
      ["[1, 2, 3, 1]", "[1, 2, 3, 1, 2]", "[1, 2, 3, 1, 2, 3]"],
    );
  } finally {
    await queue.sql("drop function public.see cascade; drop table public.seen");
  }
});
