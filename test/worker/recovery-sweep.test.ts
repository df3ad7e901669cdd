// Tests the statements that find stale workers, recover their jobs (a sweep), reset old locks, and renew the locks of a
// worker that still runs.
import assert from "node:assert/strict";
import { test } from "node:test";
import type pg from "pg";
import { boundedQueryable } from "../../src/database/connection/pool.ts";
import { endLeases, registerLease, sendHeartbeat } from "../../src/queue/workers/lease.ts";
import { recoverStaleWorkers } from "../../src/queue/workers/recover-jobs.ts";
import { renewLocks } from "../../src/queue/workers/renew-locks.ts";
import {
  deleteStaleWorkers,
  resetStaleLocks,
  STALE_LOCK_MS,
} from "../../src/queue/workers/reset-stale-locks.ts";
import { markConnection } from "../../src/queue/workers/session-lock.ts";
import { lockJob, testQueue } from "../queue/queue-database.ts";
import { jobsOf } from "./recovery-jobs.ts";
import { waitUntil } from "./worker-process.ts";

const queue = testQueue();
const { add, job, workerIds } = jobsOf(queue);

const LEASE = '{"threshold_ms": 7000, "resilient_threshold_ms": 60000}';
const STEADY = { uptimeMs: 10_000, silenceMs: 2_000 };
const WELL = { isBroken: false, longestGapMs: 4_500 };

/** Adds a worker whose last heartbeat has this age. */
async function worker(id: string, age: string, metadata: string | null = LEASE) {
  await queue.sql(
    `insert into worker._private_workers (id, last_heartbeat_at, metadata)
     values ($1, now() - $2::interval, $3)`,
    [id, age, metadata],
  );
}

async function databaseTime(): Promise<number> {
  const text = "select extract(epoch from now())::float8 * 1000 as now_ms";
  return (await queue.sql<{ now_ms: number }>(text))[0]?.now_ms ?? 0;
}

/** Recovers the stale workers of `ids`. `own`: values of the sweeping worker; default: those of a healthy worker. */
async function sweep(ids: string[], own: { uptimeMs?: number; heartbeatAtMs?: number } = {}) {
  return recoverStaleWorkers(queue.db, {
    staleWorkerIds: ids,
    messages: ids.map(() => null),
    delayMs: 0,
    uptimeMs: own.uptimeMs ?? STEADY.uptimeMs,
    heartbeatAtMs: own.heartbeatAtMs ?? (await databaseTime()),
    longestGapMs: 4_500,
  });
}

const NOTHING = { workerIds: [], jobs: 0, queues: 0, refused: [] };

test("A stale worker is recovered even if the metadata in its row leave no room to record the recovery.", async () => {
  const full = JSON.stringify({ threshold_ms: 7_000, host: "h".repeat(262_144 - 34) });
  await worker("full", "8 s", full);
  await worker("dead", "8 s");
  const { id } = await add("t");
  await lockJob(queue, id, "full");
  const { workerIds, jobs } = await sweep(["full", "dead"]);
  assert.deepEqual([[...workerIds].sort(), jobs], [["dead", "full"], 1]);
  assert.equal((await job(id))?.locked_by, null);
});

test("The answer to a heartbeat lists only workers whose leases have expired.", async () => {
  await registerLease(queue.db, "self", LEASE, 3_000);
  await worker("well", "3 s");
  await worker("dead", "8 s");
  const look = async (uptimeMs: number) => {
    await queue.sql(
      `update worker._private_workers
       set metadata = metadata || jsonb_build_object('steady_since_ms', $1::float8) where id = 'self'`,
      [(await databaseTime()) - uptimeMs],
    );
    const { silenceMs } = STEADY;
    return sendHeartbeat(queue.db, { leaseIds: ["self"], metadata: null, silenceMs, ...WELL });
  };
  const { staleWorkerIds, leases } = await look(10_000);
  assert.deepEqual(staleWorkerIds, ["dead"]);
  assert.deepEqual([...leases.keys()], ["self"]);
  assert.equal(leases.get("self")?.isRecovered, false);
  // This uptime of `self` is shorter than the lease of `dead`.
  assert.deepEqual((await look(6_900)).staleWorkerIds, []);
});

