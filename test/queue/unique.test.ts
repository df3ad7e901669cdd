// Tests unique jobs, whose keys are made from their values, and debounced jobs, which wait for further adds.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { JobSpec, JobToAdd } from "../../src/domain/job-spec.ts";
import { rawJson } from "../../src/domain/payload.ts";
import type { Unique, UniqueWhile } from "../../src/domain/unique.ts";
import { addJob } from "../../src/queue/add/add-job.ts";
import { addJobs } from "../../src/queue/add/add-jobs.ts";
import { coalescedAdd } from "../../src/queue/add/coalesced-add.ts";
import { copyJobs } from "../../src/queue/add/copy-jobs.ts";
import { lockJob, testQueue } from "./queue-database.ts";

const queue = testQueue();

const byArgs = (lasts: UniqueWhile, more: Partial<Unique> = {}): JobSpec => ({
  unique: { by: ["args"], while: lasts, ...more },
});
const job = (payload: unknown, spec: JobSpec, identifier = "t"): JobToAdd => ({
  identifier,
  payload,
  spec,
});

const rows = () =>
  queue.sql<{ id: string; key: string | null; revision: number; attempts: number }>(
    "select id::text, key, revision, attempts from worker._private_jobs order by id",
  );
const fail = () => queue.sql("update worker._private_jobs set attempts = max_attempts");

const forms = [
  ["addJob", async (one: JobToAdd) => addJob(queue.db, one)],
  ["addJobs", async (one: JobToAdd) => (await addJobs(queue.db, [one]))[0] as never],
  [
    "addJobs in one call with a keyed job",
    async (one: JobToAdd) =>
      (await addJobs(queue.db, [one, job({}, { jobKey: "other" })]))[0] as never,
  ],
] as const satisfies readonly (readonly [string, (one: JobToAdd) => Promise<unknown>])[];

for (const lasts of ["waiting", "unfinished", "failed_too"] as const) {
  test(`A hundred concurrent adds of one unique job make one row (unique.while = "${lasts}").`, async () => {
    const adds = [addJob.bind(null, queue.db), coalescedAdd(queue.db)];
    const added = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        (adds[n % 2] as (typeof adds)[0])(job({ n: 1 }, byArgs(lasts))),
      ),
    );
    assert.equal(new Set(added.map(({ id }) => id)).size, 1);
    assert.equal(added.filter(({ isDuplicate }) => !isDuplicate).length, 1);
    assert.deepEqual(
      (await rows()).map(({ revision }) => revision),
      [99],
    );
  });
}

/**
 * The outcomes of three adds: while an equal job waits, while it runs, and after it has failed. The add changes the
 * equal job (`updated`), leaves the equal job as it is (`kept`), or adds another job (`added`).
 */
const outcomes: Readonly<Record<UniqueWhile, readonly [string, string, string]>> = {
  waiting: ["updated", "added", "added"],
  unfinished: ["kept", "kept", "added"],
  failed_too: ["kept", "kept", "kept"],
};

for (const [name, add] of forms) {
  for (const [lasts, [waiting, running, failed]] of Object.entries(outcomes)) {
    test(`An equal add by ${name} (unique.while = "${lasts}") has the outcome ${waiting} if the first job waits, ${running} if it runs, and ${failed} if it has failed: the first job is updated or kept, or another job is added.`, async () => {
      const one = (priority: number) =>
        job({ n: 1 }, { ...byArgs(lasts as UniqueWhile), priority });
      const outcome = async (id: string) => {
        const again = await add(one(5));
        if (again.id !== id) {
          assert.equal(again.isDuplicate, false);
          return "added";
        }
        assert.equal(again.isDuplicate, true);
        return again.priority === 5 ? "updated" : "kept";
      };
      const first = await add(one(1));
      assert.equal(first.isDuplicate, false);
      assert.equal(await outcome(first.id), waiting);
      await queue.sql("delete from worker._private_jobs");
      const second = await add(one(1));
      await lockJob(queue, second.id);
      assert.equal(await outcome(second.id), running);
      await queue.sql("delete from worker._private_jobs");
      const third = await add(one(1));
      await fail();
      assert.equal(await outcome(third.id), failed);
    });
  }
}

