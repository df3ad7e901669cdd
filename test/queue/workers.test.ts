// Tests the lists of named queues and workers, heartbeats, forced unlocking, and sweeps of stale and unknown workers.
import assert from "node:assert/strict";
import { test } from "node:test";
import { forceUnlockWorkers } from "../../src/commands/maintenance/force-unlock-workers.ts";
import { sweepStaleWorkers } from "../../src/commands/maintenance/sweep-stale-workers.ts";
import { getWorker } from "../../src/insight/lists/list-workers.ts";
import { getJob } from "../../src/insight/pages/get-job.ts";
import { listActiveWorkers } from "../../src/insight/read/list-active-workers.ts";
import { listLockedWorkers } from "../../src/insight/read/list-locked-workers.ts";
import { listQueues } from "../../src/insight/read/list-queues.ts";
import { addJobs } from "../../src/queue/add/add-jobs.ts";
import { heartbeat, lockJob, testQueue } from "./queue-database.ts";

const queue = testQueue();
const HOSTILE = `it's "w" \\ %_,{}\u{1f600}`;

async function addLocked(...locks: [by: string, age: string][]): Promise<string[]> {
  const jobs = await addJobs(
    queue.db,
    locks.map(([by]) => ({ identifier: "t", spec: { queueName: `of ${by}` } })),
  );
  for (const [n, [by, age]] of locks.entries()) {
    await lockJob(queue, jobs[n]?.id ?? "", by, age);
    await queue.sql(
      `update worker._private_job_queues set locked_by = $1, locked_at = now() - $2::interval
       where queue_name = 'of ' || $1`,
      [by, age],
    );
  }
  return jobs.map((job) => job.id);
}

const age = (id: string, interval: string) =>
  queue.sql(
    `update worker._private_workers set last_heartbeat_at = now() - $2::interval where id = $1`,
    [id, interval],
  );

test("Queues are listed with their counts and their lock: locked queues first, the others by name.", async () => {
  const spec = (queueName: string, more = {}) => ({
    identifier: "t",
    spec: { queueName, ...more },
  });
  await addJobs(queue.db, [
    spec("b"),
    spec("a"),
    spec("b", { runAt: "2999-01-01T00:00:00Z" }),
    spec("b", { maxAttempts: 1 }),
    { identifier: "t" },
  ]);
  await lockJob(queue, "1");
  await queue.sql("update worker._private_jobs set attempts = 1 where id = 4");
  await queue.sql(
    "update worker._private_job_queues set locked_at = '2026-01-02 03:04:05.678901Z', locked_by = 'w' where queue_name = 'b'",
  );
  await queue.sql("insert into worker._private_job_queues (queue_name) values ('empty')");
  const queues = await listQueues(queue.db);
  assert.deepEqual(
    queues.map((one) => one.queueName),
    ["b", "a", "empty"],
  );
  const { id, ...b } = queues[0] ?? assert.fail();
  assert.equal(typeof id, "number");
  assert.deepEqual(b, {
    queueName: "b",
    lockedAt: new Date("2026-01-02T03:04:05.678Z"),
    lockedAtText: "2026-01-02T03:04:05.678901Z",
    lockedBy: "w",
    isPaused: false,
    jobCount: 3,
    readyCount: 0,
    scheduledCount: 1,
    lockedCount: 1,
    failedCount: 1,
  });
  assert.equal(queues[2]?.jobCount, 0);
  assert.equal(queues[1]?.readyCount, 1);
  assert.equal((await listQueues(queue.db, 2)).length, 2);
  assert.deepEqual(await listQueues(queue.db, 0), []);
  for (const limit of [-1, 1.5, 10_001]) {
    await assert.rejects(listQueues(queue.db, limit), { code: "bad_input" });
  }
});

test("Workers that hold locks are listed, each with its numbers of locked jobs and of locked queues.", async () => {
  assert.deepEqual(await listLockedWorkers(queue.db), []);
  await addLocked(["b", "1s"], ["a", "5h"], ["a", "1s"], [HOSTILE, "1s"]);
  await queue.sql("update worker._private_jobs set locked_by = 'c' where id = 3");
  assert.deepEqual(await listLockedWorkers(queue.db), [
    { workerId: "a", lockedJobs: 1, lockedQueues: 1 },
    { workerId: "b", lockedJobs: 1, lockedQueues: 1 },
    { workerId: "c", lockedJobs: 1, lockedQueues: 0 },
    { workerId: HOSTILE, lockedJobs: 1, lockedQueues: 1 },
  ]);
});

