// Tests managed queues, which are the named queues that a limit matches: when a queue becomes managed, which of its
// jobs a fetch takes, and what unlocks its slots.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { removeLimit, setLimit } from "../../src/commands/limits/set-limit.ts";
import { cleanup } from "../../src/commands/maintenance/cleanup.ts";
import { forceUnlockWorkers } from "../../src/commands/maintenance/force-unlock-workers.ts";
import { sweepStaleWorkers } from "../../src/commands/maintenance/sweep-stale-workers.ts";
import { endPause, setPause } from "../../src/commands/pauses/set-pause.ts";
import { query } from "../../src/database/database.ts";
import type { FullRate, LimitDefinition } from "../../src/domain/limits/limit.ts";
import { FetchedRows } from "../../src/queue/fetch/fetched-rows.ts";
import { type ManagedTake, takeManaged } from "../../src/queue/fetch/take-managed.ts";
import { manageQueues } from "../../src/queue/limits/managed-queues.ts";
import { finishJobs } from "../../src/queue/settle/finish.ts";
import { returnJobs, returnUnknownJobs } from "../../src/queue/settle/give-back.ts";
import { queueOf } from "../../src/queue/sql/slots.ts";
import { renewLocks } from "../../src/queue/workers/renew-locks.ts";
import { resetStaleLocks } from "../../src/queue/workers/reset-stale-locks.ts";
import { SESSION_SETTINGS } from "../../src/worker/connection/session-settings.ts";
import { migratedDatabase } from "../support/database.ts";
import { lockWaits } from "../support/lock-waits.ts";
import { waitUntil } from "../support/until.ts";
import { testQueue } from "./queue-database.ts";

const queue = testQueue(() => migratedDatabase("worker", ["limits"]));
beforeEach(() =>
  queue.sql(`truncate worker._private_limits, worker._private_queue_slots, worker._private_rates,
    worker._private_pauses restart identity cascade`),
);

const limit = (match: string, concurrency: number | null, rate: FullRate | null = null) => {
  const definition: LimitDefinition = {
    name: `of ${match}`,
    scope: "queue",
    match,
    concurrency,
    rate,
  };
  return setLimit(queue.db, { definition, setBy: null });
};

/** Adds `count` due jobs, in order, to the named queue. */
async function add(name: string, count = 1): Promise<void> {
  await queue.sql("select worker.add_job('task', '{}'::json, $1, now() - interval '1 minute')", [
    name,
  ]);
  await queue.sql(
    `insert into worker._private_jobs (job_queue_id, task_id, run_at)
     select job_queue_id, task_id, now() - interval '1 minute' + n * interval '1 ms'
     from worker._private_jobs, generate_series(1, $2::int) n
     where job_queue_id = (select id from worker._private_job_queues where queue_name = $1) order by n`,
    [name, count - 1],
  );
}

const manage = async (all = true) => {
  const { changed, isPending } = await manageQueues(queue.db, { all });
  return { changed, isPending };
};

/** Returns the `locked_by` of each queue. `managed:3`: three slots. `managed:0`: the number of slots may be wrong. */
const locks = async () => {
  const rows = await queue.sql<{ name: string; locked_by: string | null }>(
    "select queue_name as name, locked_by from worker._private_job_queues order by id",
  );
  return Object.fromEntries(rows.map((row) => [row.name, row.locked_by]));
};

const slotsOf = async (name: string) =>
  (
    await queue.sql<{ locked_by: string | null }>(
      `select slots.locked_by from worker._private_queue_slots slots
       join worker._private_job_queues queues on queues.id = slots.queue_id
       where queue_name = $1 order by slot`,
      [name],
    )
  ).map((row) => row.locked_by);

/** Takes jobs for up to `want` runs, as the worker `by`. `share`: the part of a run that one job fills. */
async function take(by = "w", { want = 10, share = 1, rates = false } = {}) {
  const statement = takeManaged({ flags: false, rates, excluded: false });
  const values = [["task"], want, by, [share]];
  const [row] = await query<ManagedTake>(queue.db, statement, values);
  const rows = new FetchedRows(row as ManagedTake);
  const jobs = rows.ids.map((id, index) => {
    const lock = rows.locks?.[index] ?? 0;
    return { id, lock, name: rows.queueName(lock) };
  });
  return { jobs, isContended: row?.is_contended, nextMs: row?.next_ms };
}