test("A lease lasts as long as its worker's row specifies, 300 s by default.", async () => {
  await worker("patient", "30 s", '{"threshold_ms": 90000, "resilient_threshold_ms": 90000}');
  await worker("rust", "4 minutes", '{"hostname": "elsewhere"}');
  await worker("mute", "4 minutes", null);
  await worker("odd", "4 minutes", '["recovered", 1]');
  await worker("rust-dead", "6 minutes", null);
  const ids = ["patient", "rust", "mute", "odd", "rust-dead"];
  assert.deepEqual(await sweep(ids, { uptimeMs: 299_000 }), NOTHING);
  const { workerIds: swept } = await sweep(ids, { uptimeMs: 301_000 });
  assert.deepEqual(swept, ["rust-dead"]);
});

test("A sweep does not change the number of attempts of a job; it sets the job's error, and unlocks named queues.", async () => {
  await worker("dead", "8 s");
  const one = await add("task", {}, { queueName: "line" });
  const last = await add("task", {}, { maxAttempts: 1 });
  for (const { id } of [one, last]) await lockJob(queue, id, "dead", "10 s");
  await queue.sql("update worker._private_job_queues set locked_by = 'dead', locked_at = now()");
  assert.deepEqual(await sweep(["dead"]), { workerIds: ["dead"], jobs: 2, queues: 1, refused: [] });
  const { attempts, is_available, last_error } = (await job(one.id)) ?? {};
  assert.deepEqual([attempts, is_available], [1, true]);
  assert.equal(last_error, "Recovered: worker dead stopped without finishing attempt 1");
  const exhausted = await job(last.id);
  assert.deepEqual([exhausted?.attempts, exhausted?.is_available], [1, false]);
  assert.equal(exhausted?.locked_by, null);
  // A fetch that the worker sent before the first sweep may still commit, so the worker's row stays for a second sweep.
  assert.deepEqual(await sweep(["dead"]), NOTHING);
  await lockJob(queue, one.id, "dead");
  await queue.sql("update worker._private_workers set last_heartbeat_at = now() - interval '61 s'");
  assert.deepEqual(await sweep(["dead"]), { workerIds: ["dead"], jobs: 1, queues: 0, refused: [] });
  assert.deepEqual(await workerIds(), []);
});

test("The error of a job that is recovered again contains the number of recoveries in a row. After another error, the count begins again.", async () => {
  const { id } = await add("task");
  const recovered = async (message: string | null = null) => {
    await worker("dead", "8 s");
    await lockJob(queue, id, "dead", "10 s");
    const called = {
      staleWorkerIds: ["dead"],
      messages: [message],
      delayMs: 0,
      longestGapMs: 4_500,
    };
    const heartbeatAtMs = await databaseTime();
    await recoverStaleWorkers(queue.db, { ...called, uptimeMs: STEADY.uptimeMs, heartbeatAtMs });
    await queue.sql("delete from worker._private_workers");
    return (await job(id))?.last_error;
  };
  assert.equal(await recovered(), "Recovered: worker dead stopped without finishing attempt 1");
  assert.match((await recovered()) ?? "", /^Recovered 2 times in a row: worker dead .* attempt 2$/);
  assert.match((await recovered()) ?? "", /^Recovered 3 times in a row: worker dead .* attempt 3$/);
  assert.equal(await recovered("it %s burned"), "Recovered 4 times in a row: it %s burned");
  await queue.sql("update worker._private_jobs set last_error = 'Error: no'");
  assert.equal(await recovered("it burned"), "it burned");
  assert.equal(await recovered("it burned"), "Recovered 2 times in a row: it burned");
});

