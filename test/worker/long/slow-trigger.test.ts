// A trigger makes the deletion of one job take longer than the time limit of a statement. The worker then writes the
// results of the batch one by one, so that only this job's result is late or refused.
import assert from "node:assert/strict";
import { test } from "node:test";
import { recorder, recordingTask, waitUntil, workerQueue } from "../worker-queue.ts";

const queue = workerQueue();

const SLOW_DELETE = (condition: string) => `
  create function public.slow() returns trigger language plpgsql as $$ begin
    if ${condition} then perform pg_sleep(7); end if; return old; end $$;
  create trigger slow before delete on worker._private_jobs
  for each row execute function public.slow()`;

for (const fastLane of [false, true]) {
  const fate = fastLane
    ? "has a failed attempt"
    : "stays locked after its result was sent three times";
  test(`A job whose deletion takes too long ${fate}; the other jobs are done (${fastLane ? "fast" : "safe"}).`, async (t) => {
    t.after(() => queue.sql("drop function if exists public.slow cascade"));
    const task = recordingTask<number>("task");
    const { lines, logger } = recorder();
    const jobs = await queue.utils.addJobs(
      Array.from({ length: 20 }, (_, n) => ({ identifier: "task", payload: n })),
    );
    const id = jobs[7]?.id ?? "";
    await queue.sql(SLOW_DELETE(`old.id = ${id}`));
    const options = { tasks: [task], fastLane, logger, pollIntervalMs: 50, concurrency: 5 };
    await queue.startWorker(options);
    const hasEnded = async () => {
      const left = await queue.remaining();
      if (left.length !== 1) return false;
      if (fastLane) return left[0]?.last_error !== null && left[0]?.locked_by === null;
      return lines.some(({ message }) => /the job stays locked/.test(message));
    };
    await waitUntil("the slow job has ended, and all other jobs are done", hasEnded, 60_000);
    const [left] = await queue.remaining();
    assert.equal(left?.id, id);
    if (fastLane)
      assert.match(left?.last_error ?? "", /refuses the result of the job: .*PL\/pgSQL|pg_sleep/);
    else assert.equal(task.seen.filter((n) => n === 7).length, 1);
    assert.ok(!lines.some(({ message }) => /is unreachable/.test(message)), "no outage is logged");
    await queue.sql("drop function public.slow cascade");
    await queue.utils.addJob("task", 100);
    await waitUntil("another job runs", () => task.seen.includes(100));
  });
}

test("A job whose deletion is slow at first is done in the end, and runs once.", async (t) => {
  t.after(() =>
    queue.sql("drop function if exists public.slow cascade; drop sequence public.calls"),
  );
  const task = recordingTask<number>("task");
  const { lines, logger } = recorder();
  // The trigger counts its calls in a sequence, because a sequence also counts calls that are rolled back. The first
  // two deletions time out: first with the batch of results, then for this job alone. The third deletion, after a
  // pause, is quick.
  await queue.sql(`create sequence public.calls; ${SLOW_DELETE("nextval('public.calls') <= 2")}`);
  await queue.utils.addJob("task", 1);
  await queue.startWorker({ tasks: [task], logger, pollIntervalMs: 50 });
  await waitUntil("the job is done", async () => (await queue.remaining()).length === 0, 60_000);
  assert.deepEqual(task.seen, [1]);
  assert.ok(lines.some(({ message }) => /it is sent again/.test(message)));
});
