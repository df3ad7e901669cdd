// Tests what happens if PostgreSQL refuses to change some jobs or a named queue during a recovery, a reset of old
// locks, or the return of jobs after a lost fetch: all other changes are made, and the refused changes are reported.
import assert from "node:assert/strict";
import { test } from "node:test";
import type pg from "pg";
import type { Database, Queryable } from "../../src/database/database.ts";
import { returnUnknownJobs } from "../../src/queue/settle/give-back.ts";
import { recoverByHand, recoverStaleWorkers } from "../../src/queue/workers/recover-jobs.ts";
import { resetStaleLocks, STALE_LOCK_MS } from "../../src/queue/workers/reset-stale-locks.ts";
import { lockJob, testQueue } from "../queue/queue-database.ts";
import { jobsOf } from "./recovery-jobs.ts";

const queue = testQueue();
const { add } = jobsOf(queue);

async function dead(...ids: readonly string[]): Promise<void> {
  await queue.sql(
    `insert into worker._private_workers (id, last_heartbeat_at, metadata)
     select id, now() - interval '8 s', '{"threshold_ms": 7000, "resilient_threshold_ms": 60000}'
     from unnest($1::text[]) as id`,
    [ids],
  );
}

const sweep = (...ids: readonly string[]) => sweepOn(queue.db, ...ids);

async function sweepOn(db: Database, ...ids: readonly string[]) {
  const [row] = await queue.sql<{ now_ms: number }>(
    "select extract(epoch from now())::float8 * 1000 as now_ms",
  );
  return recoverStaleWorkers(db, {
    ...{ staleWorkerIds: ids, messages: ids.map(() => null), delayMs: 0 },
    ...{ uptimeMs: 10_000, heartbeatAtMs: row?.now_ms ?? 0, longestGapMs: 60_000 },
  });
}

/**
 * Returns the number of scans of the whole table of jobs on the connection. The number may include scans of earlier
 * transactions.
 */
async function scansOn(client: pg.PoolClient): Promise<number> {
  const { rows } = await client.query<{ scans: number }>(`select seq_scan::int as scans
    from pg_stat_xact_user_tables where schemaname = 'worker' and relname = '_private_jobs'`);
  return rows[0]?.scans ?? 0;
}

/** Runs `work` while a trigger, as an application may have, refuses updates of rows that match `when`. */
async function refusing(table: string, when: string, work: () => Promise<void>): Promise<void> {
  await queue.sql(`create function public.refuse() returns trigger language plpgsql as
      'begin if ${when} then raise exception ''refused''; end if; return new; end';
    create trigger refuse before update on worker.${table} for each row execute function public.refuse()`);
  try {
    await work();
  } finally {
    await queue.sql("drop function public.refuse cascade");
  }
}

test("A queue that cannot be unlocked stays locked, and the error is returned; all jobs of the stale workers are recovered.", async () => {
  await dead("a", "b", "c");
  for (const id of ["a", "c"]) {
    const { id: job } = await add("task");
    await lockJob(queue, job, id, "10 s");
  }
  const { id: queued } = await add("task", {}, { queueName: "q" });
  await lockJob(queue, queued, "b", "10 s");
  await queue.sql("update worker._private_job_queues set locked_by = 'b', locked_at = now()");
  await refusing("_private_job_queues", "new.locked_by is null", async () => {
    const { workerIds, jobs, refused, failure } = await sweep("a", "b", "c");
    assert.deepEqual([workerIds.toSorted(), jobs, refused], [["a", "c"], 3, []]);
    assert.match(String(failure), /refused/);
    await dead("d");
    const left = await sweep("b", "d");
    assert.deepEqual([left.workerIds, left.jobs], [["d"], 0]);
    assert.match(String(left.failure), /refused/);
    const byHand = { hasHeartbeats: true, isDry: false, thresholdMs: 0, delayMs: 0 };
    await assert.rejects(
      recoverByHand(queue.db, { ...byHand, staleWorkerIds: ["b"], unknownWorkerIds: [] }),
      /refused/,
    );
  });
  assert.deepEqual((await sweep("b")).workerIds, ["b"]);
});