test("Queues that a limit matches become managed; other queues do not.", async () => {
  await add("mail");
  await add("tenant/1");
  await add("tenant%1");
  await limit("tenant/*", 3);
  assert.deepEqual(await manage(false), { changed: 1, isPending: false });
  assert.deepEqual(await locks(), { mail: null, "tenant/1": "managed:3", "tenant%1": null });
  assert.deepEqual(await slotsOf("tenant/1"), [null, null, null]);
  assert.deepEqual(await manage(), { changed: 0, isPending: false });
  await add("tenant/2");
  assert.deepEqual(await manage(false), { changed: 1, isPending: false });
});

test("Queues with thousands of slots become managed, and ordinary again, a few at a time.", async () => {
  for (let n = 0; n < 5; n++) await add(`tenant/${n}`);
  await limit("tenant/*", 10_000);
  for (const last of ["managed:10000", null]) {
    const steps = [];
    do steps.push(await manageQueues(queue.db, { all: true }));
    while (steps.at(-1)?.isPending === true);
    assert.equal(
      steps.reduce((sum, { changed }) => sum + changed, 0),
      5,
    );
    assert.ok(steps.every(({ changed }) => changed <= 3));
    assert.ok(steps.slice(0, -1).every(({ isPartial }) => isPartial));
    assert.deepEqual(new Set(Object.values(await locks())), new Set([last]));
    if (last !== null) assert.equal((await take("w", { want: 20 })).jobs.length, 5);
    await queue.sql("update worker._private_queue_slots set locked_by = null, locked_at = null");
    await removeLimit(queue.db, "of tenant/*");
  }
});

test("The lowest concurrency of all matching limits applies; a limit with only a rate allows one run at a time.", async () => {
  await add("a/b");
  await add("c");
  await limit("a/*", 5);
  await limit("*/b", 2);
  await limit("c", null, { limit: 1, perMs: 1000, burst: 1 });
  await manage();
  assert.deepEqual(await locks(), { "a/b": "managed:2", c: "managed:1" });
});

test("A queue that a worker has locked becomes managed after the worker has unlocked it.", async () => {
  await add("q");
  await queue.sql("update worker._private_job_queues set locked_by = 'stock', locked_at = now()");
  await limit("q", 2);
  assert.deepEqual(await manage(), { changed: 0, isPending: true });
  await queue.sql("update worker._private_job_queues set locked_by = null, locked_at = null");
  assert.deepEqual(await manage(false), { changed: 1, isPending: false });
});

test("Each run takes a slot, and there are never more runs than slots.", async () => {
  await add("q", 10);
  await limit("q", 3);
  await manage();
  const first = await take("a", { want: 2 });
  assert.equal(first.jobs.length, 2);
  assert.equal(new Set(first.jobs.map(({ lock }) => lock)).size, 2);
  assert.ok(first.jobs.every(({ name, lock }) => name === "q" && queueOf(lock) === 1));
  const second = await take("b");
  assert.equal(second.jobs.length, 1);
  assert.equal((await take("c")).jobs.length, 0);
  const [one] = first.jobs;
  await finishJobs(queue.db, "a", [one?.id ?? ""], "locked_by", [one?.lock ?? 0]);
  assert.equal((await take("c")).jobs.length, 1);
  assert.deepEqual((await slotsOf("q")).toSorted(), ["a", "b", "c"]);
});

test("Short jobs of a queue with one slot are taken as one run, which begins with the first job.", async () => {
  await add("q", 100);
  await limit("q", 1);
  await manage();
  const { jobs } = await take("a", { want: 200, share: 0.01 });
  assert.deepEqual(
    jobs.map(({ id }) => Number(id)).toSorted((a, b) => a - b),
    Array.from({ length: 50 }, (_, n) => n + 1),
  );
  assert.equal(new Set(jobs.map(({ lock }) => lock)).size, 1);
});

test("No job is taken from a queue with one slot while another transaction has locked the row of the queue's first job.", async () => {
  await add("q", 3);
  await limit("q", 1);
  await manage();
  const client = await queue.pool.connect();
  await client.query("begin; select from worker._private_jobs where id = 1 for update");
  assert.deepEqual(await take("a", { share: 0.1 }), { jobs: [], isContended: true, nextMs: null });
  await client.query("rollback");
  client.release();
  assert.equal((await take("a", { share: 0.1 })).jobs.length, 3);
});