test("A worker is listed from its first heartbeat until it is deregistered; the worker's metadata can set the threshold after which the worker counts as stale.", async () => {
  await heartbeat(queue, "w", { host: "h", pid: 1 });
  await heartbeat(queue, HOSTILE);
  await heartbeat(queue, "w");
  const [hostile, w] = await listActiveWorkers(queue.db);
  assert.equal(w?.workerId, "w");
  assert.deepEqual(JSON.parse(w?.metadataText ?? ""), { host: "h", pid: 1 });
  assert.equal(w?.isStale, false);
  assert.ok(w !== undefined && w.lastHeartbeatAt >= w.startedAt);
  assert.deepEqual([hostile?.workerId, hostile?.metadataText], [HOSTILE, null]);
  await age("w", "299 seconds");
  assert.equal((await listActiveWorkers(queue.db))[1]?.isStale, false);
  assert.equal((await listActiveWorkers(queue.db, { staleAfterMs: 200_000 }))[1]?.isStale, true);
  await age("w", "301 seconds");
  assert.equal((await listActiveWorkers(queue.db))[1]?.isStale, true);
  // The threshold in a worker's own metadata applies, unless the caller passes `staleAfterMs`.
  await heartbeat(queue, "w", { threshold_ms: 900_000 });
  await age("w", "301 seconds");
  assert.equal((await listActiveWorkers(queue.db))[1]?.isStale, false);
  assert.equal((await listActiveWorkers(queue.db, { staleAfterMs: 300_000 }))[1]?.isStale, true);
  await heartbeat(queue, "w", { threshold_ms: 900_000, recovered_at: "2026-01-01T00:00:00Z" });
  assert.equal((await listActiveWorkers(queue.db))[1]?.isStale, true);
  await queue.sql("select worker.worker_deregister('w')");
  await queue.sql("select worker.worker_deregister('never there')");
  assert.deepEqual(
    (await listActiveWorkers(queue.db)).map((one) => one.workerId),
    [HOSTILE],
  );
  await assert.rejects(listActiveWorkers(queue.db, { staleAfterMs: -1 }), { code: "bad_input" });
});

test("A worker's report of more than 256 KiB is refused, even if PostgreSQL could compress it to less.", async () => {
  const reportOf = (length: number) => ({ host: "h".repeat(length - '{"host": ""}'.length) });
  await heartbeat(queue, "large", reportOf(262_144));
  await assert.rejects(heartbeat(queue, "larger", reportOf(262_145)), {
    code: "23514",
    message: /violates check constraint "_private_workers_metadata_256_kib"/,
  });
  await assert.rejects(heartbeat(queue, "large", reportOf(1_390_000)), { code: "23514" });
  const workers = await listActiveWorkers(queue.db);
  const lengths = workers.map(({ workerId, metadataText }) => [workerId, metadataText?.length]);
  assert.deepEqual(
    lengths.filter(([id]) => String(id).startsWith("large")),
    [["large", 262_144]],
  );
  await queue.sql("select worker.worker_deregister('large')");
});

test("Forced unlocking unlocks the jobs and queues of the named workers only.", async () => {
  const [a = "", b = ""] = await addLocked([HOSTILE, "1s"], ["other", "1s"]);
  assert.deepEqual(await forceUnlockWorkers(queue.db, [HOSTILE, "nobody", HOSTILE]), {
    jobs: 1,
    queues: 1,
  });
  assert.deepEqual(await forceUnlockWorkers(queue.db, [HOSTILE]), { jobs: 0, queues: 0 });
  const freed = await getJob(queue.db, a);
  assert.deepEqual([freed?.state, freed?.lockedBy, freed?.attempts], ["ready", null, 1]);
  assert.equal((await getJob(queue.db, b))?.state, "locked");
  for (const ids of [[], ["a\0"], [""], "w", [1], Array(1_001).fill("w")]) {
    await assert.rejects(forceUnlockWorkers(queue.db, ids as never), { code: "bad_input" });
  }
});

test("Forced unlocking announces jobs to idle workers.", async () => {
  await addLocked(["dead", "1h"]);
  const client = await queue.pool.connect();
  try {
    let announced = 0;
    client.on("notification", ({ channel }) => {
      if (channel === "jobs:insert") announced++;
    });
    await client.query('listen "jobs:insert"');
    assert.deepEqual(await forceUnlockWorkers(queue.db, ["another"]), { jobs: 0, queues: 0 });
    await client.query("select 1");
    assert.equal(announced, 0);
    assert.deepEqual(await forceUnlockWorkers(queue.db, ["dead"]), { jobs: 1, queues: 1 });
    await client.query("select 1");
    assert.equal(announced, 1);
  } finally {
    client.release(true);
  }
});