test("One refused job among thousands is found, and all other jobs are recovered.", async () => {
  await dead("a");
  await queue.sql(`select count(worker.add_job('task')) from generate_series(1, 2500)`);
  await queue.sql(
    "update worker._private_jobs set locked_by = 'a', locked_at = now() - interval '10 s'",
  );
  const [{ last = "" } = {}] = await queue.sql<{ last: string }>(
    "select max(id)::text as last from worker._private_jobs",
  );
  await refusing("_private_jobs", `new.locked_by is null and old.id = ${last}`, async () => {
    const { jobs, refused } = await sweep("a");
    assert.equal(jobs, 2_499);
    assert.deepEqual(
      refused.map(({ id }) => id),
      [last],
    );
  });
});

test("The search for a refused job scans the whole table of jobs only a few times.", async () => {
  await dead("a");
  await queue.sql(`select count(worker.add_job('task')) from generate_series(1, 6000)`);
  await queue.sql(`update worker._private_jobs set locked_by = 'a', locked_at = now() - interval '10 s'
    where id <= (select min(id) + 255 from worker._private_jobs)`);
  await queue.sql("analyze worker._private_jobs");
  const client = await queue.pool.connect();
  // All statements run in one transaction. There, scansOn() also counts the scans of statements that fail.
  const query = async (config: pg.QueryConfig) => {
    await client.query("savepoint one");
    return client.query(config).catch(async (error: unknown) => {
      await client.query("rollback to one");
      throw error;
    });
  };
  await refusing("_private_jobs", "new.locked_by is null and old.id % 256 = 7", async () => {
    try {
      await client.query("begin");
      const before = await scansOn(client);
      const { jobs, refused } = await sweepOn({ ...queue.db, client: { query } as Queryable }, "a");
      assert.deepEqual([jobs, refused.length], [255, 1]);
      const scans = (await scansOn(client)) - before;
      assert.ok(scans <= 4, `${scans} scans`);
    } finally {
      client.release(true);
    }
  });
});

test("A job whose old lock cannot be reset stays locked; all other old locks are reset, including the lock of the queue.", async () => {
  await queue.sql(
    `select count(worker.add_job('task', queue_name := 'q')) from generate_series(1, 20)`,
  );
  await queue.sql(
    "update worker._private_jobs set locked_by = 'stock', locked_at = now() - interval '5 hours'",
  );
  await queue.sql(
    "update worker._private_job_queues set locked_by = 'stock', locked_at = now() - interval '5 hours'",
  );
  await refusing("_private_jobs", "new.locked_by is null and old.id % 20 = 7", async () => {
    const client = await queue.pool.connect();
    try {
      const db = { ...queue.db, client };
      const { jobs, queues, refused } = await resetStaleLocks(db, STALE_LOCK_MS);
      assert.deepEqual([jobs, queues, refused.length], [19, 1, 1]);
      assert.match(String(refused[0]?.error), /refused/);
    } finally {
      client.release();
    }
  });
});

test("If every job is refused, the search ends, and reports all of the jobs.", async () => {
  await dead("a");
  await queue.sql(`select count(worker.add_job('task')) from generate_series(1, 30)`);
  await queue.sql(
    "update worker._private_jobs set locked_by = 'a', locked_at = now() - interval '10 s'",
  );
  await refusing("_private_jobs", "new.locked_by is null", async () => {
    const { jobs, refused } = await sweep("a");
    assert.deepEqual([jobs, refused.length], [0, 30]);
  });
});

test("After a lost fetch, a job that cannot be unlocked does not prevent the unlocking of the other jobs.", async () => {
  const held = await add("task");
  const lost = await Promise.all(Array.from({ length: 5 }, () => add("task")));
  const ids = lost.map(({ id }) => id);
  for (const id of [held.id, ...ids]) await lockJob(queue, id, "us");
  await refusing("_private_jobs", `new.id = ${ids[2]}`, async () => {
    const { jobs, refused } = await returnUnknownJobs(queue.db, "us", [held.id], []);
    assert.equal(jobs, 4);
    assert.deepEqual(
      refused.map(({ id }) => id),
      [ids[2]],
    );
  });
  const locked = await queue.sql<{ id: string }>(
    "select id::text from worker._private_jobs where locked_by = 'us' order by id",
  );
  assert.deepEqual(
    locked.map(({ id }) => id),
    [held.id, ids[2]],
  );
});
