// Tests a trigger that delays the lock of one job for longer than a fetch may take. The fetch is repeated with a limit
// of a minute, which is also too short. Later fetches leave the job out.
import assert from "node:assert/strict";
import { test } from "node:test";
import { recorder, recordingTask, waitUntil, workerQueue } from "../worker-queue.ts";

const queue = workerQueue();

test("A job that cannot be locked within a minute is logged with its id, and all other jobs run.", async (t) => {
  t.after(() => queue.sql("drop function if exists public.slow cascade"));
  const task = recordingTask<number>("task");
  const { lines, logger } = recorder();
  const jobs = await queue.utils.addJobs(
    Array.from({ length: 5 }, (_, n) => ({ identifier: "task", payload: n })),
  );
  await queue.sql(`create function public.slow() returns trigger language plpgsql as $$ begin
      if old.payload::text = '2' then perform pg_sleep(100); end if; return new; end $$;
    create trigger slow before update on worker._private_jobs
    for each row execute function public.slow()`);
  await queue.startWorker({ tasks: [task], logger, pollIntervalMs: 50, connections: 1 });
  await waitUntil(
    "all other jobs are done",
    async () => (await queue.remaining()).length === 1,
    120_000,
  );
  const named = lines.filter(({ message }) => /refuses to lock a job/.test(message));
  assert.deepEqual(
    named.map(({ fields }) => fields["job_id"]),
    [jobs[2]?.id],
  );
  assert.ok(!lines.some(({ message }) => /is unreachable/.test(message)), "no outage is logged");
});