test("A fetch finds a job of a free queue even if ten thousand earlier jobs are in queues that are paused, or have no free slot or no token.", async () => {
  await limit("*", 1);
  await limit("slow", null, { limit: 1, perMs: 60_000, burst: 1 });
  for (const name of ["full", "paused", "slow"]) await add(name, 3_400);
  await add("free");
  await queue.sql(
    "update worker._private_jobs set run_at = now() - interval '1 second' where id = 10201",
  );
  await setPause(
    queue.db,
    { scope: "queue", name: "paused" },
    { reason: null, pausedBy: null, resumeAt: null, forMs: null },
  );
  await manage();
  const [full] = (await take("other", { want: 1, rates: true })).jobs;
  const [slow] = (await take("other", { want: 1, rates: true })).jobs;
  assert.deepEqual([full?.name, slow?.name], ["full", "slow"]);
  await finishJobs(queue.db, "other", [slow?.id ?? ""], "locked_by", [slow?.lock ?? 0]);
  const { jobs } = await take("w", { rates: true });
  assert.deepEqual(
    jobs.map(({ name }) => name),
    ["free"],
  );
  const { nextMs } = await take("w", { rates: true });
  assert.ok((nextMs ?? 0) > 30_000 && (nextMs ?? 0) <= 60_000);
});

/** Executes a fetch with the session settings of a worker, and returns the lines of its plan. */
async function planOf(rates: boolean): Promise<string[]> {
  const client = await queue.pool.connect();
  try {
    await client.query(SESSION_SETTINGS);
    const text = takeManaged({ flags: false, rates, excluded: false })(queue.db.schema.quoted);
    await client.query(`prepare taking (text[], int, text, float8[]) as ${text}`);
    const { rows } = await client.query<{ "QUERY PLAN": string }>(
      "explain (analyze, timing off) execute taking ('{task}', 10, 'w', '{1}')",
    );
    return rows.map((row) => row["QUERY PLAN"]);
  } finally {
    client.release(true);
  }
}

const rowsOf = (line: string) =>
  Number(line.match(/actual rows=(\d+)/)?.[1] ?? 0) * Number(line.match(/loops=(\d+)/)?.[1] ?? 0);

test("A fetch reads ready jobs of free queues in the order of the index, and at most 1,000 of them.", async () => {
  await limit("*", 1);
  for (let n = 0; n < 5; n++) await add(`q${n}`, 1_000);
  await manage();
  await queue.sql("vacuum analyze worker._private_jobs");
  const lines = await planOf(false);
  const read = lines.filter((line) => line.includes("Scan using jobs_main_index")).map(rowsOf);
  assert.ok(read.length > 0 && Math.max(...read) <= 1_000, lines.join("\n"));
});

test("A fetch does not read the rates of all idle queues.", async () => {
  await limit("*", 1, { limit: 10, perMs: 1_000, burst: 5 });
  await queue.sql(`insert into worker._private_job_queues (queue_name)
    select 'tenant/' || n from generate_series(1, 1000) n`);
  await manage();
  await queue.sql("update worker._private_rates set tat = now() - interval '1 minute'");
  await queue.sql("vacuum analyze worker._private_rates, worker._private_job_queues");
  const lines = await planOf(true);
  const read = lines.filter((line) => line.includes(" on _private_rates r ")).map(rowsOf);
  assert.ok(read.length > 0 && Math.max(...read) < 1_000, lines.join("\n"));
});

test("A faster rate of a queue applies at once, even if no token of the old rate was left.", async () => {
  await add("q", 3);
  await limit("q", null, { limit: 1, perMs: 3_600_000, burst: 1 });
  await manage();
  const first = await take("a", { rates: true });
  assert.equal(first.jobs.length, 1);
  await finishJobs(queue.db, "a", [String(first.jobs[0]?.id)], "locked_by", [
    first.jobs[0]?.lock ?? 0,
  ]);
  assert.equal((await take("a", { rates: true })).jobs.length, 0);
  await limit("q", null, { limit: 100, perMs: 1_000, burst: 20 });
  await waitUntil(
    "a job is fetched under the new rate",
    async () => (await take("a", { rates: true })).jobs.length > 0,
  );
});

test("A run takes no more jobs than its queue has tokens of the rate, and uses up one token for each job.", async () => {
  await add("q", 100);
  await limit("q", 5, { limit: 10, perMs: 60_000, burst: 20 });
  await manage();
  const first = await take("a", { want: 100, share: 0.01, rates: true });
  assert.equal(first.jobs.length, 19);
  assert.equal((await take("b", { rates: true })).jobs.length, 0);
  const [rate] = await queue.sql<{ ahead: number }>(
    "select extract(epoch from tat - now())::float8 as ahead from worker._private_rates",
  );
  assert.ok(Math.abs((rate?.ahead ?? 0) - 19 * 6) < 5);
});

