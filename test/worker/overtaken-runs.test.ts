// Tests pauses of a named queue that begin during a run of the queue. Such a pause does not end before the run. To find
// out whether the run has ended, all jobs are searched only if the run's worker sends no heartbeats, or if the worker's
// jobs were recovered.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { endDuePauses } from "../../src/queue/pauses/pause.ts";
import { migratedDatabase } from "../support/database.ts";
import { latch, recordingTask, waitUntil, workerQueue } from "./worker-queue.ts";

const queue = workerQueue(() => migratedDatabase("worker", ["controls"]));
beforeEach(() => queue.sql("truncate worker._private_pauses"));

const add = (count: number) =>
  queue.utils.addJobs(
    Array.from({ length: count }, () => ({ identifier: "task", spec: { queueName: "q" } })),
  );

const expire = () => queue.sql("update worker._private_pauses set resume_at = now()");

const lock = async () => {
  const text = "select locked_by from worker._private_job_queues";
  return (await queue.sql<{ locked_by: string | null }>(text))[0]?.locked_by;
};

/** Ends the pauses that are due. `scans`: how often the whole table of jobs was scanned. */
async function end(): Promise<[ended: number, scans: number]> {
  const client = await queue.pool.connect();
  try {
    const scans = async () => {
      const { rows } = await client.query<{ scans: number }>(`select seq_scan::int as scans
        from pg_stat_xact_user_tables where schemaname = 'worker' and relname = '_private_jobs'`);
      return rows[0]?.scans ?? 0;
    };
    await client.query("begin");
    // The view may also count scans of earlier transactions of the connection, so these scans are subtracted.
    const before = await scans();
    const ended = await endDuePauses({ ...queue.utils.database, client });
    const all = await scans();
    await client.query("commit");
    return [ended, all - before];
  } finally {
    client.release(true);
  }
}

test("The pause of a queue that was idle ends without a scan of the jobs.", async () => {
  await add(1);
  await queue.utils.pauseQueue("q", {
    reason: "two\nlines",
    resumeAt: new Date(Date.now() + 60_000),
  });
  assert.equal(await lock(), "paused:two lines");
  await expire();
  assert.deepEqual(await end(), [1, 0]);
  assert.equal(await lock(), null);
});

test("While a job of a paused queue still runs, the queue's lock contains the id of the job's worker; after the pause the next job runs.", async () => {
  const [started, over] = [latch(), latch()];
  const task = recordingTask("task", async () => {
    started.open();
    await over.opened;
  });
  await add(2);
  await queue.startWorker({ tasks: [task], concurrency: 2 });
  await started.opened;
  const worker = await lock();
  const resumeAt = new Date(Date.now() + 60_000);
  await queue.utils.pauseQueue("q", { reason: "deploy", resumeAt });
  await queue.utils.pauseQueue("q", { reason: "again", resumeAt });
  assert.equal(await lock(), `paused:again\n${worker}`);
  assert.deepEqual(await queue.utils.listLockedWorkers().then((all) => all.length), 1);
  over.open();
  await waitUntil(
    "the lock does not contain the worker's id any more",
    async () => (await lock()) === "paused:again",
  );
  assert.equal(task.seen.length, 1);
  await expire();
  await waitUntil("the second job has run", () => task.seen.length === 2);
});

test("The pause of a queue does not end while a job of the queue runs; if the worker of the job has a heartbeat row, the jobs are not scanned.", async () => {
  await add(2);
  await queue.sql("select worker.worker_heartbeat('w', '{}')");
  await queue.sql(
    "update worker._private_jobs set locked_by = 'w', locked_at = now() where id = 1",
  );
  await queue.sql("update worker._private_job_queues set locked_by = 'w', locked_at = now()");
  await queue.utils.pauseQueue("q", { resumeAt: new Date(Date.now() + 60_000) });
  await expire();
  assert.deepEqual(await end(), [0, 0]);
  // Without the worker's row, for example after a recovery, the jobs are searched for a locked job of the queue.
  await queue.sql("delete from worker._private_workers");
  assert.equal((await end())[0], 0);
  await queue.sql("update worker._private_jobs set locked_by = null, locked_at = null");
  assert.equal((await end())[0], 1);
  assert.equal(await lock(), null);
});