test("While another session locks the row of a job, a sweep skips the job and its queue; a later sweep recovers the job and unlocks the queue.", async (t) => {
  const [id = ""] = await addLocked(["gone", "301s"]);
  const client = await queue.pool.connect();
  t.after(() => client.release());
  await client.query(`begin; select from worker._private_jobs where id = ${id} for update`);
  const left = await sweepStaleWorkers(queue.db);
  assert.deepEqual([left.recoveredJobs, left.recoveredQueues], [0, 0]);
  await client.query("rollback");
  const freed = await sweepStaleWorkers(queue.db);
  assert.deepEqual([freed.recoveredJobs, freed.recoveredQueues], [1, 1]);
});

test("A sweep unlocks the jobs and queues of stale workers, and of unknown workers whose newest lock is old. All other jobs and queues stay locked.", async () => {
  const locks: [string, string][] = [
    ["stale", "1s"],
    ["fresh", "3h"],
    ["orphan", "301s"],
    ["new orphan", "299s"],
  ];
  const ids = await addLocked(...locks);
  await heartbeat(queue, "stale");
  await heartbeat(queue, "fresh");
  await heartbeat(queue, "stale and idle");
  await age("stale", "301s");
  await age("stale and idle", "1 day");
  const expected = {
    hasHeartbeats: true,
    staleWorkers: ["stale", "stale and idle"],
    unknownWorkers: ["orphan"],
    sparedWorkers: [],
    unsweptWorkers: [],
    refusedJobs: [],
    lockedJobs: 2,
    lockedQueues: 2,
    recoverableJobs: 2,
    recoverableQueues: 2,
  };
  const dry = await sweepStaleWorkers(queue.db, { dryRun: true });
  assert.deepEqual(dry, { dryRun: true, ...expected, recoveredJobs: 0, recoveredQueues: 0 });
  const before = Date.now();
  const real = await sweepStaleWorkers(queue.db, { recoveryDelayMs: 60_000 });
  assert.deepEqual(real, { dryRun: false, ...expected, recoveredJobs: 2, recoveredQueues: 2 });
  const jobs = await Promise.all(ids.map((id) => getJob(queue.db, id)));
  assert.deepEqual(
    jobs.map((job) => job?.state),
    ["scheduled", "locked", "scheduled", "locked"],
  );
  assert.deepEqual(
    jobs.map((job) => job?.attempts),
    [1, 1, 1, 1],
  );
  assert.match(jobs[0]?.lastError ?? "", /Recovered: worker stale stopped .* attempt 1$/);
  assert.ok((jobs[0]?.runAt.getTime() ?? 0) > before + 50_000);
  assert.deepEqual(
    (await listActiveWorkers(queue.db)).map((one) => one.workerId),
    ["fresh"],
  );
  const queues = await listQueues(queue.db);
  assert.deepEqual(
    queues.filter((one) => one.lockedBy === null).map((one) => one.queueName),
    ["of orphan", "of stale"],
  );
  const again = await sweepStaleWorkers(queue.db);
  assert.deepEqual([again.staleWorkers, again.unknownWorkers, again.recoveredJobs], [[], [], 0]);
});

test("If a worker's own threshold is longer than the sweep's, the sweep applies the worker's threshold, and lists the workers that are spared for this reason.", async () => {
  const [living = "", , mute = ""] = await addLocked(
    ["living", "1h"],
    ["frozen", "1h"],
    ["mute", "1h"],
  );
  await heartbeat(queue, "living", { threshold_ms: 7_000, resilient_threshold_ms: 60_000 });
  await heartbeat(queue, "frozen", { threshold_ms: 7_000, resilient_threshold_ms: 60_000 });
  await heartbeat(queue, "mute");
  await age("frozen", "8s");
  const options = { sweepThresholdMs: 0, recoveryDelayMs: 0 };
  for (const dryRun of [true, false]) {
    const swept = await sweepStaleWorkers(queue.db, { ...options, dryRun });
    assert.deepEqual(swept.staleWorkers, ["frozen", "mute"]);
    assert.deepEqual(swept.sparedWorkers, ["living"]);
    assert.deepEqual([swept.lockedJobs, swept.recoverableJobs, swept.recoverableQueues], [2, 2, 2]);
    assert.equal(swept.recoveredJobs, dryRun ? 0 : 2);
  }
  assert.equal((await getJob(queue.db, living))?.lockedBy, "living");
  assert.equal((await getJob(queue.db, mute))?.state, "ready");
});

