// Tests jobs and named queues that PostgreSQL refuses to lock, because of a trigger or a row security policy. All other
// jobs must run.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { explainJob } from "../../../src/insight/why/explain-job.ts";
import { readUnsettledJobs } from "../../../src/insight/why/holders.ts";
import { migratedDatabase } from "../../support/database.ts";
import { rolePool } from "../../support/test-pool.ts";
import { type LogLine, recorder, recordingTask, waitUntil, workerQueue } from "../worker-queue.ts";

const queue = workerQueue(() => migratedDatabase("worker", ["limits"]));

/** Until the end of the test, a trigger refuses updates of jobs with these payloads. */
async function refuseUpdates(t: TestContext, payloads: readonly number[]): Promise<void> {
  t.after(() => queue.sql("drop function if exists public.refuse cascade"));
  await queue.sql(`create function public.refuse() returns trigger language plpgsql as $$ begin
      if old.payload::text in (${payloads.map((one) => `'${one}'`)}) then raise 'not this one'; end if;
      return new; end $$;
    create trigger refuse before update on worker._private_jobs
    for each row execute function public.refuse()`);
}

/** Like refuseUpdates(), but the trigger is deferred. */
async function refuseAtCommit(t: TestContext, payloads: readonly number[]): Promise<void> {
  t.after(() => queue.sql("drop function if exists public.refuse cascade"));
  await queue.sql(`create function public.refuse() returns trigger language plpgsql as $$ begin
      if old.payload::text in (${payloads.map((one) => `'${one}'`)}) then raise 'not this one'; end if;
      return null; end $$;
    create constraint trigger refuse after update on worker._private_jobs deferrable initially deferred
    for each row execute function public.refuse()`);
}

/** Waits until the sentence of `worker why` matches. Then checks the list that `worker doctor` reads. */
async function isExplained(id: string, sentence: RegExp): Promise<void> {
  const db = queue.utils.database;
  await waitUntil("the explanation of the job contains PostgreSQL's error", async () =>
    sentence.test((await explainJob(db, id))?.sentence ?? ""),
  );
  const reported = await readUnsettledJobs(db);
  assert.ok(reported.some((one) => !one.isLocked && /not this/.test(one.error)));
}

/** Returns the fields of the log lines that name a refused job. */
const named = (lines: readonly LogLine[]) =>
  lines.filter(({ message }) => /refuses to lock a job/.test(message)).map(({ fields }) => fields);

const added = (count: number, spec: (n: number) => object = () => ({})) =>
  queue.utils.addJobs(
    Array.from({ length: count }, (_, n) => ({ identifier: "task", payload: n, spec: spec(n) })),
  );

for (const [where, spec] of [
  ["without a queue", () => ({})],
  ["in a named queue", () => ({ queueName: "q" })],
  ["in several queues", (n: number) => ({ queueName: `q${n % 3}` })],
  ["in a queue with a limit", () => ({ queueName: "limited" })],
  ["in several queues with a limit", (n: number) => ({ queueName: `limited${n % 3}` })],
] as const) {
  test(`Jobs ${where} that PostgreSQL refuses to lock do not delay other jobs, and the log names the refused jobs.`, async (t) => {
    await queue.utils.setLimit({ name: "limit", queue: "limited*", concurrency: 2 });
    await refuseUpdates(t, [2, 5]);
    const task = recordingTask<number>("task");
    const { lines, logger } = recorder();
    const ids = (await added(10, spec)).map(({ id }) => id);
    const recovery = { heartbeatIntervalMs: 100, thresholdMs: 3_000, resilientThresholdMs: 3_000 };
    const options = { tasks: [task], recovery, pollIntervalMs: 50, concurrency: 5 };
    await queue.startWorker({ ...options, logger });
    await waitUntil("all jobs that are not refused have run", () => task.seen.length === 8);
    assert.ok(!task.seen.includes(2) && !task.seen.includes(5));
    await queue.utils.addJob("task", 100);
    await waitUntil("a job that was added later has run", () => task.seen.includes(100));
    await waitUntil(
      "only the two refused jobs are left",
      async () => (await queue.remaining()).length === 2,
    );
    assert.deepEqual(
      named(lines)
        .map(({ job_id }) => job_id)
        .sort(),
      [ids[2], ids[5]].sort(),
    );
    assert.match(`${named(lines)[0]?.["error"]}`, /not this one/);
    assert.ok(!lines.some(({ message }) => /is unreachable/.test(message)), "no outage is logged");
    if (where === "without a queue")
      await isExplained(ids[2] ?? "", /lock it, so the worker that tried skips it .*not this one/);
    await queue.sql("drop trigger refuse on worker._private_jobs");
    // The first worker skips the refused jobs for five minutes.
    await queue.startWorker({ tasks: [task], pollIntervalMs: 50 });
    await waitUntil("all jobs are done", async () => (await queue.remaining()).length === 0);
  });
}

