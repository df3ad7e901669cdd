// Slow fetches, as with millions of ready jobs that only other workers can run.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { LONG_FETCH } from "../../../src/worker/fetch/fetch-plan.ts";
import { recorder, recordingTask, waitUntil, workerQueue } from "../worker-queue.ts";

const queue = workerQueue();

/** Makes each fetch of a worker take `seconds`. */
async function slowFetches(t: TestContext, seconds: number): Promise<void> {
  await queue.sql(`create function worker.slowly() returns boolean language plpgsql as $$ begin
      if current_setting('application_name') in ('worker connection', 'worker fast lane')
        and clock_timestamp() < statement_timestamp() + interval '${seconds} s'
      then perform pg_sleep(${seconds}); end if;
      return true;
    end $$`);
  await queue.sql("alter table worker._private_tasks rename to _private_task_rows");
  await queue.sql(`create view worker._private_tasks as
    select * from worker._private_task_rows where worker.slowly()`);
  t.after(() =>
    queue.sql(`drop view worker._private_tasks; drop function worker.slowly;
      alter table worker._private_task_rows rename to _private_tasks`),
  );
}

const fetching = `select pid from pg_stat_activity
  where datname = current_database() and state = 'active' and wait_event = 'PgSleep'`;

for (const fastLane of [false, true]) {
  const kind = fastLane ? "fast" : "safe";

  test(`A fetch that times out is repeated with more time (${kind}).`, async (t) => {
    const { lines, logger } = recorder();
    const slow = recordingTask("slow");
    await queue.startWorker({ tasks: [slow], logger, fastLane, pollIntervalMs: 60_000 });
    await queue.utils.addJob("slow");
    await waitUntil("one has run", () => slow.seen.length === 1);
    // PostgreSQL cancels a fetch after 6.5 s.
    await slowFetches(t, 9);
    await queue.utils.addJob("slow");
    await waitUntil("another one has run", () => slow.seen.length === 2, 90_000);
    await waitUntil("it is gone", async () => (await queue.remaining()).length === 0, 30_000);
    assert.equal(slow.seen.length, 2);
    const warnings = lines.filter(({ level }) => level === "warn");
    const messages = new Set(warnings.map(({ message }) => message));
    assert.ok(messages.delete(LONG_FETCH) || fastLane);
    messages.delete(
      "the database is unreachable; running jobs continue and their results are kept",
    );
    assert.deepEqual([...messages], []);
  });

  test(`A slow fetch does not count as a dead connection (${kind}).`, async (t) => {
    const slow = recordingTask("slow");
    await queue.startWorker({ tasks: [slow], fastLane, pollIntervalMs: 60_000 });
    await queue.utils.addJob("slow");
    await waitUntil("one has run", () => slow.seen.length === 1);
    await slowFetches(t, 7);
    await queue.utils.addJob("slow");
    await waitUntil("it is looked for", async () => (await queue.sql(fetching)).length > 0);
    // After the loss of one connection all others must answer, idle ones within five seconds.
    await queue.sql(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query like 'listen %' and state = 'idle'`);
    await waitUntil("the job has run", () => slow.seen.length === 2, 15_000);
    await waitUntil("it is gone", async () => (await queue.remaining()).length === 0, 30_000);
    assert.equal(slow.seen.length, 2);
  });
}