test("If recovered jobs are not delayed, a job of a named queue keeps its place, and a job without a named queue comes after the ready jobs.", async () => {
  await worker("dead", "8 s");
  const queued = await add("task", {}, { queueName: "line" });
  const other = await add("task");
  for (const { id } of [queued, other]) await lockJob(queue, id, "dead", "10 s");
  const behind = await add("task", {}, { queueName: "line" });
  await sweep(["dead"]);
  const rows = await queue.sql("select id::text from worker._private_jobs order by run_at");
  assert.deepEqual(
    rows.map(({ id }) => id),
    [queued.id, behind.id, other.id],
  );
});

test("While a job with the flag infrastructure_resilient stays locked by a stale worker, the job's named queue stays locked, too.", async () => {
  await worker("dead", "8 s");
  const jobs = [
    await add("task", {}, { queueName: "line", flags: ["infrastructure_resilient"] }),
    await add("task", {}, { queueName: "line" }),
  ];
  for (const { id } of jobs) await lockJob(queue, id, "dead");
  await queue.sql("update worker._private_job_queues set locked_by = 'dead', locked_at = now()");
  assert.deepEqual(await sweep(["dead"]), { workerIds: ["dead"], jobs: 1, queues: 0, refused: [] });
  await queue.sql("update worker._private_workers set last_heartbeat_at = now() - interval '61 s'");
  assert.deepEqual(await sweep(["dead"]), { workerIds: ["dead"], jobs: 1, queues: 1, refused: [] });
});

test("Of several concurrent sweeps only one recovers the jobs.", async () => {
  await worker("dead", "8 s");
  for (let n = 0; n < 20; n++) await lockJob(queue, (await add("task")).id, "dead");
  const results = await Promise.all([sweep(["dead"]), sweep(["dead"]), sweep(["dead"])]);
  assert.deepEqual(
    results.map(({ jobs }) => jobs).sort((a, b) => a - b),
    [0, 0, 20],
  );
});

test("A worker's sweep that begins during another sweep does nothing, and does not wait.", async () => {
  await worker("dead", "8 s");
  const client = await queue.pool.connect();
  try {
    await client.query("begin");
    const text = "select pg_advisory_xact_lock(hashtextextended('worker recovery worker', 0))";
    await client.query(text);
    assert.deepEqual(await sweep(["dead"]), NOTHING);
    await client.query("commit");
  } finally {
    client.release();
  }
  assert.deepEqual((await sweep(["dead"])).workerIds, ["dead"]);
});

test("A worker whose heartbeat is still running is not recovered.", async () => {
  await worker("late", "8 s");
  const { id } = await add("task");
  await lockJob(queue, id, "late");
  const client = await queue.pool.connect();
  try {
    await client.query("begin");
    await sendHeartbeat(
      { ...queue.db, client },
      { leaseIds: ["late"], metadata: null, silenceMs: null, ...WELL },
    );
    // Before the heartbeat's commit the worker's row is locked. After the commit the lease is renewed.
    assert.deepEqual(await sweep(["late"]), NOTHING);
    await client.query("commit");
  } finally {
    client.release();
  }
  assert.deepEqual(await sweep(["late"]), NOTHING);
  assert.equal((await job(id))?.locked_by, "late");
});

