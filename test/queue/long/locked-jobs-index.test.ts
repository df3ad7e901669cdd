// With the optional index of locked jobs, each of three statements reads fewer than 20 of 5,000 jobs: the recovery of a
// stale worker's jobs, the return of jobs that a fetch has locked before its connection was lost, and the reset of old
// locks.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Database } from "../../../src/database/database.ts";
import {
  indexDefinition,
  optionalIndex,
} from "../../../src/database/schema/indexes/optional-index.ts";
import { returnUnknownJobs } from "../../../src/queue/settle/give-back.ts";
import { recoverStaleWorkers } from "../../../src/queue/workers/recover-jobs.ts";
import { resetStaleLocks } from "../../../src/queue/workers/reset-stale-locks.ts";
import { SESSION_SETTINGS } from "../../../src/worker/connection/session-settings.ts";
import { heartbeat, lockJob, testQueue } from "../queue-database.ts";

const queue = testQueue();
const JOBS = 5_000;

/** Builds the index, and adds 5,000 jobs. A stale worker has locked the first of them. */
async function addJobs(): Promise<void> {
  const index = indexDefinition(optionalIndex("running"));
  await queue.sql(
    `create index if not exists worker_jobs_running on worker._private_jobs ${index}`,
  );
  await queue.sql("select count(worker.add_job('t')) from generate_series(1, $1)", [JOBS]);
  await heartbeat(queue, "dead", { threshold_ms: 7_000, resilient_threshold_ms: 7_000 });
  await queue.sql(
    "update worker._private_workers set last_heartbeat_at = now() - interval '5 hours'",
  );
  await lockJob(queue, "1", "dead", "5 hours");
  await queue.sql("analyze worker._private_jobs");
}

/** Returns the result of `work`, and whether it has read fewer than 20 rows of the table of jobs. */
async function reading<T>(
  work: (db: Database) => Promise<T>,
  settings = "set plan_cache_mode = auto",
): Promise<[T, boolean]> {
  const client = await queue.pool.connect();
  try {
    await client.query(`begin; ${settings}`);
    const rowsRead = async () => {
      const { rows } = await client.query<{ read: number }>(
        `select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as read
         from pg_stat_xact_user_tables where schemaname = 'worker' and relname = '_private_jobs'`,
      );
      return rows[0]?.read ?? JOBS;
    };
    // The count may include reads of earlier transactions on this connection, so the count before `work` is subtracted.
    const before = await rowsRead();
    const result = await work({ ...queue.db, client });
    const isFew = (await rowsRead()) - before < 20;
    await client.query("commit");
    return [result, isFew];
  } finally {
    client.release(true);
  }
}

test("The recovery of a stale worker's jobs reads fewer than 20 jobs.", async () => {
  await addJobs();
  const heartbeatAtMs = Date.now();
  const called = { staleWorkerIds: ["dead"], messages: [null], delayMs: 0, heartbeatAtMs };
  const [{ jobs }, isFew] = await reading((db) =>
    recoverStaleWorkers(db, { ...called, uptimeMs: 10_000, longestGapMs: 60_000 }),
  );
  assert.deepEqual([jobs, isFew], [1, true]);
});

test("To give back the jobs of a lost fetch, fewer than 20 jobs are read.", async () => {
  await addJobs();
  const work = async (db: Database) => (await returnUnknownJobs(db, "dead", [], [])).jobs;
  assert.deepEqual(await reading(work, SESSION_SETTINGS), [1, true]);
});

test("The reset of locks older than 4 hours reads fewer than 20 jobs.", async () => {
  await addJobs();
  await queue.sql("delete from worker._private_workers");
  const [{ jobs }, isFew] = await reading((db) => resetStaleLocks(db, 4 * 3_600_000));
  assert.deepEqual([jobs, isFew], [1, true]);
});