test("A higher number of slots applies at once; a lower number applies when enough runs have ended.", async () => {
  await add("q", 20);
  await limit("q", 2);
  await manage();
  assert.equal((await take("a")).jobs.length, 2);
  await limit("q", 4);
  assert.deepEqual(await manage(), { changed: 1, isPending: false });
  const more = await take("b");
  assert.equal(more.jobs.length, 2);
  await limit("q", 1);
  assert.equal((await manage()).isPending, true);
  assert.deepEqual(await locks(), { q: "managed:0" });
  const end = async (by: string, lock: number | undefined) => {
    await finishJobs(queue.db, by, [], "locked_by", [lock ?? 0]);
    await manage(false);
  };
  await end("b", more.jobs[0]?.lock);
  await end("b", more.jobs[1]?.lock);
  assert.equal((await take("c")).jobs.length, 0);
  assert.deepEqual(await slotsOf("q"), ["a", "a"]);
  await returnUnknownJobs(queue.db, "a", [], []);
  assert.deepEqual(await manage(false), { changed: 1, isPending: false });
  assert.deepEqual(await locks(), { q: "managed:1" });
  assert.equal((await take("c")).jobs.length, 1);
});

for (const kind of ["lowered", "removed"]) {
  test(`While runs hold the slots of a ${kind} limit, the queue's row is written only once.`, async () => {
    await add("q", 3);
    await limit("q", 3);
    await manage();
    await take("a", { want: 2 });
    if (kind === "lowered") await limit("q", 1);
    else await removeLimit(queue.db, "of q");
    assert.deepEqual(await manage(), { changed: 1, isPending: true });
    assert.deepEqual(await slotsOf("q"), ["a", "a"]);
    // A second call changes nothing, so it notifies no workers.
    assert.deepEqual(await manage(), { changed: 0, isPending: true });
  });
}

test("Two workers that apply a lowered limit at the same time leave as many slots as the limit allows.", async () => {
  await add("q", 20);
  await limit("q", 4);
  await manage();
  const { jobs } = await take("a");
  await limit("q", 1);
  assert.equal((await manage()).isPending, true);
  await finishJobs(
    queue.db,
    "a",
    [],
    "locked_by",
    jobs.map(({ lock }) => lock),
  );
  // The first call of manageQueues() waits in gate(), with a snapshot of all four slots. Meanwhile, the second call
  // removes the only slot whose row the connection `run` has not locked.
  await queue.sql(`alter table worker._private_limits rename to limits;
    create function worker.gate() returns boolean language plpgsql as
      $$ begin perform pg_advisory_xact_lock(7); return true; end $$;
    create view worker._private_limits as select * from worker.limits where worker.gate()`);
  const other = await queue.pool.connect();
  const run = await queue.pool.connect();
  try {
    await other.query("select pg_advisory_lock(7)");
    await run.query("begin; select from worker._private_queue_slots where slot < 4 for update");
    const first = manage();
    await waitUntil(
      "the first call of manageQueues() waits for the advisory lock",
      async () => (await lockWaits(other)) > 0,
    );
    await manageQueues({ ...queue.db, client: other }, { all: true });
    assert.deepEqual(await slotsOf("q"), [null, null, null]);
    await run.query("commit");
    await other.query("select pg_advisory_unlock(7)");
    assert.equal((await first).isPending, true);
  } finally {
    other.release();
    run.release();
    await queue.sql(`drop view worker._private_limits; drop function worker.gate();
      alter table worker.limits rename to _private_limits`);
  }
  assert.deepEqual(await manage(), { changed: 1, isPending: false });
  assert.deepEqual(await locks(), { q: "managed:1" });
  assert.deepEqual(await slotsOf("q"), [null]);
});

test("A managed queue whose slots are missing gets new slots.", async () => {
  await add("q");
  await limit("q", 2);
  await manage();
  await queue.sql("delete from worker._private_queue_slots");
  assert.deepEqual(await manage(), { changed: 1, isPending: false });
  assert.deepEqual(await slotsOf("q"), [null, null]);
});