test("A worker that is frozen during a heartbeat is recovered.", async () => {
  await worker("frozen", "8 s");
  const client = await queue.pool.connect();
  client.on("error", () => {});
  const query = client.query.bind(client) as (config: unknown) => Promise<unknown>;
  const beaten = Promise.withResolvers<void>();
  const unlessCommit = (config: unknown) => {
    if (config !== "commit") return query(config);
    beaten.resolve();
    return new Promise(() => {});
  };
  const neverCommits = new Proxy(client, {
    get: (target, name) => (name === "query" ? unlessCommit : Reflect.get(target, name)),
  });
  const connect = (connected: (error: null, client: unknown) => void) =>
    connected(null, neverCommits);
  const pool = { connect } as unknown as pg.Pool;
  const bounds = { statementTimeoutMs: 300, lockTimeoutMs: 300, readOnly: false };
  const db = { ...queue.db, client: boundedQueryable(pool, bounds) };
  const over = sendHeartbeat(db, {
    leaseIds: ["frozen"],
    metadata: null,
    silenceMs: null,
    ...WELL,
  }).catch(() => {});
  await beaten.promise;
  await waitUntil(
    "the frozen worker is recovered",
    async () => (await sweep(["frozen"])).workerIds.length === 1,
  );
  client.release(true);
  void over;
});

test("If a recovered worker sends a heartbeat, the answer shows the recovery. A heartbeat never adds a row for a worker.", async () => {
  await worker("dead", "8 s");
  await sweep(["dead"]);
  const metadata = { id: "dead", text: LEASE };
  const late = await sendHeartbeat(queue.db, {
    leaseIds: ["dead", "gone"],
    metadata,
    silenceMs: null,
    ...WELL,
  });
  assert.deepEqual([...late.leases.keys()], ["dead"]);
  assert.equal(late.leases.get("dead")?.isRecovered, true);
  // The metadata of the previous heartbeat have not overwritten the record of the recovery.
  const again = await sendHeartbeat(queue.db, {
    leaseIds: ["dead"],
    metadata: null,
    silenceMs: null,
    ...WELL,
  });
  assert.equal(again.leases.get("dead")?.isRecovered, true);
  await endLeases(queue.db, ["dead"]);
  assert.deepEqual(await workerIds(), []);
});

test("If a worker was suspended, or the database's clock has jumped, the worker recovers no other workers before its next heartbeat.", async () => {
  await worker("dead", "8 s");
  const now_ms = await databaseTime();
  assert.deepEqual(await sweep(["dead"], { heartbeatAtMs: now_ms - 5_000 }), NOTHING);
  assert.deepEqual(await sweep(["dead"], { heartbeatAtMs: now_ms + 3_600_000 }), NOTHING);
});

test("A sweep skips a job whose row another transaction has locked; the next sweep recovers the job.", async () => {
  await worker("dead", "8 s");
  const ids = [(await add("task")).id, (await add("task")).id];
  for (const id of ids) await lockJob(queue, id, "dead");
  const client = await queue.pool.connect();
  try {
    await client.query("begin");
    const text = "select from worker._private_jobs where id = $1 for update";
    await client.query(text, [ids[0]]);
    assert.equal((await sweep(["dead"])).jobs, 1);
    await client.query("commit");
  } finally {
    client.release();
  }
  assert.equal((await sweep(["dead"])).jobs, 1);
  assert.deepEqual(await sweep(["dead"]), NOTHING);
});

test("Locks older than 4 hours are reset unless their worker has a row in _private_workers.", async () => {
  const [old, young] = [await add("task", {}, { queueName: "old" }), await add("task")];
  await lockJob(queue, old.id, "stock-worker", "4 hours 1 minute");
  await lockJob(queue, young.id, "stock-worker", "3 hours 59 minutes");
  await queue.sql(`update worker._private_job_queues
    set locked_by = 'stock-worker', locked_at = now() - interval '5 hours'`);
  await worker("away", "9 hours");
  const long = await add("task", {}, { queueName: "long" });
  await lockJob(queue, long.id, "away", "9 hours");
  await queue.sql(`update worker._private_job_queues
    set locked_by = 'away', locked_at = now() - interval '9 hours' where queue_name = 'long'`);
  assert.deepEqual(await resetStaleLocks(queue.db, STALE_LOCK_MS), {
    jobs: 1,
    queues: 1,
    refused: [],
  });
  const { attempts, locked_by, last_error } = (await job(old.id)) ?? {};
  assert.deepEqual([attempts, locked_by], [1, null]);
  assert.match(last_error ?? "", /^Recovered: worker stock-worker held attempt 1 for more than 4/);
  assert.equal((await job(young.id))?.locked_by, "stock-worker");
  assert.equal((await job(long.id))?.locked_by, "away");
});