test("A waiting unique job keeps its time unless a later add has a time. Once the job has been completed, an equal job is added.", async () => {
  const at = (runAt?: string) => job({ n: 1 }, { ...byArgs("waiting"), runAt });
  const first = await addJob(queue.db, at("2030-01-01T00:00:00Z"));
  const kept = await addJob(queue.db, at());
  assert.deepEqual([kept.id, kept.runAtText], [first.id, first.runAtText]);
  const moved = await addJob(queue.db, at("2031-01-01T00:00:00Z"));
  assert.equal(moved.runAt.toISOString(), "2031-01-01T00:00:00.000Z");
  await queue.sql("delete from worker._private_jobs");
  assert.equal((await addJob(queue.db, at())).isDuplicate, false);
});

test('addJobs() gives a new job the key of a failed unique job, or the ordinary key of a running job, but not the key of a running unique job (unique.while = "unfinished").', async () => {
  const specs = ["running", "failed", "replaced"].map((n) =>
    job({ n }, n === "replaced" ? { jobKey: "r" } : byArgs("unfinished")),
  );
  const before = await addJobs(queue.db, specs);
  await fail();
  await queue.sql(
    "update worker._private_jobs set locked_at = now(), locked_by = 'w' where id <> $1",
    [before[1]?.id],
  );
  const after = await addJobs(queue.db, specs);
  assert.deepEqual(
    after.map(({ id, isDuplicate }, n) => [id === before[n]?.id, isDuplicate]),
    [
      [true, true],
      [false, false],
      [false, false],
    ],
  );
});

test("A list for addJobs() may contain a unique job several times: the later ones are duplicates of the first.", async () => {
  const added = await addJobs(queue.db, [
    job({ n: 1 }, byArgs("unfinished")),
    job({ n: 2 }, byArgs("waiting")),
    job({ n: 1 }, byArgs("unfinished")),
    job({ n: 2 }, { ...byArgs("waiting"), priority: 7 }),
    job({ n: 1 }, byArgs("failed_too")),
  ]);
  assert.deepEqual(
    added.map(({ id, isDuplicate, priority }) => [Number(id), isDuplicate, priority]),
    [
      [Number(added[0]?.id), false, 0],
      [Number(added[1]?.id), false, 0],
      [Number(added[0]?.id), true, 0],
      [Number(added[1]?.id), true, 7],
      [Number(added[0]?.id), true, 0],
    ],
  );
  assert.equal((await rows()).length, 2);
});

test("addJobs() has the result of single adds if the first job of its list leaves a failed job as it is, and the second job takes the failed job's key.", async () => {
  const specs = (["failed_too", "unfinished", "unfinished"] as const).map((lasts) =>
    job({ n: 1 }, byArgs(lasts)),
  );
  const first = await addJob(queue.db, specs[0] as JobToAdd);
  await fail();
  const added = await addJobs(queue.db, specs);
  assert.deepEqual(
    added.map(({ id, isDuplicate }) => [id === first.id, isDuplicate]),
    [
      [true, true],
      [false, false],
      [false, true],
    ],
  );
  assert.equal(added[1]?.id, added[2]?.id);
});

test("Each add delays a debounced job by waitMs, but to at most maxWaitMs after the first add.", async () => {
  const one = job({ n: 1 }, { jobKey: "k", debounce: { waitMs: 60_000, maxWaitMs: 90_000 } });
  for (const [, add] of forms) {
    await queue.sql("delete from worker._private_jobs");
    const first = await add(one);
    assert.equal(await dueAfter("updated_at"), 60);
    const early = "update worker._private_jobs set created_at = created_at - interval '50 s'";
    await queue.sql(early);
    const second = await add(one);
    assert.deepEqual([second.id, second.isDuplicate], [first.id, true]);
    assert.equal(await dueAfter("created_at"), 90);
    await lockJob(queue, first.id);
    const next = await add(one);
    assert.notEqual(next.id, first.id);
    assert.equal(await dueAfter("created_at"), 60);
  }
});

