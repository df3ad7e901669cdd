// Tests workers whose schema is missing, incomplete or too new, or whose tables were replaced, as during a restore or a
// migration.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { migrate } from "../../src/database/schema/migrate.ts";
import { schemaName } from "../../src/database/schema-name.ts";
import { members } from "../support/rounds.ts";
import {
  latch,
  recorder,
  recordingTask,
  waitFor,
  waitUntil,
  witness,
  workerQueue,
} from "./worker-queue.ts";

const queue = workerQueue();

const RECOVERY = { heartbeatIntervalMs: 100, thresholdMs: 2_000, resilientThresholdMs: 2_500 };
const OPTIONS = { recovery: RECOVERY, pollIntervalMs: 50 } as const;

const rename = (from: string, to: string) =>
  queue.sql(`alter table worker.${from} rename to ${to}`);

const fresh = async () => {
  const text = `select id from worker._private_workers
    where last_heartbeat_at > clock_timestamp() - interval '1 second'`;
  return (await queue.sql<{ id: string }>(text)).map(({ id }) => id);
};

test("Workers whose leases have expired because the table of heartbeats is missing fetch no job. When the table is back, the workers continue.", async () => {
  const gate = latch();
  const [held, quick] = [recordingTask("held", () => gate.opened), recordingTask("quick")];
  const { lines, logger } = recorder();
  const interrupted = witness("worker:recovered", "job:interrupted");
  const options = {
    ...OPTIONS,
    tasks: [held, quick],
    logger,
    plugins: [interrupted],
    concurrency: 2,
  };
  for (let n = 0; n < 2; n++) await queue.startWorker(options);
  for (const queueName of ["a", "b"]) await queue.utils.addJob("held", {}, { queueName });
  await waitUntil("both jobs run", () => held.seen.length === 2);
  await rename("_private_workers", "away");
  await waitUntil("a worker logs the outage", () =>
    lines.some(({ message }) => /is unreachable/.test(message)),
  );
  await waitUntil("both leases have expired", async () => {
    const text = `select from worker.away where last_heartbeat_at
      > clock_timestamp() - interval '1 ms' * $1::float8`;
    return (await queue.sql(text, [RECOVERY.thresholdMs])).length === 0;
  });
  await queue.utils.addJob("quick");
  // While another worker starts and runs a job, the first two workers could fetch the job `quick`, but must not.
  const free = recordingTask("free");
  await queue.startWorker({ tasks: [free] });
  await queue.utils.addJob("free");
  await waitUntil("another worker has run its job", () => free.seen.length === 1);
  assert.equal(quick.seen.length, 0);
  await rename("away", "_private_workers");
  await waitUntil("the quick job runs", () => quick.seen.length === 1);
  await waitUntil("both workers send heartbeats", async () => (await fresh()).length === 2);
  const third = await queue.startWorker(options);
  await waitUntil("the third worker sends a heartbeat", async () =>
    (await fresh()).includes(third.id),
  );
  gate.open();
  await waitUntil("all jobs are done", async () => (await queue.remaining()).length === 0);
  assert.equal(held.seen.length, 2);
  assert.deepEqual(
    [interrupted.all("worker:recovered"), interrupted.all("job:interrupted")],
    [[], []],
  );
});

test("A worker continues under another id after a restore has set its last heartbeat back.", async () => {
  const gate = latch();
  const [held, quick] = [recordingTask("held", () => gate.opened), recordingTask("quick")];
  const lost = witness("worker:leaseLost");
  const worker = await queue.startWorker({ ...OPTIONS, tasks: [held, quick], plugins: [lost] });
  const { id } = worker;
  await queue.utils.addJob("held");
  await waitUntil("the first job runs", () => held.seen.length === 1);
  // Adds a job as in a restored dump: the worker had locked the job when the dump was made.
  await queue.utils.addJob("quick", {}, { runAt: new Date(Date.now() + 3_600_000) });
  await queue.sql(`update worker._private_jobs set locked_by = '${id}', locked_at = now(), attempts = 1,
    run_at = now() where locked_by is null`);
  await waitUntil("the worker sends a heartbeat", async () => (await fresh()).includes(id));
  await queue.sql(
    "update worker._private_workers set last_heartbeat_at = now() - interval '1 day'",
  );
  const { workerId, newWorkerId, reason } = await lost.saw("worker:leaseLost");
  assert.deepEqual([workerId, newWorkerId, reason], [id, worker.id, "restored"]);
  assert.notEqual(worker.id, id);
  gate.open();
  await waitUntil(
    "the job that was locked in the dump has run, too",
    () => quick.seen.length === 1,
  );
  await waitUntil("all jobs are done", async () => (await queue.remaining()).length === 0);
  assert.equal(held.seen.length, 1);
  await waitUntil("the row of the old worker id is deleted", async () => {
    return (await queue.sql("select id from worker._private_workers")).length === 1;
  });
});