/** Adds a worker whose heartbeats have succeeded for `uptimeMs` without a gap. */
async function steadyWorker(id: string, uptimeMs: number): Promise<void> {
  const steady_since_ms = (await databaseTime()) - uptimeMs;
  await worker(id, "1 s", JSON.stringify({ ...JSON.parse(LEASE), steady_since_ms }));
}

test("After an outage of hours, an absent worker keeps its row and its locks until another worker has sent heartbeats for as long as the absent worker's lease.", async () => {
  await worker("away", "5 hours");
  await worker("short", "1 hour");
  const { id } = await add("task", {}, { queueName: "line" });
  await lockJob(queue, id, "away", "5 hours");
  const reset = async () => {
    await deleteStaleWorkers(queue.db, STALE_LOCK_MS);
    return (await resetStaleLocks(queue.db, STALE_LOCK_MS)).jobs;
  };
  // At first no worker sends heartbeats. The uptime of `back` is shorter than the lease of `away`.
  assert.equal(await reset(), 0);
  await steadyWorker("back", 6_000);
  assert.equal(await reset(), 0);
  assert.deepEqual(await workerIds(), ["away", "back", "short"]);
  await steadyWorker("steady", 8_000);
  assert.equal(await reset(), 1);
  assert.deepEqual(await workerIds(), ["back", "short", "steady"]);
});

test("When the database's clock jumps ahead, the next reset of old locks unlocks no job of a worker that still runs.", async () => {
  await steadyWorker("first", 60_000);
  await steadyWorker("second", 60_000);
  const { id } = await add("task");
  await lockJob(queue, id, "second", "1 minute");
  await queue.sql(`update worker._private_jobs set locked_at = locked_at - interval '5 hours'`);
  await queue.sql(`update worker._private_workers
    set last_heartbeat_at = last_heartbeat_at - interval '5 hours'`);
  await deleteStaleWorkers(queue.db, STALE_LOCK_MS);
  assert.equal((await resetStaleLocks(queue.db, STALE_LOCK_MS)).jobs, 0);
});

test("If there was certainly no outage, a worker that sends no heartbeats deletes the rows of workers that stopped hours ago.", async () => {
  await worker("dead", "5 hours");
  await deleteStaleWorkers(queue.db, STALE_LOCK_MS, true);
  assert.deepEqual(await workerIds(), []);
});

test("A worker whose lease is longer than 4 hours keeps its row and its locks until the lease has expired.", async () => {
  const days = '{"threshold_ms": 86400000, "resilient_threshold_ms": 86400000}';
  await worker("patient", "5 hours", days);
  await worker("over", "25 hours", days);
  await steadyWorker("steady", 86_500_000);
  const [mine, theirs] = [await add("task"), await add("task")];
  await lockJob(queue, mine.id, "patient", "5 hours");
  await lockJob(queue, theirs.id, "over", "25 hours");
  await deleteStaleWorkers(queue.db, STALE_LOCK_MS);
  assert.deepEqual(await workerIds(), ["patient", "steady"]);
  assert.equal((await resetStaleLocks(queue.db, STALE_LOCK_MS)).jobs, 1);
  assert.equal((await job(mine.id))?.locked_by, "patient");
});