test("If PostgreSQL refuses to lock the slots of a queue with a limit, other queues are not delayed, and the log names the queue.", async (t) => {
  t.after(() => queue.sql("drop function if exists public.refuse_slot cascade"));
  await queue.utils.setLimit({ name: "limit", queue: "limited*", concurrency: 2 });
  const jobs = await added(9, (n) => ({ queueName: `limited${n % 3}` }));
  const id = jobs[0]?.queueId;
  await queue.sql(`create function public.refuse_slot() returns trigger language plpgsql as $$ begin
      if new.queue_id = ${id} then raise 'not this slot'; end if; return new; end $$;
    create trigger refuse_slot before update on worker._private_queue_slots
    for each row execute function public.refuse_slot()`);
  const task = recordingTask<number>("task");
  const { lines, logger } = recorder();
  await queue.startWorker({ tasks: [task], logger, pollIntervalMs: 50, concurrency: 4 });
  await waitUntil("all jobs of the other queues have run", () => task.seen.length === 6);
  await queue.utils.addJob("task", 100, { queueName: "limited1" });
  await waitUntil("a job that was added later has run", () => task.seen.includes(100));
  const refused = lines.filter(({ message }) => /refuses to lock a queue/.test(message));
  assert.deepEqual(
    refused.map(({ fields }) => fields["queue_id"]),
    [id],
  );
});

test("Jobs whose locks a trigger refuses at the commit do not delay other jobs, and the log names the refused jobs.", async (t) => {
  await refuseAtCommit(t, [2, 5]);
  const task = recordingTask<number>("task");
  const { lines, logger } = recorder();
  await added(10, (n) => (n % 3 === 0 ? { queueName: "q" } : {}));
  await queue.startWorker({ tasks: [task], logger, pollIntervalMs: 50, concurrency: 5 });
  await waitUntil("all jobs that are not refused have run", () => task.seen.length === 8);
  await queue.utils.addJob("task", 100);
  await waitUntil("a job that was added later has run", () => task.seen.includes(100));
  assert.equal(named(lines).length, 2);
});

for (const fastLane of [false, true]) {
  test(`If a row security policy forbids the update of a job, other jobs are not delayed. Fast lane: ${fastLane}.`, async () => {
    const tables = ["_private_job_queues", "_private_tasks", "_private_known_crontabs"];
    const limited = await rolePool(
      queue.url,
      queue.pool,
      (role) => `
      grant usage on schema worker to ${role};
      grant all on all tables in schema worker to ${role};
      grant all on all sequences in schema worker to ${role};
      ${tables.map((table) => `alter table worker.${table} disable row level security;`).join("")}
      create policy seen on worker._private_jobs for select to ${role} using (true);
      create policy done on worker._private_jobs for delete to ${role} using (true);
      create policy not_zero on worker._private_jobs for update to ${role} using (true)
        with check (payload::text <> '0')`,
    );
    try {
      const { connectionString } = limited.pool.options;
      // In the fast lane job 0 runs, because no update locks it. The update that writes the failure is refused.
      const task = recordingTask<number>("task", (n) => {
        if (n === 0) throw new Error("fails");
      });
      const { lines, logger } = recorder();
      const [zero] = await added(10);
      const options = { tasks: [task], fastLane, logger, pollIntervalMs: 50, concurrency: 5 };
      await queue.startWorker({ ...options, connectionString });
      await waitUntil("the log names the job that PostgreSQL refuses to lock", () =>
        named(lines).some(({ job_id }) => job_id === zero?.id),
      );
      await waitUntil(
        "all other jobs are done",
        async () => (await queue.remaining()).length === 1,
      );
      await queue.utils.addJob("task", 100);
      await waitUntil("a job that was added later has run", () => task.seen.includes(100));
      assert.match(`${named(lines)[0]?.["error"]}`, /row-level security policy/);
      assert.ok(
        !lines.some(({ message }) => /is unreachable/.test(message)),
        "no outage is logged",
      );
    } finally {
      await queue.sql(`drop policy seen on worker._private_jobs; drop policy done on worker._private_jobs;
        drop policy not_zero on worker._private_jobs;
        ${tables.map((table) => `alter table worker.${table} enable row level security;`).join("")}`);
      await limited.close();
    }
  });
}

test("If PostgreSQL refuses to lock a queue, other queues are not delayed, and the log names the queue.", async (t) => {
  t.after(() => queue.sql("drop function if exists public.refuse_queue cascade"));
  await queue.sql(`create function public.refuse_queue() returns trigger language plpgsql as $$ begin
      if new.queue_name = 'bad' then raise 'not this queue'; end if; return new; end $$`);
  const task = recordingTask<number>("task");
  const { lines, logger } = recorder();
  const jobs = await added(40, (n) =>
    n % 4 === 0 ? {} : { queueName: n % 2 === 0 ? "good" : "bad" },
  );
  await queue.sql(`create trigger refuse_queue before update on worker._private_job_queues
    for each row execute function public.refuse_queue()`);
  const recovery = { heartbeatIntervalMs: 100, thresholdMs: 3_000, resilientThresholdMs: 3_000 };
  const options = { tasks: [task], recovery, pollIntervalMs: 50, concurrency: 5 };
  await queue.startWorker({ ...options, logger });
  await waitUntil("all jobs outside the refused queue have run", () => task.seen.length === 20);
  await queue.utils.addJob("task", 100);
  await waitUntil("a job that was added later has run", () => task.seen.includes(100));
  const refused = lines.filter(({ message }) => /refuses to lock a queue/.test(message));
  assert.equal(refused.length, 1);
  assert.match(`${refused[0]?.fields["error"]}`, /not this queue/);
  await isExplained(
    jobs[1]?.id ?? "",
    /lock its queue, so the worker that tried skips it .*not this queue/,
  );
  await queue.sql("drop trigger refuse_queue on worker._private_job_queues");
  await queue.startWorker({ tasks: [task], pollIntervalMs: 50 });
  await waitUntil("all jobs are done", async () => (await queue.remaining()).length === 0);
});