test("A manual sweep recovers a job with the flag infrastructure_resilient only after its worker's threshold for such jobs.", async () => {
  const [plain = "", resilient = ""] = await addLocked(["w", "1h"], ["w", "1h"]);
  await queue.sql(
    `update worker._private_jobs set flags = '{"infrastructure_resilient": true}',
       job_queue_id = null where id = $1`,
    [resilient],
  );
  await heartbeat(queue, "w", { threshold_ms: 7_000, resilient_threshold_ms: 60_000 });
  await age("w", "30s");
  const options = { sweepThresholdMs: 10_000, recoveryDelayMs: 0 };
  const dry = await sweepStaleWorkers(queue.db, { ...options, dryRun: true });
  assert.deepEqual([dry.lockedJobs, dry.recoverableJobs], [2, 1]);
  assert.equal((await sweepStaleWorkers(queue.db, options)).recoveredJobs, 1);
  const lockedBy = async (id: string) => (await getJob(queue.db, id))?.lockedBy;
  assert.deepEqual([await lockedBy(plain), await lockedBy(resilient)], [null, "w"]);
  const [row] = await queue.sql(
    "select metadata ->> 'recovered_jobs' as jobs from worker._private_workers",
  );
  assert.equal(row?.["jobs"], "1");
  await age("w", "61s");
  assert.equal((await sweepStaleWorkers(queue.db, options)).recoveredJobs, 1);
  assert.deepEqual(await listActiveWorkers(queue.db), []);
});

test("If an unknown worker has just locked a job, a sweep recovers none of the worker's jobs, however old their locks are.", async () => {
  await addLocked(["busy", "2h"], ["gone", "2h"]);
  const [fresh] = await addJobs(queue.db, [{ identifier: "t" }]);
  await lockJob(queue, fresh?.id ?? "", "busy", "1s");
  const { unknownWorkers, recoveredJobs } = await sweepStaleWorkers(queue.db);
  assert.deepEqual([unknownWorkers, recoveredJobs], [["gone"], 1]);
});

test("A recovered job that used its last attempt has failed; it does not run again.", async () => {
  const [id = ""] = await addLocked(["gone", "1h"]);
  await queue.sql("update worker._private_jobs set attempts = max_attempts");
  await sweepStaleWorkers(queue.db, { recoveryDelayMs: 0 });
  assert.equal((await getJob(queue.db, id))?.state, "failed");
});

test("A recovered job keeps a run_at that is later than the end of the recovery delay, and invalid options of a sweep are refused.", async () => {
  const [id = ""] = await addLocked(["gone", "10s"]);
  await queue.sql("update worker._private_jobs set run_at = 'infinity'");
  await sweepStaleWorkers(queue.db, { sweepThresholdMs: 500, recoveryDelayMs: 1_000 });
  const job = await getJob(queue.db, id);
  assert.deepEqual([job?.state, job?.runAt.getUTCFullYear()], ["scheduled", 9999]);
  const wrong = [
    { sweepThresholdMs: -1 },
    { sweepThresholdMs: Number.POSITIVE_INFINITY },
    { recoveryDelayMs: 31_536_000_001 },
    { recoveryDelayMs: "1" },
    { dryRun: 1 },
    { dry_run: true },
  ];
  for (const options of wrong) {
    await assert.rejects(sweepStaleWorkers(queue.db, options as never), { code: "bad_input" });
  }
});

test("Concurrent sweeps recover each job once.", async () => {
  await addLocked(...Array.from({ length: 20 }, (_, n): [string, string] => [`w${n}`, "1h"]));
  for (let n = 0; n < 10; n++) {
    await heartbeat(queue, `w${n}`);
    await age(`w${n}`, "1h");
  }
  const sweeps = await Promise.all([1, 2, 3].map(() => sweepStaleWorkers(queue.db)));
  assert.equal(
    sweeps.reduce((sum, sweep) => sum + sweep.recoveredJobs, 0),
    20,
  );
});

test("If a worker reports its number of slots but not its running jobs, at most one locked job for each slot counts as running. The other locked jobs count as fetched.", async () => {
  const specs = Array.from({ length: 5 }, () => ({ identifier: "t", spec: {} }));
  for (const [id, report, expected] of [
    ["unreported", { concurrency: 3 }, [3, 2, 3]],
    ["few", { concurrency: 8 }, [5, 0, 5]],
    ["no slots", {}, [5, null, 5]],
    ["reported", { concurrency: 3, running_jobs: 1, fetched_job_ids: ["1", "2"] }, [1, 2, 0]],
    ["reports no fetched", { concurrency: 3, running_jobs: 2 }, [2, null, 0]],
  ] as const) {
    await heartbeat(queue, id, report);
    for (const job of await addJobs(queue.db, specs)) await lockJob(queue, job.id, id);
    const worker = await getWorker(queue.db, id);
    assert.deepEqual(
      [worker?.running.value, worker?.fetched, worker?.current.length],
      expected,
      id,
    );
    assert.equal(worker?.lockedJobs, 5);
  }
});