test("When the table of heartbeats is replaced, the worker continues under another id.", async () => {
  const quick = recordingTask("quick");
  const lost = witness("worker:leaseLost");
  const worker = await queue.startWorker({ ...OPTIONS, tasks: [quick], plugins: [lost] });
  await waitUntil("the worker sends a heartbeat", async () => (await fresh()).includes(worker.id));
  await queue.sql(`begin; create table worker.again (like worker._private_workers including all);
    insert into worker.again select * from worker._private_workers;
    drop table worker._private_workers; alter table worker.again rename to _private_workers; commit`);
  assert.equal((await lost.saw("worker:leaseLost")).reason, "restored");
  await queue.utils.addJob("quick");
  await waitUntil("the job runs", () => quick.seen.length === 1);
});

test("A worker continues after its schema was dropped and created again.", async () => {
  const quick = recordingTask("quick");
  const { lines, logger } = recorder();
  const worker = await queue.startWorker({ ...OPTIONS, tasks: [quick], logger });
  await queue.utils.addJob("quick");
  await waitUntil("the first job runs", () => quick.seen.length === 1);
  await queue.sql("drop schema worker cascade");
  await queue.sql('notify "worker:migrate", \'{"breaking": true}\'');
  await waitUntil("the worker logs the outage", () =>
    lines.some(({ message }) => /is unreachable/.test(message)),
  );
  await migrate(queue.pool, schemaName());
  await queue.utils.addJob("quick");
  await waitUntil("the second job runs", () => quick.seen.length === 2);
  await waitUntil("the worker sends a heartbeat", async () => (await fresh()).includes(worker.id));
});

/** Incomplete schemas, as during a restore: the statements that remove a part, and the statements that restore it. */
const INCOMPLETE = {
  "whose table of migrations is empty": [
    "create table public.ledger as table worker.migrations; delete from worker.migrations",
    "insert into worker.migrations select * from public.ledger; drop table public.ledger",
  ],
  "without its table of migrations": [
    "alter table worker.migrations rename to away",
    "alter table worker.away rename to migrations",
  ],
  "without one of its tables": [
    "alter table worker._private_known_crontabs rename to away",
    "alter table worker.away rename to _private_known_crontabs",
  ],
  "of an older level": [
    "create table public.ledger as table worker.migrations; delete from worker.migrations where id > 10",
    "insert into worker.migrations select * from public.ledger where id > 10; drop table public.ledger",
  ],
  "with other objects only": [
    "alter schema worker rename to away; create schema worker; create table worker.other ()",
    "drop schema worker cascade; alter schema away rename to worker",
  ],
} as const;

const incomplete = Object.entries(INCOMPLETE);

