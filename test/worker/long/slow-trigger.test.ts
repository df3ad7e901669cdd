// A trigger that exceeds the time limit of a statement for one job, which is written alone and fails, or is not fetched.
import assert from "node:assert/strict";
import { test } from "node:test";
import { recorder, recordingTask, waitUntil, workerQueue } from "../worker-queue.ts";

const queue = workerQueue();

for (const fastLane of [false, true]) {
  test(`Only the job whose deletion takes too long fails, fast lane: ${fastLane}.`, async (t) => {
    t.after(() => queue.sql("drop function if exists public.slow cascade"));
    const task = recordingTask<number>("task");
    const { lines, logger } = recorder();
    const jobs = await queue.utils.addJobs(
      Array.from({ length: 20 }, (_, n) => ({ identifier: "task", payload: n })),
    );
    const id = jobs[7]?.id ?? "";
    await queue.sql(`create function public.slow() returns trigger language plpgsql as $$ begin
        if old.id = ${id} then perform pg_sleep(7); end if; return old; end $$;
      create trigger slow before delete on worker._private_jobs
      for each row execute function public.slow()`);
    const options = { tasks: [task], fastLane, logger, pollIntervalMs: 50, concurrency: 5 };
    await queue.startWorker(options);
    const hasFailed = async () => {
      const left = await queue.remaining();
      return left.length === 1 && left[0]?.last_error !== null && left[0]?.locked_by === null;
    };
    await waitUntil("it has failed, and all others are done", hasFailed, 60_000);
    const [left] = await queue.remaining();
    assert.equal(left?.id, id);
    assert.match(left?.last_error ?? "", /refuses the result of the job: .*PL\/pgSQL|pg_sleep/);
    assert.ok(!lines.some(({ message }) => /is unreachable/.test(message)), "no outage is logged");
    await queue.sql("drop function public.slow cascade");
    await queue.utils.addJob("task", 100);
    await waitUntil("another one runs", () => task.seen.includes(100));
  });
}

test("A job that cannot be locked within a minute is named, and those behind it run.", async (t) => {
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
    "all others are done",
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
