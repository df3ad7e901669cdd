// Tests what a worker does while its fetches are slow. A fetch is slow, for example, if there are millions of ready
// jobs that only other workers can run.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { schemaName } from "../../../src/database/schema-name.ts";
import { WorkerConnection } from "../../../src/worker/connection/worker-connection.ts";
import { LONG_FETCH } from "../../../src/worker/fetch/fetch-plan.ts";
import { tcpProxy } from "../../support/tcp-proxy.ts";
import { latch, recorder, recordingTask, waitUntil, workerQueue } from "../worker-queue.ts";

const queue = workerQueue();

/** Makes each fetch take at least `seconds` seconds, unless the fetch is cancelled. */
async function slowFetches(t: TestContext, seconds: number): Promise<void> {
  await queue.sql(`create function worker.slowly() returns boolean language plpgsql as $$ begin
      if current_query() like '%skip locked%'
        and current_setting('application_name') in ('worker connection', 'worker fast lane')
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
    await waitUntil("the first job has run", () => slow.seen.length === 1);
    // PostgreSQL cancels a fetch after 6.5 s.
    await slowFetches(t, 9);
    await queue.utils.addJob("slow");
    await waitUntil("the second job has run", () => slow.seen.length === 2, 90_000);
    await waitUntil(
      "both jobs are done",
      async () => (await queue.remaining()).length === 0,
      30_000,
    );
    assert.equal(slow.seen.length, 2);
    const warnings = lines.filter(({ level }) => level === "warn");
    const messages = new Set(warnings.map(({ message }) => message));
    assert.ok(messages.delete(LONG_FETCH) || fastLane);
    messages.delete(
      "the database is unreachable; running jobs continue and their results are kept",
    );
    assert.deepEqual([...messages], []);
  });

  test(`A connection with a slow fetch is not closed when the worker loses another connection (${kind}).`, async (t) => {
    const slow = recordingTask("slow");
    await queue.startWorker({ tasks: [slow], fastLane, pollIntervalMs: 60_000 });
    await queue.utils.addJob("slow");
    await waitUntil("the first job has run", () => slow.seen.length === 1);
    await slowFetches(t, 7);
    await queue.utils.addJob("slow");
    await waitUntil("the fetch runs", async () => (await queue.sql(fetching)).length > 0);
    // A worker that loses one connection tests its others, and closes those that do not answer within seconds.
    await queue.sql(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query like 'listen %' and state = 'idle'`);
    // In the safe mode, at most one fetch with the longer time limit is sent at a time. So the job may have to wait
    // until such a fetch has ended.
    await waitUntil("the second job has run", () => slow.seen.length === 2, 30_000);
    await waitUntil(
      "both jobs are done",
      async () => (await queue.remaining()).length === 0,
      30_000,
    );
    assert.equal(slow.seen.length, 2);
  });
}

/**
 * Starts a job and a slow fetch, and waits until the fetch has timed out and is sent again with more time. Returns a
 * function that ends the job and waits until the job's result is written.
 */
async function jobBesideSlowFetch(t: TestContext) {
  const { lines, logger } = recorder();
  const gate = latch();
  const held = recordingTask("held", () => gate.opened);
  const tasks = [held, recordingTask("slow")];
  await queue.startWorker({ tasks, logger, connections: 2, pollIntervalMs: 60_000 });
  const { id } = await queue.utils.addJob("held");
  await waitUntil("the held job runs", () => held.seen.length === 1);
  await slowFetches(t, 50);
  await queue.utils.addJob("slow");
  await waitUntil("a fetch has timed out", () =>
    lines.some(({ message }) => message === LONG_FETCH),
  );
  await waitUntil("the fetch is sent again", async () => (await queue.sql(fetching)).length > 0);
  const isLeft = async () => (await queue.remaining()).some((job) => job.id === id);
  return async () => {
    gate.open();
    await waitUntil("the result of the held job is written", async () => !(await isLeft()));
  };
}

test("Slow fetches leave a connection for results.", async (t) => {
  const endJob = await jobBesideSlowFetch(t);
  // Each announcement may start another fetch.
  for (let n = 0; n < 50; n++) await queue.utils.addJob("slow");
  await endJob();
});

test("A slow fetch does not delay the results of a worker that has lost another connection.", async (t) => {
  const endJob = await jobBesideSlowFetch(t);
  await queue.sql(`select pg_terminate_backend(pid) from pg_stat_activity where state = 'idle'
    and datname = current_database() and application_name = 'worker connection'`);
  await endJob();
});

test("endPatient() cancels a slow statement, or closes the connection if the caller has waited 5 s.", async (t) => {
  const proxy = await tcpProxy(queue.url);
  t.after(() => proxy.close());
  let isLost = false;
  const connection = new WorkerConnection({
    ...{ connection: { connectionString: proxy.url }, schema: schemaName("worker") },
    ...{ preparedStatements: true, sessionId: "w1", isLeased: () => false },
    onLoss: () => {
      isLost = true;
    },
  });
  await connection.connect();
  const slow = connection.runPatiently(({ client }) =>
    client.query({ text: "select pg_sleep(60)" }),
  );
  const ended = assert.rejects(slow);
  await waitUntil("the slow statement runs", async () => (await queue.sql(fetching)).length > 0);
  proxy.mute("established");
  connection.endPatient(1_000);
  await waitUntil(
    "the slow statement is cancelled",
    async () => (await queue.sql(fetching)).length === 0,
  );
  assert.equal(isLost, false);
  connection.endPatient(5_000);
  await ended;
  await waitUntil("the connection is lost", () => isLost);
});