for (const [what, [remove, restore]] of members(incomplete, incomplete.slice(0, 2))) {
  test(`On a schema ${what}, a running worker waits until the schema is restored, and then continues.`, async () => {
    const quick = recordingTask("quick");
    const { lines, logger } = recorder();
    const worker = await queue.startWorker({ ...OPTIONS, tasks: [quick], logger });
    let hasStopped = false;
    void worker.stopped.then(() => {
      hasStopped = true;
    });
    await queue.sql(remove);
    await queue.sql(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'worker listen'`);
    const isLogged = () => lines.some(({ fields }) => fields["connection"] === "schema");
    await waitUntil("the worker has checked its schema", () => hasStopped || isLogged());
    await queue.sql(restore);
    await queue.utils.addJob("quick");
    await waitUntil("the job runs", () => hasStopped || quick.seen.length === 1);
    assert.ok(!hasStopped, "the worker has not stopped by itself");
    const warnings = lines.filter(
      ({ fields, level }) => level === "warn" && "connection" in fields,
    );
    assert.ok(
      warnings.length <= 2,
      "at most two outages are logged: of the listener and of the schema",
    );
  });
}

test("A worker runs one check of its schema at a time, and notices a migration that commits during the check.", async () => {
  const quick = recordingTask("quick");
  const worker = await queue.startWorker({ ...OPTIONS, tasks: [quick], logger: "silent" });
  const migration = await queue.pool.connect();
  const checks = async () => {
    const text = `select 1 from pg_stat_activity where datname = current_database()
      and wait_event_type = 'Lock' and query like '%migrations%'`;
    return (await queue.sql(text)).length;
  };
  try {
    await migration.query("begin; lock table worker.migrations in access exclusive mode");
    for (let n = 1; n <= 4; n++) {
      await queue.sql('notify "worker:migrate", \'{"breaking": true}\'');
      await waitUntil("the worker checks its schema", async () => (await checks()) > 0);
      // A worker that has run the job has usually also received the earlier notification of the migration.
      await queue.utils.addJob("quick");
      await waitUntil("another job has run", () => quick.seen.length === n);
      assert.equal(await checks(), 1);
    }
    await migration.query("insert into worker.migrations (id, breaking) values (1000, true)");
    await migration.query("commit");
  } finally {
    migration.release(true);
  }
  await waitFor("the worker stops", worker.stopped);
  await queue.sql("delete from worker.migrations where id = 1000");
});

test("A worker stops when a migration has made its schema too new.", async () => {
  const worker = await queue.startWorker({
    ...OPTIONS,
    tasks: [recordingTask("quick")],
    logger: "silent",
  });
  await queue.sql("insert into worker.migrations (id, breaking) values (1000, true)");
  await queue.sql('notify "worker:migrate", \'{"breaking": true}\'');
  await waitFor("the worker stops", worker.stopped);
  await queue.sql("delete from worker.migrations where id = 1000");
});

for (const fastLane of [false, true]) {
  for (const recovery of members<typeof RECOVERY | false>([RECOVERY, false], [RECOVERY])) {
    const how = `${fastLane ? "fast lane" : "safe mode"}, ${recovery ? "with" : "without"} recovery`;
    describe(`An idle worker (${how}) whose schema is missing`, () => {
      test("stops within 12 seconds of the call of stop().", async () => {
        const { lines, logger } = recorder();
        const tasks = [recordingTask("quick")];
        const worker = await queue.startWorker({ ...OPTIONS, recovery, fastLane, tasks, logger });
        await queue.sql("alter schema worker rename to gone");
        await waitUntil("the worker logs the outage", () =>
          lines.some(({ message }) => /is unreachable/.test(message)),
        );
        await waitFor("the worker stops", worker.stop(), 12_000);
        await queue.sql("alter schema gone rename to worker");
        assert.equal(worker.hasAbandonedJobs, false);
      });
    });
  }
}

test("If a job runs again because its lock was lost during the first attempt, the result of the first attempt is not written.", async () => {
  const gates = [latch(), latch()];
  const task = recordingTask("task", (_payload, call) => gates[call - 1]?.opened);
  const interrupted = witness("job:interrupted", "job:success");
  await queue.startWorker({ ...OPTIONS, tasks: [task], plugins: [interrupted], concurrency: 2 });
  const { id } = await queue.utils.addJob("task");
  await waitUntil("the job runs", () => task.seen.length === 1);
  await queue.sql("update worker._private_jobs set locked_by = null, locked_at = null");
  await waitUntil("the job runs again", () => task.seen.length === 2);
  assert.equal((await interrupted.saw("job:interrupted")).jobId, id);
  // The two attempts occupy both slots, so the job `next` starts only after the first attempt has ended. Once the
  // result of `next` is written, the worker has also handled the result of the first attempt.
  const next = await queue.utils.addJob("task");
  gates[0]?.open();
  await waitUntil("another job has ended", async () => {
    return !(await queue.remaining()).some((left) => left.id === next.id);
  });
  assert.deepEqual(
    (await queue.remaining()).map(({ attempts }) => attempts),
    [2],
  );
  gates[1]?.open();
  await waitUntil("the job is done", async () => (await queue.remaining()).length === 0);
  assert.equal(interrupted.all("job:success").filter(({ job }) => job.id === id).length, 1);
});