test("A queue whose limit is removed becomes ordinary when its runs have ended.", async () => {
  await add("q", 3);
  await limit("q", 2);
  await manage();
  const { jobs } = await take("a", { want: 1 });
  await removeLimit(queue.db, "of q");
  assert.equal((await manage()).isPending, true);
  assert.equal((await take("b")).jobs.length, 0);
  await returnJobs(
    queue.db,
    "a",
    jobs.map(({ id }) => id),
    jobs.map(({ lock }) => lock),
  );
  assert.deepEqual(await manage(false), { changed: 1, isPending: false });
  assert.deepEqual(await locks(), { q: null });
  assert.deepEqual(await slotsOf("q"), []);
});

test("A pause overrides a limit of queues; after the pause the queue is managed again, and a run that began before the pause still holds its slot.", async () => {
  await add("q", 5);
  await limit("q", 2);
  await manage();
  await take("a", { want: 1 });
  const target = { scope: "queue", name: "q" } as const;
  await setPause(queue.db, target, { reason: "x", pausedBy: null, resumeAt: null, forMs: null });
  assert.deepEqual(await manage(), { changed: 0, isPending: false });
  assert.equal((await take("b")).jobs.length, 0);
  assert.deepEqual(await endPause(queue.db, target), { wasPaused: true, waitsForJob: false });
  await manage(false);
  assert.deepEqual(await locks(), { q: "managed:2" });
  assert.equal((await take("b")).jobs.length, 1);
});

test("The slots of an unknown worker are unlocked by a reset of old locks, by a sweep and by a forced unlock.", async () => {
  await add("q", 20);
  await limit("q", 2);
  await manage();
  const old = () =>
    queue.sql(`update worker._private_jobs set locked_at = now() - interval '5 hours' where locked_by is not null;
      update worker._private_queue_slots set locked_at = now() - interval '5 hours' where locked_by is not null`);
  await take("gone");
  await old();
  assert.deepEqual(await renewLocks(queue.db, "gone", null, 1), { jobs: 2, queues: 0 });
  assert.deepEqual(await resetStaleLocks(queue.db, 3_600_000), {
    ...{ jobs: 0, queues: 0, refused: [] },
  });
  await old();
  assert.deepEqual(await resetStaleLocks(queue.db, 3_600_000), {
    ...{ jobs: 2, queues: 2, refused: [] },
  });
  await take("gone");
  await old();
  const swept = await sweepStaleWorkers(queue.db, { sweepThresholdMs: 1_000, recoveryDelayMs: 0 });
  assert.deepEqual([swept.recoveredJobs, swept.recoveredQueues], [2, 2]);
  await take("gone");
  assert.deepEqual(await forceUnlockWorkers(queue.db, ["gone"]), { jobs: 2, queues: 2 });
  assert.deepEqual(await slotsOf("q"), [null, null]);
});

test("While a job with the flag infrastructure_resilient stays locked by a stale worker, the slot of the job's run stays locked, too.", async () => {
  await queue.sql(
    `select worker.add_job('task', '{}'::json, 'q', flags := array['infrastructure_resilient'])`,
  );
  await limit("q", 1);
  await manage();
  await take("gone");
  await queue.sql(`insert into worker._private_workers (id, last_heartbeat_at, metadata) values
    ('gone', now() - interval '1 hour', '{"threshold_ms": 1000, "resilient_threshold_ms": 86400000}')`);
  const swept = await sweepStaleWorkers(queue.db, { sweepThresholdMs: 1_000 });
  assert.deepEqual([swept.recoveredJobs, swept.recoveredQueues], [0, 0]);
  assert.deepEqual(await slotsOf("q"), ["gone"]);
});

test("A cleanup deletes managed queues without jobs, and their slots, unless a run holds one of the slots.", async () => {
  await add("empty");
  await add("held");
  await limit("*", 2);
  await manage();
  const { jobs } = await take("a");
  const held = jobs.find(({ name }) => name === "held");
  const other = jobs.find(({ name }) => name === "empty");
  await finishJobs(
    queue.db,
    "a",
    jobs.map(({ id }) => id),
    "locked_by",
    [other?.lock ?? 0],
  );
  assert.equal((await cleanup(queue.db, ["gc-job-queues"])).deletedQueues, 1);
  assert.deepEqual(await locks(), { held: "managed:2" });
  await finishJobs(queue.db, "a", [], "locked_by", [held?.lock ?? 0]);
  assert.equal((await cleanup(queue.db, ["gc-job-queues"])).deletedQueues, 1);
  assert.deepEqual(await queue.sql("select 1 from worker._private_queue_slots"), []);
});