test("If a running job has an old lock, all old locks of its worker are renewed, and no locks of other workers.", async () => {
  const spec = { queueName: "line" };
  const [runs, waits] = [await add("task", {}, spec), await add("task", {}, spec)];
  const [other, stock] = [await add("task"), await add("task")];
  for (const { id } of [runs, waits]) await lockJob(queue, id, "me", "3 hours");
  await lockJob(queue, other.id, "me", "1 minute");
  await lockJob(queue, stock.id, "stock-worker", "3 hours");
  await queue.sql(`update worker._private_job_queues
    set locked_by = 'me', locked_at = now() - interval '3 hours'`);
  const hours = [other.id, stock.id];
  // Neither of these two jobs has an old lock of the worker `me`, so no lock is renewed.
  assert.deepEqual(await renewLocks(queue.db, "me", hours, 3_600_000), { jobs: 0, queues: 0 });
  assert.deepEqual(await renewLocks(queue.db, "me", [runs.id], 3_600_000), { jobs: 2, queues: 1 });
  const rows = await queue.sql(
    "select id::text, locked_at > now() - interval '1 minute' as is_young from worker._private_jobs order by id",
  );
  assert.deepEqual(
    rows.map(({ is_young }) => is_young),
    [true, true, false, false],
  );
});

test("A sweep ends idle transactions of stale workers, because they may hold row locks on jobs. Transactions of other workers continue.", async () => {
  await worker("dead", "8 s");
  await worker("alive", "0 s");
  const ids = [(await add("task")).id, (await add("task")).id];
  const clients = await Promise.all(
    ["dead", "alive"].map(async (name, place) => {
      const client = await queue.pool.connect();
      client.on("error", () => {});
      await markConnection({ ...queue.db, client }, name);
      await client.query("begin");
      const id = ids[place];
      await client.query("select from worker._private_jobs where id = $1 for update", [id]);
      return client;
    }),
  );
  try {
    assert.deepEqual(await sweep(["dead", "alive"]), { ...NOTHING, workerIds: ["dead"] });
    const free = await queue.sql<{ id: string }>(
      "select id::text from worker._private_jobs for update skip locked",
    );
    assert.deepEqual(
      free.map(({ id }) => id),
      ids.slice(0, 1),
    );
  } finally {
    for (const client of clients) client.release(true);
  }
});

test("A job that PostgreSQL refuses to change does not prevent the recovery of other jobs.", async () => {
  await worker("dead", "8 s");
  const jobs = [];
  for (let n = 0; n < 9; n++) {
    jobs.push(await add("task", { n }, n % 3 === 0 ? { queueName: `q${n}` } : {}));
  }
  for (const { id } of jobs) await lockJob(queue, id, "dead", "10 s");
  await queue.sql("update worker._private_job_queues set locked_by = 'dead', locked_at = now()");
  const [bad = "", other = "", skipped = ""] = [jobs[3], jobs[7], jobs[8]].map(
    (job) => `${job?.id}`,
  );
  await queue.sql(`create function public.refuse() returns trigger language plpgsql as
      'begin if new.locked_by is null and old.id in (${bad}, ${other}) then raise exception ''not %'', old.id; end if;
      if new.locked_by is null and old.id = ${skipped} then return null; end if; return new; end';
    create trigger refuse before update on worker._private_jobs for each row execute function public.refuse()`);
  try {
    const { workerIds: swept, jobs: count, refused } = await sweep(["dead"]);
    assert.deepEqual([swept, count], [["dead"], 6]);
    assert.deepEqual(
      refused.map(({ id, error }) => [id, (error as Error).message]),
      [
        ...[bad, other].map((id) => [id, `PostgreSQL: not ${id}`]),
        [skipped, 'the update of its row is skipped by the trigger "refuse"'],
      ],
    );
    const left = await queue.sql("select id from worker._private_jobs where locked_by = 'dead'");
    assert.equal(left.length, 3);
    const lines = await queue.sql<{ name: string }>(
      "select queue_name as name from worker._private_job_queues where locked_by = 'dead'",
    );
    assert.deepEqual(lines, [{ name: "q3" }]);
  } finally {
    await queue.sql("drop function public.refuse cascade");
  }
  // The worker `dead` was not marked as recovered, so the next sweep finds it.
  assert.equal((await sweep(["dead"])).jobs, 3);
});