test("After a failed attempt the wait of a debounced job begins anew, so that adds do not repeat the attempt at once.", async () => {
  const one = job({ n: 1 }, { jobKey: "k", debounce: { waitMs: 60_000, maxWaitMs: 90_000 } });
  for (const [, add] of forms) {
    await queue.sql("delete from worker._private_jobs");
    await add(one);
    await queue.sql(`update worker._private_jobs
      set attempts = 1, last_error = 'x', created_at = now() - interval '1 hour'`);
    await add(one);
    assert.equal(await dueAfter("updated_at"), 60);
    await queue.sql("update worker._private_jobs set created_at = created_at - interval '80 s'");
    await add(one);
    assert.equal(await dueAfter("created_at"), 90);
  }
  await queue.sql(`update worker._private_jobs
    set attempts = 1, created_at = now() - interval '1 hour'`);
  const kept = job({ n: 1 }, { jobKey: "k", jobKeyMode: "unsafe_dedupe" });
  await addJobs(queue.db, [kept, one, one]);
  assert.deepEqual([await dueAfter("created_at"), await dueAfter("updated_at")], [60, 60]);
});

/** Returns the seconds from the time in `column` until run_at, of the job with the key k. */
async function dueAfter(column: string): Promise<number | undefined> {
  const [row] = await queue.sql<{ s: number }>(
    `select extract(epoch from run_at - ${column})::float8 as s from worker._private_jobs where key = 'k'`,
  );
  return row?.s;
}

test("A debounced job that occurs several times in a list for addJobs() has the time of its last add.", async () => {
  const one = (n: number, waitMs: number) =>
    job({ n }, { jobKey: "k", debounce: { waitMs, maxWaitMs: 90_000 } });
  const added = await addJobs(queue.db, [one(1, 10_000), one(2, 80_000), one(3, 20_000)]);
  assert.deepEqual(
    added.map((each) => Number(each.runAt) - Number(each.createdAt)),
    [10_000, 80_000, 20_000],
  );
  assert.equal(added[2]?.payloadText, '{"n":3}');
  assert.equal(await dueAfter("created_at"), 20);
});

test("A debounced job that is unique needs no key of its own.", async () => {
  const spec: JobSpec = {
    unique: { by: ["args.user"], while: "waiting" },
    debounce: { waitMs: 1_000, maxWaitMs: 2_000 },
  };
  const [one, other, again] = [
    await addJob(queue.db, job({ user: 1, at: 1 }, spec)),
    await addJob(queue.db, job({ user: 2, at: 1 }, spec)),
    await addJob(queue.db, job({ user: 1, at: 2 }, spec)),
  ];
  assert.notEqual(one.id, other.id);
  assert.equal(again.id, one.id);
  assert.deepEqual(again.payload, { user: 1, at: 2 });
});

test("Graphile Worker's add_job treats the key of a unique job as any other key.", async () => {
  const { id, key } = await addJob(queue.db, job({ n: 1 }, byArgs("unfinished")));
  assert.match(String(key), /^u:[\w-]{43}$/);
  const stock = (mode: string) =>
    queue.sql<{ id: string; revision: number }>(
      "select id::text, revision from worker.add_job('t', '{\"n\": 2}', job_key := $1, job_key_mode := $2)",
      [key, mode],
    );
  assert.deepEqual(await stock("unsafe_dedupe"), [{ id, revision: 1 }]);
  assert.deepEqual(await stock("replace"), [{ id, revision: 2 }]);
  const ours = await addJob(queue.db, job({ n: 1 }, byArgs("unfinished")));
  assert.deepEqual([ours.id, ours.payloadText, ours.isDuplicate], [id, '{"n": 2}', true]);
  await lockJob(queue, id);
  const [taken] = await stock("replace");
  assert.notEqual(taken?.id, id);
  await queue.sql("select worker.remove_job($1)", [key]);
  assert.equal((await addJob(queue.db, job({ n: 1 }, byArgs("unfinished")))).isDuplicate, false);
});

test("copyJobs() refuses unique jobs, with the advice to use addJobs().", async () => {
  await assert.rejects(
    copyJobs(queue.db, [job({}, {}), job(rawJson("{}"), byArgs("unfinished"))]),
    /jobs\[1\]\.spec\.unique: is not supported here: use addJobs/,
  );
});
